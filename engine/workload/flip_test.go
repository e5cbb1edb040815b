package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// flipping changes the configuration at random while the system runs. barrier
// says whether it drains where it has to.
func flipping(t *testing.T, w workload.Bench, seed uint64, flips int, barrier bool) (uint64, []string) {
	t.Helper()
	rand := stream(seed)
	all := combinations()
	pick := func() occ.Config { return optimise(all[rand.Intn(len(all))], rand) }
	s := workloadtest.Small(pick())
	s.Seed = seed
	b := workloadtest.New(t, s, w)
	defer b.Close()
	return flipUntil(b, w.DB(), flips, func() (txn.Config, sim.Time, bool) {
		pause := sim.Time(5+rand.Intn(60)) * sim.Microsecond
		next := pick()
		if !barrier && rand.Intn(2) == 0 {
			next.Lock, next.Commit = occ.OneSided, occ.OneSided
		}
		return next, pause, barrier && w.DB().NeedsDrain(next)
	})
}

// flipUntil changes the configuration so many times while the system runs. change says to which, after how long, and
// whether the system drains for it.
func flipUntil(b *workloadtest.Bed, db *txn.DB, flips int, change func() (txn.Config, sim.Time, bool)) (uint64, []string) {
	for range flips {
		next, pause, drain := change()
		if err := b.Run(pause); err != nil {
			return b.Commits, []string{err.Error()}
		}
		if drain {
			db.Pause()
			for db.InFlight() > 0 || !b.Cluster.Quiet() {
				if err := b.Run(sim.Microsecond); err != nil {
					return b.Commits, []string{err.Error()}
				}
			}
		}
		if err := db.SetConfig(next); err != nil {
			return b.Commits, []string{err.Error()}
		}
		if drain {
			db.Resume()
		}
	}
	return b.Commits, b.Verdict()
}

// TestFlips: knobs at random during the run, with the drain barrier where
// needed, lose and corrupt nothing.
func TestFlips(t *testing.T) {
	seeds := workloadtest.Effort(uint64(16), 4)
	if testing.Short() {
		seeds = 2
	}
	total := uint64(0)
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, w := range []workload.Bench{bank(t), ring(t), slots(t), longSlots(t)} {
			n, bad := flipping(t, w, seed, 120, true)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s, seed %d:\n%s", w.Name(), seed, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed", total)
}

// TestFlipsWithoutBarrier: RNIC and CPU lockers mixed without the drain are
// caught.
func TestFlipsWithoutBarrier(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		if _, bad := flipping(t, ring(t), seed, 200, false); len(bad) > 0 {
			t.Logf("seed %d: %s", seed, bad[0])
			return
		}
	}
	t.Fatal("mixed lockers were never caught")
}
