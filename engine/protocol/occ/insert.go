package occ

import (
	"errors"
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Inserts and deletes of records that do not have their rows from the start; engine/coordinator has what protocols have in common.
//
// An insert is placed in the lock phase: the row is locked and not live. Where the attempt has seen that the record is missing, the
// gap must still have the version that it saw. The commit phase writes the row back as it does
// for others, which makes it live.
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
func hasRow(a *access) bool { return a.NewRow && a.locked && !a.Tomb }

// insertNew inserts the new records at their primaries.
func (s *session) insertNew() error {
	if s.Tx.Failed() != nil {
		return s.Tx.Failed()
	}
	if parts := s.Participants(needsRow); len(parts) > 0 {
		return s.InsertNew(parts, s.p.rpc.insert, s.insertItems, s.insertLocal, s.insertReplied)
	}
	return nil
}

// insertLocal inserts the records of the own machine.
func (s *session) insertLocal(items []*access) {
	for _, a := range items {
		wire.Put64(s.word[:], s.lockWord())
		x, err := s.cfg.insertBehind(s.C, &s.gaps, a.Table, a.Key, s.word[:s.p.H.Own], a.seen())
		if s.insertDone(a, x, err); s.Tx.Failed() != nil {
			return
		}
		if s.p.MV != nil {
			s.Filled(s.p.MV.Guard(s.C, a.Table, a.Key))
			s.p.MV.Fill(s.C, a.Table, a.Key, x.Ref)
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

func (s *session) insertItems(items []*access) []byte {
	req := s.C.Request()
	for _, a := range items {
		req = wire.Add64(wire.Add64(req, a.Name()), a.seen())
	}
	return req
}

// insertReplied takes the answers of a participant.
func (s *session) insertReplied(items []*access, rep []byte) {
	for _, a := range items {
		if len(rep) < s.p.insertBack {
			return // it gave up at the one before
		}
		x, err := coordinator.GetInsert(rep)
		if err == nil {
			s.gaps.add(a.Table.Store.Gap(a.Key), x)
		}
		if s.insertDone(a, x, err); s.p.MV != nil {
			s.Filled(wire.Get64(rep[coordinator.InsertBack:]))
		}
		rep = rep[s.p.insertBack:]
	}
}

// insertDone takes what became of an insert.
func (s *session) insertDone(a *access, x store.Change, err error) {
	stamp := s.p.H.FirstStamp(x.Ref.Incarnation())
	if s.cfg.IgnoresAborts && errors.Is(err, store.ErrExists) {
		a.Loc, a.Located = a.Table.Store.Location(a.Key, x.Ref), true
		wire.Put64(a.Out, stamp)
		s.Log.SetRow(a.Entry, a.Table.Store.LogRow(a.Key, x.Ref), stamp)
		return
	}
	if a.locked = s.Inserted(&a.Access, x, stamp, err); a.locked {
		wire.Put64(a.Out, stamp)
	}
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

// serveInsert inserts records, up to the first that cannot be.
func (p *protocol) serveInsert(c *r2.Co, from r2.Peer, req, rep []byte) int {
	changed, n := &p.changed[c.Machine()][c.Thread()], 0
	*changed = (*changed)[:0]
	for ; len(req) >= insertItem; req = req[insertItem:] {
		t, key := p.Named(wire.Get64(req))
		own := rep[n : n+p.H.Own] // until the answer comes there
		clear(own)
		wire.Put64(own, record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord())
		x, err := p.Cfg.insertBehind(c, changed, t, key, own, wire.Get64(req[8:]))
		coordinator.PutInsert(rep[n:], x, err)
		if p.MV != nil {
			wire.Put64(rep[n+coordinator.InsertBack:], p.MV.Guard(c, t, key))
			if err == nil {
				p.MV.Fill(c, t, key, x.Ref)
			}
		}
		if n += p.insertBack; p.Cfg.hopeless(err != nil) {
			break
		}
	}
	return n
}

// remove takes records out of their tables: those that a committed transaction deletes, or those that an aborted
// attempt has placed.
func (s *session) remove(of func(*access) bool, deleted bool) {
	s.Remove(of, deleted, s.p.rpc.remove, s.p.takeOut)
	for _, a := range s.Set {
		if of(a) {
			a.locked = false // the row keeps the word
		}
	}
}

// takeOut takes a record of the machine out of its table.
func (p *protocol) takeOut(c *r2.Co, t *txn.Table, key uint64, at store.Ref, deleted bool) {
	if err := p.TakeOut(c, t, key, at, deleted); err != nil {
		if !p.Cfg.IgnoresAborts { // under which two may delete it
			c.Fail(fmt.Errorf("occ: %w", err))
		}
		return
	}
	t.Store.Free(c, key, at)
	if p.MV != nil {
		p.MV.Released(c, t.Store.Location(key, at).Addr)
	}
}
