package twopl

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// Inserts, on the coordinator. Before the log, each server gives the new records that belong to it their rows, which are
// locked, with their gaps held. They are written back as others; an abort takes them out again, and then gives the gaps
// back.

func needsRow(a *access) bool { return a.NewRow && !a.HasRow && !a.Tomb }

// insertNew inserts the new records at their primaries.
func (s *session) insertNew() error {
	return s.InsertNew(s.Participants(needsRow), s.p.rpc.insert, s.insertItems, nil, s.insertReplied)
}

// insertItems makes the message to a server.
func (s *session) insertItems(items []*access) []byte {
	s.touches(int(items[0].Machine))
	req := s.head(0)
	for _, a := range items {
		req = wire.Add64(req, a.Name())
	}
	return req
}

// insertReplied takes the answer of a server.
func (s *session) insertReplied(items []*access, b []byte) {
	if len(b) < coordinator.LockStatus {
		return // it is down
	}
	allowed, n := wire.Get64(b)&coordinator.LocksGranted != 0, uint64(0)
	was := wire.Get64(b)
	b = b[coordinator.LockStatus:]
	for _, a := range items {
		switch {
		case !allowed && n == was>>1 && s.Tx.Failed() == nil:
			s.Conflict(&a.Access)
		case allowed && len(b) >= coordinator.InsertBack: // else it gave up at the one before
			x, err := coordinator.GetInsert(b)
			b = b[coordinator.InsertBack:]
			s.insertDone(a, x, err)
			if s.p.MV != nil {
				s.Filled(wire.Get64(b))
				b = b[guardBack:]
			}
		}
		n++
	}
}

// insertDone takes what became of an insert.
func (s *session) insertDone(a *access, x store.Change, err error) {
	stamp := s.p.H.FirstStamp(x.Ref.Incarnation())
	if s.Inserted(&a.Access, x, stamp, err) {
		a.held = exclusive
		wire.Put64(a.Out, stamp)
		s.locked(exclusive)
	}
}
