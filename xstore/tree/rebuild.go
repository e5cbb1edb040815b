package tree

import (
	"encoding/binary"
	"fmt"
	"sort"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// sortedPairs are the keys of pairs.
type sortedPairs []store.Pair

func (p sortedPairs) Len() uint64         { return uint64(len(p)) }
func (p sortedPairs) Key(i uint64) uint64 { return p[i].Key }

func (p sortedPairs) Rank(key uint64) (uint64, bool) {
	i := sort.Search(len(p), func(i int) bool { return p[i].Key >= key })
	return uint64(i), i < len(p) && p[i].Key == key
}

// Rebuild makes the tree anew of pairs that a recovery has found, which rise by key (thesis §3.4.4). Leaves are as full as at
// the start. Nobody else uses the tree meanwhile.
//
// Incarnations begin with the epoch in their upper 8 bits. It has to be a new one: then what a client remembers of a leaf
// before does not match, unless the leaf had split 65,536 times within an epoch, or recoveries come round after 256 epochs.
func (t *Tree) Rebuild(c *r2.Co, epoch uint8, pairs []store.Pair) error {
	x := newInitial(sortedPairs(pairs), t.o.Fill, t.o.Children)
	if x.leaves > uint64(t.maxLeaves) || x.inners() > t.maxInners {
		return ErrFull
	}
	for i := range pairs {
		t.check(pairs[i].Value)
		if i > 0 && pairs[i].Key <= pairs[i-1].Key {
			return fmt.Errorf("tree %s: pair %d of those recovered has key %d, the one before %d", t.o.Name, i, pairs[i].Key, pairs[i-1].Key)
		}
	}
	t.epoch = epoch
	w := t.take()
	defer t.give(w)
	c.HTM(&t.lock, func(r *r2.Region) { t.forget(r, &x) })
	for leaf := range x.leaves {
		var err error
		c.HTM(&t.lock, func(r *r2.Region) { err = t.rebuildLeaf(r, &x, pairs, uint32(leaf), w) })
		if err != nil {
			return err
		}
	}
	for n := range x.inners() {
		x.node(n, &w.node)
		w.node.INCA = t.inca()
		c.HTM(&t.lock, func(r *r2.Region) { t.storeInner(r, n, &w.node, w) })
	}
	return nil
}

// forget sets root word and slabs to what they will be.
func (t *Tree) forget(r *r2.Region, x *initial) {
	r.Store64(t.RootAddr(), rootWord(x.inners()-1, x.levels()))
	r.Store64(t.base+leafSlab, x.leaves)
	r.Store64(t.base+nodeSlab, uint64(x.inners()))
	for i := 0; i < t.heap.words(); i += 8 {
		r.Store64(t.base+heapSlab+r2.Addr(i), 0)
	}
}

func (t *Tree) rebuildLeaf(r *r2.Region, x *initial, pairs []store.Pair, leaf uint32, w *work) error {
	from, to := x.ranks(uint64(leaf))
	for i := from; i < to; i++ {
		if !t.newValue(r, pairs[i].Key, pairs[i].Value, w) {
			return ErrFull
		}
		t.storeSlot(r, leaf, int(i-from), w.val, w)
	}
	x.block(uint64(leaf), t.inca(), w.keys)
	t.storeKeys(r, leaf, w.keys, t.layout.keys.Version(r.Load(t.LeafAddr(leaf), 2)), w)
	return nil
}

// peek copies n bytes at a free of time. What nobody has touched is computed and stays untouched.
func (t *Tree) peek(a r2.Addr, n int, dst []byte) []byte {
	var block [blockBytes]byte
	for dst = dst[:n]; len(dst) > 0; {
		start := a &^ (blockBytes - 1)
		src := block[:]
		if t.mem.Materialized(a) {
			src = t.mem.Bytes(start, blockBytes)
		} else {
			clear(src)
			t.fill(start-t.base, src)
		}
		m := copy(dst, src[a-start:])
		dst, a = dst[m:], a+r2.Addr(m)
	}
	return dst
}

func (t *Tree) peek64(a r2.Addr) uint64 {
	var b [8]byte
	t.peek(a, 8, b[:])
	return binary.LittleEndian.Uint64(b[:])
}
