package charts

import (
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/palette"
)

// Published numbers of bars: a dashed line from where a part begins to a diamond where it would end,
// and in words behind the bar.

// Where the dashed line and the foot of the words lie: so much of the distance of two bars below the
// middle of their own.
const (
	lineBelow  = 0.42
	wordsBelow = 0.36
)

func anyExpected(bars []Bars) bool {
	return slices.ContainsFunc(bars, func(b Bars) bool { return len(b.Expected) > 0 })
}

// words are what stands behind the bar, "" if nothing.
func (b *Bars) words() string {
	var texts []string
	for _, e := range b.Expected {
		texts = append(texts, e.Text)
	}
	return strings.Join(texts, ", ")
}

// reach is as far as something of the bar is drawn: itself, its interval, its published numbers.
func (b *Bars) reach() float64 {
	hi := b.sum()
	if _, high, ok := b.interval(); ok {
		hi = max(hi, high)
	}
	for _, e := range b.Expected {
		hi = max(hi, e.To)
	}
	return hi
}

// endOf is where the axis along the bars has to end for all that is drawn, and for the words behind
// the bars if the axis is room long and a letter letter, in any unit.
func endOf(bars []Bars, room, letter float64) float64 {
	end := longest(bars)
	for i := range bars {
		reach := bars[i].reach()
		if words := bars[i].words(); words != "" {
			wide := letter * float64(len([]rune(words))+3)
			reach /= max(0.3, 1-wide/room)
		}
		if finite(reach, 0) {
			end = max(end, reach)
		}
	}
	return end
}

// addExpected draws the published numbers of bars, of which the first is on top, and says whether
// there are any.
func addExpected(p *plot.Plot, bars []Bars) bool {
	grey := palette.RGBA(palette.Thesis)
	var ends plotter.XYs
	var words labels
	for i := range bars {
		b, y := &bars[i], float64(len(bars)-1-i)
		for _, e := range b.Expected {
			addLine(p, grey, plotter.XYs{{X: e.From, Y: y - lineBelow}, {X: e.To, Y: y - lineBelow}})
			ends = append(ends, plotter.XY{X: e.To, Y: y - lineBelow})
		}
		if text := b.words(); text != "" {
			words.words = append(words.words, label{at: plotter.XY{X: b.reach(), Y: y - wordsBelow}, text: text, ink: grey, size: 8})
		}
	}
	if len(ends) == 0 {
		return false
	}
	s, err := plotter.NewScatter(ends)
	if err != nil {
		return false // a place that is no number
	}
	s.GlyphStyle = draw.GlyphStyle{Color: grey, Radius: 3.5, Shape: glyph{palette.Diamond.Outline(), true}}
	p.Add(s, words)
	return true
}

// expectedLine are the published numbers as echarts draws them over bars. A category has one place,
// so the diamonds are on their bars.
func expectedLine(bars []Bars) *charts.Line {
	line := charts.NewLine()
	data, lines := []opts.LineData{}, []opts.MarkLineNameCoordItem{}
	for i := range bars {
		b := &bars[i]
		for _, e := range b.Expected {
			data = append(data, opts.LineData{Value: []any{rounded(e.To), i, ""}})
			lines = append(lines, opts.MarkLineNameCoordItem{Coordinate0: []any{rounded(e.From), i}, Coordinate1: []any{rounded(e.To), i}})
		}
		if text := b.words(); text != "" { // beside a dot, for echarts labels no place without a symbol
			data = append(data, opts.LineData{Name: text, Value: []any{rounded(b.reach()), i, text}, Symbol: "circle", SymbolSize: 1})
		}
	}
	line.AddSeries(published, data,
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(true), Symbol: palette.Diamond.Symbol(false), SymbolSize: 11}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: palette.Thesis, Width: 0.001}), // no line joins them
		charts.WithItemStyleOpts(opts.ItemStyle{Color: palette.LightInk, BorderColor: palette.Thesis, BorderWidth: 1.6}),
		charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Formatter: "{@[2]}", Position: "right", Color: palette.Thesis, FontSize: 10}),
		charts.WithMarkLineNameCoordItemOpts(lines...),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"}, Label: &opts.Label{Show: opts.Bool(false)}, LineStyle: &opts.LineStyle{Color: palette.Thesis, Type: "dashed", Width: 1.5}}))
	return line
}
