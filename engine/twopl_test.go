package engine

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
)

// Two-phase locking with lock queues runs every workload of transactions, over RDMA and over kernel TCP, with lost messages, and
// its histories are what it claims.
func TestTwoPLOnEveryWorkload(t *testing.T) {
	profiles := []string{"val", "vale", "aws"}
	if testing.Short() {
		profiles = profiles[:2]
	}
	for i := range experiment.Workloads {
		w := experiment.Workloads[i].Name
		if !experiment.Workloads[i].Load.Transactions {
			continue
		}
		for j, profile := range profiles {
			for n, deadlock := range []string{"timeout", "wait-die"} {
				if !soaking && (i+j+n)%2 == 1 { // each two of workload, profile and policy meet over the list, not all three
					continue
				}
				k := experiment.Knobs{"cc": "2pl", "2pl.deadlock": deadlock, "2pl.timeout_ns": "2ms", "profile": profile, "fault.drop": 0.01, "check": "full",
					"nodes": 3, "threads": 2, "coroutines": 4, "warmup_ns": 100_000, "duration_ns": 2_000_000, "drain_ns": "500ms"}
				spec, err := experiment.Spec{Workload: w}.With(k)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), spec, nil)
				if err != nil {
					t.Errorf("%s on %s, %s: %v", w, profile, deadlock, err)
					continue
				}
				if r.Checks.Failed() || r.Checks.Transactions+r.Commits == 0 {
					t.Errorf("%s on %s, %s: %d commits\n%s", w, profile, deadlock, r.Commits, r.ChecksText())
				}
				t.Logf("%s on %s, %s: %d commits, %d aborts", w, profile, deadlock, r.Commits, r.Aborts)
			}
		}
	}
}

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
