package cluster

import (
	"strings"
	"testing"

	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// swept is a sweep over axes whose throughput is 100, 200 and so on.
func swept(axes ...experiment.Axis) *SweepResult {
	sets := []Knobs{{}}
	for _, a := range axes {
		var next []Knobs
		for _, s := range sets {
			for _, v := range a.Values {
				k := s.Clone()
				k[a.Knob] = v
				next = append(next, k)
			}
		}
		sets = next
	}
	out := &batch.SweepResult{Axes: axes}
	for i, set := range sets {
		out.Points = append(out.Points, sweptPoint(set, float64(100*(i+1))))
	}
	return &SweepResult{out}
}

// A heat map has the last axis across, numbers by their size, and says of every point without a
// value why.
func TestSweepHeatMap(t *testing.T) {
	s := swept(experiment.Axis{Knob: "phase.lock", Values: []any{"two-sided", "one-sided"}}, experiment.Axis{Knob: "coroutines", Values: []any{4, 1}})
	s.Raw.Points[0].Runs[0].Steady = true
	s.Raw.Points[1] = batch.SweepPoint{Set: s.Raw.Points[1].Set, Error: "no progress\nfor long"}
	s.Raw.Points[2] = batch.SweepPoint{Set: s.Raw.Points[2].Set}
	g, err := s.Grid("throughput")
	if err != nil {
		t.Fatal(err)
	}
	if g.X.Label != "coroutines" || strings.Join(g.X.Names, " ") != "1 4" || strings.Join(g.Y.Names, " ") != "two-sided one-sided" {
		t.Errorf("%+v %+v", g.X, g.Y)
	}
	want := [][]string{{"no value: no progress", "100/s ± 10/s"}, {"400/s ± 40/s, not steady", "no value: was not run: the sweep ended before"}}
	for y, row := range g.Panels[0].Cells {
		for x, c := range row {
			if got := charts.HeatText(g.Z, c); got != want[y][x] {
				t.Errorf("row %d, column %d: %q, want %q", y, x, got, want[y][x])
			}
		}
	}
	if g.Points[0][0][0] != 1 || g.Points[0][1][1] != 2 {
		t.Errorf("%v", g.Points)
	}
	fails(t, "no point of the sweep has such a number", func() { s.HeatMap("nonsense") })
}

// Axes before the last two are small heat maps.
func TestSweepHeatMapsOfThreeAxes(t *testing.T) {
	three := []experiment.Axis{{Knob: "nodes", Values: []any{3, 6}}, {Knob: "threads", Values: []any{1, 2}}, {Knob: "coroutines", Values: []any{1, 2, 4}}}
	g, err := swept(three...).Grid("throughput")
	if err != nil || len(g.Panels) != 2 || g.Panels[1].Name != "nodes = 6" || g.Points[1][0][0] != 6 || g.Panels[1].Cells[1][2].Value != 1200 {
		t.Fatalf("%+v, %v", g, err)
	}
	fails(t, "needs two axes, and the sweep has 1", func() { swept(three[:1]...).HeatMap("throughput") })
	many := make([]any, 30)
	for i := range many {
		many[i] = i + 3
	}
	three[0].Values = many
	fails(t, "make 30 small heat maps, and 24 is the most", func() { swept(three...).HeatMap("throughput") })
}

// The HTML of a sweep over two axes has heat maps; that over one, or with one value, has lines only.
func TestSweepHTMLHasHeatMaps(t *testing.T) {
	a, b := experiment.Axis{Knob: "threads", Values: []any{1, 2}}, experiment.Axis{Knob: "coroutines", Values: []any{1, 2}}
	one := a
	one.Values = one.Values[:1]
	for _, c := range []struct {
		axes []experiment.Axis
		want int
	}{{[]experiment.Axis{a, b}, 3}, {[]experiment.Axis{a}, 1}, {[]experiment.Axis{one, b}, 1}} {
		if n := strings.Count(swept(c.axes...).HTML(), `alt="`); n != c.want {
			t.Errorf("%d charts over %d axes, want %d", n, len(c.axes), c.want)
		}
	}
}
