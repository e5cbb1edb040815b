package engine

import (
	"maps"
	"slices"
	"testing"
)

// TestScratchIsNotKeptOverAWait: nothing that a run depends on changes when all scratch memory of a machine is
// overwritten whenever one of its coroutines waits. One message that is built before a wait and sent after it would.
func TestScratchIsNotKeptOverAWait(t *testing.T) {
	systems := goldenSystems()
	for _, name := range slices.Sorted(maps.Keys(systems)) {
		t.Run(name, func(t *testing.T) {
			k := systems[name]
			want, spoilt := open(t, small(k)), open(t, small(k))
			spoilt.cl.SpoilScratch()
			advance(t, want, 600_000)
			advance(t, spoilt, 600_000)
			a, b := want.Result(), spoilt.Result()
			if a.Digests != b.Digests {
				t.Errorf("%d commits, digests %+v; with scratch memory overwritten at each wait %d, %+v", a.Commits, a.Digests, b.Commits, b.Digests)
			}
		})
	}
}
