package rococo

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	records "drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Read-only transactions read in rounds, until two of them have read the same. A server answers when those have been
// executed that had started on the records before. So what a round has seen of a transaction anywhere, the next one, which
// begins later, waits for everywhere; and if it sees nothing new, the first one saw all of it.
//
// A body is the first round. The second reads its records again, all at once, without their values. If it differs, the
// attempt is aborted; the body's next run is a round again, which may equal the one before.

// stamped is a record as a round has read it.
type stamped struct {
	table uint8
	key   uint64
	seen
}

// seen is what rounds compare: where the record was and what stamp it had. If it was missing it has none, and ref is the version of
// its gap: it may have come and gone.
type seen struct{ ref, stamp uint64 }

// Fetch reads records from index first on: one message to each server, more if the answers do not fit into one. Those of
// read-write transactions are constant, or the body runs on their server.
func (s *session) Fetch(first int, _ bool) error {
	if s.whole.on != nil {
		return s.fetchLocal(first)
	}
	for _, a := range s.Set[first:] {
		if !a.Arrived() && !a.Table.Constant && !s.Tx.ReadOnly() {
			return s.Tx.Fail(fmt.Errorf("read of key %d of table %s outside of a piece: under this protocol a read-write transaction says what it does by Tx.Apply or Tx.Whole", a.Key, a.Table.Name))
		}
	}
	s.Tx.Enter(s.Tx.ExecutionPhase(), r2.Mode{Outstanding: true, Doorbell: true})
	s.calls = s.calls[:0]
	for i := first; i < len(s.Set); i++ {
		if s.Set[i].State == txn.Wanted {
			if err := s.ask(i); err != nil {
				return s.Tx.Fail(err)
			}
		}
	}
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	for n, x := range s.calls {
		b := x.rep.B
		for _, a := range s.Set[first:] {
			if a.State == txn.Asked && a.rep == n {
				b = s.got(a, b)
			}
		}
	}
	return nil
}

// ask asks a server for the records from an index on that are on one machine.
func (s *session) ask(from int) error {
	m, n, last := s.Set[from].Machine, len(s.calls), from
	req, answer := wire.Add64(s.C.Request(), 0), 0
	for i := from; i < len(s.Set); i++ {
		a := s.Set[i]
		if a.State != txn.Wanted || a.Machine != m {
			continue
		}
		bytes := 2*word + wire.Padded(a.Table.ValueBytes())
		if len(req)+word > s.p.Cl.MaxPayload() || answer+bytes > s.p.Cl.MaxReply() {
			break
		}
		req = wire.Add64(req, a.Name())
		answer += bytes
		last = i
	}
	if answer == 0 {
		return fmt.Errorf("a record of table %s does not fit into a reply", s.Set[from].Table.Name)
	}
	s.calls = append(s.calls, call{server: int(m), rep: s.C.Call(int(m), s.p.rpc.read, req)})
	for _, a := range s.Set[from : last+1] {
		if a.State == txn.Wanted && a.Machine == m {
			a.State, a.rep = txn.Asked, n
			s.C.Compute(s.p.cost.read)
		}
	}
	return nil
}

// got takes a record out of a reply, and returns what follows.
func (s *session) got(a *access, b []byte) []byte {
	head := uint64(0)
	head, a.seen, b = headOf(b)
	switch {
	case head&tombBit != 0:
		s.Tx.LacksAt(&a.Access.Access, a.Table.Audit.Version(s.C.Machine(), a.Key, store.Ref(a.ref), a.stamp))
		return b
	case head&foundBit == 0:
		s.Tx.Lacks(&a.Access.Access, uint32(head))
		return b
	}
	s.Tx.Got(&a.Access.Access, b[:a.Table.ValueBytes()], a.Table.Audit.Version(s.C.Machine(), a.Key, store.Ref(a.ref), a.stamp))
	return b[wire.Padded(a.Table.ValueBytes()):]
}

// headOf is what a reply says of a record, and what follows.
func headOf(b []byte) (head uint64, x seen, rest []byte) {
	head, rest = wire.Get64(b), b[word:]
	x.ref = head &^ (foundBit | tombBit)
	if head&(foundBit|tombBit) != 0 {
		x.stamp, rest = wire.Get64(rest), rest[word:]
	}
	return head, x, rest
}

// finishRounds ends a read-only transaction: nothing has changed between two rounds, or it is aborted.
func (s *session) finishRounds() error {
	err := error(nil)
	if !s.single() && !s.sameAsLast() {
		err = s.readAgain()
	}
	s.Tx.Decided(err)
	if err == nil {
		s.Tx.Done()
	}
	return err
}

// single says that it has read one record at most: that is one moment.
func (s *session) single() bool {
	n := 0
	for _, a := range s.Set {
		if !a.Table.Constant {
			n++
		}
	}
	return n < 2
}

// sameAsLast says that the last round of the attempt before has read the same.
func (s *session) sameAsLast() bool {
	for _, a := range s.Set {
		if !a.Table.Constant && !slices.Contains(s.last, stamped{a.Table.ID, a.Key, a.seen}) {
			return false
		}
	}
	return len(s.last) > 0
}

// readAgain is a round over the records of the body.
func (s *session) readAgain() error {
	s.Tx.Enter(txn.RORead, r2.Mode{Outstanding: true, Doorbell: true})
	s.calls, s.last = s.calls[:0], s.last[:0]
	for i, a := range s.Set {
		if m := a.Machine; !a.Table.Constant && !slices.ContainsFunc(s.Set[:i], func(b *access) bool { return b.Machine == m && !b.Table.Constant }) {
			s.askStamps(int(m))
		}
	}
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	same := true
	for n, x := range s.calls {
		b := x.rep.B
		for _, a := range s.Set {
			if a.Table.Constant || a.rep != n {
				continue
			}
			var now seen
			_, now, b = headOf(b)
			s.last = append(s.last, stamped{a.Table.ID, a.Key, now})
			if same && now != a.seen {
				same = false
				s.Tx.Met(&a.Access.Access, 0)
			}
		}
	}
	if !same {
		return s.Tx.Fail(txn.ErrAborted)
	}
	return nil
}

// askStamps asks a server for the stamps of the records that it has.
func (s *session) askStamps(m int) {
	most := min(s.p.Cl.MaxPayload()-word, s.p.Cl.MaxReply()/2) // an answer has two words for each of a request
	for next := 0; next < len(s.Set); {
		req := wire.Add64(s.C.Request(), stampsOnly)
		for ; next < len(s.Set) && len(req) <= most; next++ {
			if a := s.Set[next]; int(a.Machine) == m && !a.Table.Constant {
				req = wire.Add64(req, a.Name())
				a.rep = len(s.calls)
			}
		}
		if len(req) > word {
			s.calls = append(s.calls, call{server: m, rep: s.C.Call(m, s.p.rpc.read, req)})
		}
	}
}

// serveRead reads records when those have been executed that had started to write them.
func (s *server) serveRead(c *r2.Co, req, rep []byte) int {
	c.Compute(s.p.cost.request)
	flags, items := wire.Get64(req), req[word:]
	s.awaitWriters(c, items)
	n := 0
	for ; len(items) >= word; items = items[word:] {
		c.Compute(s.p.cost.node)
		t, key := s.p.Named(wire.Get64(items))
		var value []byte
		if flags&stampsOnly == 0 {
			value = rep[n+2*word : n+2*word+t.ValueBytes()]
		}
		head, stamp := s.read(c, t, key, value)
		wire.Put64(rep[n:], head)
		if n += word; head&(foundBit|tombBit) != 0 {
			wire.Put64(rep[n:], stamp)
			n += word
		}
		if head&foundBit != 0 {
			n += wire.Padded(len(value))
		}
	}
	return n
}

// awaitWriters waits for the transactions that have started to write records by now. It returns how many of the records have such
// a transaction, and how long these took together.
func (s *server) awaitWriters(c *r2.Co, items []byte) (blocked int, waited r2.Time) {
	list := s.list()
	var numbers []txnID
	for ; len(items) >= word; items = items[word:] {
		t, key := s.p.Named(wire.Get64(items))
		s.touchRecord(c, t.ID, key)
		if n := s.claimed.look(t, key).against(false); n != nil {
			list, numbers = append(list, n), append(numbers, n.id)
		}
	}
	from := c.Now() // measured: how long it waits
	for i, n := range list {
		for n.id == numbers[i] && n.status != executed {
			s.await(c, n)
		}
		waited += c.Now() - from // measured: how long it has waited
	}
	s.lists = append(s.lists, list)
	return len(list), waited
}

// read copies a value, and returns what a reply says of its record.
func (s *server) read(c *r2.Co, t *txn.Table, key uint64, value []byte) (head, stamp uint64) {
	loc, ok, err := t.Store.LookupLocal(c, key)
	if err != nil {
		c.Fail(fmt.Errorf("rococo: read of key %d of table %s: %w", key, t.Name, err))
	}
	head = uint64(uint32(loc.Ref)) // of a gap, its version
	if ok {
		row, h := c.Load(loc.Addr, t.RowBytes), s.p.H
		switch stamp = h.StampOf(row); {
		case !records.Live(stamp) || loc.Stale(stamp): // it is being inserted, or has been taken out just now
			head = uint64(uint32(c.Load64(t.Store.Gap(key).Addr)))
		case h.Tomb(stamp):
			head = uint64(loc.Ref) | tombBit
		default:
			copy(value, h.Value(row))
			head = uint64(loc.Ref) | foundBit
		}
	}
	return head, stamp
}
