package fabric

import (
	"bytes"
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric/exploration"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Many requests of all kinds over one RC queue pair, posted without waiting:
// the responder's memory and everything that comes back must be as if they had
// run one after the other, whatever the sizes, whatever is torn or lost, and
// while other queue pairs of both RNICs hit the same lines. Completions come in
// order.
func TestOneQueuePairIsSequential(t *testing.T) {
	for _, c := range []struct {
		name   string
		rcLoss uint32
		noise  bool
		emu    bool // queue-pair contexts do not fit
		delays bool // messages are held back
	}{{name: "quiet"}, {name: "delays", noise: true, delays: true}, {name: "loss", rcLoss: 50000}, {name: "noise", noise: true},
		{name: "misses", noise: true, emu: true}, {name: "all", rcLoss: 20000, noise: true, emu: true, delays: true}} {
		t.Run(c.name, func(t *testing.T) {
			p := loadVal(t)
			if c.emu {
				p.NIC.QPContexts.Value = 2
			}
			config := Config{Profile: p, TornReads: true}
			if c.delays {
				var list []exploration.Delay
				for m := 0; m < 20000; m += 17 {
					list = append(list, exploration.Delay{Message: m, Units: 1 + m%5})
				}
				config.Exploration = exploration.New(700*sim.Nanosecond, list)
			}
			b, x, y := pairBed(t, config)
			b.f.SetRCLoss(c.rcLoss)
			s := &sequence{bed: b, w: x, q: x.rc[1], model: make([]byte, 4096)}
			x.done = s.completed
			if c.noise {
				s.noise(y)
			}
			x.cq.Arm(0, b.kWork, 0)
			s.post()
			for s.done < 6000 && !t.Failed() {
				b.run(10 * sim.Microsecond)
			}
			got := b.f.Machine(1).Mem.Bytes(b.data[1], len(s.model))
			if s.posted == s.done && !bytes.Equal(got, s.model) {
				t.Error("the memory is not that of the sequence")
			}
			if b.f.OutOfOrder() != 0 {
				t.Errorf("%d arrivals out of order", b.f.OutOfOrder())
			}
		})
	}
}

// sequence posts random requests and keeps a model of the memory they go to.
type sequence struct {
	bed    *bed
	w      *bedWorker
	q      *QP
	model  []byte
	posted uint64
	done   uint64
	want   [1 << 13][]byte // what READs and atomics bring back
}

func (s *sequence) slot(id uint64) space.Addr { return s.w.scratch + space.Addr(id%256)*4096 }

func (s *sequence) post() {
	for s.posted < 8000 && s.q.Free() > 0 {
		n := min(1+s.w.rand.Intn(4), s.q.Free())
		var list []SendWR
		for range n {
			list = append(list, s.next())
		}
		s.w.postAll(s.q, list...)
	}
}

func (s *sequence) next() SendWR {
	b, w, id := s.bed, s.w, s.posted
	s.posted++
	op := []Opcode{Read, Write, Write, CompareSwap, FetchAdd}[w.rand.Intn(5)]
	off := uint64(w.rand.Intn(3000))
	size := []int{1, 8, 64, 65, 200, 1000}[w.rand.Intn(6)]
	wr := SendWR{ID: id, Op: op, Signaled: true, Local: s.slot(id), LKey: w.key, Len: uint32(size), RKey: b.keys[1]}
	mem := b.f.Machine(0).Mem
	switch op {
	case Read:
		s.want[id%uint64(len(s.want))] = bytes.Clone(s.model[off : off+uint64(size)])
	case Write:
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(w.rand.Uint64())
		}
		copy(mem.Bytes(wr.Local, size), data)
		wr.Inline = size <= 64 && w.rand.Intn(2) == 0
		copy(s.model[off:], data)
	default:
		off &^= 7
		old := binary.LittleEndian.Uint64(s.model[off:])
		s.want[id%uint64(len(s.want))] = binary.LittleEndian.AppendUint64(nil, old)
		wr.Compare, wr.Swap = old^uint64(w.rand.Intn(2)), w.rand.Uint64() // half of them succeed
		if op == FetchAdd {
			binary.LittleEndian.PutUint64(s.model[off:], old+wr.Swap)
		} else if wr.Compare == old {
			binary.LittleEndian.PutUint64(s.model[off:], wr.Swap)
		}
	}
	wr.Remote = b.data[1] + off
	return wr
}

func (s *sequence) completed(_ *bedWorker, e *CQE) {
	b := s.bed
	if e.Status != Success || e.ID != s.done {
		b.t.Fatalf("completion %d %v %v at %d, want %d", e.ID, e.Op, e.Status, e.At, s.done)
	}
	if e.Op.reads() {
		want := s.want[e.ID%uint64(len(s.want))]
		if got := b.f.Machine(0).Mem.Bytes(s.slot(e.ID), len(want)); !bytes.Equal(got, want) {
			b.t.Fatalf("request %d, %v of %d bytes: brought back something else than the sequence has", e.ID, e.Op, len(want))
		}
	}
	s.done++
	s.post()
}

// noise reads the same bytes over and over through both RNICs of the server.
func (s *sequence) noise(y *bedWorker) {
	b := s.bed
	other, err := b.f.Machine(0).NICs[1].CreateQP(QPConfig{Transport: RC, SendCQ: y.cq})
	if err != nil {
		b.t.Fatal(err)
	}
	far, err := b.f.Machine(1).NICs[1].CreateQP(QPConfig{Transport: RC})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := Connect(other, far); err != nil {
		b.t.Fatal(err)
	}
	next := func(id uint64) {
		q, local, key := y.rc[1], y.scratch, y.key
		if id%2 == 0 {
			q, local, key = other, s.w.scratch+1<<20, s.w.key
		}
		y.post(q, SendWR{ID: id, Op: Read, Signaled: true, Local: local + space.Addr(id)*4096, LKey: key, Len: 1024,
			Remote: b.data[1] + space.Addr(y.rand.Intn(3000)), RKey: b.keys[1]})
	}
	y.done = func(_ *bedWorker, e *CQE) { next(e.ID) }
	for id := range uint64(8) {
		next(id)
	}
	y.cq.Arm(0, b.kWork, 1)
}

func loadVal(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The limit of outstanding READs: the excess waits in the send queue, and what
// is behind it too, even WRITEs.
func TestOutstandingLimit(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	q := x.rc[1]
	for id := range uint64(40) {
		x.postAll(q, x.read(id, 1, 64))
	}
	x.postAll(q, x.write(40, 1, 8))
	most := uint8(0)
	for range 100 {
		b.run(50 * sim.Nanosecond)
		most = max(most, q.outstanding)
	}
	if most != 16 {
		t.Errorf("%d READs were outstanding at most, want 16", most)
	}
	b.run(20 * sim.Microsecond)
	var e [64]CQE
	n := x.cq.Poll(e[:])
	if n != 41 || e[40].ID != 40 {
		t.Fatalf("%d completions", n)
	}
	// Three rounds of at most 16: two more round trips than the first READ.
	if d := e[39].At - e[0].At; d < 2500*sim.Nanosecond {
		t.Errorf("the last READ is back %d ps after the first: the limit did nothing", d)
	}
	if e[40].At < e[39].At {
		t.Error("a WRITE passed the READs it had to wait behind")
	}
}

// Bytes of an inline WRITE are those at the time of the post, of another one
// those when the RNIC fetches them.
func TestPayloadCapture(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	mine := b.f.Machine(0).Mem.Bytes(x.scratch, 8)
	for i, inline := range []bool{true, false} {
		mine[0] = 1
		w := x.write(uint64(i), 1, 8)
		w.Inline = inline
		x.postAll(x.rc[1], w)
		mine[0] = 2
		b.run(400 * sim.Nanosecond)
		at400 := b.f.Machine(1).Mem.Bytes(b.data[1], 8)[0]
		mine[0] = 3
		b.run(20 * sim.Microsecond)
		got := b.f.Machine(1).Mem.Bytes(b.data[1], 8)[0]
		if want := byte(1); inline && (got != want || at400 == 2) {
			t.Errorf("inline: %d arrived, want %d", got, want)
		} else if !inline && got != 3 {
			t.Errorf("by DMA: %d arrived, want 3, what was there at the fetch 500 ns after the post", got)
		}
		if n := len(x.completions()); n != 1 {
			t.Errorf("%d completions", n)
		}
	}
}

// Loopback takes the same way without the wire, to the same RNIC and to the
// machine's other one.
func TestLoopback(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	copy(b.f.Machine(0).Mem.Bytes(b.data[0], 8), "loopback")
	for range 2 {
		x.postAll(x.rc[0], x.read(1, 0, 8))
		x.postAll(x.rc[1], x.read(2, 1, 8))
		b.run(20 * sim.Microsecond)
	}
	var e [4]CQE
	if n := x.cq.Poll(e[:]); n != 4 {
		t.Fatalf("%d completions", n)
	}
	if got := string(b.f.Machine(0).Mem.Bytes(x.scratch, 8)); got != "\x00\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("the second READ brought %q", got)
	}
	if d := e[3].At - e[2].At; d < 150*sim.Nanosecond {
		t.Errorf("loopback is only %d ps faster than the wire", d)
	}
	if b.f.Machine(0).NICs[0].link.N != 2 {
		t.Errorf("%d packets on the wire, want 2", b.f.Machine(0).NICs[0].link.N)
	}
}

// A list is fetched by the RNIC with one doorbell, in order; a single small
// request comes with its doorbell and is faster by a PCIe round trip.
func TestDoorbell(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	lone := func(list ...SendWR) sim.Time {
		began := b.sim.Now()
		x.postAll(x.rc[1], list...)
		b.run(20 * sim.Microsecond)
		var e [8]CQE
		n := x.cq.Poll(e[:])
		if n != len(list) {
			b.t.Fatalf("%d completions of %d", n, len(list))
		}
		for i := range n {
			if e[i].ID != list[i].ID {
				b.t.Errorf("completion %d is of request %d", i, e[i].ID)
			}
		}
		return e[0].At - began
	}
	inline := x.write(1, 1, 32)
	inline.Inline = true
	lone(inline)
	single := lone(inline)
	list := lone(inline, x.read(2, 1, 64), x.write(3, 1, 64), inline)
	gathered := lone(x.write(5, 1, 32))
	both := lone(x.write(6, 1, 32), inline)
	trip := 2 * b.f.cost.oneWay
	for what, c := range map[string]struct{ got, base sim.Time }{
		"list against single": {list, single}, "gathered against inline": {gathered, single},
		"list that gathers against list": {both, list},
	} {
		if d := c.got - c.base; d < trip || d > trip+200*sim.Nanosecond {
			t.Errorf("%s: %d ps more, want a PCIe round trip of %d", what, d, trip)
		}
	}
}
