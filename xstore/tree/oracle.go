package tree

import "slices"

// Find copies the value of a key as it is now, free of time, and returns its length.
func (t *Tree) Find(key uint64, value []byte) (n int, found bool) {
	w := t.allocWork()
	defer t.freeWork(w)
	leaf := t.peekDown(key, w)
	if _, ok := t.peekKeys(leaf, w); !ok {
		return 0, false
	}
	slot, found := w.keys.find(key)
	if !found || !t.peekSlot(leaf, slot, w) {
		return 0, false
	}
	v, ok := t.peekValue(w)
	return copy(value, v), ok
}

// peekDown walks to the leaf that a key is routed to. The inner node above is in w.node.
func (t *Tree) peekDown(key uint64, w *work) (leaf uint32) {
	at, levels := DecodeRoot(t.peek64(t.RootAddr()))
	for range levels {
		t.peekInner(at, w)
		at = w.node.Children[w.node.Child(key)]
	}
	return at
}

func (t *Tree) peekInner(number uint32, w *work) (whole bool) {
	t.peek(t.InnerAddr(number), t.inner.Bytes(), w.raw)
	return t.inner.Decode(w.raw, &w.node)
}

func (t *Tree) peekKeys(leaf uint32, w *work) (version uint16, whole bool) {
	t.peek(t.LeafAddr(leaf), t.layout.FencedBytes(), w.raw)
	return t.layout.keys.Decode(w.keys, w.raw)
}

func (t *Tree) peekSlot(leaf uint32, slot int, w *work) (whole bool) {
	lines := t.layout.values[slot].lines
	t.peek(t.slotAddr(leaf, slot), lines.Bytes(), w.raw)
	_, whole = lines.Decode(w.val, w.raw)
	return whole
}

// peekValue is the value of the slot in w.val.
func (t *Tree) peekValue(w *work) (value []byte, ok bool) {
	if t.heap == nil {
		return w.val[keyBytes:], true
	}
	a, n := t.EntryAddr(fatPointerOf(w.val))
	t.peek(a, n, w.raw)
	key, value, ok := decodeEntry(fatPointerOf(w.val), w.entry, w.raw)
	return value, ok && key == keyOf(w.val)
}

// EachLeaf calls f with the leaves from that on which a key is routed to, in the order of their keys, until it returns false.
// It is free of time, and untouched leaves stay untouched.
func (t *Tree) EachLeaf(from uint64, f func(l *Leaf) bool) {
	w := t.allocWork()
	defer t.freeWork(w)
	var l Leaf
	for {
		t.peekDown(from, w)
		for i := w.node.Child(from); i < len(w.node.Children); i++ {
			l.Low, l.High = w.node.Range(i)
			if t.peekLeaf(w.node.Children[i], &l, w); !f(&l) {
				return
			}
		}
		if w.node.High == ^uint64(0) {
			return
		}
		from = w.node.High + 1
	}
}

// peekLeaf fills in what a leaf itself says.
func (t *Tree) peekLeaf(number uint32, l *Leaf, w *work) {
	t.peekKeys(number, w)
	l.ALN, l.INCA, l.Keys = number, w.keys.inca(), l.Keys[:0]
	for i := range w.keys.cnt() {
		l.Keys = append(l.Keys, w.keys.key(i))
	}
	slices.Sort(l.Keys)
}

// Each calls f with all pairs in the order of their keys until it returns false, free of time. value is valid until f returns.
func (t *Tree) Each(f func(key uint64, value []byte) bool) { t.EachFrom(0, f) }

// EachFrom is Each of the pairs with keys from the given one on.
func (t *Tree) EachFrom(from uint64, f func(key uint64, value []byte) bool) {
	w := t.allocWork()
	defer t.freeWork(w)
	t.EachLeaf(from, func(l *Leaf) bool {
		t.peekKeys(l.ALN, w)
		for _, slot := range w.sorted(w.keys, from) {
			t.peekSlot(l.ALN, slot, w)
			if value, _ := t.peekValue(w); !f(w.keys.key(slot), value) {
				return false
			}
		}
		return true
	})
}

// Stats is what a tree consists of.
type Stats struct {
	Leaves     uint32 // in the tree
	Free       uint32 // that were used before
	Splits     uint64
	InnerNodes uint32
	Levels     int    // of inner nodes and leaves
	LeafBytes  uint64 // of leaves in the tree
	InnerBytes uint64
	HeapBytes  uint64 // that values have or had, of different lengths
	SpaceBytes uint64 // of addresses: what it takes if all is touched
}

// Stats counts, free of time.
func (t *Tree) Stats() Stats {
	_, levels := DecodeRoot(t.peek64(t.RootAddr()))
	slab, nodes := t.peek64(t.base+leafSlab), t.peek64(t.base+nodeSlab)
	s := Stats{Splits: t.splits, InnerNodes: uint32(nodes), Levels: levels + 1, SpaceBytes: t.mr.Len}
	w := t.allocWork()
	for head := uint32(slab >> 32); head != 0; head = w.keys.nxt() + 1 {
		t.peekKeys(head-1, w)
		s.Free++
	}
	t.freeWork(w)
	s.Free += uint32(t.keeps())
	s.Leaves = uint32(slab) - s.Free
	s.LeafBytes = uint64(s.Leaves) * uint64(t.layout.bytes)
	s.InnerBytes = nodes * uint64(t.inner.bytes)
	if t.heap != nil {
		s.HeapBytes = t.peek64(t.heap.state)
	}
	return s
}
