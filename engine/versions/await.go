package versions

import (
	"encoding/binary"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// WriterWaiter is a Host whose transactions have begun to write a record before they hold anything: it waits itself for those that a
// snapshot has to wait for.
type WriterWaiter interface {
	// AwaitWriters waits for all transactions that have begun to write one of some records by now, on the CPU of their primary. Each is table 8 bits |
	// key 56 bits. It returns for how many of the records it waited, and how long these took together.
	AwaitWriters(c *r2.Co, items []byte) (blocked int, waited r2.Time)
}

// serveAwaiting is serveRead of such a host: its handler waits.
func (s *Store) serveAwaiting(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	m := s.machines[c.Machine()]
	p, items := s.parse(m, c, req)
	w := m.waiter()
	c.Compute(s.costs.Handler)
	for i := 0; i < len(items); i += readItem {
		t, key := s.item(items[i:])
		loc, ok := s.look(c, t, key)
		loc, ok = s.claim(c, m, t, key, loc, ok, p, w)
		w.at = append(w.at, spot{loc, ok})
		if !w.passed {
			w.awaited = append(w.awaited, items[i:i+readItem]...)
		}
	}
	s.awaitWriters(c, w.awaited)
	p, items = s.parse(m, c, req) // others have used its memory meanwhile
	for i := range w.at {
		if x := &w.at[i]; !x.ok { // the transaction that had begun to insert it has done so
			t, key := s.item(items[i*readItem:])
			x.loc, x.ok = s.look(c, t, key)
		}
	}
	n := s.readAll(c, p, items, w.at, rep)
	m.spare = append(m.spare, w)
	return n
}

// awaitWriters waits for the writers of records, and counts.
func (s *Store) awaitWriters(c *r2.Co, items []byte) {
	if !s.traits.Waits || len(items) == 0 {
		return
	}
	blocked, waited := s.writerWaiter.AwaitWriters(c, items)
	s.counts(c).Blocked += uint64(blocked)
	s.counts(c).WaitPS += waited
}

// awaitLocalWriters waits for writers of the records on the own machine.
func (x *session) awaitLocalWriters(first int) {
	x.items = x.items[:0]
	for _, a := range x.set[first:] {
		if a.local(x) && !a.passed {
			x.items = binary.LittleEndian.AppendUint64(x.items, uint64(a.Table.ID)<<56|a.Key)
		}
	}
	x.s.awaitWriters(x.c, x.items)
	for _, a := range x.set[first:] {
		if a.local(x) && !a.at.ok {
			a.at.loc, a.at.ok = x.s.look(x.c, a.Table, a.Key)
		}
	}
}

// local says that a record has been claimed on the own machine and not read yet.
func (a *access) local(x *session) bool {
	return a.State == txn.Wanted && a.served && int(a.Machine) == x.c.Machine()
}
