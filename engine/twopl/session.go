package twopl

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
)

// session runs the transactions of a coroutine.
type session struct {
	p   *protocol
	tx  *txn.Tx
	c   *r2.Co
	cfg *running // the transaction began with

	attempt uint64 // its number: of the coroutine, then its own
	age     uint64 // when the transaction began

	set    []*access        // of the attempt
	pool   txn.Pool[access] // of all attempts
	asked  []int            // servers that may hold locks for it
	parts  []int            // servers, of a step
	calls  []*r2.Reply
	bounds []int // of the messages of a commit, see session.commits
	log    replication.Writer

	lockedAt r2.Time // when the attempt had its first lock; 0: it has none

	x timestamp.Txn // the stamp of the attempt, where records have versions
}

// access is one record of the attempt.
type access struct {
	txn.Access
	ref    store.Ref // of its row, if it is there
	seq    uint64    // of the row
	next   uint64    // the one that the attempt writes
	tomb   bool      // its row says that it was deleted
	tuple  uint64    // timestamp of the record, and stamp of the version that was read, where records have versions
	stamp  uint64
	held   mode      // its lock
	want   mode      // what is asked for
	hasRow bool      // the attempt has given it its row
	asked  bool      // it waits for an answer
	entry  int       // number in the log entry
	rep    *r2.Reply // nil: the request is not sent yet
}

// Begin begins an attempt.
func (s *session) Begin(first bool) {
	if first {
		s.cfg = s.p.cfg
		s.age = uint64(s.c.Now()) // measured: for how long it has tried; age decides which one aborts, not what is read
	}
	s.attempt = uint64(s.c.ID())<<32 | uint64(uint32(s.attempt)+1)
	s.set, s.asked, s.lockedAt = s.set[:0], s.asked[:0], 0
	s.log.Begin()
	if s.p.mv != nil {
		s.p.mv.Scheme().Begin(s.c, &s.x)
	}
	s.c.Compute(s.p.program.Attempt)
}

// Add is a new member of the set. Its memory stays where it is for ever.
func (s *session) Add() *txn.Access {
	a := s.pool.At(len(s.set))
	*a = access{}
	s.set = append(s.set, a)
	return &a.Access
}

// Eager says that announced records are locked in parallel.
func (s *session) Eager(bool) bool { return s.cfg.Speculative }

// Validate has nothing to look at: what was read is locked, and so are the gaps of what was not there.
func (s *session) Validate() error { return nil }

// Commit ends the growing phase: log, decide, write back and release.
func (s *session) Commit() error {
	err := s.certify()
	s.tx.Hold(s.lockedAt)
	s.tx.Decided(err)
	if err != nil {
		s.abort()
		return err
	}
	if s.p.db.Options().CheckLogs {
		s.log.Check()
	}
	passive := s.releaseMode().Passive
	if passive {
		s.tx.Done()
	}
	await := s.cfg.AwaitReclaim && s.log.Needed()
	if await {
		s.tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true})
		err = s.log.ReclaimAndWait()
	}
	if err == nil {
		err = s.end(true)
	}
	if err != nil {
		// A committed transaction cannot be written back: a machine is gone, and
		// there is no recovery yet.
		s.p.cl.Fail(fmt.Errorf("twopl: write-back: %w", err))
	}
	s.installed()
	s.tx.DropEntries()
	if !passive {
		s.tx.Done()
	}
	if s.log.Needed() && !await {
		s.tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true, Passive: true})
		s.log.Reclaim(s.cfg.ResendLog)
	}
	return nil
}

// certify gives new records their rows and their entries in indexes, and sends the log: when it returns nil the
// transaction is committed.
func (s *session) certify() error {
	if s.tx.Writes() == 0 {
		return s.stampReads()
	}
	if err := s.plan(); err != nil {
		return s.tx.Fail(err)
	}
	s.tx.Enter(txn.Lock, s.cfg.mode(txn.Lock))
	if err := s.insertNew(); err != nil {
		return err
	}
	if err := s.tx.AddEntries(func() error { return s.tx.Fail(txn.ErrAborted) }); err != nil {
		return err
	}
	if err := s.stamp(); err != nil {
		return err
	}
	if err := s.sendLog(); err != nil {
		return err
	}
	s.stamped()
	return nil
}

// sendLog sends the log.
func (s *session) sendLog() error {
	if !s.log.Needed() {
		return nil
	}
	s.tx.Enter(replication.Logging, s.cfg.mode(replication.Logging))
	s.c.Compute(s.p.program.Logging + s.p.program.LoggingRecord*s.tx.Writes())
	if err := s.log.Send(true); err != nil {
		return s.tx.Fail(err)
	}
	return nil
}

// plan gives what is written its sequences and makes the log entry. A row that is inserted follows, see session.insertDone.
func (s *session) plan() error {
	for _, a := range s.set {
		if a.Out == nil {
			continue
		}
		u := record.Update{Table: a.Table.ID, Key: a.Key, Value: a.Out[txn.OutHeaderBytes:]}
		switch {
		case a.NewRow && !a.tomb:
			u.Op = record.OpInsert
		case a.Delete && s.p.mv != nil:
			u.Op = record.OpDelete
			a.next = record.Entomb(a.seq)
			a.Next = txn.UpdatedVersion(a.Version, a.next)
		case a.Delete:
			u.Op = record.OpDelete
			a.next, _ = record.Freed(a.seq)
			a.Next = txn.DeletedVersion(a.Version)
		default:
			a.next = s.p.next(a.seq)
			a.Next = txn.UpdatedVersion(a.Version, a.next)
		}
		if u.New = a.next; (!a.NewRow || a.tomb) && !a.Table.Fixed {
			u.Row = a.Table.Store.LogRow(a.Key, a.ref)
		}
		a.entry = s.log.Add(int(a.Machine), u)
	}
	return s.log.Plan(true)
}

// Abandon ends an attempt that fails before Commit. Nothing is under way: requests wait for all answers.
func (s *session) Abandon() { s.abort() }

// abort undoes what an attempt has done that does not commit.
func (s *session) abort() {
	s.tx.UndoEntries()
	if err := s.end(false); err != nil {
		s.p.cl.Fail(fmt.Errorf("twopl: release of locks: %w", err))
	}
	s.void() // last: others may wait for the locks
}

// conflict ends the attempt because of other transactions that want a record.
func (s *session) conflict(a *access) error {
	s.tx.Met(&a.Access, 0)
	return s.tx.Fail(txn.ErrAborted)
}

// accessOf is the protocol's own part of an access.
func (s *session) accessOf(x *txn.Access) *access {
	for _, a := range s.set {
		if &a.Access == x {
			return a
		}
	}
	panic("twopl: an access that is not in the set")
}

// Ahead asks the host for the set and the log.
func (s *session) Ahead() {
	s.pool.Ahead(len(s.set))
	s.log.Ahead()
}
