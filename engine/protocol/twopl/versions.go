package twopl

import (
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
	"drtmx/engine/wire"
)

// Two-phase locking as a host of snapshots (§5.3.2). Read-write transactions run as without, and have a stamp from a scheme:
//
//	Growing   a lock brings the timestamp of the record and the stamp of its version, as they are under the lock
//	Logging   the transaction has its stamp before, when it holds all locks; entries carry it
//	Commit    install new versions, raise the timestamps of what was only read to the stamp, release all locks
//
// Read-only transactions run in the sessions of engine/versions. They wait for the holder of an exclusive lock, and never
// behind those that wait in its queue: a transaction that has not got the lock yet gets a larger stamp.

// openVersions prepares what records with versions need.
func (p *protocol) openVersions() (err error) {
	c := p.Cfg
	p.MV, err = versions.Open(p.DB, lockHost{p}, c.Timestamps, versions.Costs{Fetch: p.Program.Growing, Record: p.Program.GrowingRecord, Handler: c.read})
	return err
}

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

// On the server.

// stamps adds the timestamps of a row to an answer.
func (t *table) stamps(c *r2.Co, at r2.Addr, rep []byte) int {
	if t.p.MV == nil {
		return 0
	}
	tuple, version := t.p.MV.Under(c, at)
	wire.Put64(rep, tuple)
	wire.Put64(rep[8:], version)
	return stampsBack
}

// reserve finds room for the version of a row that is locked exclusively, which will be overwritten.
func (t *table) reserve(c *r2.Co, x *txn.Table, row r2.Addr) bool {
	l := t.locks[row]
	if t.p.MV == nil || l.reserved != nil {
		return true
	}
	if !t.p.MV.Reserve(c, x) {
		return false
	}
	l.reserved = x
	return true
}

// unreserve gives back room that was not used.
func (t *table) unreserve(c *r2.Co, l *lock) {
	if x := l.reserved; x != nil {
		l.reserved = nil
		t.p.MV.Cancel(c, x)
	}
}

// foundEmpty remembers a gap in which a party has found nothing.
func (t *table) foundEmpty(p *party, gap r2.Loc) {
	if t.p.MV != nil && p != nil {
		p.gaps = append(p.gaps, gap.Addr)
	}
}

// guard is the timestamp of the gap of a record that lookups find by now.
func (t *table) guard(c *r2.Co, x *txn.Table, key uint64) uint64 {
	if t.p.MV == nil {
		return 0
	}
	return t.p.MV.Guard(c, x, key)
}

// putVersion makes a version the present one of a row that is locked exclusively. nil: a tombstone.
func (t *table) putVersion(c *r2.Co, x *party, q placement, value []byte, seq uint64) {
	at := row(q.table, q.key, q.ref)
	t.p.MV.Install(c, q.table, q.key, at, versions.Version{TS: x.stamp, Seq: seq, Value: value})
	if l := t.locks[at]; l != nil {
		l.reserved = nil // it is used
	}
}

// raise lets the timestamps of what a party has only read be no less than its stamp, before others get the locks. One that has
// written nothing anywhere has none.
func (t *table) raise(c *r2.Co, x *party) {
	if t.p.MV == nil || x.stamp == 0 || !t.p.MV.RaisesReads() {
		return
	}
	for _, l := range x.held {
		if l.mode == shared && !t.p.gaps.Is(t.machine, l.at) {
			t.p.MV.Raise(c, l.at, x.stamp)
		}
	}
	for _, gap := range x.gaps {
		t.p.MV.ClaimGapAt(c, gap, x.stamp)
	}
}

// On the coordinator.

// readStamps takes the timestamps of a record from an answer and returns what follows.
func (s *session) readStamps(a *access, b []byte) []byte {
	if s.p.MV == nil {
		return b
	}
	a.tuple, a.stamp = wire.Get64(b), wire.Get64(b[8:])
	return b[stampsBack:]
}

// saw tells the scheme of what was read and of what will be overwritten.
func (s *session) saw() {
	scheme := s.p.MV.Scheme()
	for _, a := range s.Set {
		switch {
		case a.held == none && s.cfg.Isolation == Serializable || a.HasRow || a.State == txn.Missing && !a.Tomb:
		case a.Out != nil:
			scheme.Over(&s.X, timestamp.Stamp(a.tuple), timestamp.Stamp(a.stamp))
		case !a.Table.Constant:
			scheme.Saw(&s.X, timestamp.Stamp(a.stamp))
		}
	}
}

// stamp gives the attempt its stamp, when it holds all locks.
func (s *session) stamp() error {
	if s.p.MV == nil {
		return nil
	}
	s.saw()
	if err := s.Draw(); err != nil {
		return err
	}
	s.Log.Stamp(uint64(s.X.TS))
	return nil
}

// stamped comes when the log is there: the scheme may still wait.
func (s *session) stamped() {
	if s.p.MV == nil {
		return
	}
	s.p.MV.Scheme().Wait(s.C, &s.X)
	s.Tx.CommitsAt(s.X.TS)
}

// stampReads is stamp of an attempt that has written nothing. It comes before every transaction that overwrites what it has read, and that one's
// stamp has to be larger than those of what it has read (golden script reads-only): so it raises timestamps to the least that is. It needs a
// stamp of its own only if its body asks for one, or if writers depend on readers.
func (s *session) stampReads() error {
	if s.p.MV == nil {
		return nil
	}
	traits := s.p.MV.Traits()
	if !s.Tx.WantsStamp() && !traits.Readers {
		if s.saw(); !traits.Claims {
			s.X.TS = 0
		}
		return nil
	}
	if err := s.stamp(); err != nil {
		return err
	}
	s.p.MV.Scheme().Wait(s.C, &s.X)
	return nil
}

// installed comes when the versions are installed, or the locks that make snapshots wait are sure to be held until then.
func (s *session) installed() {
	if s.X.Drawn {
		s.p.MV.Scheme().Done(s.C, &s.X, s.Tx.Session())
	}
}
