package occ

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// session runs the transactions of a coroutine.
type session struct {
	coordinator.Session[access, *access]
	coordinator.Stamped // of the attempt, where records have versions
	p                   *protocol
	cache               store.Cache
	cfg                 *Config // the transaction began with

	reads r2.Mode // of what fetches by READ
	calls []coordinator.Part[*access]

	word [maxOwn]byte // what an inserted row begins with: the lock word
	gaps gaps         // that the attempt has changed
}

// maxOwn is how much a row has in front of what backups have too.
const maxOwn = 24

// access is one record of the attempt. If Out is set it is in the write set.
type access struct {
	coordinator.Access
	seq        uint64   // what was read
	gap        uint32   // the version of the gap, of a record that is missing
	by         request  // what is under way while it is Asked
	direct     bool     // its value was read where no torn READ is possible
	locked     bool     // by this attempt
	ownMachine bool     // inserted on the own machine
	served     bool     // a CAS of its lock is under way
	buf        r2.Addr  // where a READ puts what it brings of it
	row        []byte   // while a READ is under way, the row that it will fill
	word       *[8]byte // what CAS found
	head       []byte   // lock and sequence as validation finds them, or a READ right after the row's
	again      r2.Addr  // where such a READ puts them

	version uint64 // of what was read, where records have versions
}

// request is what a fetch waits for.
type request uint8

const (
	byRPC   request = iota // the answer of an RPC will tell
	byIndex                // a READ of the index is under way
	byRow                  // a READ of the row is under way
)

// Begin begins an attempt.
func (s *session) Begin(first bool) {
	if first {
		s.cfg = s.p.Cfg
	}
	s.Reset(s.cfg.Reclaim)
	s.gaps = s.gaps[:0]
	s.C.Compute(s.p.Program.Attempt)
	s.BeginStamp()
}

// Eager says that announced records are fetched together: by speculation (§4.4.1), or because RPCs of what is queued are batched.
func (s *session) Eager(queued bool) bool {
	phase, prim := s.fetching()
	return s.cfg.Speculative || queued && s.cfg.batches(phase, prim)
}

// Start begins to fetch the newest record.
func (s *session) Start(*txn.Access) { s.begin(s.Set[len(s.Set)-1], s.enterFetch(true)) }

// Write has nothing to do: the write set is locked at the end.
func (s *session) Write(*txn.Access) error { return nil }

// Abandon waits for requests whose answers are not needed: they write into buffers
// that the next attempt uses.
func (s *session) Abandon() {
	for _, a := range s.Set {
		if !a.Arrived() {
			_ = s.C.Wait() // the attempt has failed already
			return
		}
	}
}

// Validate is certify of an attempt that fails.
func (s *session) Validate() error { return s.certifyReads() }

// Commit is the protocol of Figure 4-1 after execution.
func (s *session) Commit() error {
	return s.End(s.certify(), s.Tx.Writes() > 0 && s.passive(), s.writeBack, s.release)
}

// certify locks, validates and logs: when it returns nil the transaction is
// committed.
func (s *session) certify() error {
	switch {
	case s.Tx.Writes() == 0:
		return s.certifyReads()
	case s.p.MV != nil:
		return s.certifyVersioned()
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	if err := s.validate(Validation, s.cfg.Validation); err != nil {
		return err
	}
	return s.logWrites()
}

// certifyReads is certify of a transaction that has written nothing.
func (s *session) certifyReads() error {
	switch {
	case s.p.MV != nil:
		return s.certifyReadsVersioned()
	case s.alreadyConsistent():
		return nil
	case s.Tx.ReadOnly():
		return s.validate(ROValidation, s.cfg.ROValidation)
	}
	return s.validate(Validation, s.cfg.Validation)
}

// prepare refuses what does not fit into messages, before anything is locked, sets the new sequences and plans the log entry.
func (s *session) prepare() error {
	if err := s.fits(); err != nil {
		return s.Tx.Fail(err)
	}
	return s.PlanUpdates(func(a *access) uint64 { return a.seq }, s.cfg.Logging == TwoSided)
}

// fits checks the messages of the two-sided phases, and those that insert.
func (s *session) fits() error {
	versions := s.p.MV != nil
	if !versions && s.cfg.Lock != TwoSided && s.cfg.Commit != TwoSided && s.Count(needsRow) == 0 {
		return nil
	}
	for _, p := range s.Participants(toInstall) {
		locks, commits, inserts := 0, 0, 0
		if versions {
			commits = 8 // the stamp
		}
		for _, a := range p.Items {
			switch {
			case versions:
				locks += lockItem
				commits += installHead + wire.Padded(len(a.OutValue()))
			case toLock(a):
				locks += verifyItem
				commits = s.cfg.commitBytes(commits, a)
			case needsRow(a):
				inserts += insertItem
				commits = s.cfg.commitBytes(commits, a)
			}
		}
		if err := s.fit(p.Machine, locks, inserts, commits); err != nil {
			return err
		}
	}
	return nil
}

// fit checks the bytes of messages to a machine.
func (s *session) fit(machine, locks, inserts, commits int) error {
	for _, x := range []struct {
		phase metrics.Phase
		prim  Prim
		bytes int
	}{{txn.Lock, s.cfg.Lock, locks}, {txn.Lock, TwoSided, inserts}, {txn.Commit, s.cfg.Commit, commits}} {
		if x.prim == TwoSided && x.bytes > s.p.MaxPayload {
			next := "split the transaction"
			if s.p.MV == nil {
				next += " or use the one-sided primitive"
			}
			return fmt.Errorf("two-sided %s: %d bytes for machine %d, a message carries %d; %s", x.phase, x.bytes, machine, s.p.MaxPayload, next)
		}
	}
	return nil
}

// logWrites is the logging phase (§4.3.4): the transaction is committed when all
// backups have the entry.
func (s *session) logWrites() error {
	return s.SendLog(s.cfg.Posts(replication.Logging, s.cfg.Logging), s.cfg.Logging == TwoSided)
}
