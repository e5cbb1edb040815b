package tree

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
)

// Get copies the value of a key and returns its length.
func (t *Tree) Get(c *r2.Co, key uint64, value []byte) (n int, found bool) {
	return t.GetReal(c, key, nil, value)
}

// GetReal is Get of a key that the tree knows by a hash, and so are the others of this name. Without real they are the plain ones.
func (t *Tree) GetReal(c *r2.Co, key uint64, real, value []byte) (n int, found bool) {
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		leaf, slot, ok := t.lookup(r, key, w)
		if found = ok; !ok {
			return
		}
		t.loadSlot(r, leaf, slot, w.val)
		if real == nil {
			n = copy(value, t.loadValue(r, w))
			return
		}
		var l link
		if l, found = t.findRecord(r, real, w); found {
			n = copy(value, l.Value)
		}
	})
	t.freeWork(w)
	return n, found
}

// Update overwrites the value of a key that is there. err is ErrFull if the heap has no room for it.
func (t *Tree) Update(c *r2.Co, key uint64, value []byte) (found bool, err error) {
	found, _, err = t.UpdateAt(c, nil, key, value)
	return found, err
}

// Hint is a leaf that a key may be in, as its incarnation says.
type Hint struct{ ALN, INCA uint32 }

// UpdateAt is Update with position hints (thesis §3.4.3.1): it looks into the leaves of hints whose incarnation is still the
// one given. If the key is in none of them, it walks through the index. hinted says that it need not.
func (t *Tree) UpdateAt(c *r2.Co, hints []Hint, key uint64, value []byte) (found, hinted bool, err error) {
	return t.UpdateReal(c, hints, key, nil, value)
}

// UpdateReal is UpdateAt of a key that the tree knows by a hash.
func (t *Tree) UpdateReal(c *r2.Co, hints []Hint, key uint64, real, value []byte) (found, hinted bool, err error) {
	t.check(value)
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		var leaf uint32
		var slot int
		err = nil
		if leaf, slot, hinted = t.lookAt(r, hints, key, w); hinted {
			found = true
		} else {
			leaf, slot, found = t.lookup(r, key, w)
		}
		switch {
		case found && real != nil:
			found = t.overwriteRecord(r, leaf, slot, key, real, value, w)
		case found:
			err = t.overwrite(r, leaf, slot, key, value, w)
		}
	})
	t.freeWork(w)
	return found, hinted, err
}

func (t *Tree) lookAt(r *r2.Region, hints []Hint, key uint64, w *work) (leaf uint32, slot int, found bool) {
	for _, h := range hints {
		if h.ALN >= t.maxLeaves {
			continue
		}
		if w.version = t.loadKeys(r, h.ALN, w.keys); w.keys.inca() != h.INCA {
			continue
		}
		r.Compute(compareCycles * w.keys.cnt())
		if slot, found = w.keys.find(key); found {
			return h.ALN, slot, true
		}
	}
	return 0, 0, false
}

// overwrite is an update in place.
func (t *Tree) overwrite(r *r2.Region, leaf uint32, slot int, key uint64, value []byte, w *work) error {
	if t.heap == nil {
		t.pair(w.val, key, value)
		t.storeSlot(r, leaf, slot, w.val, w)
		return nil
	}
	t.loadSlot(r, leaf, slot, w.val)
	p, ok := t.heap.replace(r, fatPointerOf(w.val), key, value, w)
	if !ok {
		return ErrFull
	}
	binary.LittleEndian.PutUint64(w.val[keyBytes:], uint64(p))
	t.storeSlot(r, leaf, slot, w.val, w)
	return nil
}

// Insert adds a key that is not there. err is ErrFull if there is no room for it.
func (t *Tree) Insert(c *r2.Co, key uint64, value []byte) (inserted bool, err error) {
	return t.InsertReal(c, key, nil, value)
}

// InsertReal is Insert of a key that the tree knows by a hash.
func (t *Tree) InsertReal(c *r2.Co, key uint64, real, value []byte) (inserted bool, err error) {
	t.check(value)
	w := t.allocWork()
	left, right, separator := NoLeaf, NoLeaf, uint64(0)
	kept := &t.kept[c.Thread()]
	for again := true; again; {
		again = false
		c.HTM(&t.lock, func(r *r2.Region) {
			inserted, err, right, again = false, nil, NoLeaf, false
			leaf, slot, found := t.lookup(r, key, w)
			if found && real != nil {
				inserted, err = t.insertBeside(r, leaf, slot, key, real, value, w)
			}
			if found {
				return
			}
			full := w.keys.cnt() == t.layout.Slots
			if again = full && !kept.some; again {
				return
			}
			stored := value
			if real != nil {
				w.record = appendRecord(w.record[:0], 0, real, value)
				stored = w.record
			}
			if full && !t.roomToSplit(r, w) || !t.newValue(r, key, stored, w) {
				err = ErrFull
				return
			}
			if inserted = true; full {
				left = leaf
				right, separator = t.split(r, leaf, *kept, w)
				return
			}
			t.appendPair(r, leaf, w)
		})
		if again && !t.keep(c) {
			again, err = false, ErrFull
		}
	}
	t.freeWork(w)
	if right != NoLeaf {
		t.splits++
		kept.some = false
		t.keep(c) // for the next one
		if t.o.OnSplit != nil {
			t.o.OnSplit(c, left, right, separator)
		}
	}
	return inserted, err
}

// newValue makes w.val the slot of a new key.
func (t *Tree) newValue(r *r2.Region, key uint64, value []byte, w *work) (ok bool) {
	if t.heap == nil {
		t.pair(w.val, key, value)
		return true
	}
	p, ok := t.heap.add(r, key, value, w)
	binary.LittleEndian.PutUint64(w.val, key)
	binary.LittleEndian.PutUint64(w.val[keyBytes:], uint64(p))
	return ok
}

// appendPair puts w.val behind the pairs of the leaf in w.keys. The value is there before its key.
func (t *Tree) appendPair(r *r2.Region, leaf uint32, w *work) {
	b := w.keys
	cnt := b.cnt()
	t.storeSlot(r, leaf, cnt, w.val, w)
	b.setKey(cnt, keyOf(w.val))
	b.setHeader(b.inca(), cnt+1, b.nxt())
	t.storeKeys(r, leaf, b, w.version, w)
}

// Delete takes a key out: its pair is overwritten with the last one of the leaf. A leaf that is empty stays (thesis §3.4.3.2).
func (t *Tree) Delete(c *r2.Co, key uint64) (found bool) { return t.DeleteReal(c, key, nil) }

// DeleteReal is Delete of a key that the tree knows by a hash.
func (t *Tree) DeleteReal(c *r2.Co, key uint64, real []byte) (found bool) {
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		leaf, slot, ok := t.lookup(r, key, w)
		if found = ok; !ok {
			return
		}
		if real != nil {
			last := false
			if found, last = t.removeRecord(r, leaf, slot, real, w); !last {
				return
			}
		} else if t.heap != nil {
			t.loadSlot(r, leaf, slot, w.val)
			t.heap.free(r, fatPointerOf(w.val), w)
		}
		b := w.keys
		last := b.cnt() - 1
		if slot != last {
			t.loadSlot(r, leaf, last, w.val)
			t.storeSlot(r, leaf, slot, w.val, w)
			b.setKey(slot, b.key(last))
		}
		b.setHeader(b.inca(), last, b.nxt())
		t.storeKeys(r, leaf, b, w.version, w)
	})
	t.freeWork(w)
	return found
}

// FindLeaf is the leaf that a key is routed to, and the range of keys that are routed there, both ends included.
func (t *Tree) FindLeaf(c *r2.Co, key uint64) (aln uint32, low, high uint64) {
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		aln = t.descend(r, key, w)
		t.inner.read(w.data, &w.node)
		low, high = w.node.Range(w.node.Child(key))
	})
	t.freeWork(w)
	return aln, low, high
}

func (t *Tree) appendReply(dst []byte, key uint64, value []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, key)
	if t.heap != nil {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(value)))
	}
	return append(dst, value...)
}

// loadValue is the value of the slot in w.val.
func (t *Tree) loadValue(r *r2.Region, w *work) []byte {
	if t.heap == nil {
		return w.val[keyBytes:]
	}
	return t.heap.load(r, fatPointerOf(w.val), w)
}

// pair makes a slot.
func (t *Tree) pair(slot []byte, key uint64, value []byte) {
	binary.LittleEndian.PutUint64(slot, key)
	copy(slot[keyBytes:], value)
}

// check holds that a value is of the tree's length.
func (t *Tree) check(value []byte) {
	if n := len(value); n > t.o.ValueBytes || n < t.o.ValueBytes && (t.heap == nil || t.o.Real != nil) {
		panic(fmt.Sprintf("tree %s at %d ps: a value of %d bytes, the tree's have %d", t.o.Name, t.cl.Now(), n, t.o.ValueBytes))
	}
}
