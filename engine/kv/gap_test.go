package kv

import (
	"errors"
	"fmt"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// gapTables are a table of each kind, with keys whose chains grow beyond their first nodes.
func gapTables(t *testing.T, f func(t *testing.T, b *bed, tb *Table)) {
	for _, k := range kinds {
		for _, tree := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v tree=%v", k, tree), func(t *testing.T) {
				b := newBed(t, 1, 1, 1)
				b.kind = k
				tb, err := k.newTable(b.cl, record.LockSeq, Spec{ID: 9, Name: "gaps", ValueBytes: 8, Init: valueOf, Spare: 200, Tree: tree}, Placement{Partition: store.Blocks(1, 4), Replicas: 1})
				if err != nil {
					t.Fatal(err)
				}
				f(t, b, tb)
			})
		}
	}
}

// gapVersion is that of the gap of a key which is missing, as a lookup says it.
func gapVersion(t *testing.T, c *r2.Co, tb *Table, key uint64) uint32 {
	t.Helper()
	loc, ok, err := tb.LookupLocal(c, key)
	if ok || err != nil {
		t.Fatalf("key %d: %v, %v, want that it is missing", key, ok, err)
	}
	return uint32(loc.Ref)
}

// put inserts a key that nobody has looked for.
func put(t *testing.T, c *r2.Co, tb *Table, key uint64) store.Change {
	t.Helper()
	x, err := tb.Insert(c, key, make([]byte, 8), store.AnyVersion)
	if err != nil {
		t.Fatalf("insert of key %d: %v", key, err)
	}
	return x
}

// An insert is refused whose gap is not what its transaction has seen: another record has come meanwhile, or has come and gone.
func TestInsertComparesTheGap(t *testing.T) {
	gapTables(t, func(t *testing.T, b *bed, tb *Table) {
		b.do(0, func(c *r2.Co) {
			const key = 100
			seen := gapVersion(t, c, tb, key)
			x := put(t, c, tb, key)
			if _, err := tb.Remove(c, key, x.Ref); err != nil {
				t.Fatal(err)
			}
			tb.Free(c, key, x.Ref)
			if _, err := tb.Insert(c, key, make([]byte, 8), uint64(seen)); !errors.Is(err, store.ErrChanged) {
				t.Errorf("an insert whose key has come and gone: %v, want %v", err, store.ErrChanged)
			}
			if _, err := tb.Insert(c, key, make([]byte, 8), uint64(gapVersion(t, c, tb, key))); err != nil {
				t.Errorf("an insert into the gap that was seen: %v", err)
			}
		})
	})
}

// Each change moves the version that lookups find of the gap, also where it changes a node behind the first.
func TestChangesMoveTheGap(t *testing.T) {
	gapTables(t, func(t *testing.T, b *bed, tb *Table) {
		b.do(0, func(c *r2.Co) {
			const first, n = 100, 60
			var refs []store.Ref
			moved := func(what string, key uint64, before uint32, x store.Change) {
				if loc := tb.Gap(key); x.Before != before || uint32(c.Load64(loc.Addr)) != x.After || x.After == x.Before {
					t.Errorf("%s key %d: the gap had version %d and has %d, the change says from %d to %d", what, key, before, uint32(c.Load64(loc.Addr)), x.Before, x.After)
				}
			}
			for key := uint64(first); key < first+n; key++ {
				before := gapVersion(t, c, tb, key)
				x := put(t, c, tb, key)
				moved("insert of", key, before, x)
				refs = append(refs, x.Ref)
			}
			for i, ref := range refs {
				key := uint64(first + i)
				before := uint32(c.Load64(tb.Gap(key).Addr))
				x, err := tb.Remove(c, key, ref)
				if err != nil {
					t.Fatal(err)
				}
				moved("removal of", key, before, x)
			}
		})
	})
}
