package fabric

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// cutAt draws a buffer of n bytes in several places of a worker's scratch memory, which do not overlap.
func cutAt(r *rapid.T, w *bedWorker, base space.Addr, n uint32, most int) []Segment {
	k := rapid.IntRange(1, most).Draw(r, "segments")
	list := make([]Segment, k)
	for i := range list {
		part := n
		if i < k-1 {
			part = rapid.Uint32Range(0, n).Draw(r, "part")
		}
		n -= part
		list[i] = Segment{Local: w.scratch + base + space.Addr(i*(8<<10)+rapid.IntRange(0, 100).Draw(r, "offset")), LKey: w.key, Len: part}
	}
	return list
}

// in are the bytes of a buffer in its pieces.
func (w *bedWorker) in(list []Segment) (b []byte) {
	for _, s := range list {
		b = append(b, w.bed.f.Machine(w.machine).Mem.Bytes(s.Local, int(s.Len))...)
	}
	return b
}

// What is gathered arrives in order and as a whole, and what is scattered does: of SEND, WRITE and READ, inline or not, of any lengths,
// between any number of pieces, with loss and torn accesses. Nothing beside the pieces changes.
func TestGatherLists(t *testing.T) {
	b, x, y := pairBed(t, Config{TornReads: true})
	b.f.SetRCLoss(50_000)
	mem := [2]*host.Memory{b.f.Machine(0).Mem, b.f.Machine(1).Mem}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Uint32Range(0, 6000).Draw(r, "bytes")
		op := Opcode(rapid.IntRange(int(Send), int(Read)).Draw(r, "op"))
		from := cutAt(r, x, 0, n, 32)
		fill := rapid.Byte().Draw(r, "fill")
		for i := range mem {
			a := []space.Addr{x.scratch, y.scratch}[i]
			for k, s := 0, mem[i].Bytes(a, 1<<20); k < len(s); k++ {
				s[k] = fill + byte(k*7+i)
			}
			for k, s := 0, mem[i].Bytes(b.data[i], 1<<13); k < len(s); k++ {
				s[k] = fill + byte(k*5+i)
			}
		}
		before := [2][]byte{bytes.Clone(mem[0].Bytes(x.scratch, 1<<20)), bytes.Clone(mem[1].Bytes(y.scratch, 1<<20))}
		w := SendWR{ID: 1, Op: op, Signaled: true, Local: from[0].Local, LKey: from[0].LKey, Len: from[0].Len, Further: from[1:], Remote: b.data[1], RKey: b.keys[1]}
		w.Inline = op != Read && n <= 64 && rapid.Bool().Draw(r, "inline")
		sent := x.in(from)
		to := cutAt(r, y, 0, n+uint32(rapid.IntRange(0, 3).Draw(r, "room")), 4)
		if op == Send {
			if err := y.rc[0].PostRecv(b.sim.Now(), []RecvWR{{ID: 2, Local: to[0].Local, LKey: to[0].LKey, Len: to[0].Len, Further: to[1:]}}); err != nil {
				r.Fatal(err)
			}
		}
		x.postAll(x.rc[1], w)
		was := [2][]Segment{slices.Clone(from), slices.Clone(to)}
		clear(from) // they are the caller's again
		clear(to)
		b.run(sim.Millisecond)
		got := strings.Join(append(x.completions(), y.completions()...), "; ")
		want := fmt.Sprintf("1 %v success", op)
		if op == Send {
			want += "; 2 RECV success"
		}
		if got != want || b.f.listsInUse() != 0 || b.f.InFlight() != 0 {
			r.Fatalf("%s, want %s; %d lists in use", got, want, b.f.listsInUse())
		}
		switch op { // what should be where, in a copy of what was
		case Write:
			if !bytes.Equal(mem[1].Bytes(b.data[1], int(n)), sent) {
				r.Errorf("%d bytes of a WRITE are not as they were gathered", n)
			}
		case Send:
			patch(before[1], y.scratch, was[1], sent)
		case Read:
			patch(before[0], x.scratch, was[0], mem[1].Bytes(b.data[1], int(n)))
		}
		if !bytes.Equal(before[0], mem[0].Bytes(x.scratch, 1<<20)) || !bytes.Equal(before[1], mem[1].Bytes(y.scratch, 1<<20)) {
			r.Errorf("%d bytes of a %v are not in their pieces, or others changed", n, op)
		}
	})
}

// patch puts bytes into the pieces of a buffer in a copy of memory from base on.
func patch(mem []byte, base space.Addr, list []Segment, b []byte) {
	for _, s := range list {
		n := copy(mem[s.Local-base:][:s.Len], b)
		b = b[n:]
	}
}

// A segment that its key does not allow, or that ends beyond its region, fails the request, and the completion says which; a RECV is
// refused with its number; a list that is too long with the limit; an atomic has no list; and the lists are given back.
func TestSegmentsAreProtected(t *testing.T) {
	for bad := range 3 {
		b, x, _ := pairBed(t, Config{})
		list := make([]Segment, 3)
		for i := range list {
			list[i] = Segment{Local: x.scratch + space.Addr(64*i), LKey: x.key, Len: 8}
		}
		if list[bad].LKey++; bad == 1 {
			list[bad] = Segment{Local: x.scratch + 1<<21 - 4, LKey: x.key, Len: 8}
		}
		for _, op := range []Opcode{Write, Read} {
			q := x.connect(b.workers[1], x.cq)
			x.postAll(q, SendWR{ID: 7, Op: op, Signaled: true, Local: list[0].Local, LKey: list[0].LKey, Len: 8, Further: list[1:], Remote: b.data[1], RKey: b.keys[1]})
			b.run(100 * sim.Microsecond)
			var e [2]CQE
			if n := x.cq.Poll(e[:]); n != 1 || e[0].Status != LocalProtection || int(e[0].Segment) != bad {
				t.Errorf("%v with a bad segment %d: %d completions, %v in segment %d", op, bad, n, e[0].Status, e[0].Segment)
			}
		}
		err := x.ud.PostRecv(b.sim.Now(), []RecvWR{{Local: list[0].Local, LKey: list[0].LKey, Len: 8, Further: list[1:]}})
		if err == nil || bad > 0 && !strings.Contains(err.Error(), fmt.Sprintf("RECV, segment %d, into 8 bytes", bad)) {
			t.Errorf("RECV with a bad segment %d: %v", bad, err)
		}
		if n := b.f.listsInUse(); n != 0 {
			t.Errorf("%d lists are in use", n)
		}
	}
	b, x, _ := pairBed(t, Config{})
	for _, w := range []SendWR{{Op: Write, Further: make([]Segment, 32)}, {Op: CompareSwap, Further: make([]Segment, 1)}} {
		err := x.rc[1].PostSend(b.sim.Now(), []SendWR{w})
		want := "fabric: WRITE with 33 segments: at most 32 on this queue pair; post several requests"
		if w.Op.atomic() {
			want = "fabric: CAS with 2 segments: an atomic has one buffer of 8 bytes"
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// gathered is what one WRITE of n pieces of 8 bytes costs: the bytes of requests that the RNIC fetches from the host, and the time until
// it is complete.
func gathered(t *testing.T, n int, edit func(w *SendWR)) (fetched uint64, took sim.Time) {
	b, x, _ := pairBed(t, Config{})
	w := x.write(1, 1, 8)
	for i := range n - 1 {
		w.Further = append(w.Further, Segment{Local: x.scratch + space.Addr(64*(i+1)), LKey: x.key, Len: 8})
	}
	if edit != nil {
		edit(&w)
	}
	nic := x.rc[1].NIC()
	x.postAll(x.rc[1], w)
	b.run(100 * sim.Microsecond)
	var e [1]CQE
	if x.cq.Poll(e[:]) != 1 || e[0].Status != Success || e[0].Bytes != w.Bytes() {
		t.Fatalf("%+v", e[0])
	}
	return uint64(nic.down.BusyUntil(b.sim.Now())), e[0].At
}

// A request is pushed with its doorbell up to 256 bytes, which are 12 and more segments behind 32 bytes of header and address; one more
// block, and the RNIC fetches it: what it reads grows by a descriptor, and so does the time by a crossing. A list of one segment costs
// what a buffer does, and so does one of which the others are empty but for the words that name them.
func TestWhatGatherListsCost(t *testing.T) {
	_, one := gathered(t, 1, nil)
	_, empty := gathered(t, 1, func(w *SendWR) { w.Further = []Segment{{}} })
	if one != empty {
		t.Errorf("one segment takes %d ps, with an empty one behind it %d", one, empty)
	}
	last := sim.Time(0)
	for n := 1; n <= 32; n++ {
		busy, took := gathered(t, n, nil)
		prev, before := gathered(t, max(n-1, 1), nil)
		pushed := 32+16*n <= 256
		switch jump := took - before; {
		case n > 1 && pushed && (jump <= 0 || jump > 100*sim.Nanosecond || busy <= prev):
			t.Errorf("segment %d adds %d ps, and %d ps of PCIe", n, jump, busy-prev)
		case n == 15 && jump < 400*sim.Nanosecond:
			t.Errorf("the descriptor of %d segments is fetched in %d ps", n, jump)
		}
		last = took
	}
	t.Logf("one segment %d ps, 32 of as many bytes each %d ps", one, last)
}

// Requests with gather lists allocate nothing once the lists are there.
func TestGatherListsAllocateNothing(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	further := []Segment{{Local: x.scratch + 128, LKey: x.key, Len: 100}, {Local: x.scratch + 512, LKey: x.key, Len: 60}}
	list := []SendWR{x.write(1, 1, 8), x.read(2, 1, 300), {ID: 3, Op: Send, Signaled: true, Local: x.scratch, LKey: x.key, Len: 10}}
	for i := range list {
		list[i].Further = further
	}
	recv := []RecvWR{{ID: 4, Local: y.scratch, LKey: y.key, Len: 50, Further: []Segment{{Local: y.scratch + 100, LKey: y.key, Len: 200}}}}
	var e [8]CQE
	one := func() {
		if err := y.rc[0].PostRecv(b.sim.Now(), recv); err != nil {
			t.Fatal(err)
		}
		x.postAll(x.rc[1], list...)
		b.run(20 * sim.Microsecond)
		if x.cq.Poll(e[:]) != 3 || y.cq.Poll(e[:]) != 1 {
			t.Fatal("completions are missing")
		}
	}
	for range 10 {
		one()
	}
	if n := testing.AllocsPerRun(200, one); n > 1 { // the argument list of postAll
		t.Errorf("%v allocations", n)
	}
}
