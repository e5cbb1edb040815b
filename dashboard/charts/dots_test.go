package charts

import (
	"math"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

// A dot beyond an end stands at the end with its number, and a band ends there.
func TestDotRows(t *testing.T) {
	nan := math.NaN()
	d := DotRows{X: Axis{Label: "ratio", From: 0.5, To: 2}, Rows: []string{"near", "far", "low"}, At: 1, Zones: []float64{0.2, 0.1}, Dots: []Dots{
		{Name: "first", Colour: palette.Thesis, Marker: palette.Circle, Hollow: true, X: []float64{1.1, 26, 0.2}},
		{Name: "now", Colour: palette.Good, Marker: palette.Square, X: []float64{1.05, 27, nan}, Band: [][2]float64{{1.2, 0.9}, {20, 1.5}, {nan, nan}}},
	}}
	left, right := d.beyond()
	if left[2] != "← 0.2" || right[1] != "27 →" || left[0]+right[0]+left[1]+right[2] != "" {
		t.Errorf("%q %q", left, right)
	}
	for i, want := range [][3]float64{{0.9, 1.2, 1}, {1.5, 2, 1}, {0, 0, 0}} {
		if lo, hi, ok := d.stripe(d.Dots[1].Band[i]); ok != (want[2] == 1) || ok && (lo != want[0] || hi != want[1]) {
			t.Errorf("%g: %g to %g, %v", d.Dots[1].Band[i], lo, hi, ok)
		}
	}
	c := DotRowsSized(Size{Width: 400}, "t", d)
	for _, says := range []string{`"27 →"`, "far, now: 27", "near, first: 1.1", `"coord":[0.9,0]`, `"coord":[2,1]`, `"xAxis":1}`, `"xAxis":0.8`} {
		if !strings.Contains(c.Option(), says) {
			t.Errorf("no %s in %s", says, c.Option())
		}
	}
	for _, says := range []string{"near", "now", "27 →"} {
		if !strings.Contains(c.SVG(), says) {
			t.Errorf("no %s in the picture", says)
		}
	}
	if DotRowsSized(Size{}, "", DotRows{X: Axis{To: 1}}).SVG() == "" {
		t.Error("no rows, no picture")
	}
}
