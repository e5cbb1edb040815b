package rdpma

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// sharedRun is clients of two machines and both sockets that write some words each, persistently or not, by RNIC and by
// the server's cores, into lines that they share.
type sharedRun struct {
	*bed
	p              [2]Ptr
	written, acked [2][sharedWords]uint64 // the number of the write, which is in every word
}

const (
	sharedWords = 64
	ownWords    = 4
)

func newSharedRun(t *testing.T, seed uint64, hints Hints) *sharedRun {
	r := &sharedRun{bed: durable(t, bedOptions{seed: seed, machines: 3, threads: 4,
		config: Config{Hints: hints, Sockets: int(1 + seed%2)}, fabric: fabric.Config{TornReads: seed%3 == 0}})}
	r.p[0], r.p[1] = r.alloc(1, sharedWords*8), r.alloc(1, sharedWords*8)
	for k := range sharedWords / ownWords {
		r.cl.Spawn(k%2*2, k/2%4, func(c *r2.Co) { r.client(c, k*ownWords) })
	}
	return r
}

func (r *sharedRun) client(c *r2.Co, first int) {
	c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true})
	for n := uint64(1); ; n++ {
		c.Reset()
		k, skip := c.Rand().Intn(2), c.Rand().Intn(ownWords)
		words := 1 + c.Rand().Intn(ownWords-skip)
		data := make([]byte, 8*words)
		for i := range words {
			binary.LittleEndian.PutUint64(data[8*i:], n)
			r.written[k][first+skip+i] = n
		}
		how, write := Primitive(c.Rand().Intn(2)), r.m.PWrite
		persist := c.Rand().Intn(3) > 0
		switch {
		case !persist:
			write = r.m.Write
		case !r.m.Hints().H3:
			how = TwoSided // with DDIO on it cannot be one-sided
		}
		if err := write(c, r.p[k], 8*(first+skip), data, how); err != nil {
			r.t.Error(err)
			return
		}
		for i := range words {
			if persist {
				r.acked[k][first+skip+i] = n
			}
		}
	}
}

// Lines with words of several writers: partial writes of RNICs, which are read and merged, non-temporal stores and write-backs
// of cores meet in them, and a crash takes from nobody what was acknowledged as persistent.
func TestSharedLinesKeepEverybodysWords(t *testing.T) {
	for seed := range uint64(30) {
		hints := []Hints{{H3: true}, {H3: true, H7: true}, {H1: true, H3: true, H7: true, H9: true}, {H7: true}, {}}[seed%5]
		r := newSharedRun(t, seed, hints)
		points := r.cl.Stream("crash points", seed)
		for range 60 {
			if err := r.sim.Run(r.sim.Now() + sim.Time(1+points.Intn(3_000_000))); err != nil {
				t.Fatal(err)
			}
			for k, p := range r.p {
				left := r.f.Machine(1).AfterCrash(p.Addr(), p.Len(), points)
				for i := range sharedWords {
					if got := binary.LittleEndian.Uint64(left[8*i:]); got < r.acked[k][i] || got > r.written[k][i] {
						t.Fatalf("hints %v at %d ps: word %d is of write %d, acknowledged is %d, written %d", hints, r.sim.Now(), i, got, r.acked[k][i], r.written[k][i])
					}
				}
			}
		}
		r.close()
	}
}

// A two-sided read whose server crashes has an error and no bytes, whether or not somebody asks for them.
func TestReadOfAServerThatCrashes(t *testing.T) {
	b := durable(t, bedOptions{})
	defer b.close()
	p, ended := b.alloc(1, 64), false
	b.cl.Spawn(0, 0, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true})
		for {
			c.Reset()
			batch := b.m.Batch(c)
			d := batch.Read(p, 0, 64, TwoSided)
			if batch.Wait() != nil {
				ended = true
				if n := len(d.Bytes()); n != 0 {
					t.Errorf("%d bytes of a read that failed", n)
				}
				return
			}
		}
	})
	run := func() {
		if err := b.sim.Run(b.sim.Now() + 50*sim.Microsecond); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if err := b.cl.Crash(1); err != nil {
		t.Fatal(err)
	}
	if run(); !ended {
		t.Errorf("the read goes on: %v", b.cl.Waiting(4))
	}
}
