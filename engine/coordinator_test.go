package engine

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
)

// What a core takes for a transaction grows with coordinator.scale, under each protocol, in a run as in a figure.
func TestCoordinatorScaleTakesCores(t *testing.T) {
	for _, cc := range []string{"occ", "nowait"} {
		busy := func(scale float64) float64 {
			t.Helper()
			r, err := Run(context.Background(), experiment.Spec{Set: experiment.Knobs{"cc": cc, "nodes": 3, "threads": 2, "workload.scale": 0.01, "warmup_ns": 50_000, "duration_ns": 200_000, "coordinator.scale": scale}}, nil)
			if err != nil || r.Checks.Failed() {
				t.Fatal(err)
			}
			return r.Utilization["cpu"].Mean / r.Throughput
		}
		if one, more := busy(1), busy(4); more < 1.3*one {
			t.Errorf("%s: a transaction takes %.3g of the cores, and %.3g with four times the cycles", cc, one, more)
		}
	}
}
