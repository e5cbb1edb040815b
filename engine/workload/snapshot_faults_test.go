package workload_test

import (
	"testing"

	"drtmx/engine/mvcc"
	"drtmx/engine/occ"
	"drtmx/engine/workload"
)

// TestPlantedBugsOfVersions: faults between two steps at one record, which show where several cores come to it. In the same
// systems without them there is nothing.
func TestPlantedBugsOfVersions(t *testing.T) {
	sixteen := func(t testing.TB) workload.Bench { return few(t, 16) }
	for _, f := range []struct {
		variant  occ.Variant
		versions mvcc.Variant
		shape    int
		drift    int64
		bench    func(testing.TB) workload.Bench
		kinds    []string
	}{
		{variant: occ.LookBeforeLock, shape: 1, drift: 200_000, bench: sixteen, kinds: []string{"G-single", "G2"}},
		{variant: occ.CheckBeforeRaise, shape: 0, drift: 1_000_000, bench: cells, kinds: []string{"G2"}},
		{versions: mvcc.LookBeforeClaim, shape: 0, drift: 200_000, bench: sixteen, kinds: []string{"G-single"}},
	} {
		t.Run(f.variant.String()+"/"+f.versions.String(), func(t *testing.T) {
			cfg := stamped("dst", 0, f.drift)
			if _, bad := stress(t, cfg, shapes[f.shape], 1, 1500, f.bench(t)); len(bad) > 0 {
				t.Errorf("without the fault: %.600q", bad)
			}
			cfg.Variant, cfg.Versions = f.variant, f.versions
			caughtOn(t, cfg, shapes[f.shape], f.kinds, f.bench)
		})
	}
}
