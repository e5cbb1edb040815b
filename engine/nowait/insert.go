package nowait

import (
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Inserts and deletes of records that do not have their rows from the start. Only the CPU of a record's
// primary changes the table: other machines ask it by RPC, whatever the primitives of the phases
// are, one request per participant with all its records.
//
// An insert is placed before the log: it has its gap alone, gets a row that is locked, and the
// index knows it. Write-back is as for others; an abort takes the record out again, and then gives the gap
// back. A delete has the record's exclusive lock. When the transaction is committed, the record is
// taken out and its row freed.
//
// The word of a free row has the next incarnation and is held exclusively, by no transaction. So no CAS of a
// location that is stale succeeds, and RNIC atomics never contend with the CPU's stores for a word
// that is free. A row that was not used before has the word 0, and its location is unknown to all.

func needsRow(a *access) bool { return a.NewRow && !a.hasRow }
func toDelete(a *access) bool { return a.Delete && a.Out != nil }
func hasRow(a *access) bool   { return a.hasRow }

// participants lists the primaries of some of the records, each once.
func (s *session) participants(of func(*access) bool) {
	s.parts = s.parts[:0]
	for _, a := range s.set {
		if m := int(a.Machine); of(a) && !slices.Contains(s.parts, m) {
			s.parts = append(s.parts, m)
		}
	}
	for len(s.calls) < len(s.parts) {
		s.calls = append(s.calls, nil)
	}
}

// insertNew inserts the new records at their primaries.
func (s *session) insertNew() error {
	s.participants(needsRow)
	if len(s.parts) == 0 {
		return nil
	}
	if s.cfg.Lock == OneSided {
		if err := s.lockInsertGaps(); err != nil {
			return err
		}
	}
	for i, m := range s.parts {
		s.calls[i] = nil
		if m == s.c.Machine() {
			continue
		}
		req, err := s.insertItems(m)
		if err != nil {
			return s.tx.Fail(err)
		}
		s.calls[i] = s.c.Call(m, s.p.rpc.insert, req)
	}
	s.insertLocal()
	if !s.arrived() {
		return s.tx.Failed()
	}
	for i, m := range s.parts {
		if s.calls[i] != nil {
			s.insertReplied(m, s.calls[i].B)
		}
	}
	return s.tx.Failed()
}

// lockInsertGaps locks the gaps of the new records, together.
func (s *session) lockInsertGaps() error {
	for _, a := range s.set {
		if needsRow(a) {
			h := s.gapOf(a.Table.Store.Gap(a.Key))
			h.asked = h.held != exclusive
		}
	}
	for i := range s.gaps {
		if h := &s.gaps[i]; h.asked {
			l := s.c.List(h.at, true)
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
		s.c.TouchDMA(h.buf, 8)
		if !s.wonLock(h, exclusive) {
			s.gapTaken(h)
		}
	}
	return s.tx.Failed()
}

// gapTaken ends the attempt because another transaction has a lock of a gap.
func (s *session) gapTaken(h *heldLock) {
	for _, a := range s.set {
		if needsRow(a) && s.p.lockOf(a.Table.Store.Gap(a.Key)) == h.at {
			s.conflict(a)
			return
		}
	}
}

// insertLocal inserts the records of the own machine.
func (s *session) insertLocal() {
	for _, a := range s.set {
		if !needsRow(a) || !s.isLocal(a) || s.tx.Failed() != nil {
			continue
		}
		h := s.gapOf(a.Table.Store.Gap(a.Key))
		if s.cfg.Lock == TwoSided && h.held != exclusive {
			if !lockWord(s.c, h.at.Addr, h.held, exclusive) {
				s.conflict(a)
				return
			}
			h.held = exclusive
		}
		x, err := s.p.insert(s.c, a.Table, a.Key, s.word[:])
		s.insertDone(a, x, err)
	}
}

// insert gives a record a row, whose lock is the inserter's.
func (p *protocol) insert(c *r2.Co, t *txn.Table, key uint64, own []byte) (store.Change, error) {
	wire.Put64(own, exclusiveBit)
	return t.Store.Insert(c, key, own, store.AnyVersion)
}

// insertItems builds the request of the inserts at a participant. Two-sided, it locks their gaps too.
func (s *session) insertItems(m int) ([]byte, error) {
	req := s.c.Request()
	for _, a := range s.set {
		if !needsRow(a) || int(a.Machine) != m {
			continue
		}
		h := s.gapOf(a.Table.Store.Gap(a.Key))
		has := h.held
		if h.asked {
			has = exclusive // by an item before
		}
		h.asked = true
		req = wire.Add64(wire.Add64(req, uint64(a.Table.ID)<<56|a.Key), uint64(has))
	}
	for i := range s.gaps {
		s.gaps[i].asked = false
	}
	if len(req) > s.p.maxPayload {
		return nil, fmt.Errorf("inserts of %d bytes for machine %d, a message carries %d: split the transaction", len(req), m, s.p.maxPayload)
	}
	return req, nil
}

// insertReplied takes the answers of a participant.
func (s *session) insertReplied(m int, rep []byte) {
	for _, a := range s.set {
		if !needsRow(a) || int(a.Machine) != m {
			continue
		}
		if len(rep) < insertBack {
			return // it gave up at the one before
		}
		word, versions := wire.Get64(rep), wire.Get64(rep[8:])
		rep = rep[insertBack:]
		err := statuses[min(word>>statusAt, uint64(len(statuses)-1))]
		if s.cfg.Lock == TwoSided && err != errGapTaken {
			s.gapOf(a.Table.Store.Gap(a.Key)).held = exclusive
		}
		s.insertDone(a, store.Change{Ref: store.Ref(word & (1<<statusAt - 1)), Before: uint32(versions), After: uint32(versions >> 32)}, err)
	}
}

// insertDone takes what became of an insert.
func (s *session) insertDone(a *access, x store.Change, err error) {
	switch {
	case err == nil:
		s.locate(a, a.Table.Store.Location(a.Key, x.Ref))
		a.held, a.hasRow = exclusive, true
		a.Table.Touch(a.Key)
		s.log.SetRow(a.entry, a.Table.Store.LogRow(a.Key, x.Ref), versionOf(x.Ref, uint64(s.c.Now()/r2.Nanosecond)))
		s.tx.NoteInsert(&a.Access, x)
	case errors.Is(err, store.ErrExists):
		if a.Blind {
			s.tx.InsertMetRecord()
		}
		s.conflict(a)
	case errors.Is(err, errGapTaken):
		s.conflict(a)
	default:
		s.tx.Fail(fmt.Errorf("insert of key %d of table %s: %w", a.Key, a.Table.Name, err))
	}
}

var errGapTaken = errors.New("the gap is locked")

// statuses are what an answer can say of an insert; the place of an error is its code.
var statuses = [...]error{nil, store.ErrExists, errGapTaken, store.ErrFull, store.ErrFixed, store.ErrBusy}

func statusOf(err error) uint64 {
	for i, x := range statuses {
		if err == x {
			return uint64(i)
		}
	}
	return uint64(len(statuses) - 1)
}

// serveInsert inserts records, up to the first that cannot be.
func (p *protocol) serveInsert(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	n := 0
	for ; len(req) >= insertItem; req = req[insertItem:] {
		item, has := wire.Get64(req), lock(wire.Get64(req[8:]))
		t, key := p.db.TableOf(uint8(item>>56)), item&keyMask
		x, err := store.Change{}, error(nil)
		if p.cfg.Lock == TwoSided && has != exclusive && !lockWord(c, p.lockOf(t.Store.Gap(key)).Addr, has, exclusive) {
			err = errGapTaken
		} else {
			x, err = p.insert(c, t, key, rep[n:n+8]) // until the answer comes there
		}
		wire.Put64(rep[n:], uint64(x.Ref)|statusOf(err)<<statusAt)
		wire.Put64(rep[n+8:], uint64(x.Before)|uint64(x.After)<<32)
		if n += insertBack; err != nil {
			break
		}
	}
	return n
}

// removeInserted takes out again what an attempt has placed that aborts, and waits for it: its gaps are
// released then.
func (s *session) removeInserted() {
	s.participants(hasRow)
	if len(s.parts) == 0 {
		return
	}
	mode := s.cfg.mode(txn.Commit, s.cfg.Commit)
	mode.Passive = false
	s.tx.Enter(txn.Commit, mode)
	s.remove(hasRow, false)
	if err := s.c.Wait(); err != nil {
		s.p.cl.Fail(fmt.Errorf("nowait: inserts cannot be taken back: %w", err))
	}
}

// remove takes records out of their tables: those that a committed transaction deletes, or those that an
// aborted attempt has placed. Their rows keep the lock.
func (s *session) remove(of func(*access) bool, deleted bool) {
	s.participants(of)
	flag := uint64(0)
	if deleted {
		flag = deletedBit
	}
	for _, m := range s.parts {
		for next := 0; m != s.c.Machine() && next < len(s.set); {
			req := s.c.Request()
			for ; next < len(s.set) && len(req)+removeItem <= s.p.maxPayload; next++ {
				if a := s.set[next]; of(a) && int(a.Machine) == m {
					req = wire.Add64(wire.Add64(req, uint64(a.Table.ID)<<56|a.Key), uint64(a.loc.Ref)|flag)
				}
			}
			if len(req) > 0 {
				s.send(m, s.p.rpc.remove, req)
			}
		}
	}
	for _, a := range s.set {
		if !of(a) {
			continue
		}
		if a.held = none; s.isLocal(a) {
			s.p.removeLocal(s.c, a.Table, a.Key, a.loc.Ref, deleted)
		}
		a.hasRow = false
	}
}

// removeLocal takes a record of the machine out of its table.
func (p *protocol) removeLocal(c *r2.Co, t *txn.Table, key uint64, at store.Ref, deleted bool) {
	x, err := t.Store.Remove(c, key, at)
	if err != nil {
		p.cl.Fail(fmt.Errorf("nowait: key %d of table %s cannot be taken out: %w", key, t.Name, err))
		return
	}
	if deleted {
		t.NoteDeletion(key, x)
	}
	t.Store.Free(c, key, at)
}

// serveRemove takes records out of their tables.
func (p *protocol) serveRemove(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	for ; len(req) >= removeItem; req = req[removeItem:] {
		item, word := wire.Get64(req), wire.Get64(req[8:])
		p.removeLocal(c, p.db.TableOf(uint8(item>>56)), item&keyMask, store.Ref(word&^deletedBit), word&deletedBit != 0)
	}
	p.commitsOpen--
	rep[0] = replyYes
	return 1
}
