package versions

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// DEP_READ (§5.3.2) on the CPU of a record's primary. Pass 1 claims all records of a request and finds the transactions to wait
// for; pass 2 reads, when none is left, and never waits.

// A request is the number of words of the point, these words, and the records: table 8 bits | key 56 bits. A reply has
// a head of each record: what was found and its row, and the value follows; or that the row was taken from the record meanwhile, so that it
// has to be asked for again.
const (
	readHead  = 8
	readItem  = 8
	replyHead = 8

	itemFound = 1
	itemAgain = 2

	stateAt = 56
	refMask = 1<<48 - 1
)

func visible(stamp uint64, p []uint64) bool { return timestamp.Visible(timestamp.Stamp(stamp), p) }

// claim is the rest of pass 1 for one record, of which a lookup said where it is: where it is now. Ok is false if it is missing.
func (s *Store) claim(c *r2.Co, m *machine, t *txn.Table, key uint64, loc store.Location, ok bool, p []uint64, w *waiter) (store.Location, bool) {
	w.passed = false
	for {
		if !ok && s.traits.Claims && !t.Fixed {
			raise(c, s.guard(m, t, key), p[0])
			loc, ok = s.look(c, t, key)
		}
		w.table, w.key = t, key
		if !ok || t.Constant || s.claimThenLook(c, m, loc, p, w) {
			return loc, ok
		}
		loc, ok = s.look(c, t, key)
	}
}

func (s *Store) look(c *r2.Co, t *txn.Table, key uint64) (store.Location, bool) {
	loc, ok, err := t.Store.LookupLocal(c, key)
	if err != nil {
		c.Fail(fmt.Errorf("versions: lookup: %w", err))
	}
	return loc, ok
}

// claimThenLook claims a row and then looks whether its lock is held. It is false if the row is not the record's any
// more.
func (s *Store) claimThenLook(c *r2.Co, m *machine, at store.Location, p []uint64, w *waiter) bool {
	before := s.claimRow(c, at.Addr, p)
	return s.holder(c, m, at, before, p, w)
}

// claimRow raises the tuple timestamp to the snapshot's and returns what it was.
func (s *Store) claimRow(c *r2.Co, row r2.Addr, p []uint64) (before uint64) {
	if !s.traits.Claims {
		return 0
	}
	before = c.Load64(row + s.at.tuple)
	raiseFrom(c, row+s.at.tuple, before, p[0])
	return before
}

// holder queues the snapshot if the lock of a row is held by a transaction that may install what it has to see.
func (s *Store) holder(c *r2.Co, m *machine, at store.Location, tuple uint64, p []uint64, w *waiter) bool {
	w.passed = s.writerWaiter != nil && !s.waits(tuple, nil, p)
	if s.traits.Waits && s.host.Busy(s.head(c, at.Addr)) {
		row := c.Load(at.Addr, int(s.at.value))
		if at.Stale(wire.Get64(row[s.at.seq:])) {
			return false
		}
		if s.waits(tuple, row, p) && s.wait(c, m, at.Addr, w) {
			return !at.Stale(s.head(c, at.Addr+s.at.seq)) || !m.leave(c, at.Addr, w)
		}
	}
	return !at.Stale(s.head(c, at.Addr+s.at.seq))
}

// waits says whether a snapshot waits for the holder of a lock, by what the tuple timestamp was before its claim, and by the row as it
// was behind that, nil where the host waits itself. Line 1 of Figure 5-9 as it is printed looks at the timestamp, which another
// snapshot may have raised, and not the holder's stamp.
func (s *Store) waits(tuple uint64, row []byte, p []uint64) bool {
	if s.traits.WaitsByTuple {
		return tuple <= p[0]
	}
	return s.mayMiss(row, p)
}

// mayMiss says that the holder of a row's lock may install what a snapshot has to see. If the snapshot does not see the present
// version, it sees nothing later: a stamp is larger than that of the version that it overwrites (§5.5.4: a snapshot of the
// past is not blocked, for the record "has been updated with larger commit timestamps"). The tuple timestamp says less, since
// snapshots raise it. A row that holds no record has no such version.
func (s *Store) mayMiss(row []byte, p []uint64) bool {
	return row == nil || !record.Live(wire.Get64(row[s.at.seq:])) || visible(wire.Get64(row[s.at.version:]), p)
}

// head is a word of a row's header. A claim has brought its line into the core's first cache.
func (s *Store) head(c *r2.Co, at r2.Addr) uint64 {
	if s.traits.Claims {
		return c.Again64(at)
	}
	return c.Load64(at)
}

// serveRead is DEP_READ for another coroutine. The handler's measured cycles cover lookups and rows, as they do without versions;
// locked instructions of claims and walks to older versions come on top.
func (s *Store) serveRead(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	m := s.machines[c.Machine()]
	p, items := s.parse(m, c, req)
	w := m.waiter()
	c.ChargeHandler(s.costs.Handler)
	for i := 0; i < len(items); i += readItem {
		t, key := s.item(items[i:])
		loc, ok := s.look(c, t, key)
		w.at = append(w.at, spot{loc, ok})
	}
	for i := range w.at {
		t, key := s.item(items[i*readItem:])
		w.at[i].loc, w.at[i].ok = s.claim(c, m, t, key, w.at[i].loc, w.at[i].ok, p, w)
	}
	if w.left == 0 {
		n := s.readAll(c, p, items, w.at, rep)
		m.spare = append(m.spare, w)
		return n
	}
	w.ticket = c.Defer()
	return 0
}

// item is a record that a request names.
func (s *Store) item(b []byte) (t *txn.Table, key uint64) {
	word := wire.Get64(b)
	return s.db.TableOf(uint8(word >> 56)), word & txn.MaxKey
}

// answer is pass 2 of a deferred request.
func (s *Store) answer(c *r2.Co, w *waiter) {
	t := w.ticket
	if t.Gone() {
		return
	}
	t.Answer(c, func(c *r2.Co, req, rep []byte) int {
		p, items := s.parse(s.machines[c.Machine()], c, req)
		n := s.readAll(c, p, items, w.at, rep)
		m := s.machines[c.Machine()]
		m.spare = append(m.spare, w)
		return n
	})
}

// waiter is one that is not in use.
func (m *machine) waiter() *waiter {
	w := &waiter{}
	if n := len(m.spare); n > 0 {
		w, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	*w = waiter{at: w.at[:0], awaited: w.awaited[:0]}
	return w
}

// parse is the point and the records of a request.
func (s *Store) parse(m *machine, c *r2.Co, req []byte) (p []uint64, items []byte) {
	n := int(wire.Get64(req))
	p = m.points[c.Thread()][:0]
	for i := range n {
		p = append(p, wire.Get64(req[readHead+8*i:]))
	}
	m.points[c.Thread()] = p
	return p, req[readHead+8*n:]
}

// readAll is pass 2.
func (s *Store) readAll(c *r2.Co, p []uint64, items []byte, at []spot, rep []byte) int {
	n := 0
	for i := range at {
		t, key := s.item(items[i*readItem:])
		head, value := rep[n:n+replyHead], rep[n+replyHead:n+replyHead+t.ValueBytes()]
		x, state := s.readSpot(c, t, key, &at[i], p, value)
		binary.LittleEndian.PutUint64(head, state<<stateAt|uint64(at[i].loc.Ref)&refMask)
		n += replyHead
		if state == itemFound {
			n += wire.Padded(len(value))
		}
		if state != itemAgain {
			c.Annotate(auditVersion(c, t, key, at[i].loc.Ref, x))
		}
	}
	for ; n < s.costs.ReplyBytes; n++ {
		rep[n] = 0
	}
	return n
}

// readSpot is pass 2 of one record.
func (s *Store) readSpot(c *r2.Co, t *txn.Table, key uint64, at *spot, p []uint64, value []byte) (x found, state uint64) {
	if !at.ok {
		return found{missing: true, gap: uint32(at.loc.Ref)}, 0
	}
	if x = s.read(c, t, key, at.loc, p, value); x.moved {
		return x, itemAgain
	}
	s.counts(c).Reads++
	if x.ok {
		state = itemFound
	}
	return x, state
}
