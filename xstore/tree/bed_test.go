package tree

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// bed is a cluster on the real fabric. Machine 0 has the tree.
type bed struct {
	testing.TB
	s  *sim.Sim
	f  *fabric.Fabric
	cl *r2.Cluster
}

func newBed(t testing.TB, seed uint64, machines, threads int) *bed {
	t.Helper()
	b := &bed{TB: t, s: sim.New(sim.Options{Seed: seed})}
	var err error
	if b.f, err = fabric.New(b.s, fabric.Config{Machines: machines, TornReads: true}); err != nil {
		t.Fatal(err)
	}
	if b.cl, err = r2.New(b.s, b.f, r2.Config{Threads: threads, Coroutines: 16}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

func (b *bed) close() {
	if b.f == nil {
		return
	}
	b.s.Close()
	if err := b.f.Close(); err != nil {
		b.Error(err)
	}
	b.f = nil
}

func (b *bed) tree(o Options) *Tree {
	b.Helper()
	o.Name = "test"
	t, err := New(b.cl, 0, o)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// spawn starts a coroutine and returns a flag that says whether it has ended.
func (b *bed) spawn(machine, thread int, body func(c *r2.Co)) *bool {
	done := new(bool)
	b.cl.Spawn(machine, thread, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
		body(c)
		*done = true
	})
	return done
}

// run runs until all flags are set.
func (b *bed) run(flags ...*bool) {
	b.Helper()
	for range 100_000 {
		done := true
		for _, f := range flags {
			done = done && *f
		}
		if done {
			return
		}
		if err := b.s.Run(b.s.Now() + 10*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
	b.Fatalf("not done after a second of virtual time: %v", b.cl.Waiting(8))
}

// do runs one coroutine of the server to its end.
func (b *bed) do(body func(c *r2.Co)) {
	b.Helper()
	b.run(b.spawn(0, 0, body))
}

// audit looks at the tree as it is, and once more when all of it has been touched.
func (b *bed) audit(t *Tree) {
	b.Helper()
	t.Audit(func(text string) { b.Errorf("audit: %s", text) })
	b.touch(t)
	t.Audit(func(text string) { b.Errorf("audit of all: %s", text) })
}

// underLock has some regions run under the fallback lock, where READs come between their stores: stores to the lock's line end
// all regions for some time, until over is set.
func (b *bed) underLock(t *Tree, over *bool) *bool {
	return b.spawn(0, 3, func(c *r2.Co) {
		for !*over {
			for range 10 {
				c.Store64(t.lock.Addr+8, 1)
				c.Sleep(sim.Time(c.Rand().Uint64n(200)) * sim.Nanosecond)
			}
			c.Sleep(sim.Time(c.Rand().Uint64n(4)) * sim.Microsecond)
		}
	})
}

func (b *bed) touch(t *Tree) { t.mem.Bytes(t.base, int(t.mr.Len)) }

// steps are the keys step, 2 step, ..., n step.
type steps struct{ n, step uint64 }

func (s steps) Len() uint64         { return s.n }
func (s steps) Key(i uint64) uint64 { return (i + 1) * s.step }

func (s steps) Rank(key uint64) (uint64, bool) {
	i := min((key+s.step-1)/s.step, s.n+1)
	if i == 0 {
		return 0, false
	}
	return i - 1, key%s.step == 0 && i <= s.n
}

// valueOf is the value of a key after so many changes. A mixture of two shows.
func valueOf(key, change uint64, value []byte) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], key*0x9e3779b97f4a7c15+change<<8)
	for i := range value {
		value[i] = word[i%8]
	}
}

func firstValue(key uint64, value []byte) { valueOf(key, 0, value) }

// changeOf is the change that a value is of.
func changeOf(key uint64, value []byte) (change uint64, ok bool) {
	change = (binary.LittleEndian.Uint64(value) - key*0x9e3779b97f4a7c15) >> 8
	want := make([]byte, len(value))
	valueOf(key, change, want)
	return change, string(want) == string(value)
}
