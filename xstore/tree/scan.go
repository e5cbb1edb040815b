package tree

import "drtmx/engine/r2"

// Scan appends the first n pairs with keys from key on, rising, as a reply has them: key and value, or, where values have
// lengths of their own, key, length of 4 bytes and value.
func (t *Tree) Scan(c *r2.Co, from uint64, n int, dst []byte) []byte {
	return t.ScanUp(c, from, ^uint64(0), n, dst)
}

// ScanUp is Scan of keys up to the given one, which is included.
func (t *Tree) ScanUp(c *r2.Co, from, to uint64, n int, dst []byte) []byte {
	w := t.allocWork()
	start := len(dst)
	c.HTM(&t.lock, func(r *r2.Region) {
		dst = dst[:start]
		left := n
		for leaf := t.descend(r, from, w); left > 0 && leaf != NoLeaf; leaf = w.keys.nxt() {
			t.loadKeys(r, leaf, w.keys)
			r.Compute(compareCycles * w.keys.cnt())
			for _, slot := range w.sorted(w.keys, from) {
				if w.keys.key(slot) > to {
					left = 0
				}
				if left == 0 {
					break
				}
				left--
				dst = t.appendSlot(r, leaf, slot, w, dst)
			}
			if _, high := w.keys.fences(); high >= to {
				break
			}
		}
	})
	t.freeWork(w)
	return dst
}

// ScanDown appends the last n pairs with keys between two, both included, falling. Leaves are linked to the right only, so it
// goes through the children of the inner node above them, and down the tree again for those of the node before.
func (t *Tree) ScanDown(c *r2.Co, from, to uint64, n int, dst []byte) []byte {
	w := t.allocWork()
	start := len(dst)
	c.HTM(&t.lock, func(r *r2.Region) {
		dst = dst[:start]
		left, more := n, true
		for last := to; left > 0 && more; last = w.node.Low - 1 {
			t.descend(r, last, w)
			t.inner.read(w.data, &w.node)
			for i := w.node.Child(last); i >= 0 && left > 0 && more; i-- {
				leaf := w.node.Children[i]
				t.loadKeys(r, leaf, w.keys)
				r.Compute(compareCycles * w.keys.cnt())
				order := w.sorted(w.keys, from)
				for j := len(order) - 1; j >= 0 && left > 0; j-- {
					if w.keys.key(order[j]) <= to {
						left--
						dst = t.appendSlot(r, leaf, order[j], w, dst)
					}
				}
				low, _ := w.keys.fences()
				more = low > from
			}
		}
	})
	t.freeWork(w)
	return dst
}

// appendSlot appends the pair of a slot.
func (t *Tree) appendSlot(r *r2.Region, leaf uint32, slot int, w *work, dst []byte) []byte {
	t.loadSlot(r, leaf, slot, w.val)
	return t.appendReply(dst, keyOf(w.val), t.loadValue(r, w))
}

// sorted are the slots of the keys from the given one on, in their order.
func (w *work) sorted(b keyBlock, from uint64) []int {
	w.order = w.order[:0]
	for i := range b.cnt() {
		key := b.key(i)
		if key < from {
			continue
		}
		j := len(w.order)
		w.order = append(w.order, i)
		for ; j > 0 && b.key(w.order[j-1]) > key; j-- {
			w.order[j] = w.order[j-1]
		}
		w.order[j] = i
	}
	return w.order
}
