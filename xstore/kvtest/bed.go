// Package kvtest tests ordered key-value stores as their clients see them: against a sorted map, and each key's history for
// linearizability, from several machines and threads while messages are lost.
package kvtest

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// TB is what of a test is needed; *testing.T, *testing.B and *rapid.T have it.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Make makes the store that is to be tested.
type Make func(cl *r2.Cluster, s store.KVSpec) (store.KV, error)

// Size is that of a cluster.
type Size struct{ Machines, Threads, Coroutines, Servers int }

// Bed is a store on a cluster of its own.
type Bed struct {
	TB
	Sim  *sim.Sim
	Cl   *r2.Cluster
	KV   store.KV
	Spec store.KVSpec
	fab  *fabric.Fabric
	left int // coroutines that have not ended
}

// Hardware is what tests run on: multi-line reads may be torn, and of a hundred datagrams one is lost.
func Hardware(machines int) fabric.Config {
	return fabric.Config{Machines: machines, LossPPM: 10_000, TornReads: true}
}

// NewBed makes a cluster and a store. The caller calls Close.
func NewBed(t TB, mk Make, seed uint64, size Size, hw fabric.Config, s store.KVSpec) *Bed {
	t.Helper()
	b := &Bed{TB: t, Sim: sim.New(sim.Options{Seed: seed})}
	var err error
	if b.fab, err = fabric.New(b.Sim, hw); err != nil {
		t.Fatal(err)
	}
	depth := make([]int, size.Machines)
	for i := range depth {
		depth[i] = 256
	}
	if b.Cl, err = r2.New(b.Sim, b.fab, r2.Config{Threads: size.Threads, Coroutines: size.Coroutines, RecvDepth: depth}); err != nil {
		t.Fatal(err)
	}
	b.Cl.SpoilScratch()
	s.Servers, s.Seed = size.Servers, seed
	if s.Value == nil {
		s.Value = Initial
	}
	if b.KV, err = mk(b.Cl, s); err != nil {
		t.Fatal(err)
	}
	b.Spec = s
	return b
}

// Close ends the cluster.
func (b *Bed) Close() {
	b.Sim.Close()
	b.fab.Close()
}

// Spawn starts a coroutine with a client. Run waits for all.
func (b *Bed) Spawn(machine, thread int, body func(c *r2.Co, kv store.KVClient)) {
	b.left++
	b.Cl.Spawn(machine, thread, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
		body(c, b.KV.Client(c))
		b.left--
	})
}

// Run runs until all coroutines have ended.
func (b *Bed) Run() {
	b.Helper()
	for range 4_000 {
		if err := b.Sim.Run(b.Sim.Now() + sim.Millisecond/4); err != nil {
			b.Fatal(err)
		}
		if b.left == 0 {
			return
		}
	}
	b.Fatalf("%d coroutines have not ended: %v", b.left, b.Cl.Waiting(8))
}

// Audit is the store's own look at itself, at rest.
func (b *Bed) Audit() {
	b.Helper()
	n := 0
	b.KV.Audit(func(text string) {
		if n++; n <= 5 {
			b.Errorf("audit: %s", text)
		}
	})
}

// Even are keys at equal distances.
type Even struct{ N, First, Step uint64 }

func (e Even) Len() uint64         { return e.N }
func (e Even) Key(i uint64) uint64 { return e.First + i*e.Step }

func (e Even) Rank(key uint64) (uint64, bool) {
	if key < e.First {
		return 0, false
	}
	i := (key - e.First + e.Step - 1) / e.Step
	if i >= e.N {
		return e.N, false
	}
	return i, (key-e.First)%e.Step == 0
}

// Initial is the value from the start.
func Initial(key uint64, value []byte) { Fill(first(key), value) }

func first(key uint64) uint64 { return key*0x9e3779b97f4a7c15 | 1 }

// Fill makes the value of a number: a mixture of two shows.
func Fill(x uint64, value []byte) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], x)
	for i := range value {
		value[i] = w[i%8] + byte(i/8)
	}
}

// Number is what Fill made a value of.
func Number(key uint64, value []byte) (uint64, error) {
	var w [8]byte
	copy(w[:], value)
	x := binary.LittleEndian.Uint64(w[:])
	for i := range value {
		if value[i] != w[i%8]+byte(i/8) {
			return 0, fmt.Errorf("the value of key %d is a mixture: %x", key, value)
		}
	}
	return x, nil
}
