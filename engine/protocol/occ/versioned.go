package occ

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
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
// run in the sessions of engine/versions.

// openVersions prepares what records with versions need.
func (p *protocol) openVersions() (err error) {
	c := p.Cfg
	p.MV, err = versions.Open(p.DB, lockHost{p.off.lock}, c.Timestamps, versions.Costs{
		Fetch: p.Program.Execution, Record: p.Program.ExecutionRecord, Handler: p.costs.Execution, ReplyBytes: p.costs.Payload.Execution,
	})
	if err == nil {
		p.MV.ReadsBy(c.readsVersions())
	}
	return err
}

// readsVersions says that snapshots may READ.
func (c *Config) readsVersions() bool { return c.RORead == Hybrid && c.CacheEnabled }

// lockHost says what lock words are.
type lockHost struct{ lock r2.Addr }

func (lockHost) Busy(lock uint64) bool { return lock != 0 }

func (h lockHost) TryLockRow(c *r2.Co, row r2.Addr) (word uint64, won bool) {
	o := record.Owner{Machine: uint16(c.Machine()), Thread: uint8(c.Thread()), Coroutine: record.MaxCoroutines - 1}
	word = o.LockWord()
	return word, c.LocalCAS(row+h.lock, 0, word) == 0
}

func (lockHost) RowRemoved(*r2.Co, r2.Addr) {}

// gotVersion takes the stamp of a record, as its row says. It reports that the record was deleted.
func (s *session) gotVersion(a *access, row []byte) bool {
	a.version = s.p.H.VersionOf(row)
	if a.Tomb = record.Tomb(a.seq); a.Tomb {
		s.Tx.LacksAt(&a.Access.Access, a.Table.Audit.Version(s.C.Machine(), a.Key, a.Loc.Ref, a.seq))
	}
	return a.Tomb
}

// certifyVersioned is certify of an attempt with a stamp.
func (s *session) certifyVersioned() error {
	for _, a := range s.Set {
		a.Insert = false // a record that was there from the start is locked as others
	}
	scheme, traits := s.p.MV.Scheme(), s.p.MV.Traits()
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	s.saw()
	if traits.Claims || traits.Early {
		if err := s.Draw(); err != nil {
			return err
		}
	}
	if err := s.validate(Validation, TwoSided); err != nil {
		return err
	}
	if !s.X.Drawn {
		if err := s.Draw(); err != nil {
			return err
		}
	}
	s.Log.Stamp(uint64(s.X.TS))
	if err := s.logWrites(); err != nil {
		return err
	}
	scheme.Wait(s.C, &s.X)
	s.Tx.CommitsAt(s.X.TS)
	return nil
}

// certifyReadsVersioned is certify of an attempt that has written nothing. It comes before every transaction that overwrites what it has read, and
// that one's stamp has to be larger than those of what it has read. Where writers depend on readers it has one, and a transaction that overwrites
// two records of which it has read one depends on what wrote the other.
func (s *session) certifyReadsVersioned() error {
	scheme := s.p.MV.Scheme()
	s.saw()
	if s.Tx.WantsStamp() || s.p.MV.Traits().Readers && !s.alreadyConsistent() {
		if err := s.Draw(); err != nil {
			return err
		}
	}
	if !s.alreadyConsistent() {
		if err := s.validate(Validation, TwoSided); err != nil {
			s.Void()
			return err
		}
	}
	if s.X.Drawn {
		scheme.Wait(s.C, &s.X)
		scheme.Done(s.C, &s.X, s.Tx.Session())
	}
	return nil
}

// saw tells the scheme of the versions that were read.
func (s *session) saw() {
	scheme := s.p.MV.Scheme()
	for _, a := range s.Set {
		if a.Arrived() && !a.Table.Constant && a.Located {
			scheme.Saw(&s.X, timestamp.Stamp(a.version))
		}
	}
}

// overwrites takes the timestamps of the records that a participant has locked, which will be overwritten.
func (s *session) overwrites(items []*access, b []byte) {
	for range items {
		s.p.MV.Scheme().Over(&s.X, timestamp.Stamp(wire.Get64(b)), timestamp.Stamp(wire.Get64(b[8:])))
		b = b[lockBack:]
	}
}

// installVersions is write-back: one request per participant, which installs versions and releases locks.
func (s *session) installVersions() error {
	mode := s.cfg.Posts(txn.Commit, TwoSided)
	mode.Passive = s.passive()
	s.Tx.Enter(txn.Commit, mode)
	s.C.Compute(s.p.Program.CommitRecord * s.Tx.Writes())
	parts := s.Participants(toInstall)
	for i := range parts {
		p := &parts[i]
		req := wire.Add64(s.C.Request(), uint64(s.X.TS))
		for _, a := range p.Items {
			a.locked = false
			req = s.installItem(req, a)
		}
		p.Rep = s.p.End(s.C, p.Machine, s.p.rpc.commit, padded(req, s.p.costs.Payload.Commit))
	}
	if !mode.Passive {
		if err := s.C.Wait(); err != nil {
			return err
		}
		for _, p := range parts {
			s.p.MV.After(&s.X, p.Rep.B[min(commitBack, len(p.Rep.B)):])
		}
	}
	s.p.MV.Scheme().Done(s.C, &s.X, s.Tx.Session())
	return nil
}

// toInstall is all that is written.
func toInstall(a *access) bool { return a.Out != nil }
