package nowait

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	p     *protocol
	cache store.Cache
	cfg   *Config // the transaction began with

	over bool                          // the attempt takes no more locks
	gaps []heldLock                    // locks of gaps
	list []*heldLock                   // of a release
	ends []coordinator.Part[*heldLock] // of a two-sided one
	word [8]byte                       // the lock word of a row that is inserted
}

// access is one record of the attempt.
type access struct {
	coordinator.Access
	heldLock         // its lock
	by       request // what is under way while it is Asked
	want     lock    // what is asked for
	value    []byte  // what the READ under way brings
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
		s.cfg = s.p.Cfg
	}
	s.Reset(s.cfg.Reclaim)
	s.gaps, s.over = s.gaps[:0], false
	s.C.Compute(s.p.Program.Attempt)
}

// Eager says that announced records are locked in parallel.
func (s *session) Eager(bool) bool { return s.cfg.Speculative }

// Validate has nothing to look at: what was read is locked, and so are the gaps of what was not there.
func (s *session) Validate() error { return nil }

// Commit ends the growing phase: log, decide, write back and release.
func (s *session) Commit() error {
	return s.End(s.logWrites(), s.cfg.Posts(txn.Commit, s.cfg.Commit).Passive, s.writeBack, s.abort)
}

// logWrites gives new records their entries in indexes and sends the log: when it returns nil the
// transaction is committed.
func (s *session) logWrites() error {
	if s.Tx.Writes() == 0 {
		return nil
	}
	if err := s.plan(); err != nil {
		return s.Tx.Fail(err)
	}
	s.Tx.Enter(txn.Lock, s.cfg.Posts(txn.Lock, s.cfg.Lock))
	if err := s.insertNew(); err != nil {
		return err
	}
	if err := s.Tx.AddEntries(s.Aborts); err != nil {
		return err
	}
	err := s.SendLog(s.cfg.Posts(replication.Logging, s.cfg.Logging), s.cfg.Logging == TwoSided)
	if err == nil {
		s.Tx.Install()
	}
	return err
}

// plan makes the log entry. All exclusive locks of records that are there are held, so the clock is a
// version that no other commit of these records has, and larger than those before: see the package's
// comment. A row that is inserted follows, see session.insertDone.
func (s *session) plan() error {
	now := uint64(s.C.Now() / r2.Nanosecond)
	for _, a := range s.Set {
		if a.Out == nil {
			continue
		}
		stamp := versionOf(a.Loc.Ref, now)
		switch {
		case a.NewRow:
			stamp = now
		case a.Delete:
			stamp, _ = record.Freed(freeWord(a.Loc.Ref))
		}
		if !a.Delete {
			a.out = a.OutValue()
		}
		a.Entry = s.Log.Add(int(a.Machine), a.Update(stamp))
	}
	return s.Log.Plan(s.cfg.Logging == TwoSided)
}

// Abandon ends an attempt that fails before Commit.
func (s *session) Abandon() {
	s.over = true
	s.Collect(0, s.accept) // what is under way may win a lock yet
	s.abort()
}

// abort undoes what an attempt has done that does not commit.
func (s *session) abort() {
	s.Tx.UndoEntries()
	s.removeInserted()
	if err := s.releaseAll(); err != nil {
		s.C.Fail(fmt.Errorf("nowait: release of locks: %w", err))
	}
}
