package engine

import (
	"context"
	"maps"
	"slices"
	"testing"

	"drtmx/engine/sim"
)

// How machines run apart has no effect on a result: windows of a picosecond are the order of one queue.
func TestSpreadHasNoEffect(t *testing.T) {
	systems := goldenSystems()
	for i, name := range slices.Sorted(maps.Keys(systems)) {
		t.Run(name, func(t *testing.T) {
			spec := small(systems[name])
			want := mustRun(t, spec)
			for _, lookahead := range []sim.Time{1, 60_000, sim.Second}[i%3 : i%3+1] {
				got, err := runWith(context.Background(), spec, nil, func(s *System) error {
					if s.spread(); s.apart() {
						s.sim.Spread(sim.Spread{Lookahead: min(lookahead, s.fab.Lookahead()), Always: true})
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if a, b := comparable(t, got), comparable(t, want); a != b {
					t.Errorf("windows of at most %d ps: another result\n%s\nwant\n%s", lookahead, a, b)
				}
			}
		})
	}
}
