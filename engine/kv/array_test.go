package kv

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// An array has what was put last of each record that was there from the start, and before that where it was; never what was forgotten, never
// its own machine's records, and nothing of later ones.
func TestArrayAgainstMap(t *testing.T) {
	const keys, machine = 60, 1
	b := newBed(t, 3, 1, 1)
	tables := []*Table{b.table(keys, 8, 10, 1), b.table(keys, 16, 10, 1)}
	rapid.Check(t, func(t *rapid.T) {
		x, err := NewArray(b.cl, machine, numbered(t, tables), 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		type name struct {
			table int
			key   uint64
		}
		model := map[name]store.Ref{} // 0: as at the start; gone: forgotten
		has, forgotten := uint64(2*keys*2/3), uint64(0)
		if n := x.Stats().Entries; n != has {
			t.Fatalf("%d entries at the start, want %d", n, has)
		}
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			k := name{rapid.IntRange(0, 1).Draw(t, "table"), rapid.Uint64Range(0, keys+5).Draw(t, "key")}
			tb := tables[k.table]
			place := k.key < keys && tb.Primary(k.key) != machine
			op, row := rapid.IntRange(0, 2).Draw(t, "op"), rapid.Uint32Range(0, 3).Draw(t, "row")
			b.do(machine, func(c *r2.Co) {
				switch op {
				case 0:
					want, known := model[k]
					if !known && place {
						_, j, _ := tb.shardOf(k.key)
						want = homeRef(j)
					}
					loc, ok := x.Get(c, tb, k.key)
					if exists := place && want != store.Ref(noLocation); ok != exists || ok && loc != tb.Location(k.key, want) {
						t.Errorf("%+v: %+v, %v, want %v", k, loc, ok, want)
					}
				case 1:
					x.Put(c, tb, k.key, NewRef(row, 1))
					if place {
						model[k] = NewRef(row, 1)
					}
				case 2:
					if place && model[k] != store.Ref(noLocation) {
						model[k] = store.Ref(noLocation)
						forgotten++
					}
					x.Invalidate(c, tb, k.key)
				}
			})
		}
		for _, r := range model {
			if r == store.Ref(noLocation) {
				has--
			}
		}
		if s := x.Stats(); s.Entries != has || s.Stale != forgotten || s.Evictions != 0 {
			t.Errorf("%+v, want %d entries, %d stale", s, has, forgotten)
		}
	})
}

// Each record has a place of its own, and a look takes one access to it. A budget that does not hold them is refused.
func TestArrayPlaces(t *testing.T) {
	const keys = 3000
	b := newBed(t, 3, 1, 1)
	tb := b.table(keys, 8, 0, 1)
	need := uint64(keys * 2 / 3 * ArrayEntryBytes)
	x, err := NewArray(b.cl, 1, numbered(t, []*Table{tb}), need)
	if err != nil {
		t.Fatal(err)
	}
	places := map[r2.Addr]uint64{}
	for key := range uint64(keys) {
		if tb.Primary(key) == 1 {
			continue
		}
		a, _ := x.Line(tb, key)
		if other, ok := places[a]; ok {
			t.Fatalf("keys %d and %d share a place", key, other)
		}
		places[a] = key
	}
	b.do(1, func(c *r2.Co) {
		var took [2]r2.Time
		for i := range took {
			from := c.Now()
			x.Get(c, tb, 0)
			took[i] = c.Now() - from
		}
		if took[0] < 80*sim.Nanosecond || took[1] == 0 || took[1] > 40*sim.Nanosecond { // from memory, then from the cache
			t.Errorf("looks take %v ps", took)
		}
	})
	for _, err := range []error{x.Resize(need - 1), (kind{array: true}).Fits(b.cl, []store.Table{tb}, need-1)} {
		if err == nil || !strings.Contains(err.Error(), "raise cache.bytes") {
			t.Errorf("a budget that is too small: %v", err)
		}
	}
	if err := (kind{}).Fits(b.cl, []store.Table{tb}, 64); err != nil {
		t.Error(err)
	}
}
