package charts

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// logRoom is the room of a logarithmic Y axis at either end, as a share of its length: a point at an end is
// drawn whole.
const logRoom = 0.04

// logRange is where a logarithmic Y axis of values from lo to hi begins and ends. A single value stands in the
// middle.
func logRange(lo, hi float64) (from, to float64) {
	lo = max(lo, 1e-12)
	if hi <= lo {
		return lo / 2, lo * 2
	}
	room := math.Pow(hi/lo, logRoom)
	return lo / room, hi * room
}

// decadeLabels is how many powers of ten have labels at most.
const decadeLabels = 9

// decades are the ticks of a logarithmic axis from lo to hi, none of them outside: gonum/plot makes room for
// ticks that are outside, which leaves the picture half empty. Powers of ten have labels. Where fewer than two of them
// are sure to lie in the range, 1, 2 and 5 times each have, and where that gives fewer than three labels, round numbers.
func decades(lo, hi float64) []plot.Tick {
	const ulps = 1e-9 // an end that is a power of ten is on the axis
	first, last := int(math.Floor(math.Log10(lo))), int(math.Floor(math.Log10(hi)+ulps))
	steps := hi < 100*lo
	each := (last-first)/decadeLabels + 1
	var out []plot.Tick
	labelled := 0
	for k := first; k <= last; k++ {
		for n := 1; n < 10; n++ {
			v := rounded(float64(n) * math.Pow10(k))
			if v < lo*(1-ulps) || v > hi*(1+ulps) {
				continue
			}
			t := plot.Tick{Value: v}
			if n == 1 && (last-k)%each == 0 || steps && (n == 1 || n == 2 || n == 5) {
				t.Label = tickText(v)
				labelled++
			}
			out = append(out, t)
		}
	}
	if labelled < 3 && steps {
		return roundTicks(lo, hi)
	}
	return out
}

// logTitles are the titles of a plot's logarithmic axes. gonum/plot puts a title into the middle of its axis but
// takes the arithmetic mean of both ends for that middle when it leaves room, which is near the end of a logarithmic
// axis: half of a picture stayed blank. So the plot gets a blank in place of a title, and draw writes it.
type logTitles struct{ x, y string }

func takeTitles(p *plot.Plot, logX, logY bool) (out logTitles) {
	if logX && p.X.Label.Text != "" {
		out.x, p.X.Label.Text = p.X.Label.Text, " "
	}
	if logY && p.Y.Label.Text != "" {
		out.y = p.Y.Label.Text
		p.Y.Label.Text = " " + strings.Repeat("\n ", strings.Count(out.y, "\n"))
	}
	return out
}

// draw writes the titles of a plot that is drawn on the canvas, where gonum/plot would.
func (t logTitles) draw(p *plot.Plot, c draw.Canvas) {
	data := p.DataCanvas(c)
	middle := data.Center()
	if s := p.X.Label.TextStyle; t.x != "" {
		c.FillText(s, vg.Point{X: middle.X, Y: c.Min.Y + s.FontExtents().Descent}, t.x)
	}
	if s := p.Y.Label.TextStyle; t.y != "" {
		at := vg.Point{X: c.Min.X + s.Height(t.y) - s.FontExtents().Descent, Y: middle.Y}
		s.Rotation += math.Pi / 2
		c.FillText(s, at, t.y)
	}
}
