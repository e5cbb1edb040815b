package rdpma

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// bed is a small cluster with a Memory, on which a coroutine runs one step after
// the other.
type bed struct {
	t   testing.TB
	sim *sim.Sim
	f   *fabric.Fabric
	cl  *r2.Cluster
	m   *Memory
}

type bedOptions struct {
	machines, threads int
	seed              uint64
	config            Config
	fabric            fabric.Config
	r2                r2.Config
}

func newBed(t testing.TB, o bedOptions) *bed {
	t.Helper()
	b := &bed{t: t, sim: sim.New(sim.Options{Seed: o.seed + 1})}
	fc := o.fabric
	fc.Machines = max(o.machines, 2)
	prepare(t, &fc)
	var err error
	if b.f, err = fabric.New(b.sim, fc); err != nil {
		t.Fatal(err)
	}
	rc := o.r2
	rc.Threads, rc.Coroutines = max(o.threads, 1), 2
	if b.cl, err = r2.New(b.sim, b.f, rc); err != nil {
		t.Fatal(err)
	}
	if b.m, err = Open(b.cl, o.config); err != nil {
		t.Fatal(err)
	}
	return b
}

// close is called rather than left to Cleanup where many beds are made.
func (b *bed) close() {
	b.sim.Close()
	if err := b.f.Close(); err != nil {
		b.t.Error(err)
	}
}

// do runs body on a coroutine of machine 0 and thread th until it ends.
func (b *bed) do(th int, body func(c *r2.Co)) {
	b.t.Helper()
	ended := false
	b.cl.Spawn(0, th, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
		body(c)
		ended = true
	})
	for range 1000 {
		if err := b.sim.Run(b.sim.Now() + sim.Millisecond); err != nil {
			b.t.Fatal(err)
		}
		if ended {
			return
		}
	}
	b.t.Fatalf("not finished after a second: %v", b.cl.Waiting(4))
}

func (b *bed) alloc(machine, n int) Ptr {
	b.t.Helper()
	p, err := b.m.Alloc(machine, n)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// bytes are what the server's memory holds.
func (b *bed) bytes(p Ptr) []byte { return b.cl.Mem(p.Machine()).Bytes(p.Addr(), p.Len()) }

func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed + byte(i*7)
	}
	return b
}
