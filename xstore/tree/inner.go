package tree

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/record"
)

// Inner nodes in memory, without the versions that stand at the start of each line:
//
//	offset 0   INCA 24 bits | CNT 8 bits | level 8 bits | unused
//	offset 8   low fence   u64  lowest key that is routed through the node
//	offset 16  high fence  u64  highest
//	offset 24  separators  fanout-1 x u64
//	           children    fanout x u32
//
// CNT counts children. Separator i is the lowest key of child i+1.
const (
	levelShift = 32
	lowAt      = 8
	highAt     = 16
	sepsAt     = 24
	sepBytes   = 8
	childBytes = 4

	minFanout = 4
	maxFanout = 128
)

// InnerLayout is the geometry of all inner nodes of a tree.
type InnerLayout struct {
	Fanout int
	lines  record.Lines
	bytes  int
}

func newInnerLayout(fanout int) (InnerLayout, error) {
	if fanout < minFanout || fanout > maxFanout {
		return InnerLayout{}, fmt.Errorf("fanout %d: must be %d to %d", fanout, minFanout, maxFanout)
	}
	l := InnerLayout{Fanout: fanout, lines: record.NewLines(0, sepsAt+sepBytes*(fanout-1)+childBytes*fanout)}
	l.bytes = roundUp(l.lines.Bytes(), record.LineBytes)
	return l, nil
}

// Bytes is the length of a READ of a node.
func (l *InnerLayout) Bytes() int { return l.lines.Bytes() }

// NodeBytes is the distance of two nodes, which begin on a line.
func (l *InnerLayout) NodeBytes() int { return l.bytes }

func (l *InnerLayout) sep(data []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(data[sepsAt+sepBytes*i:])
}

func (l *InnerLayout) child(data []byte, i int) uint32 {
	return binary.LittleEndian.Uint32(data[sepsAt+sepBytes*(l.Fanout-1)+childBytes*i:])
}

// search is the child that a key is routed to: the number of separators up to it.
func (l *InnerLayout) search(data []byte, key uint64) int {
	low, high := 0, int(data[cntShift/8])-1
	for low < high {
		if mid := (low + high) / 2; l.sep(data, mid) <= key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// Inner is an inner node as a READ brought it. Its memory is used again.
type Inner struct {
	INCA      uint32
	Level     int    // 1: the children are leaves
	Low, High uint64 // fence keys, both included
	Keys      []uint64
	Children  []uint32 // numbers of leaves or inner nodes, one more than Keys

	data []byte
}

// Decode reads the bytes of a node. whole is false if it was changed meanwhile: READ it again.
func (l *InnerLayout) Decode(raw []byte, n *Inner) (whole bool) {
	if len(n.data) != l.lines.Data() {
		n.data = make([]byte, l.lines.Data())
	}
	if _, whole = l.lines.Decode(n.data, raw); whole {
		l.read(n.data, n)
	}
	return whole
}

// count is how many children a node has.
func (l *InnerLayout) count(data []byte) int {
	return int(binary.LittleEndian.Uint64(data) >> cntShift & 0xff)
}

func (l *InnerLayout) read(data []byte, n *Inner) {
	word := binary.LittleEndian.Uint64(data)
	n.INCA, n.Level = uint32(word)&incaMask, int(word>>levelShift&0xff)
	n.Low, n.High = binary.LittleEndian.Uint64(data[lowAt:]), binary.LittleEndian.Uint64(data[highAt:])
	n.Keys, n.Children = n.Keys[:0], n.Children[:0]
	for i := range int(word >> cntShift & 0xff) {
		if i > 0 {
			n.Keys = append(n.Keys, l.sep(data, i-1))
		}
		n.Children = append(n.Children, l.child(data, i))
	}
}

func (l *InnerLayout) write(data []byte, n *Inner) {
	binary.LittleEndian.PutUint64(data, uint64(n.INCA&incaMask)|uint64(len(n.Children))<<cntShift|uint64(n.Level)<<levelShift)
	binary.LittleEndian.PutUint64(data[lowAt:], n.Low)
	binary.LittleEndian.PutUint64(data[highAt:], n.High)
	for i, key := range n.Keys {
		binary.LittleEndian.PutUint64(data[sepsAt+sepBytes*i:], key)
	}
	children := data[sepsAt+sepBytes*(l.Fanout-1):]
	for i, child := range n.Children {
		binary.LittleEndian.PutUint32(children[childBytes*i:], child)
	}
}

// Child is the child that a key between the fences is routed to.
func (n *Inner) Child(key uint64) int {
	i := 0
	for i < len(n.Keys) && n.Keys[i] <= key {
		i++
	}
	return i
}

// Range is what is routed to child i, both included.
func (n *Inner) Range(i int) (low, high uint64) {
	low, high = n.Low, n.High
	if i > 0 {
		low = n.Keys[i-1]
	}
	if i < len(n.Keys) {
		high = n.Keys[i] - 1
	}
	return low, high
}

// The root word: number of the root 32 bits | levels of inner nodes 8 bits.
const rootLevelShift = 32

func rootWord(root uint32, levels int) uint64 { return uint64(root) | uint64(levels)<<rootLevelShift }

// DecodeRoot reads the root word: the inner node that is the root, and the levels of inner nodes.
func DecodeRoot(word uint64) (root uint32, levels int) {
	return uint32(word), int(word >> rootLevelShift)
}
