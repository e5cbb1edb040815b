package rdpma

import (
	"bytes"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// A crash with clients at work: they get errors, what was acknowledged as
// persistent is there after the restart, words in DRAM and what the cache had are
// not, and nothing that was under way comes in later.
func TestCrashAndRestart(t *testing.T) {
	for seed := range uint64(50) {
		b := durable(t, bedOptions{seed: seed, config: Config{Hints: Hints{H3: true, H8: true, H9: true}}})
		p, q := b.alloc(1, 256), b.alloc(1, 256)
		lock, err := b.m.AllocAtomic(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		acked, failed := byte(0), false
		b.cl.Spawn(0, 0, func(c *r2.Co) {
			c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true})
			if was, err := b.m.CompareSwap(c, lock, 0, 0, 7); err != nil || was != 0 {
				t.Error(was, err)
			}
			if err := b.m.Write(c, q, 0, pattern(256, 3), TwoSided); err != nil {
				t.Error(err)
			}
			for n := byte(1); ; n++ {
				if err := b.m.PWrite(c, p, 0, bytes.Repeat([]byte{n}, 256), OneSided); err != nil {
					failed = true
					return
				}
				acked = n
				c.Reset()
			}
		})
		at := sim.Time(10+b.cl.Stream("crash", seed).Intn(40)) * sim.Microsecond
		run := func(d sim.Time) {
			if err := b.sim.Run(b.sim.Now() + d); err != nil {
				t.Fatal(err)
			}
		}
		run(at + sim.Time(seed)*37_001)
		m := b.f.Machine(1)
		if err := m.Crash(); err != nil {
			t.Fatal(err)
		}
		left := bytes.Clone(b.bytes(p))
		for i, x := range left {
			if x < acked || x > acked+1 {
				t.Fatalf("byte %d is of write %d, acknowledged is %d", i, x, acked)
			}
		}
		run(100 * sim.Microsecond)
		if !failed {
			t.Fatalf("the client has no error: %v", b.cl.Waiting(4))
		}
		if err := m.Crash(); err == nil {
			t.Error("a machine that is down crashed")
		}
		if err := m.Restart(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.bytes(p), left) {
			t.Error("memory changed behind the crash")
		}
		if bytes.Equal(b.bytes(q), pattern(256, 3)) {
			t.Error("what the cache had survived")
		}
		if !bytes.Equal(b.bytes(lock), make([]byte, 8)) {
			t.Error("a word in DRAM survived")
		}
		b.close()
	}
}

func TestCrashNeedsDurability(t *testing.T) {
	b := newBed(t, bedOptions{config: Config{Servers: []int{1}}})
	defer b.close()
	if err := b.f.Machine(1).Crash(); err == nil {
		t.Error("a machine with NVM crashed, and nobody knows what is left")
	}
	if err := b.f.Machine(0).Restart(); err == nil {
		t.Error("a machine that is up restarted")
	}
}
