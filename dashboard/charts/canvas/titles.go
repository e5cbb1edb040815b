package canvas

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LogTitles are the titles of a plot's logarithmic axes. gonum/plot puts a title into the middle of its axis but
// takes the arithmetic mean of both ends for that middle when it leaves room, which is near the end of a logarithmic
// axis: half of a picture stayed blank. So the plot gets a blank in place of a title, and Draw writes it.
type LogTitles struct{ x, y string }

// TakeTitles takes them from a plot.
func TakeTitles(p *plot.Plot, logX, logY bool) (out LogTitles) {
	if logX && p.X.Label.Text != "" {
		out.x, p.X.Label.Text = p.X.Label.Text, " "
	}
	if logY && p.Y.Label.Text != "" {
		out.y = p.Y.Label.Text
		p.Y.Label.Text = " " + strings.Repeat("\n ", strings.Count(out.y, "\n"))
	}
	return out
}

// Draw writes the titles of a plot that is drawn on the canvas, where gonum/plot would.
func (t LogTitles) Draw(p *plot.Plot, c draw.Canvas) {
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
