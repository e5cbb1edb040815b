package tree

import (
	"encoding/binary"
	"slices"

	"drtmx/engine/r2"
)

// roomToSplit reports whether there are as many inner nodes as a split can need. Where the node above the leaf, in w.data, has
// room it needs none, and does not look: regions that take some would end it.
func (t *Tree) roomToSplit(r *r2.Region, w *work) bool {
	if t.inner.count(w.data) < t.inner.Fanout {
		return true
	}
	return r.Load64(t.base+nodeSlab)+uint64(w.levels)+1 <= uint64(t.maxInners)
}

// keep has c's thread take a leaf from the slab, in a short region of its own: in the region of the split all splits at the
// same time would meet at the slab's word. It says whether there was one.
func (t *Tree) keep(c *r2.Co) bool {
	w, k := t.allocWork(), &t.kept[c.Thread()]
	c.HTM(&t.lock, func(r *r2.Region) {
		word := r.Load64(t.base + leafSlab)
		if k.some = word>>32 != 0 || uint32(word) < t.maxLeaves; k.some {
			k.leaf, k.inca = t.newLeaf(r, word, w)
		}
	})
	t.freeWork(w)
	return k.some
}

// keeps is how many leaves threads keep.
func (t *Tree) keeps() (n int) {
	for _, k := range t.kept {
		if k.some {
			n++
		}
	}
	return n
}

// split divides the pairs of the full leaf in w.keys, and the one in w.val, evenly among the leaf and k, a new one to its right
// (thesis §3.4.3.2). The lower half stays. The leaf's new incarnation tells clients.
//
// Under the fallback lock others see the stores one after the other. So the new leaf is complete before anything leads to
// it, and its keys leave the old one last.
func (t *Tree) split(r *r2.Region, leaf uint32, k keptLeaf, w *work) (right uint32, separator uint64) {
	b := w.keys
	cnt, size := b.cnt(), len(w.val)
	slot := func(i int) []byte { return w.slots[i*size : (i+1)*size] }
	for i := range cnt {
		t.loadSlot(r, leaf, i, slot(i))
	}
	copy(slot(cnt), w.val)
	w.order = w.order[:0]
	for i := range cnt + 1 {
		w.order = append(w.order, i)
	}
	slices.SortFunc(w.order, func(i, j int) int {
		if keyOf(slot(i)) < keyOf(slot(j)) {
			return -1
		}
		return 1
	})
	lower, upper := w.order[:(cnt+2)/2], w.order[(cnt+2)/2:]
	separator = keyOf(slot(upper[0]))

	right, inca := k.leaf, k.inca
	for i, from := range upper {
		t.storeSlot(r, right, i, slot(from), w)
		w.other.setKey(i, keyOf(slot(from)))
	}
	low, high := b.fences()
	w.other.setHeader(inca, len(upper), b.nxt())
	w.other.setFences(separator, high)
	t.storeKeys(r, right, w.other, t.layout.keys.Version(r.Load(t.LeafAddr(right), 2)), w)

	t.addChild(r, 1, separator, right, w)

	for i, from := range lower {
		b.setKey(i, keyOf(slot(from)))
	}
	b.setHeader(nextINCA(b.inca()), len(lower), right)
	b.setFences(low, separator-1)
	t.storeKeys(r, leaf, b, w.version, w)
	for i, from := range lower {
		if i != from {
			t.storeSlot(r, leaf, i, slot(from), w)
		}
	}
	return right, separator
}

// newLeaf takes a leaf from the slab, whose word is given. One that was used before goes on with its incarnations.
func (t *Tree) newLeaf(r *r2.Region, word uint64, w *work) (leaf, inca uint32) {
	next, head := uint32(word), uint32(word>>32)
	if head == 0 {
		r.Store64(t.base+leafSlab, uint64(next+1))
		return next, t.inca()
	}
	leaf = head - 1
	t.loadKeys(r, leaf, w.other)
	r.Store64(t.base+leafSlab, uint64(next)|uint64(w.other.nxt()+1)<<32)
	return leaf, w.other.inca()
}

// freeLeaf gives a leaf back to the slab. Its new incarnation tells clients. Free leaves are linked by NXT.
func (t *Tree) freeLeaf(r *r2.Region, leaf uint32, w *work) {
	word := r.Load64(t.base + leafSlab)
	version := t.loadKeys(r, leaf, w.other)
	w.other.setHeader(nextINCA(w.other.inca()), 0, uint32(word>>32)-1)
	t.storeKeys(r, leaf, w.other, version, w)
	r.Store64(t.base+leafSlab, uint64(uint32(word))|uint64(leaf+1)<<32)
}

// addChild makes child the right neighbour of the child that separator was routed to, in the node of a level on the path.
func (t *Tree) addChild(r *r2.Region, level int, separator uint64, child uint32, w *work) {
	n := &w.nodes[level]
	if level > w.levels {
		t.growRoot(r, level, separator, child, w)
		return
	}
	number := w.path[level]
	t.loadInner(r, number, w.data)
	t.inner.read(w.data, n)
	i := n.Child(separator)
	n.Keys, n.Children = slices.Insert(n.Keys, i, separator), slices.Insert(n.Children, i+1, child)
	if len(n.Children) <= t.inner.Fanout {
		t.storeInner(r, number, n, w)
		return
	}
	half := (len(n.Children) + 1) / 2
	up := n.Keys[half-1]
	w.node.INCA, w.node.Level, w.node.Low, w.node.High = t.inca(), level, up, n.High
	w.node.Keys = append(w.node.Keys[:0], n.Keys[half:]...)
	w.node.Children = append(w.node.Children[:0], n.Children[half:]...)
	right := t.newInner(r)
	t.storeInner(r, right, &w.node, w)

	t.addChild(r, level+1, up, right, w)

	n.INCA, n.High = nextINCA(n.INCA), up-1
	n.Keys, n.Children = n.Keys[:half-1], n.Children[:half]
	t.storeInner(r, number, n, w)
}

// growRoot puts a new root above the old one and its new right neighbour.
func (t *Tree) growRoot(r *r2.Region, level int, separator uint64, child uint32, w *work) {
	n := &w.nodes[level]
	n.INCA, n.Level, n.Low, n.High = t.inca(), level, 0, ^uint64(0)
	n.Keys = append(n.Keys[:0], separator)
	n.Children = append(n.Children[:0], w.path[w.levels], child)
	root := t.newInner(r)
	t.storeInner(r, root, n, w)
	r.Store64(t.RootAddr(), rootWord(root, level))
}

func (t *Tree) newInner(r *r2.Region) uint32 {
	next := r.Load64(t.base + nodeSlab)
	r.Store64(t.base+nodeSlab, next+1)
	return uint32(next)
}

// Shrink gives leaves without keys back to the slab, a region for each, and returns how many. The range of each
// goes to its left neighbour. The first leaf of an inner node stays, so that inner nodes never become empty.
func (t *Tree) Shrink(c *r2.Co) (freed int) {
	w := t.allocWork()
	for key, high := uint64(0), uint64(0); high != ^uint64(0); {
		taken := false
		c.HTM(&t.lock, func(r *r2.Region) {
			leaf := t.descend(r, key, w)
			n := &w.nodes[1]
			t.inner.read(w.data, n)
			i := n.Child(key)
			_, high = n.Range(i)
			t.loadKeys(r, leaf, w.keys)
			if taken = i > 0 && w.keys.cnt() == 0; taken {
				t.unlink(r, n, i, w)
			}
		})
		if key = high + 1; taken {
			freed++
		}
	}
	t.freeWork(w)
	return freed
}

// unlink takes the empty leaf in w.keys, child i of a node, out of the tree.
func (t *Tree) unlink(r *r2.Region, n *Inner, i int, w *work) {
	left, leaf := n.Children[i-1], n.Children[i]
	version := t.loadKeys(r, left, w.other)
	binary.LittleEndian.PutUint32(w.other[nxtShift/8:], w.keys.nxt())
	low, _ := w.other.fences()
	_, high := w.keys.fences()
	w.other.setFences(low, high)
	t.storeKeys(r, left, w.other, version, w)
	n.Keys, n.Children = slices.Delete(n.Keys, i-1, i), slices.Delete(n.Children, i, i+1)
	t.storeInner(r, w.path[1], n, w)
	t.freeLeaf(r, leaf, w)
}
