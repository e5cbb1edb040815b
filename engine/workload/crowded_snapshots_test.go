package workload_test

import (
	"testing"

	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// TestCrowdedSnapshots: several cores come to one record at a time, where the order of two steps there shows. engine/planted has each
// two in the wrong order.
func TestCrowdedSnapshots(t *testing.T) {
	crowd := func(t testing.TB) workload.Bench { return few(t, 16) }
	for _, x := range []struct {
		name  string
		shape int
		drift int64
		bench func(testing.TB) workload.Bench
		seed  uint64 // at which the wrong order shows
	}{
		{"lock-then-look", 1, 200_000, crowd, 2},
		{"raise-then-check", 0, 1_000_000, cells, 7},
		{"claim-then-look", 0, 200_000, crowd, 9},
	} {
		t.Run(x.name, func(t *testing.T) {
			for seed := x.seed; seed < x.seed+workloadtest.Effort(uint64(16), 1); seed++ {
				if _, bad := stress(t, stamped("dst", 0, x.drift), shapes[x.shape], seed, 1500, x.bench(t)); len(bad) > 0 {
					t.Fatalf("seed %d: %.600q", seed, bad)
				}
			}
		})
	}
}
