package kv

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// step is one operation of the property tests.
type step struct {
	machine int
	op      int // 0 lookup, 1 insert, 2 delete
	key     uint64
}

func drawSteps(t *rapid.T, machines int, keys uint64) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			machine: rapid.IntRange(0, machines-1).Draw(t, "machine"),
			op:      rapid.IntRange(0, 2).Draw(t, "op"),
			key:     rapid.Uint64Range(0, keys-1).Draw(t, "key"),
		}
	}), 1, 150).Draw(t, "steps")
}

// caught counts the READs that met a node in the middle of a change.
var caught int

// lookup is LookupRemote, with an eye on what it meets.
func lookup(c *r2.Co, tb *Table, key uint64) (Location, bool, error) {
	search := tb.Search(c, key, nil)
	l, ok := search.(*Lookup)
	if !ok {
		return tb.LookupRemote(c, key)
	}
	for {
		if err := c.Wait(); err != nil {
			return Location{}, false, err
		}
		node := l.node
		loc, state, err := l.Next(c)
		if state != store.More {
			return loc, state == store.Found, err
		}
		if l.node == node {
			caught++
		}
	}
}

// read looks a key up wherever it is and READs its row.
func read(c *r2.Co, tb *Table, key uint64) (loc Location, row []byte, ok bool, err error) {
	if tb.Primary(key) == c.Machine() {
		loc, ok, err = tb.LookupLocal(c, key)
	} else {
		loc, ok, err = lookup(c, tb, key)
	}
	if err != nil || !ok {
		return loc, nil, ok, err
	}
	b := c.Read(loc.Loc, tb.RowBytes())
	err = c.Wait()
	return loc, b.B, true, err
}

// One after the other, operations on the table do what they do to a map. Few initial keys and many inserted ones in
// few places, so that chains grow.
func TestTableAgainstMap(t *testing.T) {
	for _, k := range kinds {
		b := newBed(t, 2, 1, 200)
		b.kind = k
		rapid.Check(t, func(t *rapid.T) { tableAgainstMap(t, b, Spec{}) })
	}
}

// Likewise a tree, in the order of its keys and in another one.
func TestTreeAgainstMap(t *testing.T) {
	for _, order := range []*store.Order{nil, {Of: func(key uint64) uint64 { return 1<<40 - key }}} {
		rapid.Check(t, func(r *rapid.T) { tableAgainstMap(r, newBed(t, 2, 1, 1), Spec{Tree: true, Order: order}) })
	}
}

func tableAgainstMap(t *rapid.T, b *bed, spec Spec) {
	const machines = 2
	initial := rapid.Uint64Range(0, 20).Draw(t, "initial")
	part := store.Blocks(machines, initial)
	if rapid.Bool().Draw(t, "growing") { // keys that may come have buckets from the start
		all := store.Blocks(machines, 40)
		part = store.Growing{All: all, Initial: func(int) (from, n uint64) { return initial / 3, initial / 2 }}
	}
	sequential := rapid.Bool().Draw(t, "sequential")
	spec.ID, spec.Name, spec.ValueBytes, spec.Init, spec.Spare, spec.Sequential = 9, "model", 16, valueOf, 100, sequential
	if o := spec.Order; o != nil { // falling
		o.Key = func(server int, i uint64) uint64 { return part.Key(server, part.Count(server)-1-i) }
	}
	tb, err := b.kind.newTable(b.cl, record.LockSeq, spec,
		Placement{Partition: part, Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	b.svc.tables[9] = tb
	model := map[uint64]bool{}
	for m := range machines {
		for i := range part.Count(m) {
			model[part.Key(m, i)] = true
		}
	}
	value := make([]byte, 16)
	run := func(st step) (err error) {
		b.do(st.machine, func(c *r2.Co) {
			switch st.op {
			case 0:
				_, row, ok, e := read(c, tb, st.key)
				if err = e; ok != model[st.key] || ok && (!readable(row) || !holds(record.LockSeq.Value(row), st.key)) {
					err = errors.Join(err, errors.New("lookup differs from the map"))
				}
			case 1:
				valueOf(st.key, value)
				_, err = b.svc.Insert(c, tb, st.key, value)
				if model[st.key] && errors.Is(err, ErrExists) {
					err = nil
				}
				model[st.key] = true
			case 2:
				err = b.svc.Delete(c, tb, st.key)
				if !model[st.key] && errors.Is(err, ErrMissing) {
					err = nil
				}
				delete(model, st.key)
			}
		})
		return err
	}
	for i, st := range drawSteps(t, machines, 60) {
		if err := run(st); err != nil {
			t.Fatalf("step %d, %+v: %v", i, st, err)
		}
	}
	for key := range uint64(60) {
		loc, ok := tb.Find(key)
		row := make([]byte, tb.RowBytes())
		if ok != model[key] || ok && (!tb.Row(loc.Machine, key, row) || !holds(record.LockSeq.Value(row), key)) {
			t.Fatalf("at the end, key %d: found %v, in the map %v", key, ok, model[key])
		}
	}
	tb.Audit(func(text string) {
		if !strings.Contains(text, "on backup") { // there is no log, so backups are behind
			t.Fatal(text)
		}
	})
}

// A location that somebody remembers is found out to be stale by the READ of the row, whether the row is free,
// holds another record, or holds the same key again.
func TestStaleLocationIsDetected(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	tb := b.table(400, 8, 4, 1)
	x, err := NewCache(b.cl, 0, numbered(t, []*Table{tb}), 1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 8)
	b.do(0, func(c *r2.Co) {
		key := uint64(399) // of machine 1
		stale := func(when string) {
			loc, ok := x.Get(c, tb, key)
			if !ok {
				t.Errorf("%s: the cache lost the entry", when)
				return
			}
			row := c.Read(loc.Loc, tb.RowBytes())
			if err := c.Wait(); err != nil || !loc.Stale(record.LockSeq.StampOf(row.B)) {
				t.Errorf("%s: location not found stale, row %x, %v", when, row.B, err)
			}
		}
		put := func(k uint64) Location {
			valueOf(k, value)
			loc, err := b.svc.Insert(c, tb, k, value)
			if err != nil {
				t.Error(err)
			}
			return loc
		}
		first, _, _, _ := read(c, tb, key)
		x.Put(c, tb, key, first.Ref)
		if err := b.svc.Delete(c, tb, key); err != nil {
			t.Error(err)
		}
		stale("deleted")
		// The next insert on the same socket reuses the row.
		other := uint64(400)
		for s, _, _ := tb.shardOf(key); ; other++ {
			if o, _, _ := tb.shardOf(other); o == s {
				break
			}
		}
		if again := put(other); again.Addr != first.Addr {
			t.Errorf("row at %#x not reused, but %#x", first.Addr, again.Addr)
		}
		stale("reused by another key")
		if err := b.svc.Delete(c, tb, other); err != nil {
			t.Error(err)
		}
		if again := put(key); again.Addr != first.Addr {
			t.Errorf("row at %#x not reused, but %#x", first.Addr, again.Addr)
		}
		stale("reused by the same key")
		x.Invalidate(c, tb, key)
		if _, ok := x.Get(c, tb, key); ok {
			t.Error("the entry is still there after Invalidate")
		}
		now, row, ok, err := read(c, tb, key)
		if !ok || err != nil || now.Stale(record.LockSeq.StampOf(row)) || !holds(record.LockSeq.Value(row), key) {
			t.Errorf("after a new lookup: %v, row %x, %v", ok, row, err)
		}
		x.Put(c, tb, key, now.Ref)
		if loc, ok := x.Get(c, tb, key); !ok || loc != now {
			t.Errorf("the cache has %+v, %v, put %+v", loc, ok, now)
		}
	})
	if n := x.Stats().Stale; n != 1 {
		t.Errorf("%d stale entries counted", n)
	}
}

// churn inserts and deletes the keys from first on, in random order, until it has done n changes.
func (b *bed) churn(c *r2.Co, tb *Table, first, keys uint64, n int) {
	present := make([]bool, keys)
	value := make([]byte, tb.spec.ValueBytes)
	for range n {
		c.Reset()
		i := c.Rand().Uint64n(keys)
		var err error
		if present[i] {
			err = b.svc.Delete(c, tb, first+i)
		} else {
			valueOf(first+i, value)
			_, err = b.svc.Insert(c, tb, first+i, value)
		}
		if err != nil {
			b.Errorf("key %d: %v", first+i, err)
			return
		}
		present[i] = !present[i]
	}
}

// While all machines insert and delete in the same chains, one-sided lookups find every key that is always there,
// find no key that never is, and a row whose sequence is fresh is the record that was looked up, whole.
func TestRemoteLookupsDuringChanges(t *testing.T) {
	for _, k := range kinds {
		remoteLookupsDuringChanges(t, k)
	}
}

func remoteLookupsDuringChanges(t *testing.T, k kind) {
	const (
		stable   = 60 // keys that stay
		churned  = 60 // keys per changer that come and go
		changers = 6
		changes  = 1500
		above    = stable + changers*churned
	)
	b := newBed(t, 3, 2, 4)
	b.kind = k
	tb := b.table(stable, 120, 500, 1) // rows of several lines
	var flags []*bool
	changing, lookups, stale, fresh := changers, 0, 0, 0
	look := func(c *r2.Co) {
		c.Reset()
		key := c.Rand().Uint64n(above + 50)
		lookups++
		loc, row, ok, err := read(c, tb, key)
		switch {
		case err != nil:
			t.Errorf("key %d: %v", key, err)
		case key < stable && !ok:
			t.Errorf("key %d, which is always there, was not found", key)
		case key >= above && ok:
			t.Errorf("key %d, which never is there, was found at %+v", key, loc)
		case ok && loc.Stale(record.LockSeq.StampOf(row)):
			stale++
		case ok && readable(row):
			fresh++
			// A row of several lines may be torn; validation would read the sequence again.
			again := c.Read(loc.Loc, record.LockSeq.Bytes)
			if c.Wait() == nil && record.LockSeq.StampOf(again.B) == record.LockSeq.StampOf(row) && !holds(record.LockSeq.Value(row), key) {
				t.Errorf("key %d: row %x", key, row)
			}
		}
	}
	caught = 0
	for m := range 3 {
		for th := range 2 {
			first := uint64(stable + (2*m+th)*churned)
			flags = append(flags, b.spawn(m, th, func(c *r2.Co) {
				b.churn(c, tb, first, churned, changes)
				changing--
			}))
			flags = append(flags, b.spawn(m, th, func(c *r2.Co) {
				for changing > 0 && !t.Failed() {
					look(c)
				}
			}))
		}
	}
	b.run(flags...)
	t.Logf("%d lookups, %d nodes caught in a change, %d rows deleted meanwhile, %d read; %d verbs split", lookups, caught, stale, fresh, b.f.Counts().Split)
	if lookups < 1000 || fresh < 1000 || caught == 0 || stale == 0 || b.f.Counts().Split == 0 {
		t.Error("the lookups did not meet the changes: the test does not test")
	}
	for key := uint64(0); key < stable; key++ {
		if _, ok := tb.Find(key); !ok {
			t.Errorf("key %d is gone at the end", key)
		}
	}
}

// The same run twice gives the same trace, and looking at it changes nothing.
func TestChangesAreDeterministic(t *testing.T) {
	trace := func(look bool) uint64 {
		b := newBed(t, 2, 2, 2)
		tb := b.table(100, 24, 200, 2)
		var flags []*bool
		for m := range 2 {
			for th := range 2 {
				flags = append(flags, b.spawn(m, th, func(c *r2.Co) {
					b.churn(c, tb, 100+uint64(2*m+th)*50, 50, 200)
				}))
			}
		}
		row := make([]byte, tb.RowBytes())
		for range 100 {
			if err := b.s.Run(b.s.Now() + 5*sim.Microsecond); err != nil {
				t.Fatal(err)
			}
			for key := uint64(0); look && key < 300; key++ {
				for m := range 2 {
					tb.Row(m, key, row)
				}
			}
		}
		b.run(flags...)
		h := b.s.TraceHash()
		for m := range 2 {
			h = b.cl.Mem(m).Digest(h)
		}
		return h
	}
	first := trace(false)
	if trace(false) != first {
		t.Error("two runs differ")
	}
	if trace(true) != first {
		t.Error("a run differs when an oracle looks at it")
	}
}

// A fixed table finds its records, and refuses inserts and deletes, from wherever they come.
func TestFixedTable(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	spec := Spec{ID: 9, Name: "fixed", ValueBytes: 8, Init: valueOf, Fixed: true}
	tb, err := b.kind.newTable(b.cl, record.LockSeq, spec, Placement{Partition: store.Blocks(2, 1000), Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.svc.Add(tb); err != nil {
		t.Fatal(err)
	}
	b.do(0, func(c *r2.Co) {
		for key := range uint64(500) {
			loc, ok, err := tb.LookupLocal(c, key)
			if want, _ := tb.Find(key); !ok || err != nil || loc != want {
				t.Errorf("key %d: %v at %v, %v, want %v", key, ok, loc, err, want)
			}
		}
		if _, ok, err := tb.LookupLocal(c, 2000); ok || err != nil {
			t.Errorf("key 2000: %v, %v", ok, err)
		}
		for _, key := range []uint64{2000, 2001} { // one of each server
			if _, err := b.svc.Insert(c, tb, key, make([]byte, 8)); !errors.Is(err, ErrFixed) {
				t.Errorf("insert of key %d: %v", key, err)
			}
		}
		for _, key := range []uint64{1, 501} {
			if err := b.svc.Delete(c, tb, key); !errors.Is(err, ErrFixed) {
				t.Errorf("delete of key %d: %v", key, err)
			}
		}
	})
	spec.Spare = 1
	if _, err := NewTable(b.cl, record.LockSeq, spec, Placement{Partition: store.Blocks(2, 1000), Replicas: 1}); err == nil {
		t.Error("a fixed table has spare rows")
	}
}

// readable says that a row holds a record, and nobody has it locked or is writing it.
func readable(row []byte) bool {
	seq := record.LockSeq.StampOf(row)
	return record.LockSeq.LockOf(row) == 0 && record.Stable(seq) && record.Live(seq)
}
