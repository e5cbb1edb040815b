package tree

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// FatPointer is what a slot holds of a value with a length of its own (thesis §3.4.1, note 1): size 16 bits | position in the
// heap 48 bits.
type FatPointer uint64

const (
	fatPointerBytes = 8
	sizeShift       = 48
	maxSize         = 1<<16 - 2
)

// Size is the length of the value.
func (p FatPointer) Size() int { return int(p >> sizeShift) }

func (p FatPointer) position() uint64 { return uint64(p) & (1<<sizeShift - 1) }

func fatPointerOf(slot []byte) FatPointer {
	return FatPointer(binary.LittleEndian.Uint64(slot[keyBytes:]))
}

// An entry of the heap begins on a line: key u64 | size u32 | value, with versions as everything else. A free one has
// size freed, and the place of the next free one as its key.
const (
	entryHeader  = 12
	versionBytes = 2
	freed        = ^uint32(0)
)

func entryLines(size int) record.Lines { return record.NewLines(0, entryHeader+size) }

// class is the lines that an entry takes.
func class(size int) uint64 {
	return uint64((entryLines(size).Bytes() + record.LineBytes - 1) / record.LineBytes)
}

// heap holds values with lengths of their own. Entries of as many lines use the same memory one after the other. Its state is
// in the words of the tree: the next byte never used, and the head of a free list for each number of lines.
type heap struct {
	o       *Options
	state   r2.Addr
	base    r2.Addr
	initial uint64 // bytes of the values that are there from the start, each of which has room for the longest
	total   uint64
	largest uint64 // bytes of an entry
	most    int    // bytes of what an entry has behind its header
	records uint64 // that are there from the start
}

// record is the number of the first record of the i-th initial key.
func (h *heap) record(i uint64) uint64 {
	if h.o.Real == nil || i == 0 {
		return i
	}
	_, to := h.o.Real.Records(i - 1)
	return to
}

func newHeap(o *Options, keys store.Keys) (*heap, error) {
	most := o.ValueBytes
	if o.Real != nil {
		most = o.recordBytes()
	}
	if o.ValueBytes < 1 || most > maxSize {
		return nil, fmt.Errorf("value bytes %d: in a heap they are 1 to %d", o.ValueBytes, maxSize-most+o.ValueBytes)
	}
	h := &heap{o: o, most: most, largest: class(most) * record.LineBytes}
	if keys != nil {
		h.records = h.record(keys.Len())
		h.initial = h.records * h.largest
	}
	if h.total = h.initial + o.Heap; h.total >= 1<<sizeShift {
		return nil, fmt.Errorf("a heap of %d bytes: fat pointers have %d bits for the position", h.total, sizeShift)
	}
	return h, nil
}

// words is the memory of the heap's state.
func (h *heap) words() int {
	if h == nil {
		return 0
	}
	return int(8 * (1 + h.largest/record.LineBytes))
}

func (h *heap) size() uint64 {
	if h == nil {
		return 0
	}
	return h.total
}

func (h *heap) initialPointer(rank, key uint64, w *work) FatPointer {
	if h.o.Real != nil {
		return h.initialRecord(h.record(rank), w)
	}
	size := h.o.ValueBytes
	if h.o.Size != nil {
		size = h.o.Size(key)
	}
	return FatPointer(uint64(size)<<sizeShift | rank*h.largest)
}

// fill makes the initial bytes of a block of the heap.
func (h *heap) fill(t *Tree, at uint64, dst []byte) {
	w := t.allocWork()
	for number := at / h.largest; number < h.records && number*h.largest < at+blockBytes; number++ {
		clear(w.entry)
		p := h.fillEntry(t, number, w)
		lines := entryLines(p.Size())
		lines.Encode(w.raw, w.entry, 0)
		overlay(dst, at, p.position(), w.raw[:lines.Bytes()])
	}
	t.freeWork(w)
}

// fillEntry makes the initial bytes of an entry in w.entry, which is zero.
func (h *heap) fillEntry(t *Tree, number uint64, w *work) FatPointer {
	if h.o.Real != nil {
		return h.fillRecord(t, number, w)
	}
	key := t.first.keys.Key(number)
	p := h.initialPointer(number, key, w)
	encodeHeader(w.entry, key, uint32(p.Size()))
	if h.o.Value != nil {
		h.o.Value(key, w.entry[entryHeader:entryHeader+p.Size()])
	}
	return p
}

func encodeHeader(entry []byte, key uint64, size uint32) {
	binary.LittleEndian.PutUint64(entry, key)
	binary.LittleEndian.PutUint32(entry[keyBytes:], size)
}

// decodeEntry takes the versions out of an entry, from src to dst, which may be the same.
func decodeEntry(p FatPointer, dst, src []byte) (key uint64, value []byte, whole bool) {
	_, whole = entryLines(p.Size()).Decode(dst, src)
	if whole = whole && binary.LittleEndian.Uint32(dst[keyBytes:]) == uint32(p.Size()); !whole {
		return 0, nil, false
	}
	return binary.LittleEndian.Uint64(dst), dst[entryHeader : entryHeader+p.Size()], true
}

func (h *heap) head(class uint64) r2.Addr { return h.state + r2.Addr(8*class) }

// load is the value that a pointer leads to, until w.entry is used again.
func (h *heap) load(r *r2.Region, p FatPointer, w *work) []byte {
	_, value, whole := decodeEntry(p, w.entry, r.Load(h.base+p.position(), entryLines(p.Size()).Bytes()))
	if !whole {
		panic(fmt.Sprintf("tree %s: the value at %d of the heap is not what the leaf says", h.o.Name, p.position()))
	}
	return value
}

// store changes the entry at a position.
func (h *heap) store(r *r2.Region, position, key uint64, size uint32, value []byte, w *work) {
	lines := entryLines(len(value))
	version := lines.Version(r.Load(h.base+position, 2)) + 1
	encodeHeader(w.entry, key, size)
	copy(w.entry[entryHeader:], value)
	lines.Encode(w.raw, w.entry, version)
	r.Store(h.base+position, w.raw[:lines.Bytes()])
}

// add writes a value to memory that is free.
func (h *heap) add(r *r2.Region, key uint64, value []byte, w *work) (FatPointer, bool) {
	position, of := uint64(0), class(len(value))
	if link := r.Load64(h.head(of)); link != 0 {
		position = link - 1
		r.Store64(h.head(of), h.next(r, position, of))
	} else {
		position = r.Load64(h.state)
		end := position + of*record.LineBytes
		if end > h.total {
			return 0, false
		}
		r.Store64(h.state, end)
	}
	h.store(r, position, key, uint32(len(value)), value, w)
	return FatPointer(uint64(len(value))<<sizeShift | position), true
}

// next is the link that a free entry of so many lines holds.
func (h *heap) next(r *r2.Region, position, class uint64) uint64 {
	if class > 1 {
		position += versionBytes
	}
	return r.Load64(h.base + position)
}

// replace changes the value of a key, in place if it takes as many lines.
func (h *heap) replace(r *r2.Region, old FatPointer, key uint64, value []byte, w *work) (FatPointer, bool) {
	if class(old.Size()) == class(len(value)) {
		h.store(r, old.position(), key, uint32(len(value)), value, w)
		return FatPointer(uint64(len(value))<<sizeShift | old.position()), true
	}
	p, ok := h.add(r, key, value, w)
	if ok {
		h.free(r, old, w)
	}
	return p, ok
}

// free gives the memory of a value back. All lines of the entry change, so that it is not taken for the value.
func (h *heap) free(r *r2.Region, p FatPointer, w *work) {
	head := h.head(class(p.Size()))
	link := r.Load64(head)
	value := w.entry[entryHeader : entryHeader+p.Size()]
	clear(value)
	h.store(r, p.position(), link, freed, value, w)
	r.Store64(head, p.position()+1)
}

// EntryAddr is where a value is in the heap, and the length of a READ of it.
func (t *Tree) EntryAddr(p FatPointer) (a r2.Addr, n int) {
	return t.heap.base + p.position(), entryLines(p.Size()).Bytes()
}
