package occ

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Inserts and deletes of records that do not have their rows from the start. Only the CPU
// of a record's primary changes the table: whatever the primitives of the phases are,
// other machines ask it by RPC, one request per participant with all its records.
//
// An insert is placed in the lock phase: the record gets a row, locked and not live, and
// the table's index knows it. Where the attempt has seen that the record is missing, the
// gap must still have the version that it saw. The commit phase writes the row back as it does
// for others, which makes it live; an abort takes the record out again.
//
// A delete locks and checks the record like an update. When the transaction is committed,
// the record is taken out and its row freed.
//
// The lock word of a free row is not 0 but that of the transaction that freed it, and an insert replaces
// it by its own. So a CAS of a transaction that remembers the location fails until the new
// record is live, and the RNIC's atomics never contend with the CPU's stores for a lock that is free. A
// row that was not used before has lock word 0, and its location is unknown to all.

// gaps are the gaps that an attempt, or a request, has changed by its inserts, one after the other.
type gaps []gapChange

type gapChange struct {
	machine       int
	at            r2.Addr
	before, after uint32
}

// expect is the version that a gap has which had another one before the changes. If another transaction
// changed it too, it has yet another.
func (g gaps) expect(at r2.Loc, seen uint32) uint32 {
	for i := range g {
		if x := &g[i]; x.at == at.Addr && x.machine == at.Machine && x.before == seen {
			seen = x.after
		}
	}
	return seen
}

func (g *gaps) add(at r2.Loc, x store.Change) {
	*g = append(*g, gapChange{at.Machine, at.Addr, x.Before, x.After})
}

// hasRow says that the attempt has given the record a row.
func hasRow(a *access) bool { return a.NewRow && a.locked && !a.tomb }

// insertNew inserts the new records at their primaries.
func (s *session) insertNew() error {
	if s.count(needsRow) == 0 || s.tx.Failed() != nil {
		return s.tx.Failed()
	}
	s.participants(needsRow)
	calls := s.calls[:len(s.parts)]
	for i, m := range s.parts {
		calls[i] = nil
		if m != s.c.Machine() {
			calls[i] = s.c.Call(m, s.p.rpc.insert, s.insertItems(m))
		}
	}
	s.insertLocal()
	err := s.c.Wait()
	for i, m := range s.parts {
		if calls[i] != nil { // also if another one is down: what was placed has to be taken out
			s.insertReplied(m, calls[i].B)
		}
	}
	if err != nil {
		s.tx.Fail(err)
	}
	return s.tx.Failed()
}

// insertLocal inserts the records of the own machine.
func (s *session) insertLocal() {
	for _, a := range s.set {
		if !needsRow(a) || int(a.Machine) != s.c.Machine() {
			continue
		}
		wire.Put64(s.word[:], s.lockWord())
		x, err := s.cfg.insertBehind(s.c, &s.gaps, a.Table, a.Key, s.word[:s.p.h.Own], a.seen())
		if s.insertDone(a, x, err); s.tx.Failed() != nil {
			return
		}
		if s.p.mv != nil {
			s.Filled(s.p.mv.Guard(s.c, a.Table, a.Key))
			s.p.mv.Fill(s.c, a.Table, a.Key, x.Ref)
		}
		a.ownMachine = a.locked
	}
}

// seen is the version of the gap that an insert needs.
func (a *access) seen() uint64 {
	if a.Blind {
		return store.AnyVersion
	}
	return uint64(a.gap)
}

func (s *session) insertItems(m int) []byte {
	req := s.c.Request()
	for _, a := range s.set {
		if needsRow(a) && int(a.Machine) == m {
			req = wire.Add64(wire.Add64(req, uint64(a.Table.ID)<<56|a.Key&txn.MaxKey), a.seen())
		}
	}
	return req
}

// insertReplied takes the answers of a participant.
func (s *session) insertReplied(m int, rep []byte) {
	for _, a := range s.set {
		if !needsRow(a) || int(a.Machine) != m {
			continue
		}
		if len(rep) < s.p.insertBack {
			return // it gave up at the one before
		}
		word, versions := wire.Get64(rep), wire.Get64(rep[8:])
		x := store.Change{Ref: store.Ref(word & (1<<statusAt - 1)), Before: uint32(versions), After: uint32(versions >> 32)}
		err := statuses[min(word>>statusAt, uint64(len(statuses)-1))]
		if err == nil {
			s.gaps.add(a.Table.Store.Gap(a.Key), x)
		}
		if s.insertDone(a, x, err); s.p.mv != nil {
			s.Filled(wire.Get64(rep[insertBack:]))
		}
		rep = rep[s.p.insertBack:]
	}
}

// insertDone takes what became of an insert.
func (s *session) insertDone(a *access, x store.Change, err error) {
	switch {
	case err == nil:
		a.locked = true
		s.setRow(a, x.Ref)
		s.tx.NoteInsert(&a.Access, x)
		a.Next = txn.ReinsertedVersion(a.Version, wire.Get64(a.Out))
	case errors.Is(err, store.ErrExists):
		if s.cfg.IgnoresAborts {
			s.setRow(a, x.Ref)
		} else {
			s.clash(a)
		}
	case errors.Is(err, store.ErrChanged):
		s.tx.Met(&a.Access, 0)
		s.tx.Fail(txn.ErrAborted)
	default:
		s.tx.Fail(fmt.Errorf("insert of key %d of table %s: %w", a.Key, a.Table.Name, err))
	}
}

// setRow notes the row of an insert.
func (s *session) setRow(a *access, at store.Ref) {
	a.loc, a.located = a.Table.Store.Location(a.Key, at), true
	wire.Put64(a.Out, s.p.h.FirstStamp(at.Incarnation()))
	s.log.SetRow(a.entry, a.Table.Store.LogRow(a.Key, at), wire.Get64(a.Out))
}

// clash ends an attempt whose record exists, or is being inserted by another one.
func (s *session) clash(a *access) {
	if a.Blind {
		s.tx.InsertMetRecord()
	}
	s.tx.Met(&a.Access, 0)
	s.tx.Fail(txn.ErrAborted)
}

// insertBehind is the store's Insert for an attempt that has inserted others before.
func (c *Config) insertBehind(co *r2.Co, before *gaps, t *txn.Table, key uint64, own []byte, seen uint64) (store.Change, error) {
	gap := t.Store.Gap(key)
	switch {
	case c.IgnoresAborts:
		seen = store.AnyVersion
	case seen != store.AnyVersion:
		seen = uint64(before.expect(gap, uint32(seen)))
	}
	x, err := t.Store.Insert(co, key, own, seen)
	if err == nil {
		before.add(gap, x)
	}
	return x, err
}

// statuses are what an answer can say of an insert; the place of an error is its code.
var statuses = [...]error{nil, store.ErrExists, store.ErrChanged, store.ErrFull, store.ErrFixed, store.ErrBusy}

func statusOf(err error) uint64 {
	for i, x := range statuses {
		if err == x {
			return uint64(i)
		}
	}
	return uint64(len(statuses) - 1)
}

// serveInsert inserts records, up to the first that cannot be.
func (p *protocol) serveInsert(c *r2.Co, from r2.Peer, req, rep []byte) int {
	changed, n := &p.changed[c.Machine()][c.Thread()], 0
	*changed = (*changed)[:0]
	for ; len(req) >= insertItem; req = req[insertItem:] {
		item := wire.Get64(req)
		t, key := p.db.TableOf(uint8(item>>56)), item&txn.MaxKey
		own := rep[n : n+p.h.Own] // until the answer comes there
		clear(own)
		wire.Put64(own, record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord())
		x, err := p.cfg.insertBehind(c, changed, t, key, own, wire.Get64(req[8:]))
		wire.Put64(rep[n:], uint64(x.Ref)|statusOf(err)<<statusAt)
		wire.Put64(rep[n+8:], uint64(x.Before)|uint64(x.After)<<32)
		if p.mv != nil {
			wire.Put64(rep[n+insertBack:], p.mv.Guard(c, t, key))
			if err == nil {
				p.mv.Fill(c, t, key, x.Ref)
			}
		}
		if n += p.insertBack; p.cfg.hopeless(err != nil) {
			break
		}
	}
	return n
}

// remove takes records out of their tables: those that a committed transaction deletes, or those that an aborted
// attempt has placed.
func (s *session) remove(of func(*access) bool, deleted bool) {
	if s.count(of) == 0 {
		return
	}
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
					req = wire.Add64(wire.Add64(req, uint64(a.Table.ID)<<56|a.Key&txn.MaxKey), uint64(a.loc.Ref)|flag)
				}
			}
			if len(req) > 0 {
				s.p.sendCommit(s.c, m, s.p.rpc.remove, req)
			}
		}
	}
	for _, a := range s.set {
		if of(a) {
			a.locked = false // the row keeps the word
			if int(a.Machine) == s.c.Machine() {
				s.p.removeLocal(s.c, a.Table, a.Key, a.loc.Ref, deleted)
			}
		}
	}
}

// removeLocal takes a record of the own machine out of its table.
func (p *protocol) removeLocal(c *r2.Co, t *txn.Table, key uint64, at store.Ref, deleted bool) {
	x, err := t.Store.Remove(c, key, at)
	if err != nil {
		if !p.cfg.IgnoresAborts { // under which two may delete it
			p.cl.Fail(fmt.Errorf("occ: key %d of table %s cannot be taken out: %w", key, t.Name, err))
		}
		return
	}
	if deleted {
		t.NoteDeletion(key, x)
	}
	t.Store.Free(c, key, at)
	if p.mv != nil {
		p.mv.Released(c, t.Store.Location(key, at).Addr)
	}
}

// serveRemove takes records out of their tables.
func (p *protocol) serveRemove(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	for ; len(req) >= removeItem; req = req[removeItem:] {
		item, word := wire.Get64(req), wire.Get64(req[8:])
		p.removeLocal(c, p.db.TableOf(uint8(item>>56)), item&txn.MaxKey, store.Ref(word&^deletedBit), word&deletedBit != 0)
	}
	p.commitsOpen--
	rep[0] = replyYes
	return 1
}
