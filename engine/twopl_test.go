package engine

import (
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
)

// Reads that take no locks see what no order of the transactions explains, and that is all that read committed allows: no value
// that was not committed, and no lost update. With locks there is nothing of it.
func TestTwoPLReadCommitted(t *testing.T) {
	for isolation, want := range map[string]history.Claim{"read-committed": history.ReadCommitted, "serializable": history.StrictSerializable} { // order-free: each is a run of its own
		r := mustRun(t, small(experiment.Knobs{"cc": "2pl", "2pl.isolation": isolation, "2pl.timeout_ns": "1ms", "workload": "ycsb", "workload.scale": 1.0, "workload.keys": 60,
			"workload.ops": 3, "workload.theta": 0.0, "workload.write_share": 0.5, "check": "full", "duration_ns": 4_000_000, "drain_ns": "500ms"}))
		if !r.Checks.Passed() || r.Checks.Claimed != want || r.Commits < 100 {
			t.Errorf("%s: %d commits\n%s", isolation, r.Commits, r.ChecksText())
		}
		if n := r.Checks.Count; (n > 0) != (want == history.ReadCommitted) {
			t.Errorf("%s: %d anomalies\n%s", isolation, n, r.ChecksText())
		}
	}
}

// Records that a workload announces and will write are locked exclusively from the start: no two transactions share one that both
// then want for themselves. The same clients that do not announce run into that.
func TestAnnouncedWritesAreLockedAtOnce(t *testing.T) {
	for _, workload := range []string{"tpcc-no", "smallbank"} {
		deadlocks := map[bool]float64{}
		for _, announce := range []bool{true, false} {
			r := mustRun(t, small(experiment.Knobs{"cc": "2pl", "2pl.timeout_ns": "1ms", "txn.speculative": announce, "workload": workload,
				"workload.scale": 1.0, "workload.warehouses": 1, "workload.accounts": 100, "coroutines": 8, "duration_ns": 4_000_000, "drain_ns": "500ms"}))
			if r.Parts["locks"]["waits"] == 0 || r.Commits < 50 {
				t.Errorf("%s: %d commits, and locks show %v", workload, r.Commits, r.Parts["locks"])
			}
			deadlocks[announce] = r.Parts["locks"]["deadlocks"]
		}
		if deadlocks[true] != 0 || workload == "smallbank" && deadlocks[false] == 0 {
			t.Errorf("%s: %v upgrades a second in deadlock, announced and not", workload, deadlocks)
		}
	}
}
