package fabric

import (
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
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
		w.post(w.rc[2], SendWR{ID: id, Op: FetchAdd, Signaled: true, Local: w.scratch + space.Addr(id)*64, LKey: w.key,
			Remote: b.data[2] + w.rand.Uint64n(words)*space.LineBytes, RKey: b.keys[2], Swap: 1})
	}, nil)
	b.f.Machine(2).Warm(host.Extent{At: b.data[2], Bytes: int(words * space.LineBytes)})
	rate := b.rate(50*sim.Microsecond, 500*sim.Microsecond) * 3
	all := float64(words) * float64(sim.Microsecond) / float64(b.f.cost.atomicHold+b.f.cost.LLCDMA)
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

// Nor is one kept free for a READ or WRITE that waits for an atomic of its queue pair:
// what others read there is as quick as without it.
func TestWaitingRequestsReserveNoSlot(t *testing.T) {
	latency := func(behind bool) sim.Time {
		b := newBed(t, bedOptions{machines: 3, threads: 2, span: 1 << 20})
		mine, count, sum := sim.Time(0), sim.Time(0), sim.Time(0)
		post := func(w *bedWorker, id uint64) {
			switch {
			case w.ud.NIC().Index != 0 || w.machine == 1 && id > 0:
			case w.machine == 1: // one READ at a time of the second line
				mine = b.sim.Now()
				w.post(w.rc[2], SendWR{ID: id, Op: Read, Signaled: true, Local: w.scratch, LKey: w.key, Len: 8, Remote: b.data[2] + space.LineBytes, RKey: b.keys[2]})
			case w.machine == 0 && behind: // an atomic on the first, and a WRITE of the second behind it
				w.postAll(w.rc[2], SendWR{ID: id, Op: FetchAdd, Local: w.scratch, LKey: w.key, Remote: b.data[2], RKey: b.keys[2], Swap: 1},
					SendWR{ID: id, Op: Write, Signaled: true, Local: w.scratch + 64, LKey: w.key, Len: 8, Remote: b.data[2] + space.LineBytes, RKey: b.keys[2]})
			}
		}
		b.start(8, post, func(w *bedWorker, e *CQE) {
			if w.machine == 1 {
				count, sum = count+1, sum+e.At-mine
			}
			post(w, e.ID)
		})
		b.run(400 * sim.Microsecond)
		if count < 100 {
			t.Fatalf("%d READs", count)
		}
		return sum / count
	}
	alone, beside := latency(false), latency(true)
	t.Logf("%d ps alone, %d beside an atomic and a WRITE behind it", alone, beside)
	if beside > alone+30*sim.Nanosecond {
		t.Errorf("a READ takes %d ps, %d beside requests that wait for an atomic on another line", alone, beside)
	}
}
