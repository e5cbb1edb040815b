package fabric

import (
	"testing"

	"drtmx/engine/sim"
)

// hotAtomics is how many fetch-and-adds 24 queue pairs with 8 under way each get through
// one RNIC, as a share of what the conflict slots of so many words can do.
func hotAtomics(t *testing.T, words uint64) float64 {
	b := newBed(t, bedOptions{machines: 3, threads: 24, span: 1 << 20})
	b.start(8, func(w *bedWorker, id uint64) {
		if w.machine == 2 || w.ud.NIC().Index != 0 {
			return
		}
		w.post(w.rc[2], SendWR{ID: id, Op: FetchAdd, Signaled: true, Local: w.scratch + Addr(id)*64, LKey: w.key,
			Remote: b.data[2] + w.rand.Uint64n(words)*lineBytes, RKey: b.keys[2], Swap: 1})
	}, nil)
	rate := b.rate(50*sim.Microsecond, 500*sim.Microsecond) * 3
	all := float64(words) * float64(sim.Microsecond) / float64(b.f.cost.atomicHold)
	t.Logf("%d words: %.2f M/s of %.2f", words, rate, all)
	return rate / all
}

// A conflict slot is not kept free for an atomic that has to wait for others of its queue
// pair first: as long as the first of some queue pair wants a slot, the slot is busy.
func TestConflictSlotsAreNotReservedIdle(t *testing.T) {
	for _, words := range []uint64{1, 2, 8} {
		share, least := hotAtomics(t, words), 24/float64(24+words-1) // of 24 customers at that many servers, whose times are random
		if share < least-0.01 {
			t.Errorf("%d words: their slots are busy %.0f %% of the time, at least %.0f wanted", words, 100*share, 100*least)
		}
	}
}
