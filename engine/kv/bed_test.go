package kv

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// bed is a cluster on the real fabric.
type bed struct {
	testing.TB
	s      *sim.Sim
	f      *fabric.Fabric
	cl     *r2.Cluster
	svc    *Service
	nextID uint8
	kind   kind // of its tables
}

func newBed(t testing.TB, machines, threads, coroutines int) *bed {
	t.Helper()
	return seededBed(t, 1, machines, threads, coroutines)
}

func seededBed(t testing.TB, seed uint64, machines, threads, coroutines int) *bed {
	t.Helper()
	b := &bed{TB: t, s: sim.New(sim.Options{Seed: seed, Trace: true})}
	var err error
	if b.f, err = fabric.New(b.s, fabric.Config{Machines: machines, TornReads: true}); err != nil {
		t.Fatal(err)
	}
	if b.cl, err = r2.New(b.s, b.f, r2.Config{Threads: threads, Coroutines: coroutines}); err != nil {
		t.Fatal(err)
	}
	b.svc = NewService(b.cl)
	t.Cleanup(func() {
		b.s.Close()
		if err := b.f.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// kinds are those of this package: with both geometries of hash tables.
var kinds = []kind{{}, {packed: true}}

// valueOf is what the tests store under a key: any mixture of two records shows.
func valueOf(key uint64, value []byte) {
	for i := 0; i < len(value); i += 8 {
		binary.LittleEndian.PutUint64(value[i:], key^0xa5a5)
	}
}

func (b *bed) table(keys uint64, valueBytes int, spare uint64, replicas int) *Table {
	b.Helper()
	spec := Spec{ID: b.nextID, Name: "test", ValueBytes: valueBytes, Init: valueOf, Spare: spare, Seed: uint64(b.nextID)}
	b.nextID++
	t, err := b.kind.newTable(b.cl, record.LockSeq, spec, Placement{Partition: store.Blocks(b.cl.Machines(), keys), Replicas: replicas})
	if err != nil {
		b.Fatal(err)
	}
	if err := b.svc.Add(t); err != nil {
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
			if n := b.f.OutOfOrder(); n != 0 {
				b.Fatalf("%d arrivals out of order", n)
			}
			return
		}
		if err := b.s.Run(b.s.Now() + 10*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
	b.Fatalf("not done after a second of virtual time: %v", b.cl.Waiting(8))
}

// do runs one coroutine to its end.
func (b *bed) do(machine int, body func(c *r2.Co)) {
	b.Helper()
	b.run(b.spawn(machine, 0, body))
}

// holds reports whether a row has the bytes of a key.
func holds(row []byte, key uint64) bool {
	for i := 0; i < len(row); i += 8 {
		if binary.LittleEndian.Uint64(row[i:]) != key^0xa5a5 {
			return false
		}
	}
	return true
}
