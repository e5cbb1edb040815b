package result

import "testing"

// The sentence of two systems names what differs by more than chance, apart from what does not, and what limits each.
func TestSentenceOfTwoSystems(t *testing.T) {
	change := func(v float64) *float64 { return &v }
	c := SystemDiff{A: "occ", B: "nowait", Metrics: []Diff{
		{Metric: "throughput", A: 5e5, B: 4.6e5, Change: change(-0.08), Half95: 0.02},
		{Metric: "latency_us.p50", A: 39, B: 24, Change: change(-0.38), Half95: 0.03},
		{Metric: "latency_us.p99", A: 400, B: 410, Change: change(0.025), Half95: 0.2},
		{Metric: "abort_rate", A: 0.3, B: 0.49, Change: change(0.63), Half95: 0.1},
		{Metric: "verbs.read", A: 1, B: 2, Change: change(1), Half95: 0.1},
	}}
	a, b := &Result{Limit: &Verdict{Word: Saturated}}, &Result{Limit: &Verdict{Word: Contended}}
	if got, want := c.sentence(a, b), "nowait against occ: throughput is 8 % lower, p50 is 38 % lower, aborts are 30 % in occ and 49 % in nowait, p99 not measurably different; occ is saturated, nowait is contended."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Metrics[0].Half95, c.Metrics[0].Why = 0, "too short"
	c.Metrics = c.Metrics[:1]
	if got, want := c.sentence(a, &Result{}), "nowait against occ: no number has an interval."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
