package charts

import (
	"image/color"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Words at places that are close to each other cover neither each other nor a marker, and stay in the
// picture.
func TestWordsCoverNothing(t *testing.T) {
	p := newPlot("Sans")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 10, 0, 10
	var l labels
	for _, x := range []float64{5, 5.1, 9.99, 10} {
		s := Series{X: []float64{x}, Y: []float64{5}, Labels: []string{"16"}}
		l.beside(s, []int{0}, color.RGBA{}, false, false)
	}
	l.published([]label{{at: plotter.XY{X: 5.05, Y: 5.1}, text: "2x FaSST", size: 8}, {at: plotter.XY{X: 0, Y: 5}, text: "a long word at the left edge", size: 8, left: true}})
	c := draw.New(vgsvg.New(400, 300))
	boxes := l.boxes(c, p)
	if len(boxes) != 6 {
		t.Fatalf("%d words", len(boxes))
	}
	x, y := p.Transforms(&c)
	for i, b := range boxes {
		if n := covered(boxes, b); n != 1 {
			t.Errorf("word %d covers %d others", i, n-1)
		}
		for _, m := range l.markers {
			at := vg.Point{X: x(m.X), Y: y(m.Y)}
			if b.Min.X < at.X && at.X < b.Max.X && b.Min.Y < at.Y && at.Y < b.Max.Y {
				t.Errorf("word %d covers a marker", i)
			}
		}
		if b.Min.X < c.Min.X || b.Max.X > c.Max.X {
			t.Errorf("word %d from %v to %v, the picture from %v to %v", i, b.Min.X, b.Max.X, c.Min.X, c.Max.X)
		}
	}
}
