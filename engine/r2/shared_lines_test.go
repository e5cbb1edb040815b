package r2

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// counterRate is how often in a second some cores of a machine together increment a counter:
// one for all, or each its own.
func counterRate(t *testing.T, cores int, own bool) float64 {
	b := newBed(t, 1, Config{Threads: 24}, fabric.Config{})
	defer b.f.Close()
	var near []Addr // memory of both sockets
	for socket := range 2 {
		a, err := b.cl.Mem(0).Alloc(host.Alloc{Name: "counters", Bytes: 1 << 20, Socket: socket})
		if err != nil {
			t.Fatal(err)
		}
		near = append(near, a)
	}
	n := 0
	var counters []Addr
	for k := range cores {
		thread := 2*k + k/12*(1-24) // the cores of one socket first
		at := near[0]
		if own {
			at = near[thread%2] + Addr(k*space.LineBytes)
		}
		if own || k == 0 {
			counters = append(counters, at)
		}
		b.cl.Spawn(0, thread, func(c *Co) {
			for {
				c.LocalFAA(at, 1)
				n++
			}
		})
	}
	const span = 200 * sim.Microsecond
	b.run(span)
	sum := uint64(0)
	for _, at := range counters {
		sum += binary.LittleEndian.Uint64(b.cl.Mem(0).Bytes(at, 8))
	}
	if sum < uint64(n) || sum > uint64(n+cores) { // those under way have counted
		t.Errorf("%d cores: %d increments, counted %d", cores, n, sum)
	}
	return float64(n) / (float64(span) / 1e12)
}

// A counter of all cores saturates at one transfer of its line for each increment; counters of
// their own do not.
func TestCountersOfCores(t *testing.T) {
	cpu := newBed(t, 1, Config{Threads: 1}, fabric.Config{}).f.Machine(0).CPU
	oneSocket := 1e12 / float64(cpu.LineTransfer)
	alone := counterRate(t, 1, true)
	for _, cores := range []int{1, 2, 4, 12, 24} {
		shared, own := counterRate(t, cores, false), counterRate(t, cores, true)
		t.Logf("%2d cores: %6.1f M/s on one counter, %6.1f M/s on their own", cores, shared/1e6, own/1e6)
		if own < 0.98*float64(cores)*alone {
			t.Errorf("%d cores: counters of their own make %.1f M/s, one %.1f", cores, own/1e6, alone/1e6)
		}
		switch {
		case cores == 1 && shared < 0.98*alone:
			t.Errorf("one core: %.1f M/s on a counter for all", shared/1e6)
		case cores > 1 && cores <= 12 && (shared > 1.02*oneSocket || shared < 0.9*oneSocket):
			t.Errorf("%d cores of a socket: %.1f M/s, a line moves %.1f million times", cores, shared/1e6, oneSocket/1e6)
		case cores > 12 && shared > oneSocket:
			t.Errorf("%d cores of two sockets: %.1f M/s", cores, shared/1e6)
		}
	}
}

// A load of a lock word that another core has waits for the line once, a second one does not, and the
// owner's next store has to get it back.
func TestReadersOfALockWord(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 4}, fabric.Config{})
	cpu := b.f.Machine(0).CPU
	took := map[string]Time{}
	timed := func(c *Co, what string, f func()) {
		start := c.Now()
		f()
		took[what] = c.Now() - start
	}
	b.cl.Spawn(0, 0, func(c *Co) {
		c.LocalCAS(b.at(0), 0, 1)
		timed(c, "own CAS", func() { c.LocalCAS(b.at(0), 1, 2) })
		timed(c, "own load", func() { c.Load64(b.at(0)) })
		c.Sleep(10 * sim.Microsecond)
		timed(c, "store back", func() { c.Store64(b.at(0), 3) })
		timed(c, "own store", func() { c.Store64(b.at(0), 4) })
	})
	b.cl.Spawn(0, 2, func(c *Co) {
		c.Load64(b.at(2)) // the page is in its TLB
		c.Sleep(8 * sim.Microsecond)
		timed(c, "other's load", func() { c.Load64(b.at(0)) })
		timed(c, "second load", func() { c.Load64(b.at(0)) })
	})
	b.cl.Spawn(0, 1, func(c *Co) {
		c.Load64(b.at(2))
		c.Sleep(20 * sim.Microsecond)
		timed(c, "other socket's load", func() { c.Load64(b.at(0)) })
	})
	b.run(50 * sim.Microsecond)
	hit := took["own load"]
	for what, want := range map[string]Time{ // order-free: all are checked alike
		"own CAS": hit + cpu.Atomic, "own store": hit, "second load": hit,
		"other's load": cpu.LineTransfer, "store back": cpu.LineTransfer,
	} {
		if took[what] != want {
			t.Errorf("%s took %d ps, want %d", what, took[what], want)
		}
	}
	if took["other socket's load"] <= cpu.LineTransfer {
		t.Errorf("a load from the other socket took %d ps, from the same one %d", took["other socket's load"], cpu.LineTransfer)
	}
}
