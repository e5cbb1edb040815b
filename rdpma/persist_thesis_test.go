package rdpma

import (
	"bytes"
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// durable is a bed whose server knows what a crash would leave.
func durable(t testing.TB, o bedOptions) *bed {
	o.fabric.Durability = true
	if o.config.Servers == nil {
		o.config.Servers = []int{1}
	}
	return newBed(t, o)
}

// survives are the bytes of an allocation that a crash leaves for certain.
func (b *bed) survives(p Ptr) []byte {
	return b.f.Machine(p.Machine()).AfterCrash(p.Addr(), p.Len(), nil)
}

// Figure 2-7: when the client has the completion of a one-sided WRITE, the data
// are (1) in the server's cache with DDIO on, (3) perhaps still in the RNIC with
// DDIO off, and (2) in the persistent domain only behind a READ on the same queue
// pair, with DDIO off.
func TestFigure27Flows(t *testing.T) {
	for _, tt := range []struct {
		name    string
		hints   Hints
		persist bool
		type2   bool
		want    host.Place
	}{
		{"flow 1", Hints{}, false, false, host.InCache},
		{"flow 2", Hints{H3: true}, true, false, host.Persistent},
		{"flow 2 with H9", Hints{H3: true, H9: true}, true, false, host.Persistent},
		{"next generation, DDIO on", Hints{}, true, true, host.Persistent},
	} {
		o := bedOptions{config: Config{Hints: tt.hints}}
		if tt.type2 {
			o.fabric.NodeTypes = []string{"val", "r74v_next"}
		}
		b := durable(t, o)
		p := b.alloc(1, 256)
		data := pattern(256, 9)
		b.do(0, func(c *r2.Co) {
			write := b.m.Write
			if tt.persist {
				write = b.m.PWrite
			}
			if err := write(c, p, 0, data, OneSided); err != nil {
				t.Error(err)
			}
			if !tt.persist && tt.want == host.InCache {
				c.Sleep(2 * sim.Microsecond) // out of the RNIC
			}
			if got := b.f.Machine(1).Where(p.Addr()); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
			if got := bytes.Equal(b.survives(p), data); got != (tt.want == host.Persistent) {
				t.Errorf("%s: a crash keeps it: %v", tt.name, got)
			}
		})
		b.close()
	}
}

// Flow 3: the RNIC acknowledges a WRITE before its bytes are in memory.
func TestFigure27AckBeforeMemory(t *testing.T) {
	b := durable(t, bedOptions{config: Config{Hints: Hints{H3: true}}})
	defer b.close()
	p := b.alloc(1, 64)
	seen := map[host.Place]bool{}
	at := b.sim.Now()
	b.cl.Spawn(0, 0, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true})
		if err := b.m.Write(c, p, 0, pattern(64, 1), OneSided); err != nil {
			t.Error(err)
		}
	})
	posted := b.f.Counts()
	for b.f.Counts().Completions == posted.Completions {
		at += 10 * sim.Nanosecond
		if err := b.sim.Run(at); err != nil {
			t.Fatal(err)
		}
		seen[b.f.Machine(1).Where(p.Addr())] = true
	}
	if !seen[host.InFlight] {
		t.Errorf("the bytes were never in the RNIC: seen %v", seen)
	}
}

// Two-sided: ntstore and fence, or clwb and fence, before the reply; without the
// fence the bytes are in the cache.
func TestTwoSidedPersistence(t *testing.T) {
	for _, h := range []Hints{{}, {H7: true}, {H4: true, H5: true}} {
		for _, n := range []int{16, 100, 2048} {
			b := durable(t, bedOptions{config: Config{Hints: h}})
			p, q := b.alloc(1, n), b.alloc(1, n)
			data := pattern(n, 5)
			b.do(0, func(c *r2.Co) {
				if err := b.m.PWrite(c, p, 0, data, TwoSided); err != nil {
					t.Error(err)
				}
				if !bytes.Equal(b.survives(p), data) {
					t.Errorf("hints %v: %d bytes do not survive PWrite", h, n)
				}
				if err := b.m.Write(c, q, 0, data, TwoSided); err != nil {
					t.Error(err)
				}
				if !h.nonTemporal(n) && bytes.Equal(b.survives(q), data) {
					t.Errorf("hints %v: %d bytes survive Write", h, n)
				}
			})
			b.close()
		}
	}
}

// crashRun is one system under PWrite, Write and log appends, looked at as if it
// crashed at random instants.
type crashRun struct {
	*bed
	t          *testing.T
	rand       *sim.Rand
	slots      []Ptr // 256 bytes each: 32 times the round that wrote it
	written    []uint64
	acked      []uint64
	plain      []Ptr // as slots, by Write
	plainAcked []uint64
	log        Ptr
	appended   int
	logAcked   int
	stop       bool
	lost       [2]int // acknowledged Writes, by primitive
}

const (
	crashSlot = 256
	logEntry  = 64
	logLength = 256
)

// round is what a slot holds: the number of the write, in every word.
func round(n uint64) []byte {
	b := make([]byte, crashSlot)
	for i := 0; i < crashSlot; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], n)
	}
	return b
}

func newCrashRun(t *testing.T, seed uint64, hints Hints) *crashRun {
	r := &crashRun{t: t}
	r.bed = durable(t, bedOptions{seed: seed, threads: 2, config: Config{Hints: hints, Sockets: 1},
		fabric: fabric.Config{TornReads: seed%3 == 0}})
	r.rand = r.cl.Stream("crash points", seed)
	for range 4 {
		r.slots, r.plain = append(r.slots, r.alloc(1, crashSlot)), append(r.plain, r.alloc(1, crashSlot))
	}
	r.written, r.acked, r.plainAcked = make([]uint64, 4), make([]uint64, 4), make([]uint64, 4)
	r.log = r.alloc(1, logEntry*logLength)
	for th := range 2 {
		for kind := range 2 {
			r.cl.Spawn(0, th, func(c *r2.Co) { r.client(c, th*2+kind) })
		}
	}
	return r
}

func (r *crashRun) client(c *r2.Co, k int) {
	c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true})
	for n := uint64(1); !r.stop; n++ {
		how := Primitive(n % 2)
		r.written[k] = n
		durably := how
		if !r.m.Hints().H3 {
			durably = TwoSided // with DDIO on it cannot be one-sided
		}
		err := r.m.PWrite(c, r.slots[k], 0, round(n), durably)
		r.acked[k] = n
		if e := r.m.Write(c, r.plain[k], 0, round(n), how); err == nil {
			err = e
		}
		r.plainAcked[k] = n
		if k == 0 && r.appended < logLength {
			e := make([]byte, logEntry)
			binary.LittleEndian.PutUint64(e, uint64(r.appended+1))
			binary.LittleEndian.PutUint64(e[logEntry-8:], uint64(r.appended+1))
			r.appended++
			if e := r.m.PWrite(c, r.log, (r.appended-1)*logEntry, e, durably); err == nil {
				err = e
			}
			r.logAcked = r.appended
		}
		if err != nil {
			r.t.Error(err)
			return
		}
		c.Reset()
	}
}

// look runs on for a random while, crashes in thought, and checks what is left.
func (r *crashRun) look() {
	if err := r.sim.Run(r.sim.Now() + sim.Time(1+r.rand.Intn(2_000_000))); err != nil {
		r.t.Fatal(err)
	}
	m := r.f.Machine(1)
	for k, p := range r.slots {
		left := m.AfterCrash(p.Addr(), crashSlot, r.rand)
		for i := 0; i < crashSlot; i += 8 {
			if got := binary.LittleEndian.Uint64(left[i:]); got < r.acked[k] || got > r.written[k] {
				r.t.Fatalf("at %d ps: word %d of slot %d is of write %d, acknowledged is %d, written %d", r.sim.Now(), i/8, k, got, r.acked[k], r.written[k])
			}
		}
		left = m.AfterCrash(r.plain[k].Addr(), crashSlot, r.rand)
		for i := 0; i < crashSlot; i += 8 {
			if binary.LittleEndian.Uint64(left[i:]) < r.plainAcked[k] {
				r.lost[r.plainAcked[k]%2]++
				break
			}
		}
	}
	left := m.AfterCrash(r.log.Addr(), logEntry*logLength, r.rand)
	for i := range r.logAcked {
		e := left[i*logEntry : (i+1)*logEntry]
		if binary.LittleEndian.Uint64(e) != uint64(i+1) || binary.LittleEndian.Uint64(e[logEntry-8:]) != uint64(i+1) {
			r.t.Fatalf("at %d ps: log entry %d of %d acknowledged ones is lost", r.sim.Now(), i, r.logAcked)
		}
	}
}

// Ten thousand crash points: PWrite and the log never lose an acknowledged byte,
// Write does: two-sided what is in the server's cache, one-sided with DDIO on too.
func TestCrashPoints(t *testing.T) {
	points := 10_000
	if testing.Short() {
		points = 500
	}
	hints := []Hints{AllHints(), {H3: true}, {H3: true, H9: true}, {H3: true, H4: true, H5: true, H7: true}, {H4: true, H7: true}}
	const looks = 100
	var lost [2]int
	for i := range points / looks {
		r := newCrashRun(t, uint64(i), hints[i%len(hints)])
		for range looks {
			r.look()
		}
		r.stop = true
		for how := range lost {
			lost[how] += r.lost[how]
		}
		r.close()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d crash points: %d one-sided and %d two-sided Writes were lost behind their acknowledgement, no PWrite", points, lost[OneSided], lost[TwoSided])
	if lost[OneSided] == 0 || lost[TwoSided] == 0 {
		t.Error("no Write was lost: the test shows nothing")
	}
}

// Flow 3 as the client sees it: with more WRITEs than the DIMM takes at once, they
// are complete while bytes are still in front of it. A READ behind them waits.
func TestFigure27CompletionIsNotPersistence(t *testing.T) {
	b := durable(t, bedOptions{config: Config{Hints: Hints{H3: true, H5: true}}})
	defer b.close()
	p, err := b.m.AllocOnDIMM(1, 0, 0, 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	b.do(0, func(c *r2.Co) {
		data := pattern(p.Len(), 1)
		if err := b.m.Write(c, p, 0, data, OneSided); err != nil {
			t.Error(err)
		}
		if bytes.Equal(b.survives(p), data) {
			t.Error("a completed Write survives although the DIMM is behind")
		}
		data = pattern(p.Len(), 2)
		if err := b.m.PWrite(c, p, 0, data, OneSided); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(b.survives(p), data) {
			t.Error("a persistent write does not survive")
		}
	})
}
