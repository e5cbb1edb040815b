package nowait

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Inserts and deletes of records that do not have their rows from the start; engine/coordinator has what protocols have in common.
//
// An insert is placed before the log: it has its gap alone, gets a row that is locked, and the
// index knows it. An abort takes the record out again, and then gives the gap
// back.
//
// The word of a free row has the next incarnation and is held exclusively, by no transaction. So no CAS of a
// location that is stale succeeds, and RNIC atomics never contend with the CPU's stores for a word
// that is free. A row that was not used before has the word 0, and its location is unknown to all.

func needsRow(a *access) bool { return a.NewRow && !a.HasRow }
func toDelete(a *access) bool { return a.Delete && a.Out != nil }
func hasRow(a *access) bool   { return a.HasRow }

// insertNew inserts the new records at their primaries.
func (s *session) insertNew() error {
	parts := s.Participants(needsRow)
	if len(parts) == 0 {
		return nil
	}
	if s.cfg.Lock == OneSided {
		if err := s.lockInsertGaps(); err != nil {
			return err
		}
	}
	return s.InsertNew(parts, s.p.rpc.insert, s.insertItems, s.insertLocal, s.insertReplied)
}

// lockInsertGaps locks the gaps of the new records, together.
func (s *session) lockInsertGaps() error {
	for _, a := range s.Set {
		if needsRow(a) {
			h := s.gapOf(a.Table.Store.Gap(a.Key))
			h.asked = h.held != exclusive
		}
	}
	for i := range s.gaps {
		if h := &s.gaps[i]; h.asked {
			l := s.C.List(h.at, true)
			s.addLock(l, h, exclusive, s.expectOf(h))
			l.Post()
		}
	}
	ok := s.arrived()
	for i := range s.gaps {
		h := &s.gaps[i]
		if !h.asked || !ok {
			continue
		}
		h.asked = false
		s.C.TouchDMA(h.buf, 8)
		if !s.wonLock(h, exclusive) {
			s.gapTaken(h)
		}
	}
	return s.Tx.Failed()
}

// gapTaken ends the attempt because another transaction has a lock of a gap.
func (s *session) gapTaken(h *heldLock) {
	for _, a := range s.Set {
		if needsRow(a) && s.p.gaps.Of(a.Table.Store.Gap(a.Key)) == h.at {
			s.Conflict(&a.Access)
			return
		}
	}
}

// insertLocal inserts the records of the own machine.
func (s *session) insertLocal(items []*access) {
	for _, a := range items {
		if s.Tx.Failed() != nil {
			return
		}
		h := s.gapOf(a.Table.Store.Gap(a.Key))
		if s.cfg.Lock == TwoSided && h.held != exclusive {
			if !lockWord(s.C, h.at.Addr, h.held, exclusive) {
				s.Conflict(&a.Access)
				return
			}
			h.held = exclusive
		}
		x, err := s.p.insert(s.C, a.Table, a.Key, s.word[:])
		s.insertDone(a, x, err)
	}
}

// insert gives a record a row, whose lock is the inserter's.
func (p *protocol) insert(c *r2.Co, t *txn.Table, key uint64, own []byte) (store.Change, error) {
	wire.Put64(own, exclusiveBit)
	return t.Store.Insert(c, key, own, store.AnyVersion)
}

// insertItems builds the request of the inserts at a participant. Two-sided, it locks their gaps too.
func (s *session) insertItems(items []*access) []byte {
	req := s.C.Request()
	for _, a := range items {
		h := s.gapOf(a.Table.Store.Gap(a.Key))
		has := h.held
		if h.asked {
			has = exclusive // by an item before
		}
		h.asked = true
		req = wire.Add64(wire.Add64(req, a.Name()), uint64(has))
	}
	for i := range s.gaps {
		s.gaps[i].asked = false
	}
	return req
}

// insertReplied takes the answers of a participant.
func (s *session) insertReplied(items []*access, rep []byte) {
	for _, a := range items {
		if len(rep) < coordinator.InsertBack {
			return // it gave up at the one before
		}
		x, err := coordinator.GetInsert(rep)
		rep = rep[coordinator.InsertBack:]
		if s.cfg.Lock == TwoSided && err != coordinator.ErrGapTaken {
			s.gapOf(a.Table.Store.Gap(a.Key)).held = exclusive
		}
		s.insertDone(a, x, err)
	}
}

// insertDone takes what became of an insert.
func (s *session) insertDone(a *access, x store.Change, err error) {
	if s.Inserted(&a.Access, x, versionOf(x.Ref, uint64(s.C.Now()/r2.Nanosecond)), err) {
		s.locate(a, a.Loc)
		a.held = exclusive
		a.Table.Audit.Touch(s.C.Machine(), a.Key)
	}
}

// serveInsert inserts records, up to the first that cannot be.
func (p *protocol) serveInsert(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	n := 0
	for ; len(req) >= insertItem; req = req[insertItem:] {
		t, key := p.Named(wire.Get64(req))
		has := lock(wire.Get64(req[8:]))
		x, err := store.Change{}, error(nil)
		if p.Cfg.Lock == TwoSided && has != exclusive && !lockWord(c, p.gaps.Of(t.Store.Gap(key)).Addr, has, exclusive) {
			err = coordinator.ErrGapTaken
		} else {
			x, err = p.insert(c, t, key, rep[n:n+8]) // until the answer comes there
		}
		coordinator.PutInsert(rep[n:], x, err)
		if n += coordinator.InsertBack; err != nil {
			break
		}
	}
	return n
}

// removeInserted takes out again what an attempt has placed that aborts, and waits for it: its gaps are
// released then.
func (s *session) removeInserted() {
	if s.Count(hasRow) == 0 {
		return
	}
	mode := s.cfg.Posts(txn.Commit, s.cfg.Commit)
	mode.Passive = false
	s.Tx.Enter(txn.Commit, mode)
	s.remove(hasRow, false)
	if err := s.C.Wait(); err != nil {
		s.C.Fail(fmt.Errorf("nowait: inserts cannot be taken back: %w", err))
	}
}

// remove takes records out of their tables: those that a committed transaction deletes, or those that an
// aborted attempt has placed. Their rows keep the lock.
func (s *session) remove(of func(*access) bool, deleted bool) {
	s.Remove(of, deleted, s.p.rpc.remove, s.p.takeOut)
	for _, a := range s.Set {
		if of(a) {
			a.held, a.HasRow = none, false
		}
	}
}

// takeOut takes a record of the machine out of its table.
func (p *protocol) takeOut(c *r2.Co, t *txn.Table, key uint64, at store.Ref, deleted bool) {
	if err := p.TakeOut(c, t, key, at, deleted); err != nil {
		c.Fail(fmt.Errorf("nowait: %w", err))
		return
	}
	t.Store.Free(c, key, at)
}
