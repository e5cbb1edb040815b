package versions

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// Which version a snapshot has read is in no message: values and stamps are. An oracle brings it from where it is read to the transaction that asked. Nothing of it takes time.

// auditVersionRead finds the transaction that asked for a record.
func (s *Store) auditVersionRead(from r2.Peer, t *txn.Table, key uint64, at store.Ref, v found) {
	list := s.machines[from.Machine].sessions[from.Thread]
	if from.Coroutine < 0 || from.Coroutine >= len(list) || list[from.Coroutine] == nil {
		return
	}
	x := list[from.Coroutine]
	if a := x.tx.Access(t.ID, key); a != nil && x.running {
		x.note(a, at, v)
	}
}

// note takes what was read.
func (x *session) note(a *txn.Access, at store.Ref, v found) {
	t := a.Table
	switch {
	case v.missing:
		a.Version = t.Audit.AbsentAtGap(a.Key, v.gap)
	case v.seq == 0:
		a.Version = t.Audit.AbsentBefore(a.Key, at)
	default:
		a.Version = t.Audit.Version(a.Key, at, v.seq)
	}
}
