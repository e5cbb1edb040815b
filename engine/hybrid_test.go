package engine

import (
	"context"
	"maps"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// readsBy is a system whose snapshots READ what they can, of rows that straddle lines.
func readsBy(set experiment.Knobs) experiment.Knobs {
	all := experiment.Knobs{
		"phase.ro_read": "hybrid", "cache.enabled": true, "torn_reads": true, "workload.mix.read-only": 60, "ts.clock_drift_ns": "20us", "ts.freshness": "mixed",
		"workload.value_bytes": 104, "ts.staleness_ns": "50us", "ts.gc_ns": "200us", "ts.inline": 1,
	}
	maps.Copy(all, set)
	return all
}

// Snapshots that READ are as serialisable as those that ask, whatever is in the rows.
func TestSnapshotsThatReadAreSerializable(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{"ts.inline": 0}, {}, {"ts.inline": 3, "ts.staleness_ns": "1ms"},
		{"ts.staleness_ns": 0}, {"ts.inline": 0, "ts.staleness_ns": "1ms"},
		{"fault.drop": 0.01, "ts.staleness_ns": "1ms"},
		{"workload": "churn", "workload.mix.read-only": nil}, {"workload": "churn", "workload.mix.read-only": nil, "ts.inline": 0, "fault.drop": 0.01},
		{"ts.scheme": "truetime"}, {"ts.scheme": "gts", "oracle": true}, {"ts.scheme": "vts", "ts.freshness": "session", "oracle": true},
	} {
		all := readsBy(set)
		maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
		r, err := Run(context.Background(), versioned(all), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Checks.Passed() || r.Commits < 1000 {
			t.Errorf("%v: %d commits, %s %v", set, r.Commits, r.Checks.Why(), r.Checks.Findings())
		}
		if share := r.Parts["snapshots"]["one_sided"]; !(share > 0) {
			t.Errorf("%v: %g %% of the reads were one-sided", set, share)
		}
	}
}

// Nothing is wrong with snapshots that READ and meet many writers; engine/planted has READs that look at less. Under DST a writer takes longer
// from its lock to its first store than a READ takes, so that rows come torn under a scheme whose snapshots do not look at locks. Loss has the
// READs of a snapshot arrive at different times.
func TestReadsMeetWriters(t *testing.T) {
	long := experiment.Knobs{"ts.scheme": "vts", "ts.freshness": "session", "oracle": true, "workload.value_bytes": 1024, "workload.scale": 0.002, "workload.reads": 0, "ts.inline": 0}
	inline := maps.Clone(long)
	inline["ts.inline"] = 1
	for name, set := range map[string]experiment.Knobs{ // order-free: each is a system of its own
		"fresh":  {"ts.clock_drift_ns": "200us", "ts.staleness_ns": 0, "ts.freshness": "session", "fault.drop": 0.01, "workload.scale": 0.005, "workload.value_bytes": 24},
		"long":   long,
		"inline": inline,
	} {
		t.Run(name, func(t *testing.T) {
			set = readsBy(set)
			set["duration_ns"] = "15ms"
			if kinds := broken(t, set); len(kinds) > 0 {
				t.Errorf("found %v", kinds)
			}
		})
	}
}

// One-sided reads of versions stay refused, and hybrid ones stay chosen while schemes change.
func TestHybridReadsOfSnapshots(t *testing.T) {
	if _, err := Open(versioned(experiment.Knobs{"phase.ro_read": "one-sided"})); err == nil || !strings.Contains(err.Error(), "set phase.ro_read=two-sided, hybrid or auto") {
		t.Errorf("one-sided: %v", err)
	}
	s := open(t, versioned(readsBy(nil)))
	advance(t, s, 100_000)
	for _, step := range []struct {
		set  experiment.Knobs
		want string
	}{
		{experiment.Knobs{"ts.staleness_ns": 0}, "hybrid"},
		{experiment.Knobs{"ts.scheme": "truetime"}, "hybrid"},
		{experiment.Knobs{"phase.ro_read": "auto"}, "auto"},
		{experiment.Knobs{"phase.ro_read": "hybrid"}, "hybrid"},
		{experiment.Knobs{"preset": "drtm+h"}, "two-sided"},
	} {
		change(t, s, step.set)
		advance(t, s, 2_000_000)
		if is := s.Values().Text("phase.ro_read"); is != step.want {
			t.Errorf("%v: phase.ro_read is %s, want %s", step.set, is, step.want)
		}
	}
}
