package charts

import (
	"encoding/json"
	"strings"
	"testing"
)

// An axis that does not begin at 0 says where it does, in both forms.
func TestAxesSayWhereTheyBegin(t *testing.T) {
	for name, c := range map[string]struct {
		x, y   Axis
		xs     []float64
		wx, wy string
	}{
		"at 0":       {Axis{Label: "X"}, Axis{Label: "Y"}, []float64{0, 4}, "X", "Y"},
		"behind 0":   {Axis{Label: "X", Unit: "ms"}, Axis{Label: "Y", Unit: "µs", From: 500}, []float64{120, 160}, "X (ms), axis from 120", "Y (µs), axis from 500"},
		"with k":     {Axis{Label: "X"}, Axis{Label: "Y", Unit: "1/s", From: 2500}, []float64{1, 2}, "X, axis from 1", ""},
		"log":        {Axis{Label: "X", Log: true}, Axis{Label: "Y", Log: true}, []float64{1, 4}, "X, log scale", "Y, log scale"},
		"of choices": {Axis{Label: "X", Names: []string{"on", "off"}}, Axis{Label: "Y"}, []float64{0, 1}, "X", "Y"},
	} {
		chart := Lines("", c.x, c.y, []Series{{Name: "a", X: c.xs, Y: []float64{3000, 4000}}})
		var o struct{ XAxis, YAxis []struct{ Name string } }
		if err := json.Unmarshal([]byte(chart.Option()), &o); err != nil {
			t.Fatal(err)
		}
		drawn := strings.ReplaceAll(chart.SVG(), "</text>", "\n")
		if c.wy == "" { // in the unit that each form writes its ticks in
			if y := o.YAxis[0].Name; y != "Y (k/s), axis from 2.5" || !strings.Contains(drawn, ">Y (1/s), axis from 2.5 k\n") {
				t.Errorf("%s: %q, and %t in the picture", name, y, strings.Contains(drawn, ">Y (1/s), axis from 2.5 k\n"))
			}
			continue
		}
		if o.XAxis[0].Name != c.wx || o.YAxis[0].Name != c.wy {
			t.Errorf("%s: %q and %q, want %q and %q", name, o.XAxis[0].Name, o.YAxis[0].Name, c.wx, c.wy)
		}
		for _, want := range []string{c.wx, c.wy} {
			if !strings.Contains(drawn, ">"+want+"\n") {
				t.Errorf("%s: the picture lacks %q", name, want)
			}
		}
	}
}
