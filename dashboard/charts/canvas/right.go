package canvas

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RightRoom is what a right axis takes beside the picture.
const RightRoom = 62 * vg.Length(1)

// RightAxis is a second vertical axis, beside the right edge of a plot whose left axis is linear: a number of it stands where the left
// one has so many times as much.
type RightAxis struct {
	Title string
	Times float64
	Ticks plot.Ticker
}

// Plot draws the axis outside of the plot's own canvas.
func (a RightAxis) Plot(c draw.Canvas, p *plot.Plot) {
	line := draw.LineStyle{Color: p.Y.LineStyle.Color, Width: p.Y.LineStyle.Width}
	c.StrokeLine2(line, c.Max.X, c.Min.Y, c.Max.X, c.Max.Y)
	_, y := p.Transforms(&c)
	words := p.Y.Tick.Label
	words.XAlign = text.XLeft
	for _, t := range a.Ticks.Ticks(p.Y.Min/a.Times, p.Y.Max/a.Times) {
		at := y(t.Value * a.Times)
		c.StrokeLine2(line, c.Max.X, at, c.Max.X+4, at)
		c.FillText(words, vg.Point{X: c.Max.X + 6, Y: at}, t.Label)
	}
	title := p.Y.Label.TextStyle
	title.Rotation += math.Pi / 2
	title.XAlign, title.YAlign = text.XCenter, text.YBottom
	c.FillText(title, vg.Point{X: c.Max.X + RightRoom - 6, Y: c.Center().Y}, a.Title)
}
