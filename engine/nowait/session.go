package nowait

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// session runs the transactions of a coroutine.
type session struct {
	p     *protocol
	tx    *txn.Tx
	c     *r2.Co
	cache store.Cache
	cfg   *Config // the transaction began with

	set   []*access        // of the attempt
	pool  txn.Pool[access] // of all attempts
	over  bool             // the attempt takes no more locks
	gaps  []heldLock       // locks of gaps
	list  []*heldLock      // of a release
	parts []int            // primaries, of a two-sided phase
	calls []*r2.Reply
	log   replication.Writer
	word  [8]byte // the lock word of a row that is inserted

	lockedAt r2.Time // when the attempt had its first lock; 0: it has none
}

// access is one record of the attempt.
type access struct {
	txn.Access
	heldLock                // its lock
	loc      store.Location // where it is, once known; of a record that is missing, its gap
	located  bool           // loc is valid, and of a record that is there
	hasRow   bool           // the attempt has given it its row
	by       request        // what is under way while it is Asked
	want     lock           // what is asked for
	entry    int            // number in the log entry
	value    []byte         // what the READ under way brings
	rep      *r2.Reply
	look     store.Search // the way to loc; its memory is kept
}

// heldLock is a lock of the attempt: the word, and what a request about it has brought.
type heldLock struct {
	at     r2.Loc
	free   uint64 // the word while it is free
	held   lock
	expect uint64 // what the CAS under way expects to find
	asked  bool   // by the inserts that are being made
	found  []byte // what it found, or a READ of the word
	buf    r2.Addr
	out    []byte // what the attempt writes under it, when it commits
}

// Begin begins an attempt.
func (s *session) Begin(first bool) {
	if first {
		s.cfg = s.p.cfg
	}
	s.set, s.gaps, s.over, s.lockedAt = s.set[:0], s.gaps[:0], false, 0
	s.log.Begin()
	s.c.Compute(s.p.program.Attempt)
}

// Add is a new member of the set. Its memory stays where it is for ever.
func (s *session) Add() *txn.Access {
	a := s.pool.At(len(s.set))
	*a = access{look: a.look}
	s.set = append(s.set, a)
	return &a.Access
}

// Eager says that announced records are locked in parallel.
func (s *session) Eager(bool) bool { return s.cfg.Speculative }

// Validate has nothing to look at: what was read is locked, and so are the gaps of what was not there.
func (s *session) Validate() error { return nil }

// Commit ends the growing phase: log, decide, write back and release.
func (s *session) Commit() error {
	err := s.logWrites()
	s.tx.Hold(s.lockedAt)
	if err == nil {
		s.tx.Install()
	}
	s.tx.Decided(err)
	if err != nil {
		s.abort()
		return err
	}
	if s.p.db.Options().CheckLogs {
		s.log.Check()
	}
	passive := s.cfg.mode(txn.Commit, s.cfg.Commit).Passive
	if passive {
		s.tx.Done()
	}
	await := s.cfg.AwaitReclaim && s.log.Needed()
	if await {
		s.tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true})
		err = s.log.ReclaimAndWait()
	}
	if err == nil {
		err = s.writeBack()
	}
	if err != nil {
		// A committed transaction cannot be written back: a machine is gone, and
		// there is no recovery yet.
		s.p.cl.Fail(fmt.Errorf("nowait: write-back: %w", err))
	}
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

// logWrites gives new records their entries in indexes and sends the log: when it returns nil the
// transaction is committed.
func (s *session) logWrites() error {
	if s.tx.Writes() == 0 {
		return nil
	}
	if err := s.plan(); err != nil {
		return s.tx.Fail(err)
	}
	s.tx.Enter(txn.Lock, s.cfg.mode(txn.Lock, s.cfg.Lock))
	if err := s.insertNew(); err != nil {
		return err
	}
	if err := s.tx.AddEntries(func() error { return s.tx.Fail(txn.ErrAborted) }); err != nil {
		return err
	}
	if !s.log.Needed() {
		return nil
	}
	s.tx.Enter(replication.Logging, s.cfg.mode(replication.Logging, s.cfg.Logging))
	s.c.Compute(s.p.program.Logging + s.p.program.LoggingRecord*s.tx.Writes())
	if err := s.log.Send(s.cfg.Logging == TwoSided); err != nil {
		return s.tx.Fail(err)
	}
	return nil
}

// plan makes the log entry. All exclusive locks of records that are there are held, so the clock is a
// version that no other commit of these records has, and larger than those before: see the package's
// comment. A row that is inserted follows, see session.insertDone.
func (s *session) plan() error {
	now := uint64(s.c.Now() / r2.Nanosecond)
	for _, a := range s.set {
		if a.Out == nil {
			continue
		}
		u := record.Update{Table: a.Table.ID, Key: a.Key, New: versionOf(a.loc.Ref, now), Value: a.Out[txn.OutHeaderBytes:]}
		switch {
		case a.NewRow:
			u.Op, u.New = record.OpInsert, now
		case a.Delete:
			u.Op = record.OpDelete
			u.New, _ = record.Freed(freeWord(a.loc.Ref))
		}
		if !a.NewRow && !a.Table.Fixed {
			u.Row = a.Table.Store.LogRow(a.Key, a.loc.Ref)
		}
		if !a.Delete {
			a.out = u.Value
		}
		a.entry = s.log.Add(int(a.Machine), u)
	}
	return s.log.Plan(s.cfg.Logging == TwoSided || s.cfg.ResendLog)
}

// Abandon ends an attempt that fails before Commit.
func (s *session) Abandon() {
	s.over = true
	s.collect(0) // what is under way may win a lock yet
	s.abort()
}

// abort undoes what an attempt has done that does not commit.
func (s *session) abort() {
	s.tx.UndoEntries()
	s.removeInserted()
	if err := s.releaseAll(); err != nil {
		s.p.cl.Fail(fmt.Errorf("nowait: release of locks: %w", err))
	}
}

// conflict ends the attempt because another transaction holds a record.
func (s *session) conflict(a *access) error {
	s.tx.Met(&a.Access, 0)
	return s.tx.Fail(txn.ErrAborted)
}

// isLocal says that a record is on the coroutine's machine.
func (s *session) isLocal(a *access) bool { return int(a.Machine) == s.c.Machine() }

// Ahead asks the host for the set and the log.
func (s *session) Ahead() {
	s.pool.Ahead(len(s.set))
	s.log.Ahead()
}
