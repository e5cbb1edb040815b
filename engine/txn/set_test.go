package txn

import (
	"math/rand/v2"
	"testing"
)

// A set of any size finds what was added to it since it was cleared, and nothing else.
func TestFindInSetsOfAllSizes(t *testing.T) {
	tables := []*Table{{ID: 1}, {ID: 2}, {ID: 255}}
	random := rand.New(rand.NewPCG(1, 1))
	tx := &Tx{}
	for _, size := range []int{0, 1, smallSet, smallSet + 1, 3 * smallSet, 2, 2 * smallSet, MostRecords} {
		tx.clearSet()
		for range size {
			table, key := tables[random.Uint64N(3)], random.Uint64N(uint64(size)*2)
			if random.Uint64N(8) == 0 {
				key = MaxKey - key
			}
			if got := tx.find(table.ID, key); (got != nil) != linear(tx, table.ID, key) || got != nil && (got.Table != table || got.Key != key) {
				t.Fatalf("set of %d: table %d key %d is %v", len(tx.set), table.ID, key, got)
			} else if got == nil {
				tx.set = append(tx.set, &Access{Table: table, Key: key})
			}
		}
		for _, a := range tx.set {
			if tx.find(a.Table.ID, a.Key) != a {
				t.Fatalf("set of %d: table %d key %d is not found", len(tx.set), a.Table.ID, a.Key)
			}
			if got := tx.find(a.Table.ID, a.Key|1<<keyBits); got != nil {
				t.Fatalf("set of %d: key %d of table %d, too large, finds that of table %d", len(tx.set), a.Key|1<<keyBits, a.Table.ID, got.Table.ID)
			}
		}
	}
}

func linear(tx *Tx, table uint8, key uint64) bool {
	for _, a := range tx.set {
		if a.Table.ID == table && a.Key == key {
			return true
		}
	}
	return false
}

// A lookup in a large set costs no memory once its map is there.
func TestFindAllocatesNothing(t *testing.T) {
	tx, table := &Tx{}, &Table{ID: 1}
	list := make([]*Access, 4*smallSet)
	for i := range list {
		list[i] = &Access{Table: table, Key: uint64(i)}
	}
	fill := func() {
		tx.clearSet()
		for _, a := range list {
			if tx.find(1, a.Key) == nil {
				tx.set = append(tx.set, a)
			}
		}
	}
	fill()
	if n := testing.AllocsPerRun(20, fill); n > 0 {
		t.Errorf("a transaction of %d records allocates %v times", len(list), n)
	}
}
