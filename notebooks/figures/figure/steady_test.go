package figure

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// A claim that would hold is undecided, with the reason, if a run that it rests on is not steady, and
// stays as it is if another run is not.
func TestNoClaimHoldsOnAnUnsteadyRun(t *testing.T) {
	steady := func(throughput float64) *result.Result {
		return &result.Result{Spec: experiment.Knobs{"nodes": 1}, Steady: true, Throughput: throughput, ThroughputCI95: 0.001, LatencyUS: result.Latency{P50: 4e7 / throughput}}
	}
	ratio := &Definition{ID: "x", Scope: "cluster", Plan: func(string) Plan {
		point := func(x float64) PlannedPoint { return PlannedPoint{X: x, Read: Mtxn} }
		late := PlannedPoint{X: 1, Read: MedianLatency}
		return Plan{Series: []PlannedSeries{{Name: "A", Points: []PlannedPoint{point(1), point(2)}}, {Name: "B", Points: []PlannedPoint{point(1), point(2)}}, {Name: "slow", Points: []PlannedPoint{late}}}}
	}, Claims: func(f *Figure) []Claim {
		p := f.Line("slow").Points[0]
		return []Claim{
			f.Gains("one", "A is above B at 1", Divide(Pair{"A", "B"}, f.Series[0].Points[0], f.Series[1].Points[0])),
			f.Gains("two", "A is above B at 2", Divide(Pair{"A", "B"}, f.Series[0].Points[1], f.Series[1].Points[1])),
			{ID: "count", Status: Holds, Measured: &f.Runs[0].RoundTripsPerTxn},
			{ID: "latency", Status: Near(p.Y, p.CI95, 2), Measured: &p.Y},
		}
	}}
	verdicts := func(spoil func(rs []*result.Result)) (out []string, why string) {
		rs := []*result.Result{steady(2e7), steady(3e7), steady(1e7), steady(1e7), steady(2e7)}
		rs[0].RoundTripsPerTxn = 2.5
		spoil(rs)
		for _, c := range New(ratio).From(Quick, rs).Claims {
			out = append(out, c.Status)
			why += c.Why
		}
		return out, why
	}
	for _, tt := range []struct {
		name  string
		spoil func(rs []*result.Result)
		want  []string
		why   string
	}{
		{"all steady", func([]*result.Result) {}, []string{Holds, Holds, Holds, Holds}, ""},
		{"the run of a ratio and of a count", func(rs []*result.Result) { rs[0].Steady, rs[0].Unsteady = false, "Little's law is off" }, []string{Undecided, Holds, Undecided, Holds}, "not steady, a run that it rests on: Little's law is off"},
		{"both runs of a ratio", func(rs []*result.Result) { rs[1].Unsteady, rs[3].Unsteady = "still drifting", "still drifting" }, []string{Holds, Undecided, Holds, Holds}, "one of 2 runs"},
		{"a run that is not steady, before it one whose latency has no interval", func(rs []*result.Result) {
			rs[0].NoCI95 = map[string]string{"p99": "too short"}
			rs[1].Unsteady = "still drifting"
		}, []string{Holds, Undecided, Holds, Holds}, "a run that it rests on: still drifting"},
		{"a latency without an interval", func(rs []*result.Result) { rs[4].NoCI95 = map[string]string{"p50": "too few"} }, []string{Holds, Holds, Holds, Undecided}, "p50: too few"},
	} {
		got, why := verdicts(tt.spoil)
		if !slices.Equal(got, tt.want) || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %v, want %v: %s", tt.name, got, tt.want, why)
		}
	}
}

// A run over time has windows, which are not spoilt.
func TestRunsOverTimeAreNotSpoilt(t *testing.T) {
	r := &result.Result{Unsteady: "drifting", Timeline: make([]result.Moment, 3)}
	if _, why := unsteadyRun(r, 2); why != "" {
		t.Errorf("a run over time is spoilt: %s", why)
	}
	r.Timeline = nil
	if _, why := unsteadyRun(r, 2); why != "drifting" {
		t.Errorf("a run that is not steady is spoilt for %q", why)
	}
}
