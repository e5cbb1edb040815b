package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// TestRegistersRules: transactions that cannot be are refused by the knob that makes them so, before
// anything is opened, and what is just allowed runs with every primitive.
func TestRegistersRules(t *testing.T) {
	with := func(k experiment.Knobs) experiment.Spec {
		k["workload"] = "registers"
		return small(k)
	}
	for want, k := range map[string]experiment.Knobs{
		"workload.reads = 0: ":   {"workload.reads": 0, "workload.writes": 0},
		"workload.keys = 8: ":    {"workload.keys": 8, "workload.reads": 6, "workload.writes": 3},
		"workload.keys = 1000: ": {"workload.keys": 1000, "workload.scale": 0.01, "workload.reads": 9},
		"workload.writes = 4: ":  {"workload.value_bytes": 1024, "workload.writes": 4},
		"set workload.writes=3":  {"workload.value_bytes": 1024, "workload.writes": 16},
		"workload.keys = 2000":   {"workload.keys": 200_000_000},
	} {
		if _, err := experiment.Resolve(with(k)); err == nil || !strings.Contains(err.Error(), want) || !experiment.IsSpecError(err) {
			t.Errorf("%v: %v, want %s", k, err, want)
		}
	}
	for _, preset := range []string{"drtm+h", "fasst"} {
		for _, k := range []experiment.Knobs{
			{"workload.value_bytes": 1024, "workload.writes": 3}, {"workload.value_bytes": 8, "workload.writes": 16, "workload.keys": 500},
			{"workload.reads": 0, "workload.writes": 1}, {"workload.reads": 64, "workload.writes": 0},
		} {
			k["preset"] = preset
			if r := mustRun(t, with(k)); r.Commits == 0 || !r.Checks.Passed() {
				t.Errorf("%v: %d commits, %s", k, r.Commits, r.ChecksText())
			}
		}
	}
}

// TestLocalRegisters: the share of own registers is what the rule for the lock's primitive is told.
func TestLocalRegisters(t *testing.T) {
	for _, x := range []struct{ remote, want int }{{-1, 25}, {0, 100}, {300, 70}, {1000, 0}} {
		s := open(t, small(experiment.Knobs{"nodes": 4, "workload": "registers", "workload.remote.register": x.remote, "workload.keys": 4000}))
		if got := experiment.Workloads.Load(s.values).LocalLocks(s.values); got != x.want {
			t.Errorf("remote %d: %d %% local, want %d", x.remote, got, x.want)
		}
		if err := s.Advance(300_000); err != nil {
			t.Fatal(err)
		}
		n := s.load.db.Locks()
		if got := int(100 * n.Local / n.All); got < x.want-8 || got > x.want+8 {
			t.Errorf("remote %d: %d %% of %d locks are local, want %d", x.remote, got, n.All, x.want)
		}
	}
}
