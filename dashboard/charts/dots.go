package charts

import (
	"fmt"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/palette"
)

// Dots is one set of dots in a chart of rows: a dot for each row.
type Dots struct {
	Name   string
	Colour string
	Marker palette.Marker
	Hollow bool
	X      []float64    // by row; NaN: the row has none
	Band   [][2]float64 // by row, drawn behind the dot; NaN: none. nil: no row has one
}

// DotRows is a chart of rows with dots beside each other: how near several things are to what they should be.
type DotRows struct {
	X    Axis     // From and To are its ends: a dot beyond them stands at the end, with its number
	Rows []string // from the top
	Dots []Dots
	// At is where the dots should be, and Zones how far off is how good: shares of At, the widest first.
	At    float64
	Zones []float64
}

// DotRowHeight is that of one row on the page, in pixels.
const DotRowHeight = 22

// DotRowsSized draws the chart for a place of a known width; its height follows.
func DotRowsSized(size Size, title string, d DotRows) *Chart {
	size = Size{Width: size.Width, Height: d.height()}.or(defaultWidth, d.height())
	return New(title, d.interactive(title, size), svg(d.picture(title, sheet{Size: size})))
}

// DotRowsPicture is its static form, for files.
func DotRowsPicture(style Style, title string, d DotRows) Picture {
	return d.picture(title, style.on(Size{defaultWidth, d.height()}))
}

func (d *DotRows) height() int { return 82 + DotRowHeight*max(len(d.Rows), 1) }

// zoneInk is the ground of the k-th zone: the nearer, the stronger.
func (d *DotRows) zoneInk(k int) string {
	return palette.Between(palette.LightInk, palette.Good, 0.07*float64(k+1))
}

// clampX is where a dot stands: at an end of the axis if it is beyond.
func (d *DotRows) clampX(x float64) float64 { return min(max(x, d.X.From), d.X.To) }

// beyond are the numbers of dots that stand at an end and belong beyond it, by row: of several those of the last set.
func (d *DotRows) beyond() (left, right []string) {
	left, right = make([]string, len(d.Rows)), make([]string, len(d.Rows))
	for _, s := range d.Dots {
		for i, x := range s.X {
			switch {
			case x < d.X.From:
				left[i] = "← " + Digits(x, 2)
			case x > d.X.To:
				right[i] = Digits(x, 2) + " →"
			}
		}
	}
	return left, right
}

// stripe is a band between the ends of the axis, false if nothing of it is there.
func (d *DotRows) stripe(b [2]float64) (lo, hi float64, ok bool) {
	lo, hi = max(min(b[0], b[1]), d.X.From), min(max(b[0], b[1]), d.X.To)
	return lo, hi, finite(b[0], b[1]) && lo < hi
}

func (d *DotRows) picture(title string, on sheet) Picture {
	p := newPlot(on.variant())
	setTitle(p, title, on.Size)
	p.X.Label.Text, p.X.Tick.Marker = d.X.Title(), ticks(Axis{})
	n := len(d.Rows)
	y := func(row int) float64 { return float64(n - 1 - row) }
	bottom, top := -0.6, float64(n)-0.4
	for k, z := range d.Zones {
		zone, err := plotter.NewPolygon(plotter.XYs{{X: d.At * (1 - z), Y: bottom}, {X: d.At * (1 + z), Y: bottom}, {X: d.At * (1 + z), Y: top}, {X: d.At * (1 - z), Y: top}})
		if err != nil {
			continue // a zone without a width
		}
		zone.Color, zone.LineStyle.Width = palette.RGBA(d.zoneInk(k)), 0
		p.Add(zone)
	}
	addLine(p, palette.RGBA(palette.Thesis), plotter.XYs{{X: d.At, Y: bottom}, {X: d.At, Y: top}})
	left, right := d.beyond()
	var words labels
	for i := range d.Rows {
		for _, w := range []label{{at: plotter.XY{X: d.X.From, Y: y(i)}, text: left[i]}, {at: plotter.XY{X: d.X.To, Y: y(i)}, text: right[i], left: true}} {
			if w.ink, w.size = palette.RGBA(palette.LineInk), 7; w.text != "" {
				words.words = append(words.words, w)
			}
		}
	}
	legend := []legendItem{}
	for _, s := range d.Dots {
		words.markers = append(words.markers, d.addDots(p, s, y)...)
		legend = append(legend, legendItem{name: s.Name, colour: palette.RGBA(s.Colour), line: &look{marker: s.Marker, hollow: s.Hollow}})
	}
	p.Add(words)
	names := make([]string, n)
	for i, name := range d.Rows {
		names[n-1-i] = name
	}
	if n > 0 {
		p.NominalY(names...)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = d.X.From, d.X.To, bottom, top
	return on.picture(func(c draw.Canvas) {
		p.Draw(draw.Crop(drawLegend(c, legend, on.variant()), 4, -14, 2, -6))
	})
}

// addDots draws the dots of a set and their bands, and returns where they stand.
func (d *DotRows) addDots(p *plot.Plot, s Dots, y func(row int) float64) (at plotter.XYs) {
	for i, v := range s.X {
		if i < len(s.Band) {
			if lo, hi, ok := d.stripe(s.Band[i]); ok {
				if line, err := plotter.NewLine(plotter.XYs{{X: lo, Y: y(i)}, {X: hi, Y: y(i)}}); err == nil {
					line.Color, line.Width = paler(palette.RGBA(s.Colour)), 5*vg.Length(1)
					p.Add(line)
				}
			}
		}
		if !finite(v, 0) {
			continue
		}
		at = append(at, plotter.XY{X: d.clampX(v), Y: y(i)})
	}
	dots, err := plotter.NewScatter(at)
	if err != nil || len(at) == 0 {
		return nil // there are none
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: palette.RGBA(s.Colour), Radius: 3.6, Shape: look{marker: s.Marker, hollow: s.Hollow}.glyph()}
	p.Add(dots)
	return at
}

func (d *DotRows) interactive(title string, size Size) Renderer {
	c := charts.NewScatter()
	top := 10
	if title != "" {
		top += 28
	}
	names := nameWidth(d.bars())
	c.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{Width: px(size.Width), Height: px(size.Height + top - 10), PageTitle: title}),
		charts.WithTitleOpts(titleOf(title, size)),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item", Formatter: "{b}"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Bottom: "0", Type: "scroll", Data: d.names()}),
		charts.WithAnimation(false),
		charts.WithGridOpts(opts.Grid{Left: strconv.Itoa(names), Right: "24", Top: strconv.Itoa(top), Bottom: "66"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: d.X.Title(), NameLocation: "middle", NameGap: 22, Min: d.X.From, Max: d.X.To, SplitNumber: 8}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: d.Rows, Inverse: opts.Bool(true), SplitLine: &opts.SplitLine{Show: opts.Bool(true)}}),
	)
	for k, s := range d.Dots {
		options := []charts.SeriesOpts{charts.WithItemStyleOpts(opts.ItemStyle{Color: s.Colour}), func(o *charts.SingleSeries) { o.Symbol, o.SymbolSize = s.Marker.Symbol(s.Hollow), 10 }}
		if k == 0 {
			options = append(options, d.ground())
		}
		options = append(options, d.stripes(s, k == 0))
		c.AddSeries(s.Name, d.data(s), options...)
	}
	left, right := d.beyond()
	for _, end := range []struct {
		name, position string
		x              float64
		words          []string
	}{{"beyond, left", "right", d.X.From, left}, {"beyond, right", "left", d.X.To, right}} {
		var data []opts.ScatterData
		for i, w := range end.words {
			if w != "" {
				data = append(data, opts.ScatterData{Name: d.Rows[i], Value: []any{end.x, i, w}})
			}
		}
		if data != nil { // beside a dot, for echarts labels no place without a symbol
			c.AddSeries(end.name, data, charts.WithItemStyleOpts(opts.ItemStyle{Color: palette.Thesis}),
				charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Formatter: "{@[2]}", Position: end.position, Color: palette.Thesis, FontSize: 10}),
				func(o *charts.SingleSeries) { o.SymbolSize = 1 })
		}
	}
	return c
}

// names are those of the sets.
func (d *DotRows) names() (out []string) {
	for _, s := range d.Dots {
		out = append(out, s.Name)
	}
	return out
}

// bars are the rows for what measures their names.
func (d *DotRows) bars() (out []Bars) {
	for _, name := range d.Rows {
		out = append(out, Bars{Name: name})
	}
	return out
}

func (d *DotRows) data(s Dots) []opts.ScatterData {
	out := []opts.ScatterData{}
	for i, v := range s.X {
		if !finite(v, 0) {
			continue
		}
		out = append(out, opts.ScatterData{Name: fmt.Sprintf("%s, %s: %s", d.Rows[i], s.Name, Digits(v, 3)), Value: []any{rounded(d.clampX(v)), i}})
	}
	return out
}

// ground is the zones, which a legend cannot take away.
func (d *DotRows) ground() charts.SeriesOpts {
	return func(s *charts.SingleSeries) {
		var zones []any
		for k, z := range d.Zones {
			zones = append(zones, []any{map[string]any{"xAxis": rounded(d.At * (1 - z)), "itemStyle": map[string]any{"color": palette.Good, "opacity": 0.04 + 0.03*float64(k)}}, map[string]any{"xAxis": rounded(d.At * (1 + z))}})
		}
		s.MarkAreas = &opts.MarkAreas{Data: zones}
	}
}

// stripes are the bands of the dots, and the line where they should be.
func (d *DotRows) stripes(s Dots, line bool) charts.SeriesOpts {
	return func(o *charts.SingleSeries) {
		var marks []any
		for i := range s.Band {
			if lo, hi, ok := d.stripe(s.Band[i]); ok && finite(s.X[i], 0) {
				style := map[string]any{"color": s.Colour, "width": 6, "opacity": 0.35, "type": "solid"}
				marks = append(marks, []any{map[string]any{"coord": []any{rounded(lo), i}, "lineStyle": style}, map[string]any{"coord": []any{rounded(hi), i}}})
			}
		}
		if line {
			marks = append(marks, map[string]any{"xAxis": d.At, "lineStyle": map[string]any{"color": palette.Thesis, "type": "dashed", "width": 1.2}})
		}
		if len(marks) > 0 {
			o.MarkLines = &opts.MarkLines{Data: marks, MarkLineStyle: opts.MarkLineStyle{Symbol: []string{"none", "none"}, Label: &opts.Label{Show: opts.Bool(false)}}}
		}
	}
}
