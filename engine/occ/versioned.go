package occ

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/mvcc"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// OCC as a host of snapshots (§5.3.2). Read-write transactions run the protocol of Figure 4-1 with a stamp from a scheme:
//
//	Execution   reads bring the stamp of the version that was read
//	Validation  lock the write set, and read its timestamps once the locks are held; the transaction has its stamp;
//	            then raise the timestamps of what was only read to it, and check that it is still so
//	Logging     entries carry the stamp
//	Commit      install new versions, and release the locks
//
// A handler does all that happens at a record, so lock, validation and commit are two-sided. Read-only transactions
// run in the sessions of engine/mvcc.

// openVersions prepares what records with versions need.
func (p *protocol) openVersions() (err error) {
	c := p.cfg
	p.mv, err = mvcc.Open(p.db, lockHost{}, mvcc.Options{
		Timestamps:  c.Timestamps,
		OneSided:    c.readsVersions(),
		FetchCycles: p.program.execution, RecordCycles: p.program.executionRecord, HandlerCycles: p.costs.Execution, ReplyBytes: p.costs.Payload.Execution,
	})
	return err
}

// readsVersions says that snapshots may READ.
func (c *Config) readsVersions() bool { return c.RORead == Hybrid && c.CacheEnabled }

// NeedsReset is that of the records' versions.
func (p *protocol) NeedsReset(to txn.Config) (knob, why string) {
	if c, ok := to.(Config); ok {
		return p.mv.NeedsReset(c.Timestamps)
	}
	return "", ""
}

// Snapshot is the second session of a coroutine.
func (p *protocol) Snapshot(tx *txn.Tx) txn.Session {
	if p.mv == nil {
		return nil
	}
	return p.mv.Snapshot(tx)
}

// Bound and Missable are those of the versions.
func (p *protocol) Bound() (ns int64, ok bool)          { return p.mv.Bound() }
func (p *protocol) Missable(stamp timestamp.Stamp) bool { return p.mv.Missable(stamp) }

// Audit looks at what is left of versions when nothing runs.
func (p *protocol) Audit(bad func(text string)) {
	if p.mv != nil {
		p.mv.Audit(bad)
	}
}

// Gauges and Stuck are those of the versions.
func (p *protocol) Gauges(r *metrics.Readings) { p.mv.Gauges(r) }
func (p *protocol) Stuck(few int) []string     { return p.mv.Stuck(few) }

// lockHost says what lock words are.
type lockHost struct{}

func (lockHost) Busy(lock uint64) bool { return lock != 0 }

func (lockHost) TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool) {
	o := record.Owner{Machine: uint16(c.Machine()), Thread: uint8(c.Thread()), Coroutine: record.MaxCoroutines - 1}
	word = o.LockWord()
	return word, c.LocalCAS(row+lockAt, 0, word) == 0
}

func (lockHost) RowRemoved(*r2.Co, r2.Addr) {}

// gotVersion takes the stamp of a record, as its row says. It reports that the record was deleted.
func (s *session) gotVersion(a *access, row []byte) bool {
	a.version = s.p.h.VersionOf(row)
	if a.tomb = record.Tomb(a.seq); a.tomb {
		s.tx.LacksAt(&a.Access, a.Table.Version(a.Key, a.loc.Ref, a.seq))
	}
	return a.tomb
}

// certifyVersioned is certify of an attempt with a stamp.
func (s *session) certifyVersioned() error {
	for _, a := range s.set {
		a.Insert = false // a record that was there from the start is locked as others
	}
	scheme, traits := s.p.mv.Scheme(), s.p.mv.Traits()
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.lockVersioned(); err != nil {
		return err
	}
	s.saw()
	if traits.Claims || traits.Early {
		if err := s.draw(scheme); err != nil {
			return err
		}
	}
	if err := s.validateVersioned(); err != nil {
		return err
	}
	if !s.x.Drawn {
		if err := s.draw(scheme); err != nil {
			return err
		}
	}
	s.log.Stamp(uint64(s.x.TS))
	if err := s.logWrites(); err != nil {
		return err
	}
	scheme.Wait(s.c, &s.x)
	s.tx.CommitsAt(s.x.TS)
	return nil
}

// certifyReadsVersioned is certify of an attempt that has written nothing. It comes before every transaction that overwrites what it has read, and
// that one's stamp has to be larger than those of what it has read. Where writers depend on readers it has one, and a transaction that overwrites
// two records of which it has read one depends on what wrote the other.
func (s *session) certifyReadsVersioned() error {
	scheme := s.p.mv.Scheme()
	s.saw()
	if s.tx.WantsStamp() || s.p.mv.Traits().Readers && !s.alreadyConsistent() {
		if err := s.draw(scheme); err != nil {
			return err
		}
	}
	if !s.alreadyConsistent() {
		if err := s.validateVersioned(); err != nil {
			s.void()
			return err
		}
	}
	if s.x.Drawn {
		scheme.Wait(s.c, &s.x)
		scheme.Done(s.c, &s.x, s.tx.Session())
	}
	return nil
}

// saw tells the scheme of the versions that were read.
func (s *session) saw() {
	scheme := s.p.mv.Scheme()
	for _, a := range s.set {
		if a.Arrived() && !a.Table.Constant && a.located {
			scheme.Saw(&s.x, timestamp.Stamp(a.version))
		}
	}
}

// draw gives the attempt its stamp.
func (s *session) draw(scheme timestamp.Scheme) error {
	if s.p.mv.Traits().Oracle {
		s.tx.Enter(txn.Timestamp, r2.Mode{})
	}
	switch err := scheme.Draw(s.c, &s.x); {
	case err == nil:
		return nil
	case err == timestamp.ErrRetry:
		return s.tx.Fail(txn.ErrAborted)
	default:
		return s.tx.Fail(err)
	}
}

// lockVersioned locks the write set by one request per participant, takes the timestamps of what will be overwritten, and gives
// new records their rows and their entries in indexes.
func (s *session) lockVersioned() error {
	mode := s.cfg.mode(txn.Lock, TwoSided)
	s.tx.Enter(txn.Lock, mode)
	s.c.Compute(s.p.program.lock + s.p.program.lockRecord*s.tx.Writes())
	s.participants(toLock)
	for _, m := range s.parts {
		if err := s.fitsVersioned(m); err != nil {
			return s.tx.Fail(err)
		}
	}
	n := 0
	for _, m := range s.parts {
		s.calls[n] = s.c.Call(m, s.p.rpc.lock, s.lockItems(m))
		n++
		if !mode.Outstanding && !granted(s.calls[n-1]) {
			break
		}
	}
	if err := s.c.Wait(); err != nil {
		s.tx.Fail(err)
	}
	for k := range n {
		if !granted(s.calls[k]) {
			s.conflict()
			continue
		}
		s.takeLocks(s.parts[k], s.calls[k].B[8:])
	}
	if s.tx.Failed() == nil {
		s.insertNew()
	}
	if err := s.tx.Failed(); err != nil {
		return err
	}
	s.lockedAt = s.c.Now() // measured: how long locks are held
	return s.tx.AddEntries(s.conflict)
}

// lockItems is the request that locks the records of a participant.
func (s *session) lockItems(m int) []byte {
	req := s.c.Request()
	for _, a := range s.set {
		if toLock(a) && int(a.Machine) == m {
			s.p.db.Locking(m == s.c.Machine())
			req = wire.Add64(wire.Add64(wire.Add64(req, name(a)), uint64(a.loc.Addr)), a.seq)
		}
	}
	return padded(req, s.p.costs.Payload.Validation)
}

// granted says that a participant has locked all.
func granted(r *r2.Reply) bool { return len(r.B) >= 8 && r.B[0] == replyYes }

// takeLocks takes the timestamps of the records that a participant has locked.
func (s *session) takeLocks(m int, b []byte) {
	for _, a := range s.set {
		if toLock(a) && int(a.Machine) == m {
			a.locked = true
			s.p.mv.Scheme().Over(&s.x, timestamp.Stamp(wire.Get64(b)), timestamp.Stamp(wire.Get64(b[8:])))
			b = b[lockBack:]
		}
	}
}

// Filled takes the timestamp of a gap that an insert, or a new entry of an index, has filled.
func (s *session) Filled(guard uint64) { s.p.mv.Scheme().Over(&s.x, timestamp.Stamp(guard), 0) }

// validateVersioned raises the timestamps of what was only read to the attempt's stamp, and checks that it is still so.
func (s *session) validateVersioned() error {
	n := s.count(readOnlySet)
	if n == 0 {
		return nil
	}
	s.tx.Enter(Validation, s.cfg.mode(Validation, TwoSided))
	s.c.Compute(s.p.program.validation + s.p.program.validationRec*n)
	s.participants(readOnlySet)
	calls := s.calls[:0]
	for _, m := range s.parts {
		for next := 0; next < len(s.set); {
			var req []byte
			if req, next = s.readItems(m, next); len(req) > 8 {
				calls = append(calls, s.c.Call(m, s.p.rpc.validate, padded(req, s.p.costs.Payload.Validation)))
			}
		}
	}
	s.calls = calls
	if err := s.c.Wait(); err != nil {
		return s.tx.Fail(err)
	}
	for _, rep := range calls {
		if !saysYes(rep) {
			return s.conflict()
		}
	}
	return nil
}

// readItems is a request to raise and check what was read at a machine, from an index of the set on. next is where it ended.
func (s *session) readItems(m, from int) (req []byte, next int) {
	req = wire.Add64(s.c.Request(), uint64(s.x.TS))
	for next = from; next < len(s.set) && len(req)+readItem <= s.p.maxPayload; next++ {
		a := s.set[next]
		switch {
		case int(a.Machine) != m || !readOnlySet(a):
		case a.State == txn.Missing && !a.tomb:
			req = wire.Add64(wire.Add64(wire.Add64(req, uint64(a.loc.Addr)|gapBit), uint64(s.gaps.expect(a.loc.Loc, a.gap))), 0)
		default:
			req = wire.Add64(wire.Add64(wire.Add64(req, uint64(a.loc.Addr)), a.seq), a.version)
		}
	}
	return req, next
}

// installVersions is write-back: one request per participant, which installs versions and releases locks.
func (s *session) installVersions() error {
	mode := s.cfg.mode(txn.Commit, TwoSided)
	mode.Passive = s.passive()
	s.tx.Enter(txn.Commit, mode)
	s.c.Compute(s.p.program.commitRecord * s.tx.Writes())
	s.participants(toInstall)
	calls := s.calls[:0]
	for _, m := range s.parts {
		req := wire.Add64(s.c.Request(), uint64(s.x.TS))
		for _, a := range s.set {
			if toInstall(a) && int(a.Machine) == m {
				a.locked = false
				req = installItem(req, a)
			}
		}
		calls = append(calls, s.p.sendCommit(s.c, m, s.p.rpc.commit, padded(req, s.p.costs.Payload.Commit)))
	}
	s.calls = calls
	if !mode.Passive {
		if err := s.c.Wait(); err != nil {
			return err
		}
		for _, rep := range calls {
			s.p.mv.After(&s.x, rep.B[min(commitBack, len(rep.B)):])
		}
	}
	s.p.mv.Scheme().Done(s.c, &s.x, s.tx.Session())
	return nil
}

// void gives back the stamp of an attempt that fails.
func (s *session) void() {
	if s.x.Drawn {
		s.p.mv.Scheme().Void(s.c, &s.x)
		s.x.Drawn = false
	}
}

// toInstall is all that is written.
func toInstall(a *access) bool { return a.Out != nil }

// releaseVersioned gives back what an aborted attempt holds: its locks and its rows, for which others may wait, and then its stamp.
func (s *session) releaseVersioned() {
	s.unlockVersioned()
	s.void()
}

// unlockVersioned gives back the locks and rows.
func (s *session) unlockVersioned() {
	if s.count(isLocked) == 0 {
		return
	}
	mode := s.cfg.mode(txn.Commit, TwoSided)
	s.tx.Enter(txn.Lock, mode)
	s.remove(hasRow, false)
	s.participants(isLocked)
	for _, m := range s.parts {
		req := s.c.Request()
		for _, a := range s.set {
			if a.locked && int(a.Machine) == m {
				req = wire.Add64(wire.Add64(req, name(a)), uint64(a.loc.Addr))
			}
		}
		s.p.sendCommit(s.c, m, s.p.rpc.unlock, req)
	}
	if !mode.Passive {
		if err := s.c.Wait(); err != nil {
			s.p.cl.Fail(fmt.Errorf("occ: release of locks: %w", err))
		}
	}
	for _, a := range s.set {
		a.locked = false
	}
}

// fitsVersioned checks the messages to a participant, before anything is locked.
func (s *session) fitsVersioned(m int) error {
	locks, commits := 0, 8
	for _, a := range s.set {
		if int(a.Machine) == m && a.Out != nil {
			locks += lockItem
			commits += installHead + wire.Padded(len(a.Out)-txn.OutHeaderBytes)
		}
	}
	for _, p := range []struct {
		phase metrics.Phase
		bytes int
	}{{txn.Lock, locks}, {txn.Commit, commits}} {
		if p.bytes > s.p.maxPayload {
			return fmt.Errorf("two-sided %s: %d bytes for machine %d, a message carries %d; split the transaction", p.phase, p.bytes, m, s.p.maxPayload)
		}
	}
	return nil
}
