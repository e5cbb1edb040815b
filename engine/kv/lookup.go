package kv

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

const (
	maxAttempts = 4096 // of a lookup or of taking a latch, before ErrBusy
	spinCycles  = 40   // between two looks at a latch: a pause instruction
)

// Lookup is a lookup by one-sided READs that is under way: one READ per node of the chain, and one more
// whenever a node was caught in a change.
type Lookup struct {
	s        *shard
	key      uint64
	first    uint64
	node     uint64
	version  uint32 // of the first node
	buf      r2.Buf
	attempts int
}

// Search posts the first READ of a lookup, or its one RPC.
func (t *Table) Search(c *r2.Co, key uint64, used store.Search) store.Search {
	if t.spec.Tree {
		return t.searchTree(c, key, used)
	}
	l, ok := used.(*Lookup)
	if !ok {
		l = new(Lookup)
	}
	s, hash := t.locate(key)
	*l = Lookup{s: s, key: key, first: s.slotOf(hash)}
	l.node = l.first
	l.post(c)
	return l
}

func (l *Lookup) post(c *r2.Co) {
	l.buf = c.Read(r2.Loc{Machine: l.s.machine, RKey: l.s.nodes.rkey, Addr: l.s.nodeAddr(l.node)}, l.s.bytes)
}

// Next looks at what the READ brought.
func (l *Lookup) Next(c *r2.Co) (Location, store.State, error) {
	l.attempts++
	c.TouchDMA(l.buf.Addr, l.s.bytes)
	ref, found, intact := l.s.find(l.buf.B, l.key)
	if intact && l.node == l.first {
		l.version = version(l.buf.B)
	}
	switch {
	case found && intact:
		return l.s.location(ref), store.Found, nil
	case l.attempts == maxAttempts:
		return Location{}, store.Failed, fmt.Errorf("table %s key %d: %w after %d READs", l.s.table.spec.Name, l.key, store.ErrBusy, l.attempts)
	case intact && next(l.buf.B) == 0:
		loc := l.s.gapAt(l.first, l.version)
		if l.node != l.first {
			loc.Ref |= store.Unsettled
		}
		return loc, store.Missing, nil
	case intact:
		l.node = uint64(next(l.buf.B) - 1)
	}
	l.post(c)
	return Location{}, store.More, nil
}

// LookupLocal finds a record on the CPU of its own machine, or its gap. err tells only of a chain that never
// came to rest.
func (t *Table) LookupLocal(c *r2.Co, key uint64) (loc Location, ok bool, err error) {
	s, hash := t.locateOwn(c, key)
	if t.spec.Tree {
		loc, ok = s.lookupTree(c, key)
		return loc, ok, nil
	}
	first := s.slotOf(hash)
	load := (*r2.Co).Load
	if t.spec.Fixed {
		if loc, ok := t.lookupFixed(c, key); ok {
			return loc, true, nil
		}
		load = (*r2.Co).Peek
	}
	node, seen := first, uint32(0)
	for range maxAttempts {
		ref, found, v, link := s.look(c, load, s.nodeAddr(node), key)
		if node == first {
			seen = v
		}
		switch {
		case v%2 != 0:
			c.Compute(spinCycles)
		case found:
			return s.location(ref), true, nil
		case link != 0:
			node = uint64(link - 1)
		case node == first || version(load(c, s.nodeAddr(first), 8)) == seen:
			return s.gapAt(first, seen), false, nil
		default: // a record may have come to a node that was passed
			node = first
		}
	}
	return Location{}, false, fmt.Errorf("table %s key %d: %w after %d attempts", t.spec.Name, key, store.ErrBusy, maxAttempts)
}

// look looks for a key in the node at an address, line by line. v is the node's version, odd while it is being changed.
func (s *shard) look(c *r2.Co, load func(c *r2.Co, a r2.Addr, n int) []byte, a r2.Addr, key uint64) (r Ref, found bool, v, link uint32) {
	line := load(c, a, lineBytes)
	v, link = version(line), next(line)
	i, found := findInLine(line, key)
	if v%2 != 0 || found && !s.wide || !found && s.wide {
		return s.ref(line, i), found, v, link
	}
	if s.wide {
		line = load(c, a+r2.Addr(s.slotLine(i)), lineBytes)
		if !s.same(line, key) {
			v |= 1
		}
		return s.ref(line, i), true, v, link
	}
	line = load(c, a+lineBytes, lineBytes)
	i, found = findInLine(line, key)
	if version(line) != v {
		v |= 1
	}
	return s.ref(line, i), found, v, link
}

// lookupFixed is LookupLocal of a record in a hash table that never changes. Where the record is follows from its hash
// value, so the lines on the way are charged, and their bytes, which would have to be computed first, are not looked
// at.
func (t *Table) lookupFixed(c *r2.Co, key uint64) (loc Location, ok bool) {
	s, j, initial := t.shardOf(key)
	if !initial {
		return Location{}, false
	}
	hash := s.hash(j)
	place := s.slotOf(hash)
	rank := s.rank(place, hash)
	for node := place; ; node, rank = node+s.chains, rank-s.slots {
		a := s.nodeAddr(node)
		c.Touch(a, lineBytes)
		here := rank < s.slots
		switch {
		case s.wide && here:
			c.Touch(a+r2.Addr(s.slotLine(rank)), lineBytes)
		case !s.wide && rank >= lineSlots:
			c.Touch(a+lineBytes, lineBytes)
		}
		if here {
			return s.location(homeRef(j)), true
		}
	}
}
