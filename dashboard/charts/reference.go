package charts

import (
	"image/color"
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/palette"
)

// published is the name of what is not measured; a click on it in the legend
// takes the numbers away.
const published = "thesis"

func referred(tracks []Track) bool {
	for _, t := range tracks {
		if len(t.References) > 0 {
			return true
		}
	}
	return false
}

// across, upright and the rest, places with an X and a Y.
func (r Reference) across() bool  { return math.IsNaN(r.X) }
func (r Reference) upright() bool { return math.IsNaN(r.From) }

// topOf is where a Y axis has to end so that the references and the ends of intervals are in
// the picture, and in how many steps, 0 if it ends there by itself. Marks do not count for
// echarts, and one that begins or ends outside is not drawn at all.
func topOf(t Track) (top float64, steps int) {
	if t.Y.To > 0 && t.Y.Log {
		return t.Y.To, 0
	} else if t.Y.To > 0 {
		return t.Y.To, 5
	}
	hi, ref := 0.0, 0.0
	for _, y := range values(t.Series) {
		if finite(0, y) {
			hi = max(hi, y)
		}
	}
	for _, r := range t.References {
		if !r.upright() {
			ref = max(ref, r.To)
		}
	}
	for _, s := range t.Series {
		s.reach(func(_, y float64) { ref = max(ref, y) })
	}
	if t.Y.Log { // there are no intervals on it
		if ref <= hi {
			return 0, 0
		}
		return ref * 1.2, 0
	}
	for _, s := range t.Series {
		for i := range min(len(s.Y), len(s.CI)) {
			if finite(s.Y[i], s.CI[i]) && s.CI[i] > 0 && s.Band == nil {
				ref = max(ref, s.Y[i]+s.CI[i])
			}
		}
	}
	if ref <= hi {
		return 0, 0
	}
	return roundEnd(ref)
}

// roundEnd is where an axis ends behind what has to be on it, and in how many steps.
func roundEnd(hi float64) (end float64, steps int) {
	ticks := roundTicks(0, hi*1.04)
	return ticks[1].Value * float64(len(ticks)), len(ticks)
}

// referenceData are the places; lines and ranges are marks.
func referenceData(refs []Reference, x, y float64) []opts.LineData {
	out := []opts.LineData{}
	for _, r := range refs {
		if !r.across() && !r.upright() {
			out = append(out, opts.LineData{Name: r.Text, Value: []float64{rounded(r.X / x), rounded((r.From + r.To) / 2 / y)}})
		}
	}
	return out
}

func referenceOptions(track int, refs []Reference, x, y float64) []charts.SeriesOpts {
	var marks []any
	upTo := charts.SingleSeries{}
	for _, r := range refs {
		switch {
		case r.upright():
			marks = append(marks, opts.MarkLineNameXAxisItem{Name: r.Text, XAxis: rounded(r.X / x)})
		case r.across() && r.From == r.To:
			marks = append(marks, opts.MarkLineNameYAxisItem{Name: r.Text, YAxis: rounded(r.To / y)})
		case r.across(): // both ends of a range
			marks = append(marks, opts.MarkLineNameYAxisItem{YAxis: rounded(r.From / y)}, opts.MarkLineNameYAxisItem{Name: r.Text, YAxis: rounded(r.To / y)})
		case r.From != r.To:
			at := rounded(r.X / x)
			charts.WithMarkLineNameCoordItemOpts(opts.MarkLineNameCoordItem{Coordinate0: []any{at, rounded(r.From / y)}, Coordinate1: []any{at, rounded(r.To / y)}})(&upTo)
		}
	}
	if upTo.MarkLines != nil {
		marks = append(marks, upTo.MarkLines.Data...)
	}
	return []charts.SeriesOpts{
		charts.WithLineChartOpts(opts.LineChart{XAxisIndex: track, YAxisIndex: track, ShowSymbol: opts.Bool(true), Symbol: palette.Diamond.Symbol(false), SymbolSize: 11}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: palette.Thesis, Width: 0.001}), // no line joins them
		charts.WithItemStyleOpts(opts.ItemStyle{Color: "transparent", BorderColor: palette.Thesis, BorderWidth: 1.6}),
		charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Formatter: "{b}", Position: "top", Color: palette.Thesis, FontSize: 10}),
		func(s *charts.SingleSeries) {
			if len(marks) == 0 {
				return
			}
			s.MarkLines = &opts.MarkLines{Data: marks, MarkLineStyle: opts.MarkLineStyle{
				Symbol: []string{"none", "none"}, Label: &opts.Label{Show: opts.Bool(true), Formatter: "{b}", Position: "insideEndTop", Color: palette.Thesis, FontSize: 10},
				LineStyle: &opts.LineStyle{Color: palette.Thesis, Type: "dashed", Width: 1}}}
		},
	}
}

// addReferences draws the published numbers of a track, whose X goes from lo to hi. Their words are
// still to be written.
func addReferences(p *plot.Plot, refs []Reference, lo, hi float64) (words []label) {
	grey := palette.RGBA(palette.Thesis)
	top := p.Y.Max
	for _, r := range refs {
		at := plotter.XY{X: r.X, Y: (r.From + r.To) / 2}
		switch {
		case r.upright():
			addLine(p, grey, plotter.XYs{{X: r.X, Y: p.Y.Min}, {X: r.X, Y: top}})
			at.Y = top
		case r.across():
			addLine(p, grey, plotter.XYs{{X: lo, Y: r.To}, {X: hi, Y: r.To}})
			if r.From != r.To {
				addLine(p, grey, plotter.XYs{{X: lo, Y: r.From}, {X: hi, Y: r.From}})
			}
			at = plotter.XY{X: lo, Y: r.To}
		default:
			if s, err := plotter.NewScatter(plotter.XYs{at}); err == nil {
				s.GlyphStyle = draw.GlyphStyle{Color: grey, Radius: 4, Shape: glyph{palette.Diamond.Outline(), true}}
				p.Add(s)
			}
			if r.From != r.To {
				addLine(p, grey, plotter.XYs{{X: r.X, Y: r.From}, {X: r.X, Y: r.To}})
			}
		}
		words = append(words, label{at: at, text: r.Text, ink: grey, size: 8})
	}
	return words
}

func addLine(p *plot.Plot, c color.RGBA, at plotter.XYs) {
	l, err := plotter.NewLine(at)
	if err != nil {
		return // a place that is no number
	}
	l.Color, l.Width, l.Dashes = c, 1, []vg.Length{2, 2}
	p.Add(l)
}
