package kv

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// chain is a chain of nodes whose latch c holds.
type chain struct {
	c       *r2.Co
	s       *shard
	first   uint64
	version uint32 // of the first node, before the latch was taken
	link    uint32 // of the first node
}

// latch takes the latch of the chain that starts at a node.
func (s *shard) latch(c *r2.Co, node uint64) (chain, error) {
	a := s.nodeAddr(node)
	for range maxAttempts {
		word := c.Load64(a)
		v, link := uint32(word), uint32(word>>32)
		if v%2 == 0 && c.LocalCAS(a, word, head(v+1, link)) == word {
			return chain{c: c, s: s, first: node, version: v, link: link}, nil
		}
		c.Compute(spinCycles)
	}
	return chain{}, store.ErrBusy
}

// unlatch releases the latch of a chain that was not changed.
func (h *chain) unlatch() {
	h.c.Store64(h.s.nodeAddr(h.first), head(h.version, h.link))
}

// changed is the version that the chain has after a change.
func (h *chain) changed() uint32 { return h.version + 2 }

// spot is a slot of a node of a latched chain, and what is in it.
type spot struct {
	node uint64
	slot int
	ref  Ref
	ok   bool
}

// search walks a latched chain: where the key is, the first empty slot, and the last node.
func (h *chain) search(key uint64) (at, empty spot, last uint64) {
	for node := h.first; ; {
		a := h.s.nodeAddr(node)
		b := h.c.Load(a, h.s.keyed)
		for i := range h.s.slots {
			switch h.s.key(b, i) {
			case key | valid:
				line := b
				if h.s.wide {
					line = h.c.Load(a+r2.Addr(h.s.slotLine(i)), lineBytes)
				} else {
					line = b[h.s.slotLine(i):]
				}
				return spot{node, i, h.s.ref(line, i), true}, empty, node
			case 0:
				if !empty.ok {
					empty = spot{node: node, slot: i, ok: true}
				}
			}
		}
		link := next(b)
		if link == 0 {
			return spot{}, empty, node
		}
		node = uint64(link - 1)
	}
}

// edit is a change of one node: a slot gets a record or loses it, or the node gets a next one.
type edit struct {
	slot int
	key  uint64 // with the valid bit, or 0 to empty the slot
	ref  Ref
	link uint32 // if not 0, the only change
}

// apply makes the change in the part of a node that has its keys. Of a wide one, the slot's own line is another.
func (e *edit) apply(b *bucket, node []byte) {
	switch {
	case e.link != 0:
		binary.LittleEndian.PutUint32(node[4:], e.link)
		return
	case e.key != 0 && !b.wide:
		b.setRef(node[b.slotLine(e.slot):], e.slot, e.key, e.ref)
	}
	binary.LittleEndian.PutUint64(node[b.keyAt(e.slot):], e.key)
}

// change edits a node of a latched chain and releases the latch. A READ of the node meanwhile sees odd or
// different versions: first line odd, second line odd and changed, second line even, first line even.
func (h *chain) change(node uint64, e edit) {
	if h.s.wide {
		h.changeWide(node, e)
		return
	}
	c, a := h.c, h.s.nodeAddr(node)
	var b [2 * lineBytes]byte
	copy(b[:], c.Load(a, len(b)))
	v, second := version(b[:])&^1, version(b[lineBytes:])
	if node != h.first {
		c.Store64(a, head(v+1, next(b[:])))
	}
	c.Store64(a+lineBytes, head(second+1, 0))
	e.apply(h.s.bucket, b[:])
	link := next(b[:])
	binary.LittleEndian.PutUint64(b[:], head(v+1, link))
	c.Store(a, b[:lineBytes])
	binary.LittleEndian.PutUint64(b[lineBytes:], head(v+2, 0))
	c.Store(a+lineBytes, b[lineBytes:])
	c.Store64(a, head(v+2, link))
	if node != h.first {
		h.advance()
	}
}

// changeWide is change of a wide node: the slot's line, which a reader skips unless its key is in the first line; then the first line, at
// once.
func (h *chain) changeWide(node uint64, e edit) {
	c, a := h.c, h.s.nodeAddr(node)
	var b [lineBytes]byte
	if e.key != 0 {
		h.s.setRef(b[:], e.slot, e.key, e.ref)
		c.Store(a+r2.Addr(h.s.slotLine(e.slot)), b[:])
	}
	copy(b[:], c.Load(a, lineBytes))
	e.apply(h.s.bucket, b[:])
	binary.LittleEndian.PutUint32(b[:], version(b[:])&^1+2)
	c.Store(a, b[:])
	if node != h.first {
		h.advance()
	}
}

// advance gives the first node of a chain the version that the chain has after a change of another node, and
// releases the latch.
func (h *chain) advance() {
	a := h.s.nodeAddr(h.first)
	if !h.s.wide {
		h.c.Store64(a+lineBytes, head(h.changed(), 0))
	}
	h.c.Store64(a, head(h.changed(), h.link))
}

// Known reports whether a key was there from the start.
func (t *Table) Known(key uint64) bool {
	_, ok := t.placement.Partition.Local(key)
	return ok
}

// Gap is the first word of the first node of a key's chain, or that of the version near a tree's entry.
func (t *Table) Gap(key uint64) r2.Loc {
	s, hash := t.locate(key)
	if t.spec.Tree {
		return s.gap(s.entry(key)).Loc
	}
	return s.gapAt(s.slotOf(hash), 0).Loc
}

// gapAt is what a search says that has found nothing, in the chain that begins at a node and has that version.
func (s *shard) gapAt(first uint64, version uint32) Location {
	return Location{Loc: r2.Loc{Machine: s.machine, RKey: s.nodes.rkey, Addr: s.nodeAddr(first)}, Ref: Ref(version)}
}

// Insert gives a key a free row; see store.Table.
func (t *Table) Insert(c *r2.Co, key uint64, own []byte, seen uint64) (store.Change, error) {
	if t.spec.Fixed {
		return store.Change{}, store.ErrFixed
	}
	if t.spec.Tree {
		return t.insertTree(c, key, own, seen)
	}
	s, hash := t.locateOwn(c, key)
	h, err := s.latch(c, s.slotOf(hash))
	if err != nil {
		return store.Change{}, err
	}
	at, empty, last := h.search(key)
	switch {
	case at.ok:
		err = store.ErrExists
	case seen != store.AnyVersion && uint32(seen) != h.version:
		err = store.ErrChanged
	case !empty.ok && s.nextNode+s.promised == s.nodeEnd:
		err = store.ErrFull
	}
	var row uint32
	if err == nil {
		row, err = s.allocRow(c)
	}
	if err != nil {
		h.unlatch()
		return store.Change{Ref: at.ref, Before: h.version, After: h.version}, err
	}
	if !empty.ok { // others insert into other chains while the row is written
		s.promised++
	}
	a, layout := s.rowAddr(row), &t.rows.Layout
	word := c.Load64(a + r2.Addr(layout.Incarnation))
	layout.MarkInserted(own, word)
	c.Store(a, own)
	ref := NewRef(row, record.Incarnation(word))
	if empty.ok {
		h.change(empty.node, edit{slot: empty.slot, key: key | valid, ref: ref})
	} else {
		h.change(last, edit{link: s.newNode(c, key, ref)})
	}
	return store.Change{Ref: ref, Before: h.version, After: h.changed()}, nil
}

// Remove takes a record out; see store.Table.
func (t *Table) Remove(c *r2.Co, key uint64, ref Ref) (store.Change, error) {
	if t.spec.Fixed {
		return store.Change{}, store.ErrFixed
	}
	if t.spec.Tree {
		return t.removeTree(c, key, ref)
	}
	s, hash := t.locateOwn(c, key)
	h, err := s.latch(c, s.slotOf(hash))
	if err != nil {
		return store.Change{}, err
	}
	at, _, _ := h.search(key)
	if !at.ok || at.ref != ref {
		h.unlatch()
		return store.Change{}, store.ErrMissing
	}
	h.change(at.node, edit{slot: at.slot})
	return store.Change{Ref: ref, Before: h.version, After: h.changed()}, nil
}

// Free makes a row one that a record can be inserted into; see store.Table.
func (t *Table) Free(c *r2.Co, key uint64, ref Ref) {
	s, _ := t.locateOwn(c, key)
	a := s.rowAddr(ref.Row()) + r2.Addr(t.rows.Layout.Incarnation)
	word, reusable := t.rows.Layout.Freed(c.Load64(a))
	c.Store64(a, word)
	if reusable {
		c.Touch(s.private, 8)
		s.freeRows = append(s.freeRows, ref.Row())
	}
}

// locateOwn is locate for a key that has to be on the machine that c runs on.
func (t *Table) locateOwn(c *r2.Co, key uint64) (s *shard, hash uint64) {
	s, hash = t.locate(key)
	if s.machine != c.Machine() {
		panic(fmt.Sprintf("kv: machine %d works on key %d of table %s in its own memory, it is on machine %d",
			c.Machine(), key, t.spec.Name, s.machine))
	}
	return s, hash
}

// allocRow takes a free row: the one freed last, which is likely in the cache.
func (s *shard) allocRow(c *r2.Co) (uint32, error) {
	c.Touch(s.private, 8)
	if n := len(s.freeRows); n > 0 {
		row := s.freeRows[n-1]
		s.freeRows = s.freeRows[:n-1]
		return row, nil
	}
	if s.nextRow == s.rowEnd {
		return 0, store.ErrFull
	}
	s.nextRow++
	return s.nextRow - 1, nil
}

// newNode fills a spare node with one slot and returns its link. The caller was promised one.
func (s *shard) newNode(c *r2.Co, key uint64, r Ref) uint32 {
	c.Touch(s.private, 8)
	node := s.nextNode
	s.nextNode++
	s.promised--
	var line [lineBytes]byte
	a := s.nodeAddr(node)
	if s.setRef(line[:], 0, key, r); s.wide {
		c.Store(a+r2.Addr(s.slotLine(0)), line[:])
		clear(line[:])
	}
	binary.LittleEndian.PutUint64(line[s.keyAt(0):], key|valid)
	c.Store(a, line[:])
	return uint32(node) + 1
}
