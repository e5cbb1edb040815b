package masstree

import (
	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/rivals/service"
)

// Nodes have five lines, as those of Masstree have; the first four are prefetched as a whole.
//
//	border   0 version u32, removed u8, unused | 24 permutation u64 | 32 keys u64 x15 | 152 values u64 x15
//	         272 low u64 | 280 next u64 | 296 parent u64
//	interior 0 version u32, keys u8, unused | 8 keys u64 x15 | 128 children u64 x16 | 256 parent u64
//
// A value of up to 8 bytes is in the node, for a longer one the address of its row. low is the lowest key that the node may
// have; Masstree finds it in the first slot, which it therefore never gives away. In the bytes of Masstree's fields that
// keys of 8 bytes do not need (the lengths of keys and their suffixes) there is nothing.
const (
	width     = 15
	nodeBytes = 320
	prefetch  = 256

	atPermutation  = 24
	atKeys         = 32
	atValues       = 152
	atLow          = 272
	atNext         = 280
	atParent       = 296
	atInteriorKeys = 8
	atChildren     = 128
	atInteriorUp   = 256
)

// The version word. Its low half is as in Masstree's nodeversion32.
const (
	locked    = 1 << 0
	inserting = 1 << 1
	splitting = 1 << 2
	oneInsert = 1 << 3 // the counter of inserts into slots that were in use before
	allInsert = 0x3f << 3
	oneSplit  = 1 << 9
	allSplit  = 1<<29 - 1<<9
	isRoot    = 1 << 30
	isBorder  = 1 << 31
	dirty     = inserting | splitting
	countAt   = 32 // removed or keys
)

func count(w uint64) int                 { return int(w >> countAt & 0xff) }
func setCount(w uint64, n int) uint64    { return w&^(0xff<<countAt) | uint64(n)<<countAt }
func permOf(b []byte) permutation        { return permutation(wire.Get64(b[atPermutation:])) }
func keyAt(b []byte, slot int) uint64    { return wire.Get64(b[atKeys+8*slot:]) }
func interiorKey(b []byte, i int) uint64 { return wire.Get64(b[atInteriorKeys+8*i:]) }
func child(b []byte, i int) r2.Addr      { return r2.Addr(wire.Get64(b[atChildren+8*i:])) }

// parentAt is where a node has its parent.
func parentAt(a r2.Addr, w uint64) r2.Addr {
	if w&isBorder != 0 {
		return a + atParent
	}
	return a + atInteriorUp
}

// unlocked is the version word that gives a node free, and counts what was done to it.
func unlocked(w uint64) uint64 {
	switch {
	case w&splitting != 0:
		w = w&^allSplit | (w+oneSplit)&allSplit
	case w&inserting != 0:
		w = w&^allInsert | (w+oneInsert)&allInsert
	}
	return w &^ (locked | dirty)
}

// changed says that a node is not what it was when a reader saw one version of it: more than its lock is different.
func changed(was, now uint64) bool { return (was^now)&^locked != 0 }

// split says that keys have left a node since a reader saw one version of it.
func split(was, now uint64) bool { return (was^now)&allSplit != 0 }

// findChild is the place of the child that a key belongs to.
func findChild(c *r2.Co, b []byte, w, key uint64) int {
	i, n := 0, count(w)
	for i < n && key >= interiorKey(b, i) {
		i++
	}
	service.ChargeSearch(c, min(i+1, n))
	return i
}

// find is the place of a key among those of a border node, or where it belongs.
func find(c *r2.Co, b []byte, key uint64) (place, slot int, found bool) {
	p := permOf(b)
	n := p.n()
	for place < n && keyAt(b, p.slot(place)) < key {
		place++
	}
	service.ChargeSearch(c, min(place+1, n))
	if place < n && keyAt(b, p.slot(place)) == key {
		return place, p.slot(place), true
	}
	return place, 0, false
}
