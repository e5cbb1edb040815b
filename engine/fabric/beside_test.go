package fabric

import (
	"testing"

	"drtmx/engine/sim"
)

// What travels beside a SEND arrives with it, also one that waited for its RECV, and the completion of nothing else has it.
func TestBeside(t *testing.T) {
	for _, tr := range []Transport{RC, UD, TCP} {
		var cqs [2]*CQ
		if tr == TCP {
			b := newSockets(t, Config{})
			w := SendWR{Op: Send, Signaled: true, Local: b.base[0], LKey: b.key[0], Len: 16, Dest: b.qp[1].Address(), Beside: 1 << 40}
			if err := b.qp[0].PostSend(0, []SendWR{w}); err != nil {
				t.Fatal(err)
			}
			b.sim.Run(5 * sim.Microsecond)
			b.receive(1, 1)
			b.sim.Run(sim.Second)
			cqs = b.cq
		} else {
			b, x, y := pairBed(t, Config{})
			w := SendWR{Op: Send, Signaled: true, Local: x.scratch, LKey: x.key, Len: 16, Dest: y.ud.Address(), Beside: 1 << 40}
			if tr == UD {
				y.postRecv(y.ud, 51, 64)
				x.postAll(x.ud, w)
			} else {
				write := x.write(2, 1, 8)
				write.Beside = 7
				x.postAll(x.rc[1], w, write)
				b.run(5 * sim.Microsecond)
				y.postRecv(y.rc[0], 51, 64)
			}
			b.run(sim.Millisecond)
			cqs = [2]*CQ{x.cq, y.cq}
		}
		var got [2][]CQE
		for m, cq := range cqs {
			got[m] = make([]CQE, 8)
			for i := range got[m] {
				got[m][i].Beside = 99 // of a poll before
			}
			got[m] = got[m][:cq.Poll(got[m])]
			for _, e := range got[m] {
				if want := uint64(m) << 40; e.Status != Success || e.Beside != want {
					t.Errorf("%v: a completion %+v at machine %d, want %x beside it", tr, e, m, want)
				}
			}
		}
		if len(got[0]) == 0 || len(got[1]) != 1 || got[1][0].Op != Recv {
			t.Errorf("%v: %d and %d completions", tr, len(got[0]), len(got[1]))
		}
	}
}
