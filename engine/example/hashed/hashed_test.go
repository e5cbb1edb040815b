package hashed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"

	"github.com/anishathalye/porcupine"
)

const (
	keys    = 14
	initial = 6 // of them are there from the start
	bytes   = 200
)

// layout has a form of tearing: rows of several lines are READ without a validation.
var layout = record.MustLayout(record.Options{Step: 2, Tearing: record.HeaderLast},
	record.Word{Name: "lock", Role: record.RoleLock}, record.Word{Name: "seq", Role: record.RoleStamp, Initial: record.InitialSeq})

// fill writes what shows a key and an incarnation of its row.
func fill(value []byte, key uint64, incarnation uint16) {
	for i := 0; i < len(value); i += 8 {
		binary.LittleEndian.PutUint64(value[i:], key<<16|uint64(incarnation))
	}
}

// bed is a table of which machines of a cluster change few keys.
type bed struct {
	*testing.T
	cl                   *r2.Cluster
	t                    *Table
	oneSided             bool
	insertRPC, removeRPC uint8
	history              []porcupine.Operation
	moved, torn          int
}

// op is what is done to a key; whether it was there, or was made so, is the answer.
type op struct {
	what int // 0 looks, 1 inserts, 2 removes
	key  uint64
}

// perKey is a set of keys, each by itself.
var perKey = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, keys)
		for _, x := range history {
			key := x.Input.(op).key
			parts[key] = append(parts[key], x)
		}
		return parts
	},
	Init: func() any { return nil }, // the first operation may find it there or not
	Step: func(state, input, output any) (bool, any) {
		yes := output.(bool)
		switch input.(op).what {
		case 1:
			return state == nil || yes != state.(bool), true
		case 2:
			return state == nil || yes == state.(bool), false
		}
		return state == nil || yes == state.(bool), yes
	},
}

// serve inserts or removes on the server's CPU.
func (b *bed) serve(insert bool) func(*r2.Co, r2.Peer, []byte, []byte) int {
	return func(c *r2.Co, _ r2.Peer, req, rep []byte) int {
		key, arg := binary.LittleEndian.Uint64(req), binary.LittleEndian.Uint64(req[8:])
		done, err := store.Change{Ref: store.Ref(arg)}, error(nil)
		if insert {
			done, err = b.t.Insert(c, key, locked(), arg)
		} else if _, err = b.t.Remove(c, key, done.Ref); err == nil {
			b.t.Free(c, key, done.Ref)
		}
		rep[0] = 0
		for i, x := range []error{nil, store.ErrExists, store.ErrChanged} {
			if errors.Is(err, x) {
				rep[0] = byte(i + 1)
			}
		}
		binary.LittleEndian.PutUint64(rep[1:], uint64(done.Ref))
		return 9
	}
}

func locked() []byte { return binary.LittleEndian.AppendUint64(nil, 1) }

func (b *bed) check(err error) {
	if err != nil {
		b.Error(err)
		panic(err)
	}
}

// call has the server change its table.
func (b *bed) call(c *r2.Co, rpc uint8, key, arg uint64) (store.Ref, error) {
	req := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, key), arg)
	rep := c.Call(b.t.Primary(key), rpc, req)
	b.check(c.Wait())
	if rep.B[0] == 0 {
		b.Fatalf("the server refuses key %d", key)
	}
	return store.Ref(binary.LittleEndian.Uint64(rep.B[1:])), []error{nil, store.ErrExists, store.ErrChanged}[rep.B[0]-1]
}

// find READs the record of a key until it is whole, and is the one that the table has.
func (b *bed) find(c *r2.Co, key uint64) (loc store.Location, ok bool) {
	for range 10_000 {
		c.Reset()
		loc, ok, err := store.Locate(c, b.t, key)
		b.check(err)
		if !ok {
			return loc, false
		}
		read := c.Read(loc.Loc, b.t.Rows().ImageBytes())
		b.check(c.Wait())
		row, whole := b.t.Rows().Whole(read.B)
		if !whole {
			b.torn++
		}
		stamp := layout.StampOf(row)
		if !whole || loc.Stale(stamp) || !record.Live(stamp) {
			continue
		}
		want := make([]byte, bytes)
		if fill(want, key, loc.Ref.Incarnation()); string(layout.Value(row)) != string(want) {
			b.Errorf("key %d in incarnation %d has %x", key, loc.Ref.Incarnation(), row)
		}
		return loc, true
	}
	b.Fatalf("key %d never comes to rest", key)
	return loc, false
}

// insert gives a key a record, if the key is not there.
func (b *bed) insert(c *r2.Co, key, seen uint64) error {
	ref, err := store.Ref(0), error(nil)
	if b.oneSided {
		done, e := b.t.Claim(c, key, locked(), seen)
		ref, err = done.Ref, e
	} else {
		ref, err = b.call(c, b.insertRPC, key, seen)
	}
	if err != nil {
		return err
	}
	loc, rows := b.t.Location(key, ref), b.t.Rows()
	row, image := make([]byte, rows.Bytes()), make([]byte, rows.ImageBytes())
	layout.SetStamp(row[layout.Stamp:], layout.FirstStamp(ref.Incarnation()))
	fill(layout.Value(row), key, ref.Incarnation())
	rows.Image(image, row)
	l := c.List(loc.Loc, true)
	for _, w := range append(rows.Writes(), record.Span{To: 8}) { // and last the lock
		at := loc.Loc
		at.Addr += r2.Addr(w.From)
		l.Write(at, image[w.From:w.To])
	}
	l.Post()
	b.check(c.Wait())
	return nil
}

// remove locks the record of a key and takes it out.
func (b *bed) remove(c *r2.Co, key uint64) bool {
	for {
		loc, ok := b.find(c, key)
		if !ok {
			return false
		}
		found := c.CAS(loc.Loc, 0, 2)
		row := c.Read(loc.Loc, layout.Checked)
		b.check(c.Wait())
		if binary.LittleEndian.Uint64(found.B) != 0 {
			continue
		}
		if loc.Stale(layout.StampOf(row.B)) { // it is another record that is locked
			c.Write(loc.Loc, make([]byte, 8))
			b.check(c.Wait())
			continue
		}
		var err error
		if b.oneSided {
			_, err = b.t.Release(c, key, loc.Ref)
		} else {
			_, err = b.call(c, b.removeRPC, key, uint64(loc.Ref))
		}
		b.check(err)
		return true
	}
}

// step is one operation. An insert looks before, every other time, and then wants the gap that it saw.
func (b *bed) step(c *r2.Co) {
	in, begin, yes := op{int(c.Rand().Uint64n(3)), c.Rand().Uint64n(keys)}, c.Now(), false
	switch in.what {
	case 0:
		_, yes = b.find(c, in.key)
	case 2:
		yes = b.remove(c, in.key)
	default:
		seen := store.AnyVersion
		if c.Rand().Uint64n(2) == 0 {
			loc, ok := b.find(c, in.key)
			if ok {
				return
			}
			seen = uint64(uint32(loc.Ref))
		}
		switch err := b.insert(c, in.key, seen); {
		case errors.Is(err, store.ErrChanged):
			b.moved++
			return
		case !errors.Is(err, store.ErrExists):
			b.check(err)
			yes = true
		}
	}
	b.history = append(b.history, porcupine.Operation{ClientId: int(c.ID()), Input: in, Call: int64(begin), Output: yes, Return: int64(c.Now())})
}

// run has two machines, and the servers' if they have threads, work on the keys of a server each.
func (b *bed) run(seed uint64, threads []int) {
	s := sim.New(sim.Options{Seed: seed})
	f, err := fabric.New(s, fabric.Config{Machines: len(threads), TornReads: true})
	b.check(err)
	defer func() {
		s.Close()
		f.Close()
	}()
	b.cl, err = r2.New(s, f, r2.Config{PerMachine: threads, Coroutines: 3})
	b.check(err)
	spec := store.Spec{ID: 1, Name: "few", ValueBytes: bytes, Spare: 1, Init: func(key uint64, value []byte) { fill(value, key, 0) }}
	made, err := Kind.Make(b.cl, spec, layout, store.Placement{Partition: store.Blocks(2, initial), Replicas: 1})
	b.check(err)
	b.t = made.(*Table)
	b.insertRPC, b.removeRPC = b.cl.Handle("test.insert", b.serve(true)), b.cl.Handle("test.remove", b.serve(false))
	left := 0
	for m, n := range threads {
		for i := range 3 * n {
			left++
			b.cl.Spawn(m, i%n, func(c *r2.Co) {
				c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
				for range 25 {
					b.step(c)
				}
				left--
			})
		}
	}
	for range 10_000 {
		b.check(s.Run(s.Now() + 10*sim.Microsecond))
		if left == 0 {
			break
		}
	}
	if left > 0 {
		b.Fatalf("%d coroutines have not ended: %v", left, b.cl.Waiting(8))
	}
	if !porcupine.CheckOperations(perKey, b.history) {
		b.Errorf("%d operations have no order", len(b.history))
	}
	b.t.Audit(func(text string) { b.Error(text) })
}

// Records come and go by RPC, by requests that no CPU serves, and so too where servers have no CPU: for each key, in an order.
func TestLinearizable(t *testing.T) {
	for name, x := range map[string]struct {
		oneSided bool
		threads  []int
	}{"by RPC": {false, []int{1, 1, 2}}, "one-sided": {true, []int{1, 1, 2}}, "memory nodes": {true, []int{0, 0, 2, 2}}} {
		moved, torn, done := 0, 0, 0
		for seed := uint64(1); seed <= 12; seed++ {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				b := &bed{T: t, oneSided: x.oneSided}
				b.run(seed, x.threads)
				moved, torn, done = moved+b.moved, torn+b.torn, done+len(b.history)
			})
		}
		if moved == 0 || torn == 0 {
			t.Errorf("%s: %d operations, %d inserts met a change of their gap, %d READs were torn", name, done, moved, torn)
		}
	}
}
