package charts

import (
	"image/color"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"drtmx/dashboard/charts/palette"
)

// Between is the band of a point: where it is at one end of what is assumed and where at the other. It may move along both
// axes. A point without a band has NaN.
type Between struct{ FromX, FromY, ToX, ToY float64 }

func (b Between) drawable(logX, logY bool) bool {
	return finite(b.FromX, b.FromY) && finite(b.ToX, b.ToY) && (!logX || b.FromX > 0 && b.ToX > 0) && (!logY || b.FromY > 0 && b.ToY > 0)
}

// edges are the lines that a band is drawn with: across each point, and along both ends of neighbours.
func (s Series) edges(logX, logY bool) (out [][2]plotter.XY) {
	var before *Between
	for i := range min(len(s.X), len(s.Band)) {
		b := &s.Band[i]
		if !b.drawable(logX, logY) {
			before = nil
			continue
		}
		out = append(out, [2]plotter.XY{{X: b.FromX, Y: b.FromY}, {X: b.ToX, Y: b.ToY}})
		if before != nil {
			out = append(out, [2]plotter.XY{{X: before.FromX, Y: before.FromY}, {X: b.FromX, Y: b.FromY}}, [2]plotter.XY{{X: before.ToX, Y: before.ToY}, {X: b.ToX, Y: b.ToY}})
		}
		before = b
	}
	return out
}

// reach calls a function for every end of the band.
func (s Series) reach(add func(x, y float64)) {
	for _, b := range s.Band {
		if b.drawable(false, false) {
			add(b.FromX, b.FromY)
			add(b.ToX, b.ToY)
		}
	}
}

// addBand draws the band of a series in a static picture.
func addBand(p *plot.Plot, s Series, l look, logX, logY bool) {
	for _, e := range s.edges(logX, logY) {
		line, err := plotter.NewLine(plotter.XYs{e[0], e[1]})
		if err != nil {
			continue // all are finite
		}
		line.Color, line.Width = paler(palette.RGBA(l.colour)), 0.8*vg.Length(1)
		p.Add(line)
	}
}

// paler is a colour nearer to white: not every file format has transparent ones.
func paler(c color.RGBA) color.RGBA {
	half := func(v uint8) uint8 { return v + (255-v)/2 }
	return color.RGBA{half(c.R), half(c.G), half(c.B), 255}
}

// bandMarks draws the band of a series in the interactive form, which has room for no intervals then.
func bandMarks(s Series, log [2]bool, x, y float64, colour string) charts.SeriesOpts {
	var items []opts.MarkLineNameCoordItem
	for _, e := range s.edges(log[0], log[1]) {
		items = append(items, opts.MarkLineNameCoordItem{Coordinate0: []any{rounded(e[0].X / x), rounded(e[0].Y / y)}, Coordinate1: []any{rounded(e[1].X / x), rounded(e[1].Y / y)}})
	}
	return func(o *charts.SingleSeries) {
		intervalMarks(items, colour)(o)
		if o.MarkLines != nil {
			o.MarkLines.LineStyle.Width, o.MarkLines.LineStyle.Opacity = 1, opts.Float(0.6)
		}
	}
}
