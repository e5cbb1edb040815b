package engine

import (
	"context"
	"maps"
	"slices"
	"testing"

	"drtmx/dst"
	"drtmx/engine/experiment"
)

// versioned is a small system whose snapshots meet many writers.
func versioned(set experiment.Knobs) experiment.Spec {
	all := experiment.Knobs{
		"ts.scheme": "dst", "ts.gc_ns": "10us", "nodes": 3, "threads": 4, "coroutines": 4, "workload": "registers", "workload.scale": 0.02,
		"check": "full", "warmup_ns": "100us", "duration_ns": "8ms", "drain_ns": "60ms",
	}
	maps.Copy(all, set)
	return experiment.Spec{Name: "snapshots", Preset: "fasst", Set: all}
}

// drifting are snapshots under clocks that differ.
var drifting = experiment.Knobs{"workload.mix.read-only": 60, "ts.clock_drift_ns": "200us"}

// Nothing is wrong with snapshots that meet many writers; engine/planted says which bugs show here.
func TestSnapshotsMeetWriters(t *testing.T) {
	for name, set := range map[string]experiment.Knobs{ // order-free: each is a system of its own
		"drifting": drifting,
		"stale":    {"workload.mix.read-only": 60, "ts.staleness_ns": "200us"},
		"hot":      {"workload.scale": 0.002, "ts.staleness_ns": "200us", "ts.gc_ns": "200us", "duration_ns": "30ms"},
		"fresh":    {"workload.scale": 0.002, "workload.mix.read-only": 60}, // who reads the past hardly ever waits
	} {
		t.Run(name, func(t *testing.T) {
			if kinds := broken(t, set); len(kinds) > 0 {
				t.Errorf("found %v", kinds)
			}
		})
	}
}

// Line 1 of Figure 5-9 as it is printed is found.
func TestFindsThePrintedWait(t *testing.T) {
	set := maps.Clone(drifting)
	set["ts.variant"] = dst.AsPublishedWait
	if kinds := broken(t, set); !slices.Contains(kinds, "G-single") {
		t.Errorf("found %v, want G-single", kinds)
	}
}

// broken are the kinds of the anomalies that break the claim.
func broken(t *testing.T, set experiment.Knobs) (kinds []string) {
	t.Helper()
	r, err := Run(context.Background(), versioned(set), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Checks.Anomalies {
		if a.Breaks {
			kinds = append(kinds, a.Kind)
		}
	}
	return kinds
}

// Snapshots of all workloads are serialisable with what writes, however far clocks are off and however old they may be.
func TestSnapshotsAreSerializable(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{}, {"ts.clock_drift_ns": 0}, {"ts.clock_drift_ns": "1ms", "ts.freshness": "mixed"}, {"fault.drop": 0.01, "ts.staleness_ns": "200us"},
		{"workload": "churn", "ts.staleness_ns": "200us"}, {"workload": "churn", "fault.drop": 0.01}, {"workload": "smallbank", "workload.scale": 0.001},
		{"ts.scheme": "truetime"},
	} {
		r, err := Run(context.Background(), versioned(set), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Checks.Passed() || r.Commits < 1000 {
			t.Errorf("%v: %d commits, %s %v", set, r.Commits, r.Checks.Why(), r.Checks.Findings())
		}
	}
}
