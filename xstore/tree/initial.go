package tree

import (
	"encoding/binary"

	"drtmx/engine/store"
)

// initial says what a tree is at the start: a pure function of the keys. Leaves and the inner nodes of a level are numbered
// in the order of their keys, levels from the leaves upwards, so that the root comes last.
type initial struct {
	keys     store.Keys
	n        uint64 // keys
	fill     uint64 // keys of a leaf
	children uint64 // of an inner node
	leaves   uint64
	base     []uint32 // by level from 1: the number of its first node; at the end that of the first node never used
	width    []uint64 // by level: the leaves below a node
}

func newInitial(keys store.Keys, fill, children int) initial {
	x := initial{keys: keys, fill: uint64(fill), children: uint64(children)}
	if keys != nil {
		x.n = keys.Len()
	}
	x.leaves = max(1, (x.n+x.fill-1)/x.fill)
	x.base, x.width = []uint32{0, 0}, []uint64{1}
	for nodes := x.leaves; len(x.width) == 1 || nodes > 1; {
		nodes = (nodes + x.children - 1) / x.children
		x.base = append(x.base, x.base[len(x.base)-1]+uint32(nodes))
		x.width = append(x.width, x.width[len(x.width)-1]*x.children)
	}
	return x
}

// levels of inner nodes.
func (x *initial) levels() int { return len(x.width) - 1 }

// inners is the number of inner nodes.
func (x *initial) inners() uint32 { return x.base[len(x.base)-1] }

// low is the lowest key that is routed to the leaves from the given one on.
func (x *initial) low(leaf uint64) uint64 {
	if leaf == 0 {
		return 0
	}
	return x.keys.Key(leaf * x.fill)
}

// high is the highest key that is routed to the leaves before the given one.
func (x *initial) high(leaf uint64) uint64 {
	if leaf >= x.leaves {
		return ^uint64(0)
	}
	return x.low(leaf) - 1
}

// level is that of an inner node.
func (x *initial) level(number uint32) int {
	level := 1
	for number >= x.base[level+1] {
		level++
	}
	return level
}

// node describes an inner node.
func (x *initial) node(number uint32, n *Inner) {
	level := x.level(number)
	width, below := x.width[level], x.width[level-1]
	first := uint64(number-x.base[level]) * width
	n.Level = level
	n.Low, n.High = x.low(first), x.high(first+width)
	n.Keys, n.Children = n.Keys[:0], n.Children[:0]
	for leaf := first; leaf < min(first+width, x.leaves); leaf += below {
		if leaf > first {
			n.Keys = append(n.Keys, x.low(leaf))
		}
		child := uint32(leaf / below)
		if level > 1 {
			child += x.base[level-1]
		}
		n.Children = append(n.Children, child)
	}
}

// ranks of a leaf.
func (x *initial) ranks(leaf uint64) (from, to uint64) {
	from = leaf * x.fill
	return min(from, x.n), min(from+x.fill, x.n)
}

// nxt is the leaf to the right of a leaf.
func (x *initial) nxt(leaf uint64) uint32 {
	if leaf+1 == x.leaves {
		return NoLeaf
	}
	return uint32(leaf + 1)
}

// block describes header and keys of a leaf.
func (x *initial) block(leaf uint64, inca uint32, b keyBlock) {
	from, to := x.ranks(leaf)
	b.setHeader(inca, int(to-from), x.nxt(leaf))
	b.setFences(x.low(leaf), x.high(leaf+1))
	for i := from; i < to; i++ {
		b.setKey(int(i-from), x.keys.Key(i))
	}
}

// fill makes the initial bytes of a block of the tree's memory, which is zero.
func (t *Tree) fill(at uint64, dst []byte) {
	inners, leaves := t.inners-t.base, t.leaves-t.base
	switch {
	case at < inners:
		t.fillWords(at, dst)
	case at < leaves:
		t.fillInners(at-inners, dst)
	case t.heap != nil && at >= t.heap.base-t.base:
		t.heap.fill(t, at-(t.heap.base-t.base), dst)
	default:
		t.fillLeaves(at-leaves, dst)
	}
}

func (t *Tree) fillWords(at uint64, dst []byte) {
	if at > 0 {
		return
	}
	x := &t.first
	binary.LittleEndian.PutUint64(dst[rootAt:], rootWord(x.inners()-1, x.levels()))
	binary.LittleEndian.PutUint64(dst[leafSlab:], x.leaves)
	binary.LittleEndian.PutUint64(dst[nodeSlab:], uint64(x.inners()))
	if t.heap != nil {
		binary.LittleEndian.PutUint64(dst[heapSlab:], t.heap.initial)
	}
}

func (t *Tree) fillInners(at uint64, dst []byte) {
	w := t.allocWork()
	size := uint64(t.inner.bytes)
	for n := at / size; n*size < at+blockBytes && n < uint64(t.first.inners()); n++ {
		t.first.node(uint32(n), &w.node)
		w.node.INCA = uint32(t.o.Epoch) << epochShift
		clear(w.data)
		t.inner.write(w.data, &w.node)
		t.inner.lines.Encode(w.raw, w.data, 0)
		overlay(dst, at, n*size, w.raw[:t.inner.Bytes()])
	}
	t.freeWork(w)
}

func (t *Tree) fillLeaves(at uint64, dst []byte) {
	w := t.allocWork()
	size, l := uint64(t.layout.bytes), &t.layout
	for n := at / size; n*size < at+blockBytes && n < t.first.leaves; n++ {
		if n*size+uint64(l.FencedBytes()) > at {
			clear(w.keys)
			t.first.block(n, uint32(t.o.Epoch)<<epochShift, w.keys)
			l.keys.Encode(w.raw, w.keys, 0)
			overlay(dst, at, n*size, w.raw[:l.FencedBytes()])
		}
		from, to := t.first.ranks(n)
		for i := from; i < to; i++ {
			p := &l.values[i-from]
			start := n*size + uint64(p.offset)
			if start+uint64(p.lines.Bytes()) <= at || start >= at+blockBytes {
				continue
			}
			t.initialSlot(i, w)
			p.lines.Encode(w.raw, w.val, 0)
			overlay(dst, at, start, w.raw[:p.lines.Bytes()])
		}
	}
	t.freeWork(w)
}

// initialSlot writes what the slot of the key of a rank holds: the key and its value, or where that is.
func (t *Tree) initialSlot(rank uint64, w *work) {
	slot, key := w.val, t.first.keys.Key(rank)
	clear(slot)
	binary.LittleEndian.PutUint64(slot, key)
	switch {
	case t.heap != nil:
		binary.LittleEndian.PutUint64(slot[keyBytes:], uint64(t.heap.initialPointer(rank, key, w)))
	case t.o.Value != nil:
		t.o.Value(key, slot[keyBytes:])
	}
}

// overlay copies the part of src, which begins at from, that lies in the block dst, which begins at at.
func overlay(dst []byte, at, from uint64, src []byte) {
	if from < at {
		skip := min(at-from, uint64(len(src)))
		copy(dst, src[skip:])
		return
	}
	if from-at < uint64(len(dst)) {
		copy(dst[from-at:], src)
	}
}
