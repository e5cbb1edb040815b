package kv

import "encoding/binary"

// A node is a bucket of the hash table: two lines of four slots. Both lines carry the node's version, so
// that one READ of the node shows whether somebody was changing it:
//
//	offset 0   version u32  even; odd while the line is being changed
//	offset 4   next    u32  number of the next node of the chain + 1, 0 at the end; only in the first line
//	offset 8   keys    4 x u64  valid bit 63 | key 63 bits
//	offset 40  rows    4 x u32
//	offset 56  incarnations 4 x u16
//
// Who changes a chain holds the latch: an odd version in the first line of its first node.
const (
	nodeBytes = 128
	lineBytes = 64
	lineSlots = 4
	nodeSlots = 2 * lineSlots
	lineKeys  = 8
	lineRows  = 40
	lineIncs  = 56
	pageNodes = 32 // of 4 KB

	valid  = uint64(1) << 63
	maxKey = valid - 1
)

// slotAt says where slot i of a node is: its line and its place there.
func slotAt(i int) (line, slot int) { return i / lineSlots * lineBytes, i % lineSlots }

func version(line []byte) uint32 { return binary.LittleEndian.Uint32(line) }

func next(node []byte) uint32 { return binary.LittleEndian.Uint32(node[4:]) }

// head is the first word of a line: version and next node.
func head(version, next uint32) uint64 { return uint64(version) | uint64(next)<<32 }

func slotKey(line []byte, slot int) uint64 {
	return binary.LittleEndian.Uint64(line[lineKeys+8*slot:])
}

func slotRef(line []byte, slot int) Ref {
	return NewRef(binary.LittleEndian.Uint32(line[lineRows+4*slot:]), binary.LittleEndian.Uint16(line[lineIncs+2*slot:]))
}

func setSlot(line []byte, slot int, key uint64, r Ref) {
	binary.LittleEndian.PutUint64(line[lineKeys+8*slot:], key|valid)
	binary.LittleEndian.PutUint32(line[lineRows+4*slot:], r.Row())
	binary.LittleEndian.PutUint16(line[lineIncs+2*slot:], r.Incarnation())
}

func clearSlot(line []byte, slot int) {
	binary.LittleEndian.PutUint64(line[lineKeys+8*slot:], 0)
}

// findInLine looks for a key among the slots of a line.
func findInLine(line []byte, key uint64) (slot int, ok bool) {
	for i := range lineSlots {
		if slotKey(line, i) == key|valid {
			return i, true
		}
	}
	return 0, false
}

// findInNode looks for a key in the bytes of a whole node, which a READ brought. intact is false when the
// node was being changed meanwhile.
func findInNode(node []byte, key uint64) (r Ref, found, intact bool) {
	v := version(node)
	if v%2 != 0 || v != version(node[lineBytes:]) {
		return 0, false, false
	}
	for at := 0; at < nodeBytes; at += lineBytes {
		line := node[at : at+lineBytes]
		if i, ok := findInLine(line, key); ok {
			return slotRef(line, i), true, true
		}
	}
	return 0, false, true
}
