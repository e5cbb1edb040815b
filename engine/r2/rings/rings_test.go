package rings

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// A thread's rings lie one behind the other in its memory, and one that is given to another conversation has no message left.
func TestRings(t *testing.T) {
	s := sim.New(sim.Options{})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem := f.Machine(0).Mem
	r, err := New[string](mem, 0, 0, 0, 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Give("a", false), r.Give("b", true)
	if b.Base != a.End(datagram.RequestWindow-1) || len(r.List) != 2 {
		t.Errorf("rings at %d and %d", a.Base, b.Base)
	}
	if last := b.End(datagram.RequestWindow - 1); !mem.Allowed(r.Key, last-8, 8, host.RemoteWrite) {
		t.Error("no other thread may write the last slot")
	}
	h := datagram.Header{Kind: datagram.Request, RPC: 3, Size: 9, Seq: 5}
	for _, ring := range []datagram.Slots{a, b} {
		h.PutLast(mem.Bytes(ring.End(5)-datagram.HeaderBytes, datagram.HeaderBytes))
	}
	r.List[0].Next = 6
	r.Renew("a", "c")
	if g := r.List[0]; g.Channel != "c" || g.Next != 0 || r.Header(a, 5).Kind != datagram.Ack {
		t.Errorf("%+v has %+v", g, r.Header(a, 5))
	}
	if r.List[1].Channel != "b" || r.Header(b, 5) != h {
		t.Errorf("the ring of another has %+v", r.Header(b, 5))
	}
}
