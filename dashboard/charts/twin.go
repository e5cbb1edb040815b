package charts

import (
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"drtmx/dashboard/charts/canvas"
)

// twin is the right axis of a track in a static picture: what is read on it is drawn on the left axis, so much larger.
type twin struct {
	axis  *Axis
	times float64
}

func (t *Track) twin() twin {
	left, right := t.sides()
	top := func(of []Series) (y float64) {
		for _, v := range values(of) {
			if finite(v, 0) {
				y = max(y, v)
			}
		}
		return y
	}
	if l, r := top(left), top(right); l > 0 && r > 0 {
		return twin{t.Right, l / r}
	}
	return twin{t.Right, 1}
}

// onLeft are the series as they are drawn.
func (w twin) onLeft(series []Series) []Series {
	series = slices.Clone(series)
	for i, s := range series {
		if s.Right {
			series[i].Y, series[i].CI = slices.Clone(s.Y), slices.Clone(s.CI)
			for _, vs := range [][]float64{series[i].Y, series[i].CI} {
				for k := range vs {
					vs[k] *= w.times
				}
			}
		}
	}
	return series
}

// add draws the axis, where there is one.
func (w twin) add(p *plot.Plot) {
	if w.axis != nil {
		p.Add(canvas.RightAxis{Title: w.axis.Title(), Times: w.times, Ticks: ticks(*w.axis)})
	}
}

// rightRoom is what is right of the panels of a static picture, interactiveRight of an interactive one.
func rightRoom(tracks []Track) vg.Length {
	if slices.ContainsFunc(tracks, func(t Track) bool { return t.Right != nil }) {
		return canvas.RightRoom
	}
	return 14
}

func interactiveRight(tracks []Track) int {
	if slices.ContainsFunc(tracks, func(t Track) bool { return t.Right != nil }) {
		return 66
	}
	return 20
}

// sides are the series that are read on the left and on the right.
func (t *Track) sides() (left, right []Series) {
	for _, s := range t.Series {
		if s.Right && t.Right != nil {
			right = append(right, s)
		} else {
			left = append(left, s)
		}
	}
	return left, right
}

// rightAxis is the right axis of a track, if it has one, and what its values are divided by.
func rightAxis(t Track, right []Series, panel int) (factor float64, axis []opts.YAxis) {
	if t.Right == nil {
		return 1, nil
	}
	factor, prefix := prefixOf(*t.Right, values(right)...)
	return factor, []opts.YAxis{{Name: prefixed(*t.Right, prefix).Title(), Type: axisType(*t.Right), GridIndex: panel, Position: "right", NameLocation: "end",
		SplitNumber: 3, AxisLabel: &opts.AxisLabel{Show: opts.Bool(true)}, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}}
}

// readOn has a series read on the axis with this number.
func readOn(axis int) charts.SeriesOpts {
	return func(o *charts.SingleSeries) { o.YAxisIndex = axis }
}

// dotsOrGround takes a series' line away, or paints the ground below it.
func dotsOrGround(s Series) charts.SeriesOpts {
	return func(o *charts.SingleSeries) {
		switch {
		case s.Dots:
			o.ShowSymbol = opts.Bool(true)
			charts.WithLineStyleOpts(opts.LineStyle{Color: "transparent"})(o)
		case s.Filled:
			o.ShowSymbol = opts.Bool(false)
			charts.WithAreaStyleOpts(opts.AreaStyle{Opacity: opts.Float(0.3)})(o)
		}
	}
}
