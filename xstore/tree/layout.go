package tree

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/record"
)

// The header of a leaf (thesis §3.4.1): INCA 24 bits | CNT 8 bits | NXT 32 bits, from the lowest on.
const (
	headerBytes = 8
	keyBytes    = 8
	fenceBytes  = 2 * keyBytes
	cntShift    = 24
	nxtShift    = 32
	incaMask    = 1<<cntShift - 1

	maxSlots = 1<<(nxtShift-cntShift) - 1
)

// NoLeaf is the NXT of the last leaf. Leaves have numbers of 31 bits.
const NoLeaf = ^uint32(0)

func header(inca uint32, cnt int, nxt uint32) uint64 {
	return uint64(inca&incaMask) | uint64(cnt)<<cntShift | uint64(nxt)<<nxtShift
}

// nextINCA is the incarnation after inca. It has 24 bits.
func nextINCA(inca uint32) uint32 { return (inca + 1) & incaMask }

// keyBlock is the first block of a leaf, without the versions: the header, the keys and the fence keys, which are the range that
// the tree routes to the leaf, both included. A lookup READ by the learned cache leaves the latter out.
type keyBlock []byte

func (b keyBlock) header() uint64 { return binary.LittleEndian.Uint64(b) }
func (b keyBlock) inca() uint32   { return uint32(b.header()) & incaMask }
func (b keyBlock) cnt() int       { return int(b[cntShift/8]) }
func (b keyBlock) nxt() uint32    { return uint32(b.header() >> nxtShift) }
func (b keyBlock) key(i int) uint64 {
	return binary.LittleEndian.Uint64(b[headerBytes+keyBytes*i:])
}

func (b keyBlock) setHeader(inca uint32, cnt int, nxt uint32) {
	binary.LittleEndian.PutUint64(b, header(inca, cnt, nxt))
}

func (b keyBlock) setKey(i int, key uint64) {
	binary.LittleEndian.PutUint64(b[headerBytes+keyBytes*i:], key)
}

func (b keyBlock) fences() (low, high uint64) {
	f := b[len(b)-fenceBytes:]
	return binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint64(f[keyBytes:])
}

func (b keyBlock) setFences(low, high uint64) {
	f := b[len(b)-fenceBytes:]
	binary.LittleEndian.PutUint64(f, low)
	binary.LittleEndian.PutUint64(f[keyBytes:], high)
}

// find is the local search: keys are in no order.
func (b keyBlock) find(key uint64) (slot int, ok bool) {
	for i := range b.cnt() {
		if b.key(i) == key {
			return i, true
		}
	}
	return 0, false
}

// Layout is the geometry of all leaves of a tree:
//
//	offset 0   header 8 | N keys of 8    the lookup READ
//	           fence keys 16             READ too by clients that cache the tree's nodes; a version per line up to here
//	           up to a whole line
//	           N values, each behind its key, those that span several lines with a version per line
//	           up to a whole line
type Layout struct {
	Slots      int // N
	ValueBytes int // of a slot: of a fat pointer, if values have variable lengths

	lookup record.Lines // header and keys
	keys   record.Lines // and the fence keys: the same lines
	values []valueSlot
	bytes  int
}

// valueSlot is where a value is in its leaf.
type valueSlot struct {
	offset int
	lines  record.Lines
}

// NewLayout is the layout of leaves of so many slots.
func NewLayout(slots, valueBytes int) (Layout, error) {
	switch {
	case slots < 2 || slots > maxSlots:
		return Layout{}, fmt.Errorf("slots %d: a leaf has 2 to %d", slots, maxSlots)
	case valueBytes < 1 || valueBytes > record.MaxValueBytes:
		return Layout{}, fmt.Errorf("value bytes %d: must be 1 to %d", valueBytes, record.MaxValueBytes)
	}
	block := headerBytes + keyBytes*slots
	keys := record.NewLines(0, block+fenceBytes)
	l := Layout{Slots: slots, ValueBytes: valueBytes, lookup: keys.Prefix(block), keys: keys}
	at, stride := roundUp(l.keys.Bytes(), record.LineBytes), valueStride(valueBytes)
	for range slots {
		l.values = append(l.values, valueSlot{at, record.NewLines(uint64(at), keyBytes+valueBytes)})
		at += stride
	}
	l.bytes = roundUp(at, record.LineBytes)
	return l, nil
}

// valueStride is the distance of two values. Those that fit a line never straddle one, so that they need no versions; longer
// ones are as dense as words allow, wherever that puts them in their lines.
func valueStride(valueBytes int) int {
	n := keyBytes + valueBytes
	if n <= record.LineBytes {
		stride := keyBytes
		for stride < n {
			stride *= 2
		}
		return stride
	}
	stride := 0
	for at := uint64(0); at < record.LineBytes; at += keyBytes {
		stride = max(stride, roundUp(record.NewLines(at, n).Bytes(), keyBytes))
	}
	return stride
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// LeafBytes is the distance of two leaves, which begin on a line.
func (l *Layout) LeafBytes() int { return l.bytes }

// LookupBytes is the length of a lookup READ, which begins where the leaf does.
func (l *Layout) LookupBytes() int { return l.lookup.Bytes() }

// FencedBytes is the length of one that brings the fence keys too.
func (l *Layout) FencedBytes() int { return l.keys.Bytes() }

// Value is where the value of a slot is in the leaf, and the length of a READ of it.
func (l *Layout) Value(slot int) (offset, n int) {
	p := &l.values[slot]
	return p.offset, p.lines.Bytes()
}

// Span is the length of a READ of keys and values, of so many slots.
func (l *Layout) Span(slots int) int {
	if slots == 0 {
		return l.LookupBytes()
	}
	offset, n := l.Value(slots - 1)
	return offset + n
}

// View is what a lookup READ brought. Its memory is used again.
type View struct {
	INCA uint32
	CNT  int
	NXT  uint32
	Keys []uint64 // CNT keys, in the order of slots
	// Low and High are the fence keys, if they were READ.
	Low, High uint64

	block keyBlock
}

// DecodeKeys reads the bytes of a lookup READ. whole is false if the leaf was changed meanwhile: READ it again.
func (l *Layout) DecodeKeys(raw []byte, v *View) (whole bool) {
	if len(v.block) != l.keys.Data() {
		v.block, v.Keys = make(keyBlock, l.keys.Data()), make([]uint64, 0, l.Slots)
	}
	fenced := len(raw) >= l.keys.Bytes()
	if fenced {
		_, whole = l.keys.Decode(v.block, raw)
	} else {
		_, whole = l.lookup.Decode(v.block, raw)
	}
	if !whole {
		return false
	}
	if fenced {
		v.Low, v.High = v.block.fences()
	}
	v.INCA, v.CNT, v.NXT, v.Keys = v.block.inca(), v.block.cnt(), v.block.nxt(), v.Keys[:0]
	for i := range v.CNT {
		v.Keys = append(v.Keys, v.block.key(i))
	}
	return true
}

// Find is the local search.
func (v *View) Find(key uint64) (slot int, ok bool) {
	for i, k := range v.Keys {
		if k == key {
			return i, true
		}
	}
	return 0, false
}

// DecodeValue takes the versions out of the bytes of a value's READ, in their place. If the value is not whole, or of another
// key than the lookup's, the pair was changed or moved meanwhile, and the lookup begins again.
func (l *Layout) DecodeValue(slot int, raw []byte) (key uint64, value []byte, whole bool) {
	_, whole = l.values[slot].lines.Decode(raw, raw)
	return binary.LittleEndian.Uint64(raw), raw[keyBytes : keyBytes+l.ValueBytes], whole
}
