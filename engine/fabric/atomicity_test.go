package fabric

import (
	"encoding/binary"
	"fmt"
	"testing"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// counters counts on one word with compare-and-swap through the given RNICs of
// machine 1, and with the CPU's when cpu is set, and returns how many
// increments succeeded and what the word says. The difference is lost updates.
func counters(t *testing.T, nics []int, cpu bool) (succeeded, counted uint64) {
	b, x, _ := pairBed(t, Config{})
	mem := b.f.Machine(1).Mem
	word := mem.Bytes(b.data[1], 8)
	type client struct {
		q    *QP
		seen uint64
	}
	var clients []*client
	for k := range 4 {
		q, err := x.ud.NIC().CreateQP(QPConfig{Transport: RC, SendCQ: x.cq})
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.f.Machine(1).NICs[nics[k%len(nics)]].CreateQP(QPConfig{Transport: RC})
		if err != nil {
			t.Fatal(err)
		}
		if err := Connect(q, r); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, &client{q: q})
	}
	post := func(id uint64) {
		c := clients[id]
		x.post(c.q, SendWR{ID: id, Op: CompareSwap, Signaled: true, Local: x.scratch + space.Addr(id)*64, LKey: x.key,
			Remote: b.data[1], RKey: b.keys[1], Compare: c.seen, Swap: c.seen + 1})
	}
	x.done = func(_ *bedWorker, e *CQE) {
		c := clients[e.ID]
		got := binary.LittleEndian.Uint64(b.f.Machine(0).Mem.Bytes(x.scratch+space.Addr(e.ID)*64, 8))
		if got == c.seen {
			succeeded++
			c.seen++
		} else {
			c.seen = got
		}
		post(e.ID)
	}
	if cpu {
		var k sim.Kind
		k = b.sim.Register("cpu", func(uint32) { // one instruction: read and write at one instant
			binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)+1)
			succeeded++
			b.sim.At(b.sim.Now()+5003*sim.Nanosecond, k, 0)
		})
		b.sim.At(0, k, 0)
	}
	x.cq.Arm(0, b.kWork, 0)
	for id := range clients {
		post(uint64(id))
	}
	b.run(3 * sim.Millisecond)
	return succeeded, binary.LittleEndian.Uint64(word)
}

// An atomic is atomic with those of the same RNIC, and with nothing else: not
// with the CPU, not with the machine's other RNIC (thesis section 4.3.2).
func TestAtomicityDomain(t *testing.T) {
	for _, c := range []struct {
		name  string
		nics  []int
		cpu   bool
		loses bool
	}{
		{"one RNIC", []int{0}, false, false},
		{"the other RNIC", []int{1}, false, false},
		{"two RNICs", []int{0, 1}, false, true},
		{"RNIC and CPU", []int{0}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, counted := counters(t, c.nics, c.cpu)
			t.Logf("%d increments, the word says %d", ok, counted)
			if ok < 100 {
				t.Errorf("only %d increments", ok)
			}
			// Up to one increment per client is stored but not reported yet.
			if lost := int64(ok) - int64(counted); c.loses && lost < 5 || !c.loses && (lost > 0 || lost < -4) {
				t.Errorf("%d increments succeeded, the word says %d", ok, counted)
			}
		})
	}
}

// Fetch-and-add through one RNIC from many queue pairs counts exactly, on a
// word whose neighbours are hit as well.
func TestFetchAddIsExact(t *testing.T) {
	b := newBed(t, bedOptions{machines: 4, threads: 2, span: 1 << 20, config: Config{TornReads: true}})
	posted := uint64(0)
	b.start(8, func(w *bedWorker, id uint64) {
		if posted == 4000 || w.ud.NIC().Index != 0 {
			return
		}
		posted++
		w.post(w.rc[3], SendWR{ID: id, Op: FetchAdd, Signaled: true, Local: w.scratch + space.Addr(id)*64, LKey: w.key,
			Remote: b.data[3] + space.Addr(posted%8)*8, RKey: b.keys[3], Swap: posted % 8})
	}, nil)
	b.run(5 * sim.Millisecond)
	for i := range uint64(8) {
		if got := binary.LittleEndian.Uint64(b.f.Machine(3).Mem.Bytes(b.data[3]+space.Addr(i)*8, 8)); got != i*500 {
			t.Errorf("word %d is %d, want %d", i, got, i*500)
		}
	}
	if b.done != 4000 || b.f.InFlight() != 0 {
		t.Errorf("%d done, %d in flight", b.done, b.f.InFlight())
	}
}

// Writers write one value all over a few lines, readers look whether they see a
// mixture. With TornReads they do, sometimes; without, never; within one line
// never either.
func TestTornReads(t *testing.T) {
	for _, c := range []struct {
		torn  bool
		bytes uint32
		cpu   bool
		want  bool
	}{{true, 1024, false, true}, {false, 1024, false, false}, {true, 64, false, false}, {true, 256, true, true}} {
		t.Run(fmt.Sprintf("torn=%v,bytes=%d,cpu=%v", c.torn, c.bytes, c.cpu), func(t *testing.T) {
			b := newBed(t, bedOptions{machines: 3, threads: 1, span: 1 << 20, config: Config{TornReads: c.torn}})
			torn, reads, n := 0, 0, uint64(0)
			post := func(w *bedWorker, id uint64) {
				op, local := Read, w.scratch+space.Addr(id)*4096
				if w.machine == 0 && !c.cpu {
					op = Write
					n++
					buf := b.f.Machine(0).Mem.Bytes(local, int(c.bytes))
					for i := 0; i < len(buf); i += 8 {
						binary.LittleEndian.PutUint64(buf[i:], n)
					}
				}
				w.post(w.rc[2], SendWR{ID: id, Op: op, Signaled: true, Local: local, LKey: w.key, Len: c.bytes, Remote: b.data[2], RKey: b.keys[2]})
			}
			if c.cpu {
				cpuWriter(b, int(c.bytes))
			}
			b.start(4, post, func(w *bedWorker, e *CQE) {
				if e.Op == Read {
					reads++
					buf := b.f.Machine(w.machine).Mem.Bytes(w.scratch+space.Addr(e.ID)*4096, int(c.bytes))
					if first := binary.LittleEndian.Uint64(buf); first != binary.LittleEndian.Uint64(buf[len(buf)-8:]) {
						torn++
					}
				}
				post(w, e.ID)
			})
			b.run(200 * sim.Microsecond)
			t.Logf("%d of %d READs were torn, %d accesses were split", torn, reads, b.f.Counts().Split)
			if reads < 300 || (torn > 0) != c.want || torn > reads*2/3 {
				t.Errorf("%d of %d READs were torn", torn, reads)
			}
			if !c.torn && b.f.Counts().Split != 0 {
				t.Error("accesses were split although tearing is off")
			}
			b.quiesce()
			if c.torn {
				if n := underWay(b.f.machines[2].Mem); n != 0 && !c.cpu {
					t.Errorf("%d slots still count accesses", n)
				}
			}
		})
	}
}

// cpuWriter stores line by line on machine 2, as engine/r2 does.
func cpuWriter(b *bed, bytes int) {
	mem, n, line := b.f.Machine(2).Mem, uint64(0), 0
	var k sim.Kind
	k = b.sim.Register("cpu", func(uint32) {
		if line == 0 {
			n++
			mem.BeginAccess(b.data[2], bytes, true)
		}
		for i := line * 64; i < line*64+64; i += 8 {
			binary.LittleEndian.PutUint64(mem.Bytes(b.data[2]+space.Addr(i), 8), n)
		}
		if line++; line*64 == bytes {
			line = 0
			mem.EndAccess(b.data[2], bytes, true)
		}
		b.sim.At(b.sim.Now()+9*sim.Nanosecond, k, 0)
	})
	b.sim.At(0, k, 0)
}

// quiesce lets everything end without posting anything new.
func (b *bed) quiesce() {
	b.t.Helper()
	for _, w := range b.workers {
		w.done = func(*bedWorker, *CQE) {}
	}
	b.run(100 * sim.Microsecond)
	if n := b.f.InFlight(); n != 0 {
		b.t.Errorf("%d verbs never ended", n)
	}
}

// UD and UC lose the given share of their packets, RC none but some are late.
func TestLoss(t *testing.T) {
	b, x, y := pairBed(t, Config{LossPPM: 100_000})
	got := 0
	x.done = func(*bedWorker, *CQE) {}
	y.done = func(_ *bedWorker, e *CQE) {
		if e.Op == Recv && e.Status == Success {
			got++
		}
	}
	x.cq.Arm(0, b.kWork, 0)
	y.cq.Arm(0, b.kWork, 1)
	const sent = 20000
	for i := range uint64(sent) {
		y.postRecv(y.ud, i, 64)
		x.post(x.ud, SendWR{ID: i, Op: Send, Signaled: i%32 == 31, Inline: true, Local: x.scratch, LKey: x.key, Len: 8, Dest: y.ud.Address()})
		if i%32 == 31 {
			b.run(10 * sim.Microsecond)
			y.ud.rqHead = y.ud.rqTail // what lost messages left over
		}
	}
	lost := b.f.Counts().Lost
	if lost+uint64(got) != sent || lost < sent*9/100 || lost > sent*11/100 {
		t.Errorf("%d of %d datagrams arrived, %d were lost; want 10 %% lost", got, sent, lost)
	}

	b.f.SetLoss(0)
	b.f.SetRCLoss(100_000)
	before := b.f.Counts()
	ok, last := 0, sim.Time(0)
	x.done = func(_ *bedWorker, e *CQE) {
		if e.Status == Success {
			ok++
		}
		last = e.At
	}
	began := b.sim.Now()
	for range 20 {
		for i := range uint64(64) {
			x.post(x.rc[1], x.write(i, 1, 8))
		}
		b.run(400 * sim.Microsecond)
	}
	after := b.f.Counts()
	if ok != 20*64 || after.Errors != before.Errors || after.Retries == before.Retries {
		t.Errorf("RC with loss: %d of %d succeeded, %d retries", ok, 20*64, after.Retries-before.Retries)
	}
	if last == began {
		t.Error("nothing ran")
	}
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}
}

// An access of no bytes has no line, so it leaves none under way.
func TestNothingIsNotUnderWay(t *testing.T) {
	b, x, _ := pairBed(t, Config{TornReads: true})
	x.postAll(x.rc[1], x.write(1, 1, 0), x.read(2, 1, 0))
	b.run(20 * sim.Microsecond)
	x.postAll(x.rc[1], x.read(3, 1, 128))
	b.run(20 * sim.Microsecond)
	expect(t, "completions", x.completions(), "1 WRITE success", "2 READ success", "3 READ success")
	if n := b.f.Counts().Split; n != 0 {
		t.Errorf("a READ that is alone is taken apart, %d times", n)
	}
}
