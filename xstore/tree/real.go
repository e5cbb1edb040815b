package tree

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// Keys of different lengths (thesis §3.6). What leaves and index have of such a key is its hash, and the slot of a hash has the
// fat pointer to a record in the heap:
//
//	next fat pointer u64 | length of the key u16 | key | value
//
// Next is the record of another key with the same hash; 0: there is none. A lookup that has found a hash compares the bytes of the key
// with those of one record after the other. Entries of the heap repeat the hash and their size in front of this.
//
// A new record is put in front of the others, and none moves: values beside such keys have one length. So a client that READs the
// records of a hash one after the other, while others change, meets every key that is there all the time: what it knows the place
// of is still in front of that key, or is free or of another hash by now, and then it begins again; if the memory has a new record of
// the hash, this is in front of all.

const recordHeader = 10

// RealKeys are the keys behind the hashes that a tree has from the start. Its methods are pure functions.
type RealKeys interface {
	// Most is the length of the longest key.
	Most() int
	// Hash is what the tree knows a key by. Audits ask for it.
	Hash(real []byte) uint64
	// Records are the keys of the i-th of the initial hashes: the records from number from to before to, at least one. Numbers
	// rise with i and begin with 0.
	Records(i uint64) (from, to uint64)
	// HashOf is the i of a record.
	HashOf(record uint64) (i uint64)
	// Real appends the key of a record.
	Real(record uint64, dst []byte) []byte
	// Value writes the value of a record.
	Value(record uint64, value []byte)
}

// Record is one of those of a hash.
type Record struct {
	Next  FatPointer // 0: it is the last one
	Real  []byte     // the key
	Value []byte
}

// AppendRecord appends the bytes of a record without a next one, as Rebuild takes them.
func AppendRecord(dst, real, value []byte) []byte { return appendRecord(dst, 0, real, value) }

func appendRecord(dst []byte, next FatPointer, real, value []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(next))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(real)))
	return append(append(dst, real...), value...)
}

func recordOf(b []byte) Record {
	at := recordHeader + int(binary.LittleEndian.Uint16(b[8:]))
	return Record{Next: FatPointer(binary.LittleEndian.Uint64(b)), Real: b[recordHeader:at], Value: b[at:]}
}

// DecodeRecord takes a record out of the bytes of its entry's READ, in their place. If it is not whole, or of another hash, the
// lookup begins again.
func DecodeRecord(p FatPointer, raw []byte) (hash uint64, rec Record, whole bool) {
	hash, b, whole := decodeEntry(p, raw, raw)
	if whole = whole && len(b) >= recordHeader && recordHeader+int(binary.LittleEndian.Uint16(b[8:])) <= len(b); whole {
		rec = recordOf(b)
	}
	return hash, rec, whole
}

// Pointer is what a READ of a leaf's keys and slots has in a slot.
func (l *Layout) Pointer(raw []byte, slot int) (hash uint64, p FatPointer) {
	return DecodePointer(raw[l.values[slot].offset:])
}

// DecodePointer is what a READ of a slot has: the hash, and the record of it. Slots lie within a line.
func DecodePointer(raw []byte) (hash uint64, p FatPointer) {
	return binary.LittleEndian.Uint64(raw), fatPointerOf(raw)
}

// wordCycles is what comparing a word of two keys takes: two loads, a compare and a branch that is predicted, which is what a key of
// a leaf takes that is a word (assumed, as compareCycles is; the loads of the record are charged as such).
const wordCycles = 2

// CompareCycles is what it takes to compare two keys: their lengths, and then the words up to the first that differs.
func CompareCycles(a, b []byte) int {
	if len(a) != len(b) {
		return wordCycles
	}
	at := 0
	for at < len(a) && a[at] == b[at] {
		at++
	}
	return wordCycles * (1 + min(at/8+1, (len(a)+7)/8))
}

// link is a record in the list of its hash.
type link struct {
	at, before FatPointer // before is 0 where it is the first
	Record                // valid until w.entry is used again
}

// findRecord goes through the records of a hash, from the slot in w.val on, to the one of a key.
func (t *Tree) findRecord(r *r2.Region, real []byte, w *work) (l link, found bool) {
	for l.at = fatPointerOf(w.val); l.at != 0; l.before, l.at = l.at, l.Next {
		l.Record = recordOf(t.heap.load(r, l.at, w))
		r.Compute(CompareCycles(real, l.Real))
		if t.anyReal || bytes.Equal(real, l.Real) {
			return l, true
		}
	}
	return l, false
}

// relink has what led to a record lead to another one, or nowhere: the record before, or the slot.
func (t *Tree) relink(r *r2.Region, leaf uint32, slot int, l link, to FatPointer, w *work) {
	if l.before == 0 {
		t.loadSlot(r, leaf, slot, w.val)
		binary.LittleEndian.PutUint64(w.val[keyBytes:], uint64(to))
		t.storeSlot(r, leaf, slot, w.val, w)
		return
	}
	hash, b := w.keys.key(slot), t.heap.load(r, l.before, w)
	binary.LittleEndian.PutUint64(b, uint64(to))
	t.heap.store(r, l.before.position(), hash, uint32(len(b)), b, w)
}

// insertBeside adds a key whose hash is there, if it is not one of those that have the hash.
func (t *Tree) insertBeside(r *r2.Region, leaf uint32, slot int, hash uint64, real, value []byte, w *work) (inserted bool, err error) {
	t.loadSlot(r, leaf, slot, w.val)
	if _, found := t.findRecord(r, real, w); found {
		return false, nil
	}
	w.record = appendRecord(w.record[:0], fatPointerOf(w.val), real, value)
	p, ok := t.heap.add(r, hash, w.record, w)
	if !ok {
		return false, ErrFull
	}
	t.relink(r, leaf, slot, link{}, p, w)
	return true, nil
}

// overwriteRecord changes the value of a key in its place, if it is there.
func (t *Tree) overwriteRecord(r *r2.Region, leaf uint32, slot int, hash uint64, real, value []byte, w *work) (found bool) {
	t.loadSlot(r, leaf, slot, w.val)
	l, found := t.findRecord(r, real, w)
	if found {
		copy(l.Value, value)
		t.heap.store(r, l.at.position(), hash, uint32(l.at.Size()), w.entry[entryHeader:entryHeader+l.at.Size()], w)
	}
	return found
}

// removeRecord takes a key out. last says that the hash has no other: its slot is what is left to take out.
func (t *Tree) removeRecord(r *r2.Region, leaf uint32, slot int, real []byte, w *work) (found, last bool) {
	t.loadSlot(r, leaf, slot, w.val)
	l, found := t.findRecord(r, real, w)
	if !found {
		return false, false
	}
	next := l.Next
	t.heap.free(r, l.at, w)
	if last = l.before == 0 && next == 0; !last {
		t.relink(r, leaf, slot, l, next, w)
	}
	return true, last
}

// initialRecord is the pointer to a record that is there from the start.
func (h *heap) initialRecord(number uint64, w *work) FatPointer {
	w.real = h.o.Real.Real(number, w.real[:0])
	return FatPointer(uint64(recordHeader+len(w.real)+h.o.ValueBytes)<<sizeShift | number*h.largest)
}

// fillRecord makes the initial bytes of a record in w.entry.
func (h *heap) fillRecord(t *Tree, number uint64, w *work) FatPointer {
	i := h.o.Real.HashOf(number)
	next := FatPointer(0)
	if _, to := h.o.Real.Records(i); number+1 < to {
		next = h.initialRecord(number+1, w)
	}
	p := h.initialRecord(number, w)
	encodeHeader(w.entry, t.first.keys.Key(i), uint32(p.Size()))
	b := appendRecord(w.entry[entryHeader:entryHeader], next, w.real, nil)
	h.o.Real.Value(number, w.entry[entryHeader+len(b):entryHeader+p.Size()])
	return p
}

// recordBytes is the length of the longest record.
func (o *Options) recordBytes() int { return recordHeader + o.Real.Most() + o.ValueBytes }

// HeapBytes is the memory of the heap that so many records take, if each is as long as can be.
func HeapBytes(records uint64, most, valueBytes int) uint64 {
	return records * class(recordHeader+most+valueBytes) * record.LineBytes
}

// FindReal is Find of a key that the tree knows by a hash.
func (t *Tree) FindReal(hash uint64, real, value []byte) (n int, found bool) {
	t.eachReal(hash, func(rec Record) bool {
		if found = t.anyReal || bytes.Equal(rec.Real, real); found {
			n = copy(value, rec.Value)
		}
		return !found
	})
	return n, found
}

// eachReal calls f with the records of a hash until it returns false. fault says what is wrong with one; "": nothing.
func (t *Tree) eachReal(hash uint64, f func(rec Record) bool) (fault string) {
	w := t.allocWork()
	defer t.freeWork(w)
	leaf := t.peekDown(hash, w)
	if _, ok := t.peekKeys(leaf, w); !ok {
		return ""
	}
	slot, found := w.keys.find(hash)
	if !found || !t.peekSlot(leaf, slot, w) {
		return ""
	}
	for p := fatPointerOf(w.val); p != 0; {
		a, n := t.EntryAddr(p)
		if n > len(w.raw) {
			return fmt.Sprintf("hash %d has a record of %d bytes, the longest one has %d", hash, n, len(w.raw))
		}
		of, rec, whole := DecodeRecord(p, t.peekRaw(a, n, w))
		if !whole || of != hash {
			return fmt.Sprintf("the record at %d of hash %d is torn or belongs to hash %d", p.position(), hash, of)
		}
		if !f(rec) {
			return ""
		}
		p = rec.Next
	}
	return ""
}

func (t *Tree) peekRaw(a r2.Addr, n int, w *work) []byte {
	t.peek(a, n, w.raw)
	return w.raw[:n]
}

// auditRecords looks at the records of a hash: each is of a key with this hash, and none is there twice.
func (t *Tree) auditRecords(hash uint64) (fault string) {
	var keys []string
	torn := t.eachReal(hash, func(rec Record) bool {
		if h := t.o.Real.Hash(rec.Real); h != hash {
			fault = fmt.Sprintf("hash %d has a key whose hash is %d", hash, h)
		}
		for _, k := range keys {
			if k == string(rec.Real) {
				fault = fmt.Sprintf("hash %d has a key twice", hash)
			}
		}
		keys = append(keys, string(rec.Real))
		return fault == ""
	})
	if fault == "" {
		fault = torn
	}
	return fault
}
