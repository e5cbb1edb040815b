package engine

import (
	"slices"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// A clock that is off by more than the drift changes no outcome but the age of what snapshots read: all is
// serialisable still, and the bound of the staleness is broken, by that much at most.
func TestClockSkew(t *testing.T) {
	run := func(k experiment.Knobs) *result.Result {
		spec := small(experiment.Knobs{"ts.scheme": "dst", "ts.clock_drift_ns": 1000, "ts.freshness": "stale", "phase.validation": "two-sided", "phase.lock": "two-sided", "phase.commit": "two-sided", "phase.ro_read": "two-sided"})
		spec, err := spec.With(k)
		if err != nil {
			t.Fatal(err)
		}
		return mustRun(t, spec)
	}
	good := run(nil)
	if len(brokenInvariants(good)) != 0 || !good.Checks.Passed() {
		t.Fatalf("without skew: %s", good.ChecksText())
	}
	// A clock that is behind reads the past by as much more. Behind one that is ahead all others are: they lack what it has stamped.
	for _, ns := range []int{-50_000, 50_000} {
		r := run(experiment.Knobs{"fault.clock_skew": ns, "fault.clock_skew_node": 1})
		if got := brokenInvariants(r); !slices.Equal(got, []string{"snapshots.staleness"}) {
			t.Errorf("%d ns off, broken: %v; %s", ns, got, r.ChecksText())
		}
		if a, b := good.StalenessNS, r.StalenessNS; a == nil || b == nil || a.Bound == nil || a.Max > *a.Bound || b.Max < 2**a.Bound || b.Max > *a.Bound+50_000 {
			t.Errorf("the oldest read was %+v, %d ns off %+v", a, ns, b)
		}
		for _, a := range r.Checks.Anomalies {
			if a.Breaks {
				t.Errorf("a clock %d ns off costs more than freshness: %s", ns, a.Text)
			}
		}
	}
	if _, err := experiment.Resolve(experiment.Spec{Set: experiment.Knobs{"ts.scheme": "dst", "fault.clock_skew_node": 9}}); err == nil {
		t.Error("a machine that does not exist has a skewed clock")
	}
}

// The skew moves from machine to machine, and ends, while the system runs.
func TestClockSkewLive(t *testing.T) {
	s := open(t, small(experiment.Knobs{"ts.scheme": "dst", "phase.validation": "two-sided", "phase.lock": "two-sided", "phase.commit": "two-sided", "phase.ro_read": "two-sided"}))
	for _, k := range []experiment.Knobs{{"fault.clock_skew": -20_000}, {"fault.clock_skew_node": 2}, {"fault.clock_skew": 0}} {
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatal(err)
		}
		advance(t, s, 50_000)
	}
	if _, err := s.Set(experiment.Knobs{"fault.clock_skew_node": 3}, "test"); err == nil {
		t.Error("a machine that does not exist has a skewed clock")
	}
}
