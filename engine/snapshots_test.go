package engine

import (
	"context"
	"maps"
	"slices"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/mvcc"
	"drtmx/engine/occ"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// faultyKinds are OCC with faults in what keeps versions of records.
func faultyKinds() (kinds txn.Kinds) {
	for _, v := range mvcc.Variants() {
		k := occ.Kind
		k.Name = "occ-" + v.String()
		k.Presets, k.Follower = nil, nil
		k.Config = func(values knob.Values, load *testbed.Load, seen txn.Seen) txn.Config {
			c := occ.Kind.Config(values, load, seen).(occ.Config)
			c.Versions = v
			return c
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// versioned is a small system whose snapshots meet many writers.
func versioned(set experiment.Knobs) experiment.Spec {
	all := experiment.Knobs{
		"ts.scheme": "dst", "ts.gc_ns": "10us", "nodes": 3, "threads": 4, "coroutines": 4, "workload": "registers", "workload.scale": 0.02,
		"check": "full", "warmup_ns": "100us", "duration_ns": "8ms", "drain_ns": "60ms",
	}
	maps.Copy(all, set)
	return experiment.Spec{Name: "snapshots", Preset: "fasst", Set: all}
}

// Faults of what keeps versions are found in snapshots, and nothing in the same systems without them.
func TestFindsFaultsOfVersions(t *testing.T) {
	drift := experiment.Knobs{"workload.mix.read-only": 60, "ts.clock_drift_ns": "200us"}
	stale := experiment.Knobs{"workload.mix.read-only": 60, "ts.staleness_ns": "200us"}
	hot := experiment.Knobs{"workload.scale": 0.002, "ts.staleness_ns": "200us", "ts.gc_ns": "200us", "duration_ns": "30ms"}
	fresh := experiment.Knobs{"workload.scale": 0.002, "workload.mix.read-only": 60} // who reads the past hardly ever waits
	for _, f := range []struct {
		variant mvcc.Variant
		set     experiment.Knobs
		kind    string
	}{
		{mvcc.AsPublishedWait, drift, "G-single"},
		{mvcc.NoWait, fresh, "G-single"},
		{mvcc.ReadsNotRaised, hot, "G2"},
		{mvcc.CollectedEarly, stale, mvcc.VersionLost},
		{mvcc.SlotReused, hot, mvcc.VersionLost},
	} {
		t.Run(f.variant.String(), func(t *testing.T) {
			set := maps.Clone(f.set)
			if kinds := broken(t, set); len(kinds) > 0 {
				t.Errorf("without the fault: %v", kinds)
			}
			set["cc"] = "occ-" + f.variant.String()
			if kinds := broken(t, set); !slices.Contains(kinds, f.kind) {
				t.Errorf("found %v, want %s", kinds, f.kind)
			}
		})
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
