package figure_test

import (
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"

	"math"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func TestClaims4(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5.9, 62}, "C": {2.2, 9, 4, 90}})
	tput, lat := f.Throughputs(), f.Latencies()
	sixteen := func(load float64) bool { return load == 16 }
	for i, tt := range []struct {
		c    figure.Claim
		want string
	}{
		{tput.Ahead("c", "", figure.Pair{"A", "B"}, true, figure.Everywhere), figure.Undecided}, // alike under 16
		{tput.Ahead("c", "", figure.Pair{"A", "B"}, false, figure.Everywhere), figure.Holds},
		{tput.Ahead("c", "", figure.Pair{"C", "A"}, true, figure.Everywhere), figure.Contradicted},
		{lat.Ahead("c", "", figure.Pair{"C", "A"}, true, sixteen), figure.Holds},
		{lat.Ahead("c", "", figure.Pair{"C", "A"}, true, figure.Everywhere), figure.Contradicted},
		{lat.Ahead("c", "", figure.Pair{"C", "A"}, true, func(float64) bool { return false }), figure.Undecided},
		{tput.Tops("c", "", figure.Pair{"A", "C"}), figure.Holds},
		{tput.Tops("c", "", figure.Pair{"C", "A"}), figure.Contradicted},
		{f.RoundTrips("c", "", "A", "execution", 10), figure.Holds},
		{f.RoundTrips("c", "", "A", "execution", 5), figure.Contradicted},
		{f.RoundTrips("c", "", "A", "logging", 1), figure.Contradicted}, // none at all
		{figure.AllOf("c", "", figure.Claim{Status: figure.Holds}, figure.Claim{Status: figure.Undecided}), figure.Undecided},
		{figure.AllOf("c", "", figure.Claim{Status: figure.Contradicted}, figure.Claim{Status: figure.Undecided}), figure.Contradicted},
	} {
		if tt.c.Status != tt.want {
			t.Errorf("%d: %s, want %s: %s", i, tt.c.Status, tt.want, tt.c.Why)
		}
	}
	c := tput.Ahead("c", "", figure.Pair{"A", "B"}, true, figure.Everywhere)
	if c.Reference != "" || *c.Largest != 2 || math.Abs(*c.Smallest-6/5.9) > 1e-9 || math.Abs(*c.Peak-6/5.9) > 1e-9 || *c.Measured != 2 {
		t.Errorf("%+v", c)
	}
	// 384 cores half busy at 2 Mtxn/s are 96 us each.
	if !strings.Contains(c.Why, "96 µs of cores") || !strings.Contains(c.Why, "RNIC send pipeline 90 % busy") {
		t.Error(c.Why)
	}
}

// What is its parts together has their ratios: of C and B, and of C and A.
func TestRatiosOfParts(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5, 70}, "C": {4, 9, 9, 50}})
	tput := f.Throughputs()
	c := figure.AllOf("c", "", tput.Ahead("", "B", figure.Pair{"C", "B"}, true, figure.Everywhere), tput.Ahead("", "A", figure.Pair{"C", "A"}, true, figure.Everywhere))
	if c.Status != figure.Holds || *c.Largest != 4 || *c.Smallest != 1.5 || *c.Peak != 1.5 {
		t.Errorf("largest %g, smallest %g, peak over peak %g: %+v", *c.Largest, *c.Smallest, *c.Peak, c)
	}
	if c := figure.AllOf("c", "", figure.Claim{Status: figure.Undecided}); c.Largest != nil || c.Peak != nil {
		t.Errorf("ratios of nothing: %+v", c)
	}
}

// A number that nothing is published for is measured, and decides nothing.
func TestPeakWithoutReference(t *testing.T) {
	c := figuretest.Planted(2, map[string][4]float64{"A": {2, 10, 6, 60}}).Throughputs().Peak("c", "", "A")
	if *c.Measured != 6 || c.Unit != "Mtxn/s" || c.Status != figure.Undecided || !strings.Contains(c.Why, "6 ± 0.12 Mtxn/s at 16 coroutines") {
		t.Errorf("%g %+v", *c.Measured, c)
	}
	if c := (&figure.Figure{Series: []figure.Series{{Name: "A"}}}).Peak("c", "", "A"); c.Measured != nil || c.Status != figure.Undecided {
		t.Errorf("%+v", c)
	}
}

// Who is counted when the run ends are the quick ones, if Little's law is off.
func TestSettled(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5, 70}})
	claim := func() figure.Claim { return f.Throughputs().Tops("c", "", figure.Pair{"A", "B"}) }
	if c := claim(); c.Status != figure.Holds {
		t.Errorf("%+v", c)
	}
	f.Runs[3].Little, f.Runs[3].AbortRate = &result.Little{Error: -0.3}, 0.4
	if c := claim(); c.Status != figure.Undecided || !strings.Contains(c.Why, "off by -30 %, 40 % of its attempts abort") {
		t.Errorf("%+v", c)
	}
}

// What is said of the variant is measured of it, and the correct protocol told beside.
func TestTwice(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {1, 20, 5, 60}, "B": {2, 10, 6, 50}, "A" + figure.AbortsIgnored: {2, 10, 6, 50}, "B" + figure.AbortsIgnored: {1, 20, 5, 60}})
	tput := f.Throughputs()
	c := f.Twice(func(n func(string) string) []figure.Claim {
		return []figure.Claim{tput.Tops("c", "", figure.Pair{n("A"), n("B")})}
	})[0]
	if c.Status != figure.Holds || *c.Measured != 1.2 || !strings.HasPrefix(c.Why, "aborts ignored: 1.2x") || !strings.Contains(c.Why, "Correct protocol: contradicted, 0.833x") {
		t.Errorf("%+v", c)
	}
}

// Core time is compared by its intervals too.
func TestCycles(t *testing.T) {
	run := func(busy, half float64) *result.Result {
		return &result.Result{Spec: experiment.Knobs{"nodes": 16, "threads": 24}, Throughput: 1e6, ThroughputCI95: half,
			Utilization: map[string]result.Util{"cpu": {Mean: busy}}}
	}
	for _, tt := range []struct {
		less, half float64
		want       string
	}{{0.4, 0.01, figure.Holds}, {0.58, 0.2, figure.Undecided}, {0.8, 0.01, figure.Contradicted}} {
		f := &figure.Figure{Runs: []*result.Result{run(tt.less, tt.half), run(0.6, tt.half)}}
		if c := f.Cycles(figure.Claim{ID: "c"}, figure.Point{Run: 0}, figure.Point{Run: 1}); c.Status != tt.want || math.Abs(*c.Measured-0.6/tt.less) > 1e-9 {
			t.Errorf("%+v: %s, %s", tt, c.Status, c.Why)
		}
	}
}

// A point that the thesis's ratio expects is on the axis of what is compared, and only there.
func TestExpectedPlaces(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5, 70}})
	tput, lat := f.Throughputs(), f.Latencies()
	one := func(load float64) bool { return load == 1 }
	for _, tt := range []struct {
		c           figure.Claim
		x, y        float64
		base, label string
	}{
		{tput.Ahead("f4-2b-cache-tput", "", figure.Pair{"A", "B"}, true, one).As(figure.Times), 1.36, 10, "B", "1.36x B"},
		{lat.Ahead("f4-6-one-lat", "", figure.Pair{"B", "A"}, true, one).As(figure.ShareOf), 2, 16, "B", "80 % of B"},
		{lat.Ahead("f4-9a-lat-fasst", "", figure.Pair{"B", "A"}, true, one).As(figure.LessBy), 2, 20 * 0.67, "B", "B - 33 %"},
	} {
		refs := figure.Relative(f, tt.c)
		if len(refs) != 1 {
			t.Fatalf("%s: %d places", tt.c.ID, len(refs))
		}
		if r := refs[0]; math.Abs(*r.X-tt.x) > 1e-9 || math.Abs(*r.To-tt.y) > 1e-9 || r.Relative != tt.base || r.Mark(f.X) != tt.label {
			t.Errorf("%s: %g, %g, %+v", tt.c.ID, *r.X, *r.To, r)
		}
	}
}

// Both states of a claim stand side by side in text and table.
func TestBothStatesAreShown(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {1, 20, 5, 60}, "B": {2, 10, 6, 50}, "A" + figure.AbortsIgnored: {2, 10, 6, 50}, "B" + figure.AbortsIgnored: {1, 20, 5, 60}})
	tput := f.Throughputs()
	f.Claims = append(f.Twice(func(n func(string) string) []figure.Claim {
		return []figure.Claim{tput.Tops("c", "A is faster", figure.Pair{n("A"), n("B")})}
	}), figure.Claim{Claim: "one state", Status: figure.Holds})
	if s := f.Claims[0].States; len(s) != 2 || s[0].Name != figure.StateIgnored || s[0].Status != figure.Holds || s[1].Name != figure.StateCorrect || s[1].Status != figure.Contradicted {
		t.Errorf("%+v", s)
	}
	if text := f.String(); !strings.Contains(text, "\naborts ignored  correct protocol\n✓ holds         ✗ contradicted  A is faster: ") || !strings.Contains(text, "\n✓ holds                         one state: ") {
		t.Errorf("%s", text)
	}
	if h := figure.ClaimTable(f); strings.Count(h, "<th") != 5 || !strings.Contains(h, "✓ holds</span></td>") || !strings.Contains(h, "✗ contradicted</span></td>") || !strings.Contains(h, `colspan="2"`) {
		t.Error(h)
	}
	figure.LeaveOpen(&f.Claims[0], "another experiment")
	if s := f.Claims[0]; s.Status != figure.Undecided || s.States[0].Status != figure.Undecided || s.States[1].Status != figure.Undecided {
		t.Errorf("%+v", s)
	}
}
