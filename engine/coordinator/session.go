package coordinator

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
	"drtmx/engine/wire"
)

// Session is what the sessions of coroutines have in common; they embed it.
type Session[A any, P Member[A]] struct {
	Records[A, P]
	Tx       *txn.Tx
	C        *r2.Co
	Log      replication.Writer
	LockedAt r2.Time // when the attempt had its first lock; 0: it has none

	on *Protocol
}

// OpenSession is that of a coroutine's transactions.
func OpenSession[A any, P Member[A]](p *Protocol, tx *txn.Tx) Session[A, P] {
	return Session[A, P]{Tx: tx, C: tx.Co(), Log: p.Log.Writer(tx.Co()), on: p}
}

// Reset forgets the attempt before.
func (s *Session[A, P]) Reset(how replication.Reclaiming) {
	s.Forget()
	s.LockedAt = 0
	s.Log.Begin(how)
}

// IsOwn says that a machine is the coroutine's.
func (s *Session[A, P]) IsOwn(machine int) bool { return machine == s.C.Machine() }

// Conflict ends the attempt because of another transaction that has a record, or wants it.
func (s *Session[A, P]) Conflict(a *Access) error {
	s.Tx.Met(&a.Access, 0)
	return s.Tx.Fail(txn.ErrAborted)
}

// Aborts is Conflict over something that is no record.
func (s *Session[A, P]) Aborts() error { return s.Tx.Fail(txn.ErrAborted) }

// SendLog is the logging phase (§4.3.4): the transaction is committed when all backups have the entry.
func (s *Session[A, P]) SendLog(mode r2.Mode, byRPC bool) error {
	if !s.Log.Needed() {
		return nil
	}
	s.Tx.Enter(replication.Logging, mode)
	s.C.Compute(s.on.Program.Logging + s.on.Program.LoggingRecord*s.Tx.Writes())
	if err := s.Log.Append(byRPC); err != nil {
		return s.Tx.Fail(err)
	}
	return nil
}

// PlanUpdates gives what is written its next stamps, and makes the log entry. had is the stamp that the row of a record had.
func (s *Session[A, P]) PlanUpdates(had func(P) uint64, byRPC bool) error {
	for _, p := range s.Set {
		if a := p.Common(); a.Out != nil {
			next := a.NextStamp(had(p), s.on.H.HasVersions())
			wire.Put64(a.Out, next)
			a.Table.Audit.Touch(s.C.Machine(), a.Key)
			a.Entry = s.Log.Add(int(a.Machine), a.Update(next))
		}
	}
	return s.Tx.Fail(s.Log.Plan(byRPC))
}

// End ends an attempt. err is why it cannot commit: then abort undoes what it has done, and err is the result. Else the transaction is
// committed, and writeBack writes what it has written where others see it; if that is passive the client goes on meanwhile.
func (s *Session[A, P]) End(err error, passive bool, writeBack func() error, abort func()) error {
	s.Tx.Hold(s.LockedAt)
	if s.Tx.Decided(err); err != nil {
		abort()
		return err
	}
	if err = s.beforeWriteBack(passive); err == nil {
		err = writeBack()
	}
	s.afterWriteBack(passive, err)
	return nil
}

// beforeWriteBack comes between the decision to commit and the write-back: if that is passive the client goes on, and if reclaims are
// awaited the transaction waits for them.
func (s *Session[A, P]) beforeWriteBack(passive bool) error {
	err := s.Log.Decide(true)
	if passive {
		s.Tx.Done()
	}
	if err == nil && s.Log.Awaited() {
		s.Tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true})
		err = s.Log.Reclaim()
	}
	return err
}

// afterWriteBack ends a transaction that has committed: its entries of indexes go, and the backups are told to apply the log entry.
func (s *Session[A, P]) afterWriteBack(passive bool, err error) {
	if err != nil {
		// A committed transaction cannot be written back: a machine is gone, and
		// there is no recovery yet.
		s.C.Fail(fmt.Errorf("write-back: %w", err))
	}
	s.Tx.DropEntries()
	if !passive {
		s.Tx.Done()
	}
	if !s.Log.Needed() || s.Log.Awaited() {
		return
	}
	s.Tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true, Passive: true})
	if err := s.Log.Reclaim(); err != nil {
		s.C.Fail(fmt.Errorf("reclaim: %w", err))
	}
}

// InsertNew has the machines of new records give them their rows, and takes the answers. request makes the message to another machine. local
// is for those of the own one; nil: it is sent a message as others are.
func (s *Session[A, P]) InsertNew(parts []Part[P], rpc uint8, request func(items []P) []byte, local func(items []P), replied func(items []P, rep []byte)) error {
	for i := range parts {
		p := &parts[i]
		if local != nil && s.IsOwn(p.Machine) {
			continue
		}
		req := request(p.Items)
		if len(req) > s.on.MaxPayload {
			s.Tx.Fail(fmt.Errorf("inserts of %d bytes for machine %d, a message carries %d: split the transaction", len(req), p.Machine, s.on.MaxPayload))
			break
		}
		p.Rep = s.C.Call(p.Machine, rpc, req)
	}
	for _, p := range parts {
		if local != nil && s.IsOwn(p.Machine) && s.Tx.Failed() == nil {
			local(p.Items)
		}
	}
	err := s.C.Wait()
	for _, p := range parts {
		if p.Rep != nil { // also if another one is down: what was placed has to be taken out
			replied(p.Items, p.Rep.B)
		}
	}
	if err != nil {
		s.Tx.Fail(err)
	}
	return s.Tx.Failed()
}

// Inserted takes what became of an insert: the record has its row, with a stamp, or the attempt fails.
func (s *Session[A, P]) Inserted(a *Access, x store.Change, stamp uint64, err error) bool {
	switch {
	case err == nil:
		a.Loc, a.Located, a.HasRow = a.Table.Store.Location(a.Key, x.Ref), true, true
		s.Log.SetRow(a.Entry, a.Table.Store.LogRow(a.Key, x.Ref), stamp)
		s.Tx.NoteInsert(&a.Access, x)
		a.Next = audit.ReinsertedVersion(a.Version, stamp)
		return true
	case errors.Is(err, store.ErrExists):
		if a.Blind {
			s.Tx.InsertMetRecord()
		}
		s.Conflict(a)
	case errors.Is(err, store.ErrChanged), errors.Is(err, ErrGapTaken):
		s.Conflict(a)
	default:
		s.Tx.Fail(fmt.Errorf("insert of key %d of table %s: %w", a.Key, a.Table.Name, err))
	}
	return false
}

// Remove takes records out of their tables: those that a committed transaction deletes, or those that an aborted attempt has placed. Other
// machines are asked by RPC, whose handler is Protocol.ServeRemove; the own machine's are taken out behind that.
func (s *Session[A, P]) Remove(of func(P) bool, deleted bool, rpc uint8, take Taker) {
	flag := uint64(0)
	if deleted {
		flag = deletedBit
	}
	parts := s.Participants(of)
	for _, p := range parts {
		for left := p.Items; len(left) > 0 && !s.IsOwn(p.Machine); {
			var items []P
			items, left = Cut(left, s.on.MaxPayload/removeItem)
			req := s.C.Request()
			for _, a := range items {
				req = addItem(req, a.Common().Name(), uint64(a.Common().Loc.Ref)|flag)
			}
			s.on.End(s.C, p.Machine, rpc, req)
		}
	}
	for _, p := range parts {
		for i := 0; i < len(p.Items) && s.IsOwn(p.Machine); i++ {
			a := p.Items[i].Common()
			take(s.C, a.Table, a.Key, a.Loc.Ref, deleted)
		}
	}
}

// Ahead asks the host for the set and the log; see txn.Prefetcher.
func (s *Session[A, P]) Ahead() {
	s.pool.Ahead(len(s.Set))
	s.Log.Ahead()
}

// UpdatesOnly is part of a session whose protocol neither inserts nor deletes records.
type UpdatesOnly struct{}

// Write refuses both.
func (UpdatesOnly) Write(a *txn.Access) error {
	if a.NewRow || a.Delete {
		return errors.New("the protocol neither inserts nor deletes")
	}
	return nil
}
