package kv

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// What an insert or a delete may answer besides success.
var (
	ErrExists  = store.ErrExists
	ErrMissing = store.ErrMissing
	ErrFull    = errors.New("no spare row left: raise the table's spare rows")
	ErrFixed   = errors.New("the table is fixed: make it without Fixed")
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
	return chain{}, fmt.Errorf("table %s node %d: %w after %d attempts", s.table.spec.Name, node, ErrBusy, maxAttempts)
}

// unlatch releases the latch of a chain whose first node was not changed.
func (h *chain) unlatch() {
	h.c.Store64(h.s.nodeAddr(h.first), head(h.version, h.link))
}

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
		b := h.c.Load(h.s.nodeAddr(node), nodeBytes)
		for i := range nodeSlots {
			line, slot := slotAt(i)
			switch slotKey(b[line:], slot) {
			case key | valid:
				return spot{node, i, slotRef(b[line:], slot), true}, empty, node
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

func (e *edit) apply(node []byte) {
	line, slot := slotAt(e.slot)
	switch {
	case e.link != 0:
		binary.LittleEndian.PutUint32(node[4:], e.link)
	case e.key != 0:
		setSlot(node[line:], slot, e.key, e.ref)
	default:
		clearSlot(node[line:], slot)
	}
}

// change edits a node of a latched chain and releases the latch. A READ of the node meanwhile sees odd or
// different versions: first line odd, second line odd and changed, second line even, first line even.
func (h *chain) change(node uint64, e edit) {
	c, a := h.c, h.s.nodeAddr(node)
	var b [nodeBytes]byte
	copy(b[:], c.Load(a, nodeBytes))
	v, second := version(b[:])&^1, version(b[lineBytes:])
	if node != h.first {
		c.Store64(a, head(v+1, next(b[:])))
	}
	c.Store64(a+lineBytes, head(second+1, 0))
	e.apply(b[:])
	link := next(b[:])
	binary.LittleEndian.PutUint64(b[:], head(v+1, link))
	c.Store(a, b[:lineBytes])
	binary.LittleEndian.PutUint64(b[lineBytes:], head(v+2, 0))
	c.Store(a+lineBytes, b[lineBytes:])
	c.Store64(a, head(v+2, link))
	if node != h.first {
		h.unlatch()
	}
}

// InsertLocal adds a record on the CPU of its server and returns where it is and its sequence.
func (t *Table) InsertLocal(c *r2.Co, key uint64, value []byte) (loc Location, seq uint64, err error) {
	if key > MaxKey {
		return loc, 0, fmt.Errorf("table %s key %d: must be at most %d", t.spec.Name, key, MaxKey)
	}
	if len(value) != t.spec.ValueBytes {
		return loc, 0, fmt.Errorf("table %s key %d: value of %d bytes, the table's have %d", t.spec.Name, key, len(value), t.spec.ValueBytes)
	}
	if t.spec.Fixed {
		return loc, 0, fmt.Errorf("table %s key %d: %w", t.spec.Name, key, ErrFixed)
	}
	s, hash := t.own(c, key)
	h, err := s.latch(c, s.place(hash))
	if err != nil {
		return loc, 0, err
	}
	at, empty, last := h.search(key)
	if at.ok {
		err = ErrExists
	} else if !empty.ok && s.nextNode+s.promised == s.nodeEnd {
		err = ErrFull
	}
	var row uint32
	if err == nil {
		row, err = s.takeRow(c)
	}
	if err != nil {
		h.unlatch()
		return loc, 0, fmt.Errorf("table %s key %d: %w", t.spec.Name, key, err)
	}
	if !empty.ok { // others insert into other chains while the row is written
		s.promised++
	}
	seq = s.writeRow(c, row, value)
	ref := NewRef(row, record.Incarnation(seq))
	if empty.ok {
		h.change(empty.node, edit{slot: empty.slot, key: key | valid, ref: ref})
	} else {
		h.change(last, edit{link: s.newNode(c, key, ref)})
	}
	return s.location(ref), seq, nil
}

// DeleteLocal removes a record on the CPU of its server and returns the sequence it had and the one its row has
// now. Nobody may hold the row's lock: the row is free for another record when DeleteLocal returns. Who locks it by a
// location that is stale by then sees that from its sequence, and gives the lock back.
func (t *Table) DeleteLocal(c *r2.Co, key uint64) (old, free uint64, err error) {
	if t.spec.Fixed {
		return 0, 0, fmt.Errorf("table %s key %d: %w", t.spec.Name, key, ErrFixed)
	}
	s, hash := t.own(c, key)
	h, err := s.latch(c, s.place(hash))
	if err != nil {
		return 0, 0, err
	}
	at, _, _ := h.search(key)
	if !at.ok {
		h.unlatch()
		return 0, 0, fmt.Errorf("table %s key %d: %w", t.spec.Name, key, ErrMissing)
	}
	// The slot goes first: whoever still finds the row by it finds the record, locked by the deleter. Then
	// the row's sequence tells those who remember its location.
	h.change(at.node, edit{slot: at.slot})
	row := at.ref.Row()
	a := s.rowAddr(row) + r2.Addr(t.layout.Header.Stamp)
	old = c.Load64(a)
	free, reusable := record.Freed(old)
	c.Store64(a, free)
	if reusable {
		c.Touch(s.private, 8)
		s.freeRows = append(s.freeRows, row)
	}
	return old, free, nil
}

// own is locate for a key that has to be on the machine that c runs on.
func (t *Table) own(c *r2.Co, key uint64) (s *shard, hash uint64) {
	s, hash = t.locate(key)
	if s.machine != c.Machine() {
		panic(fmt.Sprintf("kv: machine %d works on key %d of table %s in its own memory, it is on machine %d",
			c.Machine(), key, t.spec.Name, s.machine))
	}
	return s, hash
}

// takeRow takes a free row: the one freed last, which is likely in the cache.
func (s *shard) takeRow(c *r2.Co) (uint32, error) {
	c.Touch(s.private, 8)
	if n := len(s.freeRows); n > 0 {
		row := s.freeRows[n-1]
		s.freeRows = s.freeRows[:n-1]
		return row, nil
	}
	if s.nextRow == s.rowEnd {
		return 0, ErrFull
	}
	s.nextRow++
	return s.nextRow - 1, nil
}

// writeRow fills a free row, which nobody can find yet but some may remember, and returns its sequence.
// The lock word is not touched: it is 0, or of somebody who will find the location stale.
func (s *shard) writeRow(c *r2.Co, row uint32, value []byte) uint64 {
	h := s.table.layout.Header
	a := s.rowAddr(row)
	stamp := a + r2.Addr(h.Stamp)
	seq := h.Born(c.Load64(stamp))
	c.Store64(stamp, record.Writing(seq))
	c.Store(a+r2.Addr(h.Bytes), value)
	c.Store64(stamp, seq)
	return seq
}

// newNode fills a spare node with one slot and returns its link. The caller was promised one.
func (s *shard) newNode(c *r2.Co, key uint64, r Ref) uint32 {
	c.Touch(s.private, 8)
	node := s.nextNode
	s.nextNode++
	s.promised--
	var line [lineBytes]byte
	setSlot(line[:], 0, key, r)
	c.Store(s.nodeAddr(node), line[:])
	return uint32(node) + 1
}
