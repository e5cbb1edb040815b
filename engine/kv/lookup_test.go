package kv

import (
	"errors"
	"runtime"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

func TestLookupEveryKeyLocallyAndRemotely(t *testing.T) {
	for i, most := range []float64{1.2, 1.1} {
		lookupEveryKey(t, kinds[i], most)
	}
}

func lookupEveryKey(t *testing.T, k kind, most float64) {
	const keys = 900
	b := newBed(t, 3, 1, 4)
	b.kind = k
	tb := b.table(keys, 8, 0, 1)
	reads, sums := 0, metrics.ForPhases[uint32]()
	b.do(0, func(c *r2.Co) {
		for key := range uint64(keys) {
			c.Reset()
			var loc Location
			var ok bool
			var err error
			if tb.Primary(key) == c.Machine() {
				loc, ok, err = tb.LookupLocal(c, key)
			} else {
				c.TakeTrips(sums)
				loc, ok, err = tb.LookupRemote(c, key)
				reads += c.TakeTrips(sums)
			}
			if !ok || err != nil || loc.Machine != tb.Primary(key) {
				t.Errorf("key %d: found %v on machine %d, %v", key, ok, loc.Machine, err)
				return
			}
			row := c.Read(loc.Loc, tb.RowBytes())
			if err := c.Wait(); err != nil || !readable(row.B) || loc.Stale(record.LockSeq.StampOf(row.B)) || !holds(record.LockSeq.Value(row.B), key) {
				t.Errorf("key %d: row %x, %v", key, row.B, err)
				return
			}
		}
		for key := uint64(keys); key < keys+30; key++ {
			var ok bool
			var err error
			if tb.Primary(key) == c.Machine() {
				_, ok, err = tb.LookupLocal(c, key)
			} else {
				_, ok, err = tb.LookupRemote(c, key)
			}
			if ok || err != nil {
				t.Errorf("key %d, which is not there: %v, %v", key, ok, err)
			}
		}
	})
	if mean := float64(reads) / (2 * keys / 3); mean < 1 || mean > most {
		t.Errorf("%.3f READs per remote lookup", mean)
	}
}

// The home RNIC of a row is the one that its lookup goes to, and both sockets have about half of the rows.
func TestRowsAreSplitOverSockets(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	tb := b.table(1000, 8, 10, 2)
	var rows [2]int
	for key := range uint64(1000) {
		loc, ok := tb.Find(key)
		if !ok {
			t.Fatalf("key %d not found", key)
		}
		s, _, _ := tb.shardOf(key)
		home := b.cl.Mem(loc.Machine).Home(loc.Addr)
		if index := b.cl.Mem(loc.Machine).Home(s.nodeAddr(0)); index != home || home != s.socket {
			t.Fatalf("key %d: row on socket %d, index on %d, shard of %d", key, home, index, s.socket)
		}
		rows[home]++
	}
	if rows[0] != 500 || rows[1] != 500 {
		t.Errorf("rows per socket %v", rows)
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	const keys = 1000
	b := newBed(t, 2, 1, 1)
	tb := b.table(keys, 8, 0, 1)
	x, err := NewCache(b.cl, 0, numbered(t, []*Table{tb}), 1<<16, 1)
	if err != nil {
		t.Fatal(err)
	}
	round := func(c *r2.Co) {
		for key := range uint64(keys) {
			if tb.Primary(key) == 0 {
				tb.LookupLocal(c, key)
				continue
			}
			if _, ok := x.Get(c, tb, key); !ok {
				loc, _, _ := tb.LookupRemote(c, key)
				x.Put(c, tb, key, loc.Ref)
			}
			c.Reset()
		}
	}
	var before, after runtime.MemStats
	b.do(0, func(c *r2.Co) {
		round(c)
		round(c)
		runtime.ReadMemStats(&before)
		for range 10 {
			round(c)
		}
		runtime.ReadMemStats(&after)
	})
	// The test bed's own slices may allocate a little.
	if n := after.Mallocs - before.Mallocs; n > 50 {
		t.Errorf("%d allocations in %d lookups", n, 10*keys)
	}
}

func TestNewTableRefusals(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	for name, c := range map[string]struct {
		spec  Spec
		place Placement
	}{
		"no value":       {Spec{Name: "x"}, Placement{Partition: store.Blocks(2, 10), Replicas: 1}},
		"no partition":   {Spec{Name: "x", ValueBytes: 8}, Placement{Replicas: 1}},
		"many replicas":  {Spec{Name: "x", ValueBytes: 8}, Placement{Partition: store.Blocks(2, 10), Replicas: 3}},
		"many servers":   {Spec{Name: "x", ValueBytes: 8}, Placement{Partition: store.Blocks(3, 10), Replicas: 1}},
		"many rows":      {Spec{Name: "x", ValueBytes: 8}, Placement{Partition: store.Blocks(1, 1<<34), Replicas: 1}},
		"too much space": {Spec{Name: "x", ValueBytes: 1900}, Placement{Partition: store.Blocks(1, 1<<28), Replicas: 1}},
	} {
		if _, err := NewTable(b.cl, record.LockSeq, c.spec, c.place); err == nil {
			t.Errorf("%s: accepted", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	if b.svc.Add(b.table(10, 8, 0, 1)) == nil {
		t.Error("the same table id was added twice")
	}
}

func TestChangesAreRefused(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	tb := b.table(10, 8, 1, 1)
	value := make([]byte, 8)
	b.do(0, func(c *r2.Co) {
		for _, on := range []uint64{0, 9} { // here and on the other machine
			if _, err := b.svc.Insert(c, tb, on, value); !errors.Is(err, ErrExists) {
				t.Errorf("insert of key %d, which exists: %v", on, err)
			}
		}
		for _, missing := range []uint64{10, 11} {
			if err := b.svc.Delete(c, tb, missing); !errors.Is(err, ErrMissing) {
				t.Errorf("delete of key %d, which is missing: %v", missing, err)
			}
			if _, err := b.svc.Insert(c, tb, missing, value[:7]); err == nil {
				t.Errorf("insert of key %d with a short value was accepted", missing)
			}
		}
		if _, err := b.svc.Insert(c, tb, MaxKey+1, value); err == nil {
			t.Error("insert of a key that is too large was accepted")
		}
		full := 0
		for key := uint64(10); key < 20; key++ {
			if _, err := b.svc.Insert(c, tb, key, value); errors.Is(err, ErrFull) {
				full++
			} else if err != nil {
				t.Error(err)
			}
		}
		if full != 10-4 { // one spare row on each of two sockets of two servers
			t.Errorf("%d of 10 inserts found the table full, want 6", full)
		}
	})
}

// One-sided lookup and READ of the row, or lookup on the own CPU, with all that the simulator does for it.
func BenchmarkLookup(b *testing.B) {
	for name, machine := range map[string]int{"local": 0, "remote": 1} {
		b.Run(name, func(b *testing.B) {
			const keys, coroutines = 100_000, 8
			bd := newBed(b, 2, 1, coroutines)
			tb := bd.table(2*keys, 8, 0, 1)
			left := b.N
			var flags []*bool
			for range coroutines {
				flags = append(flags, bd.spawn(machine, 0, func(c *r2.Co) {
					for ; left > 0; left-- {
						c.Reset()
						key := c.Rand().Uint64n(keys) // of machine 0
						if _, _, ok, err := read(c, tb, key); !ok || err != nil {
							b.Errorf("key %d: %v, %v", key, ok, err)
							return
						}
					}
				}))
			}
			b.ReportAllocs()
			b.ResetTimer()
			bd.run(flags...)
		})
	}
}

// What lookupFixed computes is what the bytes of the hash table say: the slot of each record in its chain.
func TestRankIsTheSlot(t *testing.T) {
	const keys = 3000
	b := newBed(t, 2, 1, 1)
	for id, sequential := range []bool{false, true, false, true} {
		spec := Spec{ID: uint8(id + 1), Name: "fixed", ValueBytes: 8, Init: valueOf, Fixed: true, Sequential: sequential}
		tb, err := kinds[id/2].newTable(b.cl, record.LockSeq, spec, Placement{Partition: store.Blocks(2, keys), Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		further := 0
		for key := range uint64(keys) {
			s, j, _ := tb.shardOf(key)
			place := s.slotOf(s.hash(j))
			rank := s.rank(place, s.hash(j))
			number := place + uint64(rank/s.slots)*s.chains
			node := b.cl.Mem(s.machine).Bytes(s.nodeAddr(number), s.bytes)
			if slot := rank % s.slots; s.key(node, slot) != key|valid || s.ref(node[s.slotLine(slot):], slot) != homeRef(j) {
				t.Fatalf("sequential %v: key %d has rank %d, slot %d of node %d holds another", sequential, key, rank, rank%s.slots, number)
			}
			if rank >= s.slots {
				further++
			}
		}
		if further == 0 {
			t.Errorf("sequential %v: no chain is longer than a node", sequential)
		}
	}
}

// A lookup in a fixed table takes the time of one that looks at the bytes, but for what a second line waits for the
// first in the memory channel, as both are asked for at once.
func TestFixedLookupTakesAsLong(t *testing.T) {
	for _, k := range kinds {
		fixedLookupTakesAsLong(t, k)
	}
}

func fixedLookupTakesAsLong(t *testing.T, k kind) {
	const keys = 2000
	var took [2]r2.Time
	for i, fixed := range []bool{false, true} {
		b := newBed(t, 1, 1, 1)
		tb, err := k.newTable(b.cl, record.LockSeq, Spec{ID: 1, Name: "t", ValueBytes: 8, Init: valueOf, Fixed: fixed}, Placement{Partition: store.Blocks(1, keys), Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		b.do(0, func(c *r2.Co) {
			for key := range uint64(keys) {
				c.Sleep(1_000_000) // memory is idle then
				from := c.Now()
				if _, ok, err := tb.LookupLocal(c, key); !ok || err != nil {
					t.Errorf("key %d: %v, %v", key, ok, err)
				}
				took[i] += c.Now() - from
			}
		})
	}
	if took[1] < took[0] || took[1]-took[0] > took[0]/200 || took[0] == 0 {
		t.Errorf("%v ps by bytes, %v computed", took[0], took[1])
	}
}
