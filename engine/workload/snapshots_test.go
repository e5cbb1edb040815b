package workload_test

import (
	"fmt"
	"testing"

	"drtmx/engine/timestamp"
	"drtmx/engine/workload"
)

// TestSnapshots: every workload, with read-only transactions that read snapshots, under contention, with torn reads and
// lost datagrams, whatever clocks and points are: the checker finds nothing that is not promised, staleness keeps its
// bound, and nothing is left behind.
func TestSnapshots(t *testing.T) {
	commits, large := uint64(1200), uint64(150)
	if testing.Short() {
		commits, large = 200, 30
	}
	seed := uint64(0)
	for _, staleness := range []int64{0, 200_000} {
		for _, drift := range []int64{0, 20_000, 1_000_000} {
			for _, fresh := range []string{"session", "stale", "strict", "mixed"} {
				cfg := stamped("dst", staleness, drift)
				switch fresh {
				case "stale":
					cfg.Settings.Timestamps.Freshness = timestamp.Stale
				case "strict":
					cfg.Settings.Timestamps.Freshness = timestamp.Strict
				case "mixed":
					cfg.Settings.Timestamps.Mixed = true
				}
				seed++
				for i, w := range []workload.Bench{bank(t), cells(t), wide(t), slots(t), longSlots(t), newTwins(t, 40), company(t), house(t)} {
					n := commits
					if i >= 6 {
						n = large
					}
					if _, bad := stress(t, cfg, shapes[(seed+uint64(i))%uint64(len(shapes))], seed, n, w); len(bad) > 0 {
						t.Errorf("%s, staleness %d ns, drift %d ns, %s, seed %d: %s", w.Name(), staleness, drift, fresh, seed, fmt.Sprintf("%.600q", bad))
					}
				}
			}
		}
	}
}
