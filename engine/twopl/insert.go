package twopl

import (
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Inserts, on the coordinator. Before the log, each server gives the new records that belong to it their rows, which are
// locked, with their gaps held. They are written back as others; an abort takes them out again, and then gives the gaps
// back.

func needsRow(a *access) bool { return a.NewRow && !a.hasRow && !a.tomb }

// insertNew inserts the new records at their primaries.
func (s *session) insertNew() error {
	s.parts = s.parts[:0]
	for _, a := range s.set {
		if m := int(a.Machine); needsRow(a) && !slices.Contains(s.parts, m) {
			s.parts = append(s.parts, m)
			s.touches(m)
		}
	}
	for len(s.calls) < len(s.parts) {
		s.calls = append(s.calls, nil)
	}
	for i, m := range s.parts {
		req := s.head(0)
		for _, a := range s.set {
			if needsRow(a) && int(a.Machine) == m {
				a.Table.Touch(a.Key)
				req = wire.Add64(req, uint64(a.Table.ID)<<56|a.Key)
			}
		}
		if len(req) > s.p.maxPayload {
			return s.tx.Fail(fmt.Errorf("inserts of %d bytes for machine %d, a message carries %d: split the transaction", len(req), m, s.p.maxPayload))
		}
		s.calls[i] = s.c.Call(m, s.p.rpc.insert, req)
	}
	if err := s.c.Wait(); err != nil {
		return s.tx.Fail(err)
	}
	for i, m := range s.parts {
		s.insertReplied(m, s.calls[i].B)
	}
	return s.tx.Failed()
}

// insertReplied takes the answer of a server.
func (s *session) insertReplied(m int, b []byte) {
	allowed, n := wire.Get64(b)&wasGranted != 0, uint64(0)
	was := wire.Get64(b)
	b = b[status:]
	for _, a := range s.set {
		if !needsRow(a) || int(a.Machine) != m {
			continue
		}
		switch {
		case !allowed && n == was>>1 && s.tx.Failed() == nil:
			s.conflict(a)
		case allowed && len(b) >= insertBack: // else it gave up at the one before
			word, versions := wire.Get64(b), wire.Get64(b[8:])
			b = b[insertBack:]
			s.insertDone(a, store.Change{Ref: store.Ref(word & refMask), Before: uint32(versions), After: uint32(versions >> 32)},
				statuses[min(word>>statusAt, uint64(len(statuses)-1))])
			if s.p.mv != nil {
				s.Filled(wire.Get64(b))
				b = b[guardBack:]
			}
		}
		n++
	}
}

// insertDone takes what became of an insert.
func (s *session) insertDone(a *access, x store.Change, err error) {
	switch {
	case err == nil:
		a.ref, a.held, a.hasRow = x.Ref, exclusive, true
		s.locked(exclusive)
		a.next = s.p.h.FirstStamp(x.Ref.Incarnation())
		s.log.SetRow(a.entry, a.Table.Store.LogRow(a.Key, x.Ref), a.next)
		s.tx.NoteInsert(&a.Access, x)
		a.Next = txn.ReinsertedVersion(a.Version, a.next)
	case errors.Is(err, store.ErrExists):
		if a.Blind {
			s.tx.InsertMetRecord()
		}
		s.conflict(a)
	default:
		s.tx.Fail(fmt.Errorf("insert of key %d of table %s: %w", a.Key, a.Table.Name, err))
	}
}
