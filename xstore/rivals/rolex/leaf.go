package rolex

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/record"
)

// A leaf as it is in memory. Behind the lock word is a block of lines with versions (record.Lines), whose data are
//
//	0 low u64 | 8 high u64 | 16 link u32 | 20 pairs u16 | 22 unused u16 | 24 pairs, rising, each key u64 and value
//
// low and high are the keys that belong to the leaf, both included; link is the leaf that has those behind high.
const (
	lockBytes   = 8
	headerBytes = 24
	keyBytes    = 8

	atHigh  = 8
	atLink  = 16
	atPairs = 20

	// noLeaf is the link of a server's last leaf.
	noLeaf = ^uint32(0)
)

// layout is the geometry of the leaves of a store.
type layout struct {
	slots int
	pair  int // bytes of a pair
	block record.Lines
	head  record.Lines // the header alone
}

// newLayout is the layout of leaves of so many pairs, of which each has to fit into a WRITE.
func newLayout(slots, valueBytes, maxWrite int) (layout, error) {
	l := layout{slots: slots, pair: keyBytes + valueBytes}
	l.block = record.NewLines(lockBytes, headerBytes+slots*l.pair)
	l.head = l.block.Prefix(headerBytes)
	if l.bytes() > maxWrite {
		return l, fmt.Errorf("rolex: values of %d bytes: a leaf of %d takes %d bytes, and a WRITE %d at most: use smaller values, or fewer rolex.slots", valueBytes, slots, l.bytes(), maxWrite)
	}
	return l, nil
}

// bytes is what a READ of a leaf brings, and a WRITE of one takes along.
func (l *layout) bytes() int { return lockBytes + l.block.Bytes() }

// headBytes is the length of a READ of the header.
func (l *layout) headBytes() int { return lockBytes + l.head.Bytes() }

// stride is the distance of two leaves, which begin on a line.
func (l *layout) stride() int { return (l.bytes() + record.LineBytes - 1) &^ (record.LineBytes - 1) }

// encode makes the bytes of a leaf that is not locked.
func (l *layout) encode(dst []byte, n node, version uint16) {
	binary.LittleEndian.PutUint64(dst, 0)
	l.block.Encode(dst[lockBytes:], n, version)
}

// decode takes the versions out of a leaf, in its place. whole is false if it was changed meanwhile.
func (l *layout) decode(raw []byte) (n node, version uint16, whole bool) {
	b := raw[lockBytes:]
	whenDecoded(l, b)
	version, whole = l.block.Decode(b, b)
	return node(b[:l.block.Data()]), version, whole
}

// whenDecoded sees the bytes of a leaf before they are decoded. Tests plant a fault here.
var whenDecoded = func(*layout, []byte) {}

// node is the data of a leaf, or its header alone.
type node []byte

func (n node) low() uint64  { return binary.LittleEndian.Uint64(n) }
func (n node) high() uint64 { return binary.LittleEndian.Uint64(n[atHigh:]) }
func (n node) link() uint32 { return binary.LittleEndian.Uint32(n[atLink:]) }
func (n node) count() int   { return int(binary.LittleEndian.Uint16(n[atPairs:])) }

func (n node) setLow(key uint64)  { binary.LittleEndian.PutUint64(n, key) }
func (n node) setHigh(key uint64) { binary.LittleEndian.PutUint64(n[atHigh:], key) }
func (n node) setLink(i uint32)   { binary.LittleEndian.PutUint32(n[atLink:], i) }
func (n node) setCount(k int)     { binary.LittleEndian.PutUint16(n[atPairs:], uint16(k)) }

func (n node) key(l *layout, i int) uint64 {
	return binary.LittleEndian.Uint64(n[headerBytes+i*l.pair:])
}

func (n node) value(l *layout, i int) []byte {
	at := headerBytes + i*l.pair
	return n[at+keyBytes : at+l.pair : at+l.pair]
}

// find is the first pair whose key is not below key, and whether it is that key.
func (n node) find(l *layout, key uint64) (i int, ok bool) {
	for i < n.count() && n.key(l, i) < key {
		i++
	}
	return i, i < n.count() && n.key(l, i) == key
}

// insert puts a pair at place i, for which there is room.
func (n node) insert(l *layout, i int, key uint64, value []byte) {
	from, to := headerBytes+i*l.pair, headerBytes+n.count()*l.pair
	copy(n[from+l.pair:to+l.pair], n[from:to])
	binary.LittleEndian.PutUint64(n[from:], key)
	copy(n[from+keyBytes:from+l.pair], value)
	n.setCount(n.count() + 1)
}

// remove takes pair i out.
func (n node) remove(l *layout, i int) {
	from, to := headerBytes+i*l.pair, headerBytes+n.count()*l.pair
	copy(n[from:], n[from+l.pair:to])
	n.setCount(n.count() - 1)
}

// split moves the upper half of the pairs to a new leaf, which n links to: its synonym.
func (n node) split(l *layout, to node, number uint32) {
	keep := n.count() / 2
	from := headerBytes + keep*l.pair
	moved := copy(to[headerBytes:], n[from:headerBytes+n.count()*l.pair])
	clear(to[headerBytes+moved:])
	to.setLow(n.key(l, keep))
	to.setHigh(n.high())
	to.setLink(n.link())
	to.setCount(n.count() - keep)
	n.setHigh(to.low() - 1)
	n.setLink(number)
	n.setCount(keep)
}
