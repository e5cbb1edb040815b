package charts

import (
	"strings"
	"testing"
)

// What is read on the right has an axis of its own in both forms, behind the left ones.
func TestRightAxis(t *testing.T) {
	right := Axis{Label: "latency", Unit: "µs"}
	tracks := []Track{
		{Y: Axis{Label: "rate", Unit: "1/s"}, Right: &right, Series: []Series{{Name: "rate", X: []float64{1, 2}, Y: []float64{1e6, 2e6}}, {Name: "p50", X: []float64{1, 2}, Y: []float64{10, 40}, Right: true}}},
		{Y: Axis{Label: "aborts"}, Series: []Series{{Name: "aborts", X: []float64{1, 2}, Y: []float64{0, 1}}}},
	}
	c := Timeline("", Axis{Label: "x"}, tracks, nil)
	if svg := c.SVG(); !strings.Contains(svg, "latency (µs)") || !strings.Contains(svg, ">40<") {
		t.Error("the picture has no right axis up to 40")
	}
	option := c.Option()
	for _, want := range []string{`"yAxisIndex":2`, `"position":"right"`, `[2,40]`} {
		if !strings.Contains(option, want) {
			t.Errorf("%s is not in %s", want, option)
		}
	}
	if strings.Contains(option, "[2,0.00004]") {
		t.Error("what is read on the right has the prefix of the left")
	}
}

// Points have no line, ground no points.
func TestDotsAndGround(t *testing.T) {
	x := make([]float64, 50)
	for i := range x {
		x[i] = float64(i)
	}
	draw := func(s Series) (marks int, option string) {
		s.Name, s.X, s.Y = "s", x, x
		c := Lines("", Axis{}, Axis{}, []Series{s})
		return len(markedPoints(s, 0, 1, 0, 49)), c.Option()
	}
	if n, option := draw(Series{Dots: true}); n != 50 || !strings.Contains(option, `"showSymbol":true`) || !strings.Contains(option, "transparent") {
		t.Errorf("%d points in %s", n, option)
	}
	if n, option := draw(Series{Filled: true}); n != 0 || !strings.Contains(option, "areaStyle") {
		t.Errorf("%d points in %s", n, option)
	}
}
