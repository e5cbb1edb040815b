package fabric

import (
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Words and parts of words of every kind of write, by hand.
func TestTraffic(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	at := func(m int, off space.Addr) space.Addr { return b.data[m] + off }
	of := func(w *bedWorker) host.Traffic { return b.f.Machine(w.machine).Traffic(w.ud.NIC().Socket()) }
	write := func(off space.Addr, n uint32) SendWR {
		return SendWR{Op: Write, Local: x.scratch, LKey: x.key, Len: n, Remote: at(1, off), RKey: b.keys[1]}
	}
	cases := []struct {
		name          string
		wr            SendWR
		why           host.Cause
		here          bool // counted at the requester
		words, partly uint64
	}{
		{"a line", write(0, 64), host.ByWrite, false, 1, 0},
		{"part of a line", write(64, 16), host.ByWrite, false, 1, 1},
		{"two parts of two lines", write(32, 64), host.ByWrite, false, 2, 2},
		{"two lines and a part", write(128, 136), host.ByWrite, false, 3, 1},
		{"from the middle on", write(8, 120), host.ByWrite, false, 2, 1},
		{"nothing", write(0, 0), host.ByWrite, false, 0, 0},
		{"a read's answer", SendWR{Op: Read, Local: x.scratch, LKey: x.key, Len: 100, Remote: at(1, 0), RKey: b.keys[1]}, host.ByFill, true, 2, 1},
		{"an atomic's answer", SendWR{Op: FetchAdd, Local: x.scratch, LKey: x.key, Len: 8, Remote: at(1, 0), RKey: b.keys[1], Swap: 1}, host.ByFill, true, 1, 1},
		{"an atomic's store", SendWR{Op: FetchAdd, Local: x.scratch, LKey: x.key, Len: 8, Remote: at(1, 0), RKey: b.keys[1], Swap: 1}, host.ByAtomic, false, 1, 1},
		{"a compare that fails", SendWR{Op: CompareSwap, Local: x.scratch, LKey: x.key, Len: 8, Remote: at(1, 0), RKey: b.keys[1], Compare: 99}, host.ByAtomic, false, 0, 0},
		{"a message", SendWR{Op: Send, Local: x.scratch, LKey: x.key, Len: 40}, host.ByMessage, false, 1, 1},
	}
	for _, c := range cases {
		y.postRecv(y.rc[0], 1, 4096)
		w := y
		if c.here {
			w = x
		}
		before := of(w)
		c.wr.Signaled = true
		x.postAll(x.rc[1], c.wr)
		done := of(x).WriteWords[host.ByCompletion]
		b.run(20 * sim.Microsecond)
		after := of(w)
		if n, p := after.WriteWords[c.why]-before.WriteWords[c.why], after.Partial[c.why]-before.Partial[c.why]; n != c.words || p != c.partly {
			t.Errorf("%s: %d words, %d of them in part; want %d and %d", c.name, n, p, c.words, c.partly)
		}
		if n := of(x).WriteWords[host.ByCompletion] - done; n != 1 {
			t.Errorf("%s: %d completions", c.name, n)
		}
		x.completions()
	}
	if tr := of(x); tr.Partial[host.ByCompletion] != 0 || tr.ReadWords == 0 || tr.Contexts == 0 || of(y).Translations == 0 {
		t.Errorf("at the requester: %+v", tr)
	}
}

// DDIO: the first write of a line takes a way, the second finds it; a machine without
// DDIO has neither.
func TestTrafficOfTheLLC(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	m := b.f.Machine(1)
	socket := m.NICs[0].Socket()
	write := func(lines int) {
		for i := range lines {
			x.postAll(x.rc[1], SendWR{Op: Write, Signaled: true, Local: x.scratch, LKey: x.key, Len: 64, Remote: b.data[1] + space.Addr(64*i), RKey: b.keys[1]})
		}
		b.run(50 * sim.Microsecond)
		x.completions()
	}
	all := func() (t host.Traffic) {
		for k := range m.Sockets() {
			s := m.Traffic(k)
			t.Add(&s)
		}
		return t
	}
	before := all()
	write(100)
	first := all()
	if n := first.DMAMisses - before.DMAMisses; n != 100 || first.DMAHits != before.DMAHits {
		t.Errorf("the first time: %d misses, %d hits", n, first.DMAHits-before.DMAHits)
	}
	write(100)
	second := all()
	if n := second.DMAHits - first.DMAHits; n != 100 || second.DMAMisses != first.DMAMisses {
		t.Errorf("the second time: %d hits, %d misses", n, second.DMAMisses-first.DMAMisses)
	}
	m.SetDDIO(socket, false)
	write(100)
	if third := all(); third.DMAHits != second.DMAHits || third.DMAMisses != second.DMAMisses {
		t.Error("without DDIO something was written to the LLC")
	}
}
