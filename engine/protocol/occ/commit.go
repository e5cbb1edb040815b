package occ

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The commit phase (§4.3.3): write the records back and release their locks.
// The transaction is decided before, when the backups have the log, so with
// passive ACK there is no wait here.

// passive says that the client goes on while the write set is written back.
func (s *session) passive() bool {
	return s.cfg.Posts(txn.Commit, s.cfg.Commit).Passive && (s.p.MV == nil || !s.p.MV.Traits().Acked)
}

// writeBack installs the write set at the primaries.
func (s *session) writeBack() error {
	switch {
	case s.Tx.Writes() == 0:
		return nil
	case s.p.MV != nil:
		return s.installVersions()
	}
	mode := s.cfg.Posts(txn.Commit, s.cfg.Commit)
	s.Tx.Enter(txn.Commit, mode)
	s.C.Compute(s.p.Program.CommitRecord * s.Tx.Writes())
	s.writeBackInserts()
	if s.cfg.Commit == TwoSided {
		s.writeBackByRPC()
	} else {
		for _, a := range s.Set {
			if toStore(a) {
				s.writeBackOne(a)
			}
		}
	}
	s.remove(toDelete, true)
	if mode.Passive {
		return nil
	}
	return s.C.Wait()
}

// writeBackInserts stores the records that the transaction inserts.
func (s *session) writeBackInserts() {
	for _, a := range s.Set {
		if inserted(a) {
			a.locked = false
			s.C.Poke(a.Loc.Addr+s.p.off.seq, a.Out)
			s.C.Poke(a.Loc.Addr+s.p.off.lock, zero)
		}
	}
}

// writeBackOne installs a record and releases its lock.
func (s *session) writeBackOne(a *access) {
	a.locked = false
	if int(a.Machine) == s.C.Machine() && s.cfg.Lock == TwoSided {
		s.p.storeRow(s.C, a.Loc.Addr, a.Out)
		return
	}
	s.postWriteBack(a)
}

// postWriteBack posts {WRITE sequence and value, WRITE 0 to the lock}. They
// execute in order, so a transaction that finds the lock free finds the new version too.
func (s *session) postWriteBack(a *access) {
	l := s.C.List(a.Loc.Loc, true)
	l.Write(at(a.Loc, s.p.off.seq), a.Out)
	l.Write(at(a.Loc, s.p.off.lock), zero)
	l.Post()
}

var zero = make([]byte, 8)

// writeBackByRPC sends a request per record, those to one thread with one doorbell; or one per participant with all its
// records.
func (s *session) writeBackByRPC() {
	for _, p := range s.Participants(toStore) {
		req := s.C.Request()
		for _, a := range p.Items {
			a.locked = false
			req = s.installItem(req, a)
			if !s.cfg.CommitTogether {
				s.sendRecords(p.Machine, req)
				req = s.C.Request()
			}
		}
		if len(req) > 0 {
			s.sendRecords(p.Machine, req)
		}
	}
}

// sendRecords sends what one commit message installs.
func (s *session) sendRecords(m int, req []byte) {
	s.p.End(s.C, m, s.p.rpc.commit, padded(req, s.p.costs.Payload.Commit))
}

// installItem appends a record: where it is, its length, sequence and value. Where records have versions its name is in front.
func (s *session) installItem(req []byte, a *access) []byte {
	if s.p.MV != nil {
		req = wire.Add64(req, a.Name())
	}
	value := a.OutValue()
	req = wire.Add64(wire.Add64(req, uint64(a.Loc.Addr)|uint64(len(value))<<addrBits), wire.Get64(a.Out))
	return wire.AddPadded(req, value)
}

// commitBytes is the size of a machine's largest commit message, with one more record.
func (c *Config) commitBytes(before int, a *access) int {
	n := 8 + wire.Padded(len(a.Out))
	if c.CommitTogether {
		return before + n
	}
	return max(before, n)
}

// release undoes what an aborted attempt has done: it gives back its locks and rows, for which others may wait, by the primitive that
// commits, and then its stamp.
func (s *session) release() {
	s.Tx.UndoEntries()
	for _, a := range s.Set {
		if a.Insert && a.locked {
			a.locked = false
			s.C.Poke(a.Loc.Addr+s.p.off.lock, zero)
		}
	}
	if s.Count(isLocked) > 0 {
		mode := s.cfg.Posts(txn.Commit, s.cfg.Commit)
		s.Tx.Enter(txn.Lock, mode)
		s.remove(hasRow, false)
		if s.cfg.Commit == TwoSided {
			s.unlockByRPC()
		} else {
			s.unlockByRNIC()
		}
		if !mode.Passive {
			if err := s.C.Wait(); err != nil {
				s.C.Fail(fmt.Errorf("occ: release of locks: %w", err))
			}
		}
		for _, a := range s.Set {
			a.locked = false
		}
	}
	s.Void()
}

func (s *session) unlockByRPC() {
	for _, p := range s.Participants(isLocked) {
		req := s.C.Request()
		for _, a := range p.Items {
			if s.p.MV != nil {
				req = wire.Add64(req, a.Name())
			}
			req = wire.Add64(req, uint64(a.Loc.Addr))
		}
		s.p.End(s.C, p.Machine, s.p.rpc.unlock, req)
	}
}

func (s *session) unlockByRNIC() {
	for _, a := range s.Set {
		switch {
		case !a.locked:
		case int(a.Machine) == s.C.Machine() && s.cfg.Lock == TwoSided:
			s.C.Store64(a.Loc.Addr+s.p.off.lock, 0)
		default:
			l := s.C.List(a.Loc.Loc, true)
			l.Write(at(a.Loc, s.p.off.lock), zero)
			l.Post()
		}
	}
}

func isLocked(a *access) bool { return a.locked }

// storeRow installs a new sequence and value by CPU stores and releases the
// lock. The sequence is odd meanwhile.
func (p *protocol) storeRow(c *r2.Co, row r2.Addr, out []byte) {
	seq := wire.Get64(out)
	c.Store64(row+p.off.seq, record.Writing(seq-2))
	c.Store(row+p.off.value, out[p.H.OutHeaderBytes():])
	c.Store64(row+p.off.seq, seq)
	c.Store64(row+p.off.lock, 0)
}

// serveCommit installs the records of a participant.
func (p *protocol) serveCommit(c *r2.Co, from r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Commit)
	for len(req) >= commitHead && wire.Get64(req) != 0 {
		word := wire.Get64(req)
		n := int(word >> addrBits)
		p.storeRow(c, r2.Addr(word&addrMask), req[8:16+n])
		req = req[8+wire.Padded(8+n):]
	}
	return p.Ended(c, rep)
}

// serveUnlock releases the locks of an aborted attempt.
func (p *protocol) serveUnlock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	for ; len(req) >= unlockItem; req = req[unlockItem:] {
		c.Store64(r2.Addr(wire.Get64(req))+p.off.lock, 0)
	}
	return p.Ended(c, rep)
}
