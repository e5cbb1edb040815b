package engine

import (
	"context"
	"testing"
)

// Fewer districts make new-orders meet more often, more take more memory, and the twelve conditions hold.
func TestDistrictsOfAWarehouse(t *testing.T) {
	aborts, bytes := 2.0, int64(0)
	for _, n := range []int{1, 2, 10} {
		spec := company("tpcc-no", Knobs{"workload.items": 20_000, "workload.districts": n})
		r, err := Run(context.Background(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Checks.OK {
			t.Errorf("%d districts: %+v", n, r.Checks)
		}
		if r.AbortRate >= aborts {
			t.Errorf("%d districts: %.3f of the attempts abort, %.3f with fewer", n, r.AbortRate, aborts)
		}
		e, err := EstimateOf(spec)
		if err != nil {
			t.Fatal(err)
		}
		if e.MaxMemoryBytes <= bytes {
			t.Errorf("%d districts: %d bytes, %d with fewer", n, e.MaxMemoryBytes, bytes)
		}
		aborts, bytes = r.AbortRate, e.MaxMemoryBytes
	}
}
