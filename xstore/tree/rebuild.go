package tree

import (
	"encoding/binary"
	"fmt"
	"sort"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// sortedPairs are the keys of pairs. Records of one hash are behind each other; first are the first ones of each, nil if each
// pair has a key of its own.
type sortedPairs struct {
	pairs []store.Pair
	first []int
}

// of are the pairs of the i-th key.
func (p *sortedPairs) of(i uint64) []store.Pair {
	switch {
	case p.first == nil:
		return p.pairs[i : i+1]
	case i+1 < uint64(len(p.first)):
		return p.pairs[p.first[i]:p.first[i+1]]
	}
	return p.pairs[p.first[i]:]
}

func (p *sortedPairs) Key(i uint64) uint64 { return p.of(i)[0].Key }

func (p *sortedPairs) Len() uint64 {
	if p.first != nil {
		return uint64(len(p.first))
	}
	return uint64(len(p.pairs))
}

func (p *sortedPairs) Rank(key uint64) (uint64, bool) {
	i := uint64(sort.Search(int(p.Len()), func(i int) bool { return p.Key(uint64(i)) >= key }))
	return i, i < p.Len() && p.Key(i) == key
}

// sorted holds that pairs are what a tree can be made of.
func (t *Tree) sorted(pairs []store.Pair) (*sortedPairs, error) {
	p := &sortedPairs{pairs: pairs}
	if t.o.Real != nil {
		p.first = []int{}
	}
	for i := range pairs {
		same := i > 0 && pairs[i].Key == pairs[i-1].Key && t.o.Real != nil
		if i > 0 && pairs[i].Key <= pairs[i-1].Key && !same {
			return nil, fmt.Errorf("tree %s: pair %d of those recovered has key %d, the one before %d", t.o.Name, i, pairs[i].Key, pairs[i-1].Key)
		}
		if t.o.Real == nil {
			t.check(pairs[i].Value)
		} else if !same {
			p.first = append(p.first, i)
		}
	}
	return p, nil
}

// Rebuild makes the tree anew of pairs that a recovery has found, which rise by key (thesis §3.4.4). Leaves are as full as at
// the start. No other thread uses the tree meanwhile. Where keys have lengths of their own, a pair has a hash and a record as
// AppendRecord makes it; those of one hash may come in any order.
//
// Incarnations begin with the epoch in their upper 8 bits. It has to be a new one: then what a client remembers of a leaf
// before does not match, unless the leaf had split 65,536 times within an epoch, or recoveries come round after 256 epochs.
func (t *Tree) Rebuild(c *r2.Co, epoch uint8, pairs []store.Pair) error {
	p, err := t.sorted(pairs)
	if err != nil {
		return err
	}
	x := newInitial(p, t.o.Fill, t.o.Children)
	if x.leaves > uint64(t.maxLeaves) || x.inners() > t.maxInners {
		return ErrFull
	}
	t.epoch = epoch
	clear(t.kept)
	w := t.allocWork()
	defer t.freeWork(w)
	c.HTM(&t.lock, func(r *r2.Region) { t.forget(r, &x) })
	for leaf := range x.leaves {
		c.HTM(&t.lock, func(r *r2.Region) { err = t.rebuildLeaf(r, &x, p, uint32(leaf), w) })
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

func (t *Tree) rebuildLeaf(r *r2.Region, x *initial, p *sortedPairs, leaf uint32, w *work) error {
	from, to := x.ranks(uint64(leaf))
	for i := from; i < to; i++ {
		if !t.rebuildSlot(r, p.of(i), w) {
			return ErrFull
		}
		t.storeSlot(r, leaf, int(i-from), w.val, w)
	}
	x.block(uint64(leaf), t.inca(), w.keys)
	t.storeKeys(r, leaf, w.keys, t.layout.keys.Version(r.Load(t.LeafAddr(leaf), 2)), w)
	return nil
}

// rebuildSlot makes the slot of a key, or of a hash and its records.
func (t *Tree) rebuildSlot(r *r2.Region, pairs []store.Pair, w *work) (ok bool) {
	next := FatPointer(0)
	for _, pair := range pairs {
		if t.o.Real != nil {
			binary.LittleEndian.PutUint64(pair.Value, uint64(next))
		}
		if !t.newValue(r, pair.Key, pair.Value, w) {
			return false
		}
		if t.o.Real != nil {
			next = fatPointerOf(w.val)
		}
	}
	return true
}

// peek copies n bytes at a free of time. What is untouched is computed and stays untouched.
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
