package workload_test

import (
	"fmt"
	"testing"

	"drtmx/engine/timestamp"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// snapshotRun is a workload with clocks, points and a shape.
type snapshotRun struct {
	staleness, drift int64
	fresh            string
	workload, shape  int
}

// snapshotRuns are some in which each two of these meet; in make soak all, but for the shape.
func snapshotRuns(workloads int) (out []snapshotRun) {
	stalenesses, drifts, fresh := []int64{0, 200_000}, []int64{0, 20_000, 1_000_000}, []string{"session", "stale", "strict", "mixed"}
	if !workloadtest.Soak {
		for _, r := range workloadtest.Pairs([]int{len(stalenesses), len(drifts), len(fresh), workloads, len(shapes)}) {
			out = append(out, snapshotRun{stalenesses[r[0]], drifts[r[1]], fresh[r[2]], r[3], r[4]})
		}
		return out
	}
	for _, s := range stalenesses {
		for _, d := range drifts {
			for _, f := range fresh {
				for w := range workloads {
					out = append(out, snapshotRun{s, d, f, w, len(out) % len(shapes)})
				}
			}
		}
	}
	return out
}

// TestSnapshots: every workload, with read-only transactions that read snapshots, under contention, with torn reads and
// lost datagrams, whatever clocks and points are: the checker finds nothing that is not promised, staleness keeps its
// bound, and nothing is left behind.
func TestSnapshots(t *testing.T) {
	commits, large := uint64(1200), uint64(150)
	if testing.Short() {
		commits, large = 200, 30
	}
	benches := []func(testing.TB) workload.Bench{bank, cells, wide, slots, longSlots, func(t testing.TB) workload.Bench { return newTwins(t, 40) }, company, house}
	for i, x := range snapshotRuns(len(benches)) {
		cfg := stamped("dst", x.staleness, x.drift)
		switch x.fresh {
		case "stale":
			cfg.Settings.Timestamps.Freshness = timestamp.Stale
		case "strict":
			cfg.Settings.Timestamps.Freshness = timestamp.Strict
		case "mixed":
			cfg.Settings.Timestamps.Mixed = true
		}
		n := commits
		if x.workload >= 6 {
			n = large
		}
		w := benches[x.workload](t)
		if _, bad := stress(t, cfg, shapes[x.shape], uint64(i+1), n, w); len(bad) > 0 {
			t.Errorf("%s, %+v, seed %d: %s", w.Name(), x, i+1, fmt.Sprintf("%.600q", bad))
		}
	}
}
