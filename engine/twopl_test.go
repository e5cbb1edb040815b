package engine

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
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
		for _, profile := range profiles {
			for _, deadlock := range []string{"timeout", "wait-die"} {
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
				if r.Checks.Failed() || r.Commits == 0 {
					t.Errorf("%s on %s, %s: %d commits\n%s", w, profile, deadlock, r.Commits, r.ChecksText())
				}
				t.Logf("%s on %s, %s: %d commits, %d aborts", w, profile, deadlock, r.Commits, r.Aborts)
			}
		}
	}
}
