package occ

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
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
	reads r2.Mode          // of what fetches by READ
	parts []int            // primaries, of the two-sided phases
	calls []*r2.Reply
	log   replication.Writer

	word     [maxOwn]byte // what an inserted row begins with: the lock word
	gaps     gaps         // that the attempt has changed
	lockedAt r2.Time      // when the attempt had its locks; 0: it has none

	x timestamp.Txn // the stamp of the attempt, where records have versions
}

// maxOwn is how much a row has in front of what backups have too.
const maxOwn = 24

// access is one record of the attempt. If Out is set it is in the write set.
type access struct {
	txn.Access
	loc        store.Location // where it is, once known; of a record that is missing, its gap
	seq        uint64         // what was read
	gap        uint32         // the version of the gap, of a record that is missing
	by         request        // what is under way while it is Asked
	located    bool           // loc is valid
	direct     bool           // its value was read where no torn READ is possible
	locked     bool           // by this attempt
	ownMachine bool           // inserted on the own machine
	tomb       bool           // it is missing, and its row says so
	entry      int            // number in the log entry
	served     bool           // dealt with in the loop over participants
	buf        r2.Addr        // where a READ puts what it brings of it
	row        []byte         // while a READ is under way, the row that it will fill
	word       *[8]byte       // what CAS found
	head       *[header]byte  // lock and sequence as validation finds them, or a READ right after the row's
	again      r2.Addr        // where such a READ puts them
	rep        *r2.Reply
	look       store.Search // the way to loc; its memory is kept

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
		s.cfg = s.p.cfg
	}
	s.set, s.gaps, s.lockedAt = s.set[:0], s.gaps[:0], 0
	s.log.Begin()
	s.c.Compute(s.p.program.attempt)
	if s.p.mv != nil {
		s.p.mv.Scheme().Begin(s.c, &s.x)
	}
}

// Add is a new member of the set. Its memory stays where it is for ever.
func (s *session) Add() *txn.Access {
	a := s.pool.At(len(s.set))
	*a = access{look: a.look}
	s.set = append(s.set, a)
	return &a.Access
}

// Eager says that announced records are fetched together: by speculation (§4.4.1), or because RPCs of what is queued are batched.
func (s *session) Eager(queued bool) bool {
	phase, prim := txn.Execution, s.cfg.Execution
	if s.tx.ReadOnly() {
		phase, prim = txn.RORead, s.cfg.RORead
	}
	return s.cfg.Speculative || queued && s.cfg.batches(phase, prim)
}

// Start begins to fetch the newest record.
func (s *session) Start(*txn.Access) { s.begin(s.set[len(s.set)-1], s.enterFetch(true)) }

// Write has nothing to do: the write set is locked at the end.
func (s *session) Write(*txn.Access) error { return nil }

// Abandon waits for requests whose answers are not needed: they write into buffers
// that the next attempt uses.
func (s *session) Abandon() {
	for _, a := range s.set {
		if !a.Arrived() {
			_ = s.c.Wait() // the attempt has failed already
			return
		}
	}
}

// Validate is certify of an attempt that fails.
func (s *session) Validate() error { return s.certifyReads() }

// Commit is the protocol of Figure 4-1 after execution.
func (s *session) Commit() error {
	err := s.certify()
	s.tx.Hold(s.lockedAt)
	s.tx.Decided(err)
	if err != nil {
		s.release()
		return err
	}
	if s.tx.Writes() == 0 {
		s.tx.Done()
		return nil
	}
	if s.p.db.Options().CheckLogs {
		s.log.Check()
	}
	passive := s.passive()
	if passive {
		s.tx.Done()
	}
	if err = s.reclaimFirst(); err == nil {
		err = s.writeBack()
	}
	if err != nil {
		// A committed transaction cannot be written back: a machine is gone, and
		// there is no recovery yet.
		s.p.cl.Fail(fmt.Errorf("occ: write-back: %w", err))
	}
	s.tx.DropEntries()
	if !passive {
		s.tx.Done()
	}
	if !s.cfg.AwaitReclaim {
		s.reclaim()
	}
	return nil
}

// certify locks, validates and logs: when it returns nil the transaction is
// committed.
func (s *session) certify() error {
	switch {
	case s.tx.Writes() == 0:
		return s.certifyReads()
	case s.p.mv != nil:
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
	case s.p.mv != nil:
		return s.certifyReadsVersioned()
	case s.alreadyConsistent():
		return nil
	case s.tx.ReadOnly():
		return s.validate(ROValidation, s.cfg.ROValidation)
	}
	return s.validate(Validation, s.cfg.Validation)
}

// prepare sets the new sequences, plans the log entry and refuses what does
// not fit into messages, before anything is locked.
func (s *session) prepare() error {
	for _, a := range s.set {
		if a.Out != nil {
			s.stamp(a)
			a.Table.Touch(a.Key)
		}
	}
	if err := s.fits(); err != nil {
		return s.tx.Fail(err)
	}
	for _, a := range s.set {
		if a.Out != nil {
			a.entry = s.log.Add(int(a.Machine), logged(a))
		}
	}
	if err := s.log.Plan(s.cfg.Logging == TwoSided || s.cfg.ResendLog); err != nil {
		return s.tx.Fail(err)
	}
	return nil
}

// stamp puts the new sequence of a record's row in front of its value. A record that is inserted has no row yet.
func (s *session) stamp(a *access) {
	next := uint64(0)
	switch {
	case a.NewRow && !a.tomb:
	case a.Delete && s.p.mv != nil:
		next = record.Entomb(a.seq)
		a.Next = txn.UpdatedVersion(a.Version, next)
	case a.Delete:
		next, _ = record.Freed(a.seq)
		a.Next = txn.DeletedVersion(a.Version)
	default:
		if next = record.Next(a.seq); s.p.mv != nil {
			next = record.NextVersion(a.seq)
		}
		a.Next = txn.UpdatedVersion(a.Version, next)
	}
	wire.Put64(a.Out, next)
}

// logged is what the log entry has of a record.
func logged(a *access) record.Update {
	u := record.Update{Table: a.Table.ID, Key: a.Key, New: wire.Get64(a.Out), Value: a.Out[txn.OutHeaderBytes:]}
	switch {
	case a.NewRow && !a.tomb:
		u.Op = record.OpInsert // its row follows, see session.setRow
		return u
	case a.Delete:
		u.Op = record.OpDelete
	}
	if !a.Table.Fixed {
		u.Row = a.Table.Store.LogRow(a.Key, a.loc.Ref)
	}
	return u
}

// fits checks the messages of the two-sided phases, and those that insert.
func (s *session) fits() error {
	if s.cfg.Lock != TwoSided && s.cfg.Commit != TwoSided && s.count(needsRow) == 0 {
		return nil
	}
	s.participants(func(*access) bool { return true })
	for _, m := range s.parts {
		locks, commits, inserts := 0, 0, 0
		for _, a := range s.set {
			switch {
			case int(a.Machine) != m || a.Out == nil:
			case toLock(a):
				locks += verifyItem
				commits = s.cfg.commitBytes(commits, a)
			case needsRow(a):
				inserts += insertItem
				commits = s.cfg.commitBytes(commits, a)
			}
		}
		for _, p := range []struct {
			phase metrics.Phase
			prim  Prim
			bytes int
		}{{txn.Lock, s.cfg.Lock, locks}, {txn.Lock, TwoSided, inserts}, {txn.Commit, s.cfg.Commit, commits}} {
			if p.prim == TwoSided && p.bytes > s.p.maxPayload {
				return fmt.Errorf("two-sided %s: %d bytes for machine %d, a message carries %d; split the transaction or use the one-sided primitive", p.phase, p.bytes, m, s.p.maxPayload)
			}
		}
	}
	return nil
}

// logWrites is the logging phase (§4.3.4): the transaction is committed when all
// backups have the entry.
func (s *session) logWrites() error {
	if !s.log.Needed() {
		return nil
	}
	s.tx.Enter(replication.Logging, s.cfg.mode(replication.Logging, s.cfg.Logging))
	s.c.Compute(s.p.program.logging + s.p.program.loggingRecord*s.tx.Writes())
	if err := s.log.Send(s.cfg.Logging == TwoSided); err != nil {
		return s.tx.Fail(err)
	}
	return nil
}

// reclaim tells the backups to apply the entry (§4.3.4).
func (s *session) reclaim() {
	if s.log.Needed() {
		s.tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true, Passive: true})
		s.log.Reclaim(s.cfg.ResendLog)
	}
}

// reclaimFirst is reclaim where the transaction waits for it before it writes back.
func (s *session) reclaimFirst() error {
	if !s.cfg.AwaitReclaim || !s.log.Needed() {
		return nil
	}
	s.tx.Enter(replication.Reclaim, r2.Mode{Outstanding: true, Doorbell: true})
	return s.log.ReclaimAndWait()
}

// Ahead asks the host for the set and the log.
func (s *session) Ahead() {
	s.pool.Ahead(len(s.set))
	s.log.Ahead()
}
