package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The first half of the thesis's validation phase (§4.3.2): lock the records of
// the write set and check in the same round trip that their versions are those
// that were read.

// lock locks the write set and gives new records their entries in indexes.
func (s *session) lock() error {
	mode := s.cfg.Posts(txn.Lock, s.cfg.Lock)
	s.Tx.Enter(txn.Lock, mode)
	s.C.Compute(s.p.Program.Lock + s.p.Program.LockRecord*s.Tx.Writes())
	for _, a := range s.Set {
		if toLock(a) {
			s.p.DB.Locking(s.C.Machine(), int(a.Machine) == s.C.Machine()) // the Auto rule asks
		}
	}
	var err error
	if s.cfg.Lock == TwoSided {
		err = s.lockByRPC(mode)
	} else {
		err = s.lockByRNIC(mode)
	}
	if err == nil && s.p.MV == nil {
		s.lockInserts()
	}
	if s.Tx.Failed() == nil {
		s.insertNew()
	}
	if err := s.Tx.Failed(); err != nil {
		return err
	}
	s.LockedAt = s.C.Now() // measured: how long locks are held
	return s.Tx.AddEntries(s.conflict)
}

// hopeless says whether a lost lock ends the attempt, and conflict ends it. Neither does where the released code's switch ignores aborts.
func (c *Config) hopeless(lost bool) bool { return lost && !c.IgnoresAborts }

func (s *session) conflict() error {
	if s.cfg.IgnoresAborts {
		return s.Tx.Failed()
	}
	return s.Aborts()
}

// lockInserts locks the records that the transaction inserts, for readers to see
// that it is being written. No other transaction can be about to write them, so the CPU
// stores the lock word even where the RNIC locks. For the same reason it need not
// wait for the core's local time, here and in writeBackInserts: a reader finds the
// record locked, or sees all of it, a little earlier than it would.
func (s *session) lockInserts() {
	owner := s.lockWord()
	for _, a := range s.Set {
		if !inserted(a) {
			continue
		}
		head := s.C.Peek(a.Loc.Addr, s.p.off.head)
		if s.cfg.hopeless(s.p.H.LockOf(head) != 0 || s.p.H.StampOf(head) != a.seq) {
			s.Conflict(&a.Access)
			return
		}
		s.C.Poke(a.Loc.Addr+s.p.off.lock, s.C.Word(owner))
		a.locked = true
	}
}

// lockByRNIC posts {CAS lock, READ header} per record. They execute in order,
// so the version read is that of the locked record and cannot change any more.
// The own machine's records are locked through the RNIC too: its atomics are
// not atomic with the CPU's.
func (s *session) lockByRNIC(mode r2.Mode) error {
	word := s.lockWord()
	for _, a := range s.Set {
		if !toLock(a) {
			continue
		}
		l := s.C.List(a.Loc.Loc, true)
		a.word = (*[8]byte)(l.CAS(at(a.Loc, s.p.off.lock), 0, word).B)
		head := l.Read(a.Loc.Loc, s.p.off.head)
		a.head, a.buf, a.served = head.B, head.Addr, true
		l.Post()
		if !mode.Outstanding && s.cfg.hopeless(!won(a)) {
			break // no use in trying the others
		}
	}
	err := s.C.Wait()
	for _, a := range s.Set {
		if a.served {
			a.served = false
			s.C.TouchDMA(a.buf, len(a.head)) // what CAS found is beside it
			a.locked = won(a)
			if seq := s.p.H.StampOf(a.head); !a.locked || seq != a.seq {
				s.forgetStale(a, seq)
				s.Tx.Met(&a.Access.Access, 0)
				s.conflict()
			}
		}
	}
	if err != nil {
		s.Tx.Fail(err)
	}
	return s.Tx.Failed()
}

func (s *session) lockWord() uint64 { return replication.OwnerOf(s.C).LockWord() }

// won reports whether the CAS found the lock free.
func won(a *access) bool { return wire.Get64(a.word[:]) == 0 }

// lockByRPC sends one request per participant with all its records. The
// participant locks all or none.
func (s *session) lockByRPC(mode r2.Mode) error {
	parts := s.Participants(toLock)
	for i := range parts {
		p := &parts[i] // fits has seen to it that one message does
		p.Rep = s.C.Call(p.Machine, s.p.rpc.lock, s.lockItems(p.Items))
		if !mode.Outstanding && s.cfg.hopeless(!granted(p.Rep)) {
			parts = parts[:i+1]
			break
		}
	}
	if err := s.C.Wait(); err != nil {
		s.Tx.Fail(err)
	}
	for _, p := range parts {
		if !granted(p.Rep) {
			s.auditConflicts(p)
			s.conflict()
			continue
		}
		for _, a := range p.Items {
			a.locked = true
		}
		if s.p.MV != nil {
			s.overwrites(p.Items, p.Rep.B[8:])
		}
	}
	return s.Tx.Failed()
}

// lockItems is the request that locks the records of a participant.
func (s *session) lockItems(items []*access) []byte {
	req := s.C.Request()
	for _, a := range items {
		if s.p.MV != nil {
			req = wire.Add64(req, a.Name())
		}
		req = wire.Add64(wire.Add64(req, uint64(a.Loc.Addr)), a.seq)
	}
	return padded(req, s.p.costs.Payload.Validation)
}

// granted says that a participant has locked all.
func granted(r *r2.Reply) bool { return len(r.B) > 0 && r.B[0] == coordinator.ReplyYes }

// serveLock locks the records by CPU compare-and-swap and then reads their
// versions; on a conflict it releases what it has locked.
func (p *protocol) serveLock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Validation)
	word := record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord()
	req = unpadded(req, verifyItem)
	rep[0] = coordinator.ReplyYes
	got := 0 // bytes of the items that are locked
	for ; got < len(req) && rep[0] == coordinator.ReplyYes; got += verifyItem {
		addr, seq := r2.Addr(wire.Get64(req[got:])), wire.Get64(req[got+8:])
		if c.LocalCAS(addr+p.off.lock, 0, word) != 0 {
			rep[0] = coordinator.ReplyNo
			auditConflict(c, addr)
			break
		}
		if c.Load64(addr+p.off.seq) != seq {
			rep[0] = coordinator.ReplyNo
			auditConflict(c, addr)
		}
	}
	if rep[0] == coordinator.ReplyYes {
		return 1
	}
	for i := 0; i < got; i += verifyItem {
		c.Store64(r2.Addr(wire.Get64(req[i:]))+p.off.lock, 0)
	}
	return 1
}
