package twopl

import (
	"errors"

	"drtmx/engine/mvcc"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Two-phase locking as a host of snapshots (§5.3.2). Read-write transactions run as without, and have a stamp from a scheme:
//
//	Growing   a lock brings the timestamp of the record and the stamp of its version, as they are under the lock
//	Logging   the transaction has its stamp before, when it holds all locks; entries carry it
//	Commit    install new versions, raise the timestamps of what was only read to the stamp, release all locks
//
// Read-only transactions run in the sessions of engine/mvcc. They wait for the holder of an exclusive lock, and never
// behind those that wait in its queue: a transaction that has not got the lock yet gets a larger stamp.

// openVersions prepares what records with versions need.
func (p *protocol) openVersions() (err error) {
	c := p.cfg
	p.mv, err = mvcc.Open(p.db, lockHost{p}, mvcc.Options{
		Timestamps:  c.Timestamps,
		FetchCycles: p.program.Growing, RecordCycles: p.program.GrowingRecord, HandlerCycles: c.read,
	})
	return err
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

// Stuck is what they wait for.
func (p *protocol) Stuck(few int) []string { return p.mv.Stuck(few) }

// lockHost says what lock words are.
type lockHost struct{ p *protocol }

// Busy says that a lock is held exclusively.
func (lockHost) Busy(lock uint64) bool { return lock&exclusiveBit != 0 }

// TryLockRow locks a row that is free, and keeps its latch too: a request that wants it polls.
func (h lockHost) TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool) {
	return exclusiveBit | latchBit, c.LocalCAS(row, 0, exclusiveBit|latchBit) == 0
}

// RowRemoved leaves a free row held by no transaction, unless it has another record already.
func (h lockHost) RowRemoved(c *r2.Co, row r2.Addr) {
	c.LocalCAS(row, exclusiveBit|latchBit, exclusiveBit)
}

// next is the sequence that follows on one.
func (p *protocol) next(seq uint64) uint64 {
	if p.mv != nil {
		return record.NextVersion(seq)
	}
	return record.Next(seq)
}

// On the server.

// stamps adds the timestamps of a row to an answer.
func (t *table) stamps(c *r2.Co, at r2.Addr, rep []byte) int {
	if t.p.mv == nil {
		return 0
	}
	tuple, version := t.p.mv.Under(c, at)
	wire.Put64(rep, tuple)
	wire.Put64(rep[8:], version)
	return stampsBack
}

// reserve finds room for the version of a row that is locked exclusively, which will be overwritten.
func (t *table) reserve(c *r2.Co, x *txn.Table, row r2.Addr) bool {
	l := t.locks[row]
	if t.p.mv == nil || l.reserved != nil {
		return true
	}
	if !t.p.mv.Reserve(c, x) {
		return false
	}
	l.reserved = x
	return true
}

// unreserve gives back room that was not used.
func (t *table) unreserve(c *r2.Co, l *lock) {
	if x := l.reserved; x != nil {
		l.reserved = nil
		t.p.mv.Cancel(c, x)
	}
}

// foundEmpty remembers a gap in which a party has found nothing.
func (t *table) foundEmpty(p *party, gap r2.Loc) {
	if t.p.mv != nil && p != nil {
		p.gaps = append(p.gaps, gap.Addr)
	}
}

// guard is the timestamp of the gap of a record that lookups find by now.
func (t *table) guard(c *r2.Co, x *txn.Table, key uint64) uint64 {
	if t.p.mv == nil {
		return 0
	}
	return t.p.mv.Guard(c, x, key)
}

// putVersion makes a version the present one of a row that is locked exclusively. nil: a tombstone.
func (t *table) putVersion(c *r2.Co, x *party, q placement, value []byte, seq uint64) {
	at := row(q.table, q.key, q.ref)
	t.p.mv.Install(c, q.table, q.key, at, mvcc.Version{TS: x.stamp, Seq: seq, Value: value})
	if l := t.locks[at]; l != nil {
		l.reserved = nil // it is used
	}
}

// raise lets the timestamps of what a party has only read be no less than its stamp, before others get the locks. One that has
// written nothing anywhere has none.
func (t *table) raise(c *r2.Co, x *party) {
	if t.p.mv == nil || x.stamp == 0 || !t.p.mv.RaisesReads() {
		return
	}
	for _, l := range x.held {
		if l.mode == shared && !t.isGap(l.at) {
			t.p.mv.Raise(c, l.at, x.stamp)
		}
	}
	for _, gap := range x.gaps {
		t.p.mv.ClaimGapAt(c, gap, x.stamp)
	}
}

// isGap says that a lock word is that of gaps.
func (t *table) isGap(at r2.Addr) bool { return at >= t.gaps && at < t.gaps+8*gapWords }

// On the coordinator.

// readStamps takes the timestamps of a record from an answer and returns what follows.
func (s *session) readStamps(a *access, b []byte) []byte {
	if s.p.mv == nil {
		return b
	}
	a.tuple, a.stamp = wire.Get64(b), wire.Get64(b[8:])
	return b[stampsBack:]
}

// Filled takes the timestamp of a gap that the attempt has filled.
func (s *session) Filled(guard uint64) { s.p.mv.Scheme().Over(&s.x, timestamp.Stamp(guard), 0) }

// saw tells the scheme of what was read and of what will be overwritten.
func (s *session) saw() {
	scheme := s.p.mv.Scheme()
	for _, a := range s.set {
		switch {
		case a.held == none && s.cfg.Isolation == Serializable || a.hasRow || a.State == txn.Missing && !a.tomb:
		case a.Out != nil:
			scheme.Over(&s.x, timestamp.Stamp(a.tuple), timestamp.Stamp(a.stamp))
		case !a.Table.Constant:
			scheme.Saw(&s.x, timestamp.Stamp(a.stamp))
		}
	}
}

// stamp gives the attempt its stamp, when it holds all locks.
func (s *session) stamp() error {
	if s.p.mv == nil {
		return nil
	}
	s.saw()
	if s.p.mv.Traits().Oracle {
		s.tx.Enter(txn.Timestamp, r2.Mode{})
	}
	switch err := s.p.mv.Scheme().Draw(s.c, &s.x); {
	case errors.Is(err, timestamp.ErrRetry):
		return s.tx.Fail(txn.ErrAborted)
	case err != nil:
		return s.tx.Fail(err)
	}
	s.log.Stamp(uint64(s.x.TS))
	return nil
}

// stamped comes when the log is there: the scheme may still wait.
func (s *session) stamped() {
	if s.p.mv == nil {
		return
	}
	s.p.mv.Scheme().Wait(s.c, &s.x)
	s.tx.CommitsAt(s.x.TS)
}

// stampReads is stamp of an attempt that has written nothing. It comes before every transaction that overwrites what it has read, and that one's
// stamp has to be larger than those of what it has read (golden script reads-only): so it raises timestamps to the least that is. It needs a
// stamp of its own only if its body asks for one, or if writers depend on readers.
func (s *session) stampReads() error {
	if s.p.mv == nil {
		return nil
	}
	traits := s.p.mv.Traits()
	if !s.tx.WantsStamp() && !traits.Readers {
		if s.saw(); !traits.Claims {
			s.x.TS = 0
		}
		return nil
	}
	if err := s.stamp(); err != nil {
		return err
	}
	s.p.mv.Scheme().Wait(s.c, &s.x)
	return nil
}

// installed comes when the versions are installed, or the locks that make snapshots wait are sure to be held until then.
func (s *session) installed() {
	if s.x.Drawn {
		s.p.mv.Scheme().Done(s.c, &s.x, s.tx.Session())
	}
}

// void gives back the stamp of an attempt that aborts.
func (s *session) void() {
	if s.x.Drawn {
		s.p.mv.Scheme().Void(s.c, &s.x)
		s.x.Drawn = false
	}
}
