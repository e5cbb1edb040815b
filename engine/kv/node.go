package kv

import (
	"encoding/binary"

	"drtmx/engine/r2"
)

// A node is a bucket of the hash table. Its first line begins with a version and the number of the next node of the chain:
//
//	offset 0   version u32  even; odd while the node, or in a chain's first node the chain, is being changed
//	offset 4   next    u32  number of the next node of the chain + 1, 0 at the end
//	offset 8   keys    4 x u64  valid bit 63 | key 63 bits
//
// A packed node is two such lines of four slots. Both carry the version, so that one READ of the node shows whether it was being changed
// meanwhile; next is in the first alone. Behind the keys each has
//
//	offset 40  rows    4 x u32
//	offset 56  incarnations 4 x u16
//
// A wide node has four slots, and a line for each from the third line on:
//
//	offset 8   key     u64  once more
//	offset 16  row     u32
//	offset 20  incarnation u16
//
// The first line has all that says which keys are there. A slot's line is written before its key comes into the first one, and a READ that
// brings a slot's line of another key is repeated.
//
// A handler that changes a chain holds the latch: an odd version in the first line of its first node.
type bucket struct {
	bytes int // of a node: what a lookup READs
	slots int
	keyed int    // bytes from the start that have all keys
	fill  uint64 // the mean number of records per first node: 75 % of its slots
	wide  bool
	// backupLines are the lines of a bucket that a backup looks at.
	backupLines []r2.Addr
}

var (
	// packed is as small as can be. DrTM-KV has eight slots (SOSP 2015), and takes 1.05 READs per lookup when they are 75 % full.
	packed = &bucket{bytes: 128, slots: 8, keyed: 128, fill: 6, backupLines: []r2.Addr{0}}
	// wide is of the size that the released code READs: four keys, and four nodes of a line each. What the rest of its first two lines
	// is for is not known here: it is empty.
	wide = &bucket{bytes: 384, slots: 4, keyed: lineBytes, fill: 3, wide: true, backupLines: []r2.Addr{0, wideFirst}}
)

const (
	lineBytes = 64
	lineSlots = 4
	lineKeys  = 8
	lineRows  = 40
	lineIncs  = 56
	pageNodes = 32 // nodes that are dealt to records together: of packed ones a page of 4 KB

	wideFirst = 2 * lineBytes // the line of slot 0
	wideKey   = 8
	wideRow   = 16
	wideInc   = 20

	valid = uint64(1) << 63
)

// nodesOf is the number of nodes of a chain with n records.
func (b *bucket) nodesOf(n int) int { return max(1, (n+b.slots-1)/b.slots) }

func version(line []byte) uint32 { return binary.LittleEndian.Uint32(line) }

func next(node []byte) uint32 { return binary.LittleEndian.Uint32(node[4:]) }

// head is the first word of a line: version and next node.
func head(version, next uint32) uint64 { return uint64(version) | uint64(next)<<32 }

// keyAt is where the key of a slot is in the node.
func (b *bucket) keyAt(i int) int { return i/lineSlots*lineBytes + lineKeys + 8*(i%lineSlots) }

// slotLine is where the line is that has a slot's row.
func (b *bucket) slotLine(i int) int {
	if b.wide {
		return wideFirst + i*lineBytes
	}
	return i / lineSlots * lineBytes
}

// key is that of a slot, with the valid bit; 0: the slot is empty.
func (b *bucket) key(node []byte, i int) uint64 { return binary.LittleEndian.Uint64(node[b.keyAt(i):]) }

// ref is the Ref of slot i, whose line is given.
func (b *bucket) ref(line []byte, i int) Ref {
	row, inc := wideRow, wideInc
	if !b.wide {
		row, inc = lineRows+4*(i%lineSlots), lineIncs+2*(i%lineSlots)
	}
	return NewRef(binary.LittleEndian.Uint32(line[row:]), binary.LittleEndian.Uint16(line[inc:]))
}

// setRef writes what is in the line of a slot besides the first line's key.
func (b *bucket) setRef(line []byte, i int, key uint64, r Ref) {
	row, inc := wideRow, wideInc
	if b.wide {
		binary.LittleEndian.PutUint64(line[wideKey:], key|valid)
	} else {
		row, inc = lineRows+4*(i%lineSlots), lineIncs+2*(i%lineSlots)
	}
	binary.LittleEndian.PutUint32(line[row:], r.Row())
	binary.LittleEndian.PutUint16(line[inc:], r.Incarnation())
}

// set fills a slot.
func (b *bucket) set(node []byte, i int, key uint64, r Ref) {
	b.setRef(node[b.slotLine(i):], i, key, r)
	binary.LittleEndian.PutUint64(node[b.keyAt(i):], key|valid)
}

// same reports whether the line of a slot is of the key that the first line has there.
func (b *bucket) same(line []byte, key uint64) bool {
	return !b.wide || binary.LittleEndian.Uint64(line[wideKey:]) == key|valid
}

// findInLine looks for a key among the four of a line.
func findInLine(line []byte, key uint64) (slot int, ok bool) {
	for i := range lineSlots {
		if binary.LittleEndian.Uint64(line[lineKeys+8*i:]) == key|valid {
			return i, true
		}
	}
	return 0, false
}

// find looks for a key in the bytes of a whole node, which a READ brought. intact is false when the node was being changed meanwhile.
func (b *bucket) find(node []byte, key uint64) (r Ref, found, intact bool) {
	v := version(node)
	if v%2 != 0 || !b.wide && v != version(node[lineBytes:]) {
		return 0, false, false
	}
	for i := range b.slots {
		if b.key(node, i) == key|valid {
			line := node[b.slotLine(i):]
			return b.ref(line, i), true, b.same(line, key)
		}
	}
	return 0, false, true
}
