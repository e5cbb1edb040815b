package masstree

import (
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
	"drtmx/xstore/rivals/service"
)

func with(o Options) kvtest.Make {
	return func(cl *r2.Cluster, s store.KVSpec) (store.KV, error) { return New(cl, s, o) }
}

func TestMapByHash(t *testing.T) { kvtest.Map(t, with(Options{Split: service.ByHash}), false) }
func TestMapByRange(t *testing.T) {
	kvtest.Map(t, with(Options{Fill: 15, Split: service.ByRange}), false)
}

// contended are clients that all work on one or two nodes, and on nodes that split.
var contended = []kvtest.History{
	{Keys: 6, Operations: 60, Bytes: 8},
	{Keys: 5, Operations: 60, Bytes: 40},
	{Keys: 4, Operations: 150, Bytes: 8, Wide: 200},
}

// wrong runs seeds until something is wrong.
func wrong(t *testing.T, seeds uint64) string {
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, h := range contended {
			if w := h.Linear(t, with(Options{Split: service.Split(seed % 2)}), seed); w != "" {
				return w
			}
		}
	}
	return ""
}

func TestLinearizablePerKey(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 3
	}
	if w := wrong(t, seeds); w != "" {
		t.Error(w)
	}
}

// A reader who has found a key in a slot notices that another key has it meanwhile: that one's value is not the value of the first. As many
// slots are free then as when it looked, and keys have come and gone so often before that their number is at its limit if nobody resets it.
func TestSlotThatIsUsedAgainIsNoticed(t *testing.T) {
	b := kvtest.NewBed(t, with(Options{}), 1, kvtest.Size{Machines: 1, Threads: 1, Coroutines: 1, Servers: 1}, kvtest.Hardware(1),
		store.KVSpec{Name: "slots", Keys: kvtest.Even{N: 8, First: 10, Step: 10}, ValueBytes: 8, Spare: 8})
	defer b.Close()
	tree := b.KV.(*Store).trees[0]
	b.Spawn(0, 0, func(c *r2.Co, _ store.KVClient) {
		remove := func(key uint64) {
			if !tree.Delete(c, key) {
				t.Fatalf("key %d is not deleted", key)
			}
		}
		insert := func(key uint64) {
			if ok, err := tree.Insert(c, key, make([]byte, 8)); !ok || err != nil {
				t.Fatalf("insert of key %d: %v, %v", key, ok, err)
			}
		}
		for range width + 1 {
			remove(10)
			insert(10)
		}
		remove(10)
		a, node, w := tree.descend(c, 20)
		_, slot, found := find(c, node, 20)
		if !found || changed(w, version(c, a)) {
			t.Fatalf("key 20 was found %v, and its node changed", found)
		}
		remove(20)
		again := -1
		for key := uint64(21); again != slot; key++ { // the slot that was freed last comes last
			insert(key)
			at, node, _ := tree.descend(c, key)
			if _, again, _ = find(c, node, key); at != a {
				t.Fatal("no key is in the slot that key 20 had when its node is full")
			}
		}
		remove(40)
		if !changed(w, version(c, a)) {
			t.Error("who has found key 20 there takes another key's value for its value")
		}
	})
	b.Run()
}

func BenchmarkGet(b *testing.B) { kvtest.BenchGets(b, with(Options{})) }
