package rolex

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
)

// now is a leaf as it is in memory.
func (p *part) now(i uint32) (n node, whole bool) {
	n, _, whole = p.s.layout.decode(append([]byte(nil), p.leaves.Bytes(uint64(i))[:p.s.layout.bytes()]...))
	return n, whole
}

// Find copies the value of a key as it is now: an oracle, which goes along the links from the initial leaf.
func (s *Store) Find(key uint64, value []byte) bool {
	p := s.part(key)
	for i := uint32(p.leafOf(key)); i != noLeaf; {
		n, _ := p.now(i)
		if key > n.high() {
			i = n.link()
			continue
		}
		at, ok := n.find(&s.layout, key)
		if ok {
			copy(value, n.value(&s.layout, at))
		}
		return ok
	}
	return false
}

// Audit looks at the leaves that were touched, and at the models that were published.
func (s *Store) Audit(bad func(string)) {
	for _, p := range s.parts {
		say := func(format string, args ...any) {
			bad(fmt.Sprintf("rolex: machine %d: ", p.machine) + fmt.Sprintf(format, args...))
		}
		for g := range p.leavesAtStart() {
			if p.leaves.Touched(g) {
				p.auditGroup(g, say)
			}
		}
		for i := range p.segments {
			p.auditSegment(i, say)
		}
	}
}

// auditGroup looks at an initial leaf and its synonyms: from its lowest key to that of the next group there is no gap.
func (p *part) auditGroup(g uint64, say func(string, ...any)) {
	i, low, end := uint32(g), p.lowOf(g), uint32(g+1)
	if g+1 == p.leavesAtStart() {
		end = noLeaf
	}
	for ; i != end; low++ {
		if uint64(i) >= p.leaves.Room() {
			say("leaf group %d links to leaf %d, which there is not", g, i)
			return
		}
		if binary.LittleEndian.Uint64(p.leaves.Bytes(uint64(i))) != 0 {
			say("leaf %d is locked at rest", i)
		}
		n, whole := p.now(i)
		if !whole || n.low() != low || n.high() < low || n.count() > p.s.layout.slots {
			say("leaf %d has keys from %d to %d in %d pairs, whole %v; it should begin at %d", i, n.low(), n.high(), n.count(), whole, low)
			return
		}
		for k := range n.count() {
			key := n.key(&p.s.layout, k)
			if key < low || key > n.high() || k > 0 && key <= n.key(&p.s.layout, k-1) {
				say("leaf %d has key %d at place %d, keys %d to %d belong to it", i, key, k, n.low(), n.high())
			}
		}
		low, i = n.high(), n.link()
	}
	if low != p.highOf(g)+1 {
		say("leaf group %d ends at %d, want %d", g, low-1, p.highOf(g))
	}
}

// auditSegment looks at what was published of a segment: each leaf of its table is among those that are predicted for the keys
// that belonged to it, and for those that still do.
func (p *part) auditSegment(i int, say func(string, ...any)) {
	if !p.directory.Touched(uint64(i)) {
		return
	}
	entry := p.directory.Bytes(uint64(i))
	if binary.LittleEndian.Uint64(entry) != 0 && !p.s.training(p, i) {
		say("segment %d is locked at rest", i)
	}
	word := binary.LittleEndian.Uint64(entry[atCurrent:])
	if word == 0 {
		return
	}
	lines, line := int(word>>32&mostLines), word&(1<<32-1)
	m, ok := getSegment(p.s.cl.Mem(p.machine).Bytes(p.published+r2.Addr(line*lineBytes), lines*lineBytes), uint32(word>>48))
	if !ok {
		say("segment %d: version %d is not where the directory says", i, word>>48)
		return
	}
	low := p.lowest(i)
	for g := range m.leaves {
		n, _ := p.now(m.leaf(g))
		if g == 0 && n.low() != low || g > 0 && n.low() <= low {
			say("segment %d: leaf %d of its table begins at %d", i, g, n.low())
		}
		low = n.low()
		for _, key := range []uint64{n.low(), n.high()} {
			if first, last := m.span(key); g < first || g > last {
				say("segment %d: key %d is predicted in leaves %d to %d, it is in %d", i, key, first, last, g)
			}
		}
	}
}

// training says that a client trains a segment.
func (s *Store) training(p *part, i int) bool {
	for _, t := range s.trains {
		if t != nil && t.busy && t.now == (task{p, i}) {
			return true
		}
	}
	return false
}
