package canvas

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/palette"
)

// Hatch is the pattern of the k-th part of bars, which tells parts apart where colour
// does not: on paper in black and white.
type Hatch int

// strokes are the directions of a pattern's lines, in degrees, and how far apart they are.
var strokes = [...]struct {
	angles []float64
	gap    vg.Length
}{{nil, 1}, {[]float64{45}, 5}, {[]float64{135}, 3}, {[]float64{45, 135}, 6}, {[]float64{90}, 4}, {[]float64{0}, 3}, {[]float64{0, 90}, 4}, {[]float64{45}, 2.4}}

// Fill paints a rectangle with the colour and the pattern.
func (h Hatch) Fill(c draw.Canvas, r vg.Rectangle, ground color.Color) {
	c.SetColor(ground)
	c.Fill(r.Path())
	pattern := strokes[int(h)%len(strokes)]
	ink := draw.LineStyle{Color: inkOf(ground), Width: 0.7}
	for _, angle := range pattern.angles {
		c.StrokeLines(ink, hatching(r, angle*math.Pi/180, pattern.gap)...)
	}
}

// inkOf is the ink that is seen on a ground.
func inkOf(ground color.Color) color.Color {
	r, g, b, _ := ground.RGBA()
	if 0.299*float64(r)+0.587*float64(g)+0.114*float64(b) > 0.5*math.MaxUint16 {
		return palette.RGBA(palette.DarkInk)
	}
	return palette.RGBA(palette.LightInk)
}

// hatching are the lines of a direction within a rectangle. Where they are depends on
// their place on the page alone, so neighbours line up.
func hatching(r vg.Rectangle, angle float64, gap vg.Length) (lines [][]vg.Point) {
	dx, dy := vg.Length(math.Cos(angle)), vg.Length(math.Sin(angle))
	off := func(p vg.Point) vg.Length { return p.Y*dx - p.X*dy } // across the lines
	lo, hi := vg.Length(math.Inf(1)), vg.Length(math.Inf(-1))
	for _, p := range []vg.Point{r.Min, r.Max, {X: r.Min.X, Y: r.Max.Y}, {X: r.Max.X, Y: r.Min.Y}} {
		lo, hi = min(lo, off(p)), max(hi, off(p))
	}
	for k := math.Ceil(float64(lo/gap)) + 0.5; vg.Length(k)*gap < hi; k++ {
		d := vg.Length(k) * gap
		from, to := vg.Length(math.Inf(-1)), vg.Length(math.Inf(1)) // along the line
		clip := func(at, step, a, b vg.Length) {
			if math.Abs(float64(step)) < 1e-9 {
				if at < a || at > b {
					from, to = 1, 0
				}
				return
			}
			s, e := (a-at)/step, (b-at)/step
			from, to = max(from, min(s, e)), min(to, max(s, e))
		}
		clip(-d*dy, dx, r.Min.X, r.Max.X)
		clip(d*dx, dy, r.Min.Y, r.Max.Y)
		if from < to {
			lines = append(lines, []vg.Point{{X: -d*dy + from*dx, Y: d*dx + from*dy}, {X: -d*dy + to*dx, Y: d*dx + to*dy}})
		}
	}
	return lines
}

// HatchedBars are horizontal bars with a pattern.
type HatchedBars struct {
	*plotter.BarChart
	Hatch Hatch
}

// Plot draws each bar where the bar chart would.
func (b HatchedBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, v := range b.Values {
		base := b.base(i)
		if v == 0 {
			continue
		}
		at := y(b.XMin + float64(i))
		b.Hatch.Fill(c, vg.Rectangle{Min: vg.Point{X: x(base), Y: at - b.Width/2}, Max: vg.Point{X: x(base + v), Y: at + b.Width/2}}, b.Color)
	}
}

// base is where a bar begins: at the end of those that it is stacked on.
func (b HatchedBars) base(i int) float64 { return b.BarHeight(i) - b.Values[i] }
