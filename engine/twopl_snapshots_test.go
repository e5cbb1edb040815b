package engine

import (
	"fmt"
	"testing"

	"drtmx/engine/experiment"
)

// Snapshots on two-phase locking with lock queues: under contention and loss, whatever the clocks and the staleness are,
// histories are what the scheme claims, nothing is staler than it promises, and no lock, version or waiting request is left.
func TestTwoPLSnapshots(t *testing.T) {
	workloads := map[string]experiment.Knobs{
		"registers": {"workload.keys": 60, "workload.mix.read-one": 60}, "smallbank": nil, "churn": {"workload.keys": 60}, "ycsb": {"workload.keys": 400}, "cycle": nil,
		"tpcc": {"workload.scale": 0.01}, "tpce": {"workload.scale": 0.01},
	}
	settings := []experiment.Knobs{
		{"ts.clock_drift_ns": 0, "2pl.deadlock": "wait-die"}, {"ts.clock_drift_ns": 20_000, "ts.staleness_ns": 200_000},
		{"ts.clock_drift_ns": 1_000_000, "2pl.deadlock": "wait-die", "ts.freshness": "mixed"}, {"oracle": true, "ts.freshness": "strict"},
	}
	for _, k := range experiment.Schemes {
		if k.Name != "dst" {
			settings = append(settings, experiment.Knobs{"ts.scheme": k.Name, "oracle": true})
		}
	}
	n := 0
	for w, own := range workloads { // order-free: each is a system of its own
		for i, x := range settings {
			if testing.Short() && i != 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", w, i), func(t *testing.T) {
				k := experiment.Knobs{"cc": "2pl", "ts.scheme": "dst", "2pl.timeout_ns": "500us", "2pl.read_ns": 0, "2pl.write_ns": 500, "workload": w, "fault.drop": 0.01, "check": "full",
					"warmup_ns": 200_000, "duration_ns": 2_000_000, "drain_ns": "500ms", "txn.backoff_max_ns": "500us"}
				for _, set := range []experiment.Knobs{own, x} {
					for name, v := range set { // order-free: names differ
						k[name] = v
					}
				}
				r := mustRun(t, small(k))
				if !r.Checks.Passed() || r.Commits == 0 {
					t.Errorf("%d commits: %s", r.Commits, r.ChecksText())
				}
				n += int(r.Commits)
			})
		}
	}
	t.Logf("%d transactions committed", n)
}
