package twopl

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
)

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	coordinator.Stamped // of the attempt, where records have versions
	p                   *protocol
	cfg                 *running // the transaction began with

	attempt uint64 // its number: of the coroutine, then its own
	age     uint64 // when the transaction began

	asked  []int // servers that may hold locks for it
	calls  []*r2.Reply
	bounds []int // of the messages of a commit, see session.endAt
}

// access is one record of the attempt. Of Loc it knows the Ref alone.
type access struct {
	coordinator.Access
	row   uint64 // as an answer names it: where it is, or the version of its gap
	seq   uint64 // of the row
	tuple uint64 // timestamp of the record, and stamp of the version that was read, where records have versions
	stamp uint64
	held  mode // its lock
	want  mode // what is asked for
}

// Begin begins an attempt.
func (s *session) Begin(first bool) {
	if first {
		s.cfg = s.p.Cfg
		s.age = uint64(s.C.Now()) // measured: for how long it has tried; age decides which one aborts, not what is read
	}
	s.attempt = uint64(s.C.ID())<<32 | uint64(uint32(s.attempt)+1)
	s.Reset(s.cfg.Reclaim)
	s.asked = s.asked[:0]
	s.BeginStamp()
	s.C.Compute(s.p.Program.Attempt)
}

// Eager says that announced records are locked in parallel.
func (s *session) Eager(bool) bool { return s.cfg.Speculative }

// Validate has nothing to look at: what was read is locked, and so are the gaps of what was not there.
func (s *session) Validate() error { return nil }

// Commit ends the growing phase: log, decide, write back and release.
func (s *session) Commit() error {
	return s.End(s.certify(), s.releaseMode().Passive, s.writeBack, s.abort)
}

// writeBack has servers install what is written, and release.
func (s *session) writeBack() error {
	err := s.end(true)
	s.installed()
	return err
}

// certify gives new records their rows and their entries in indexes, and sends the log: when it returns nil the
// transaction is committed.
func (s *session) certify() error {
	if s.Tx.Writes() == 0 {
		return s.stampReads()
	}
	if err := s.PlanUpdates(func(a *access) uint64 { return a.seq }, true); err != nil {
		return err
	}
	s.Tx.Enter(txn.Lock, s.cfg.mode(txn.Lock))
	if err := s.insertNew(); err != nil {
		return err
	}
	if err := s.Tx.AddEntries(s.Aborts); err != nil {
		return err
	}
	if err := s.stamp(); err != nil {
		return err
	}
	if err := s.SendLog(s.cfg.mode(replication.Logging), true); err != nil {
		return err
	}
	s.stamped()
	return nil
}

// Abandon ends an attempt that fails before Commit. Nothing is under way: requests wait for all answers.
func (s *session) Abandon() { s.abort() }

// abort undoes what an attempt has done that does not commit.
func (s *session) abort() {
	s.Tx.UndoEntries()
	if err := s.end(false); err != nil {
		s.C.Fail(fmt.Errorf("twopl: release of locks: %w", err))
	}
	s.Void() // last: others may wait for the locks
}
