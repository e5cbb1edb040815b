package xstore

import (
	"encoding/binary"
	"fmt"
	"sort"
	"testing"

	"github.com/anishathalye/porcupine"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// bed is a cluster on the real fabric: machines 0 to servers-1 have the store, all others are clients.
type bed struct {
	testing.TB
	s       *sim.Sim
	f       *fabric.Fabric
	cl      *r2.Cluster
	servers int
	x       *Store
	real    *store.RealKeys // of the store that is opened next
	log     log
	base    map[uint64]uint64 // states of keys at the begin of the log; nil: those of the initial keys
}

func newBed(t testing.TB, seed uint64, servers, clients, threads int) *bed {
	t.Helper()
	b := &bed{TB: t, s: sim.New(sim.Options{Seed: seed}), servers: servers}
	var err error
	if b.f, err = fabric.New(b.s, fabric.Config{Machines: servers + clients, TornReads: true}); err != nil {
		t.Fatal(err)
	}
	if b.cl, err = r2.New(b.s, b.f, r2.Config{Threads: threads, Coroutines: 16, MaxReply: 64 << 10}); err != nil {
		t.Fatal(err)
	}
	b.cl.Assembled()
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

// open makes a store of so many keys, 10 apart.
func (b *bed) open(keys uint64, valueBytes int, o Options) {
	b.Helper()
	spec := store.KVSpec{Name: "test", Servers: b.servers, Keys: steps{keys, 10}, ValueBytes: valueBytes, Value: firstValue, Spare: 4000, Seed: 1, Real: b.real}
	x, err := Open(b.cl, spec, o)
	if err != nil {
		b.Fatal(err)
	}
	b.x = x
}

// spawn starts a coroutine and returns a flag that says whether it has ended.
func (b *bed) spawn(machine, thread int, body func(c *r2.Co)) *bool {
	done := new(bool)
	b.cl.Spawn(machine, thread, func(c *r2.Co) {
		c.Phase(metrics.PhaseOther, posted)
		body(c)
		*done = true
	})
	return done
}

// run runs until all flags are set.
func (b *bed) run(flags ...*bool) {
	b.Helper()
	for range 200_000 {
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
	b.Fatalf("not done after two seconds of virtual time: %v", b.cl.Waiting(8))
}

// settle runs until the trainers have nothing to do.
func (b *bed) settle() {
	b.Helper()
	for i := 0; b.x.Pending() > 0; i++ {
		if i == 100_000 {
			b.Fatalf("%d training tasks after a second of virtual time", b.x.Pending())
		}
		if err := b.s.Run(b.s.Now() + 10*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
}

func (b *bed) audit() {
	b.Helper()
	b.x.Audit(func(text string) { b.Errorf("audit: %s", text) })
}

// steps are the keys step, 2 step, ..., n step.
type steps struct{ n, step uint64 }

func (s steps) Len() uint64         { return s.n }
func (s steps) Key(i uint64) uint64 { return (i + 1) * s.step }

func (s steps) Rank(key uint64) (uint64, bool) {
	i := uint64(sort.Search(int(s.n), func(i int) bool { return s.Key(uint64(i)) >= key }))
	return i, i < s.n && s.Key(i) == key
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

// mixed is the change of a value that none has written.
const mixed = 1 << 40

// changeOf is the change that a value is of.
func changeOf(key uint64, value []byte) uint64 {
	change := (binary.LittleEndian.Uint64(value) - key*0x9e3779b97f4a7c15) >> 8
	want := make([]byte, len(value))
	valueOf(key, change, want)
	if string(want) != string(value) {
		return mixed
	}
	return change
}

// log is what was done to keys, for porcupine.
type log struct {
	ops    map[uint64][]porcupine.Operation
	change uint64
}

type opKind uint8

const (
	get opKind = iota
	update
	insert
	remove
)

// op is an operation on a key, and its outcome.
type op struct {
	kind   opKind
	change uint64 // written or read
	done   bool   // the key was there; of insert: it was not
}

func (l *log) add(client int, key uint64, o op, from, to r2.Time) {
	if l.ops == nil {
		l.ops = map[uint64][]porcupine.Operation{}
	}
	l.ops[key] = append(l.ops[key], porcupine.Operation{ClientId: client, Input: o, Output: o, Call: from, Return: to})
}

// state is that of a key: 0 is absent, else 1 + its change.
var sequential = porcupine.Model{
	Equal: func(a, b any) bool { return a == b },
	Step: func(state, input, _ any) (bool, any) {
		s, o := state.(uint64), input.(op)
		there := s > 0
		switch o.kind {
		case get:
			return o.done == there && (!there || o.change == s-1), s
		case update:
			if there {
				s = o.change + 1
			}
			return o.done == there, s
		case insert:
			if !there {
				s = o.change + 1
			}
			return o.done == !there, s
		}
		return o.done == there, uint64(0)
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprint(input) },
}

// lost are the keys whose operations cannot have happened one after the other.
func (b *bed) lost() (keys []uint64) {
	for key, ops := range b.log.ops { // order-free: keys are sorted
		m := sequential
		m.Init = func() any {
			if b.base != nil {
				return b.base[key]
			}
			if key%10 == 0 && key > 0 && key <= b.x.spec.Keys.Len()*10 {
				return uint64(1)
			}
			return uint64(0)
		}
		if !porcupine.CheckOperations(m, ops) {
			keys = append(keys, key)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}

// states are those of all keys now: 0 is absent, else 1 + the change.
func (b *bed) states(space uint64) map[uint64]uint64 {
	out, value := map[uint64]uint64{}, make([]byte, b.x.spec.ValueBytes)
	for key := range space {
		if b.x.Find(key, value) {
			out[key] = changeOf(key, value) + 1
		}
	}
	return out
}
