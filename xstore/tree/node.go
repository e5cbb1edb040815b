package tree

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
)

// compareCycles is what comparing keys takes beyond loading them; assumed: one comparison and branch.
const compareCycles = 1

// work is the private memory of an operation.
type work struct {
	keys    keyBlock // of the leaf
	version uint16   // of the leaf's keys
	val     []byte   // what a slot holds: key and value, or key and fat pointer
	data    []byte   // of the inner node that was loaded last
	entry   []byte   // of the heap
	record  []byte   // that is to be stored there, of a key of its own length
	real    []byte   // such a key
	raw     []byte   // bytes with versions

	levels int
	path   [maxLevels + 1]uint32 // by level: the inner nodes on the way to the leaf
	node   Inner
	nodes  [maxLevels + 1]Inner // by level: those that a split changes

	other keyBlock // of a second leaf
	slots []byte   // all pairs of a leaf and a new one
	order []int    // slots in the order of their keys
}

// allocWork returns the private memory of an operation, of an earlier one if there is any.
func (t *Tree) allocWork() *work {
	if n := len(t.idle); n > 0 {
		w := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return w
	}
	l := &t.layout
	slot := keyBytes + l.ValueBytes
	w := &work{
		keys: make(keyBlock, l.keys.Data()), other: make(keyBlock, l.keys.Data()),
		val: make([]byte, slot), slots: make([]byte, slot*(l.Slots+1)), order: make([]int, 0, l.Slots+1),
		data: make([]byte, t.inner.lines.Data()),
	}
	raw := max(l.FencedBytes(), t.inner.Bytes(), valueStride(l.ValueBytes))
	if t.heap != nil {
		w.entry = make([]byte, entryHeader+t.heap.most)
		raw = max(raw, int(t.heap.largest))
	}
	w.raw = make([]byte, raw)
	return w
}

func (t *Tree) freeWork(w *work) { t.idle = append(t.idle, w) }

// torn reports a block of several moments inside a region, in which there are none.
func (t *Tree) torn(what string, number uint32) {
	panic(fmt.Sprintf("tree %s at %d ps: %s %d is torn inside a region", t.o.Name, t.cl.Now(), what, number))
}

func (t *Tree) loadInner(r *r2.Region, number uint32, data []byte) {
	if _, whole := t.inner.lines.Decode(data, r.Load(t.InnerAddr(number), t.inner.Bytes())); !whole {
		t.torn("inner node", number)
	}
}

func (t *Tree) storeInner(r *r2.Region, number uint32, n *Inner, w *work) {
	a, lines := t.InnerAddr(number), t.inner.lines
	version := lines.Version(r.Load(a, 8)) + 1
	t.inner.write(w.data, n)
	lines.Encode(w.raw, w.data, version)
	r.Store(a, w.raw[:lines.Bytes()])
}

// loadKeys brings header and keys of a leaf.
func (t *Tree) loadKeys(r *r2.Region, leaf uint32, b keyBlock) (version uint16) {
	version, whole := t.layout.keys.Decode(b, r.Load(t.LeafAddr(leaf), t.layout.FencedBytes()))
	if !whole {
		t.torn("leaf", leaf)
	}
	return version
}

// storeKeys changes header and keys of a leaf, and with them the version of each of their lines.
func (t *Tree) storeKeys(r *r2.Region, leaf uint32, b keyBlock, version uint16, w *work) {
	t.layout.keys.Encode(w.raw, b, version+1)
	r.Store(t.LeafAddr(leaf), w.raw[:t.layout.FencedBytes()])
}

func (t *Tree) slotAddr(leaf uint32, slot int) r2.Addr {
	return t.LeafAddr(leaf) + r2.Addr(t.layout.values[slot].offset)
}

// loadSlot brings the key and value of a slot.
func (t *Tree) loadSlot(r *r2.Region, leaf uint32, slot int, val []byte) {
	lines := t.layout.values[slot].lines
	if _, whole := lines.Decode(val, r.Load(t.slotAddr(leaf, slot), lines.Bytes())); !whole {
		t.torn("a value of leaf", leaf)
	}
}

// storeSlot changes the key and value of a slot.
func (t *Tree) storeSlot(r *r2.Region, leaf uint32, slot int, val []byte, w *work) {
	a, lines := t.slotAddr(leaf, slot), t.layout.values[slot].lines
	version := uint16(0)
	if lines.Versioned() {
		version = lines.Version(r.Load(a, 2)) + 1
	}
	lines.Encode(w.raw, val, version)
	r.Store(a, w.raw[:lines.Bytes()])
}

// descend walks from the root to the leaf that a key is routed to. The inner node above the leaf stays in w.data.
func (t *Tree) descend(r *r2.Region, key uint64, w *work) (leaf uint32) {
	at, levels := DecodeRoot(r.Load64(t.RootAddr()))
	w.levels = levels
	for level := levels; level > 0; level-- {
		w.path[level] = at
		t.loadInner(r, at, w.data)
		i := t.inner.search(w.data, key)
		r.Compute(compareCycles * (i + 1))
		at = t.inner.child(w.data, i)
	}
	return at
}

// lookup is descend and the search within the leaf, whose keys stay in w.keys.
func (t *Tree) lookup(r *r2.Region, key uint64, w *work) (leaf uint32, slot int, found bool) {
	leaf = t.descend(r, key, w)
	slot, found = t.search(r, leaf, key, w)
	return leaf, slot, found
}

func (t *Tree) search(r *r2.Region, leaf uint32, key uint64, w *work) (slot int, found bool) {
	w.version = t.loadKeys(r, leaf, w.keys)
	slot, found = w.keys.find(key)
	r.Compute(compareCycles * w.keys.cnt())
	return slot, found
}

func keyOf(slot []byte) uint64 { return binary.LittleEndian.Uint64(slot) }
