package occ

import (
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
	mode := s.cfg.mode(txn.Lock, s.cfg.Lock)
	s.tx.Enter(txn.Lock, mode)
	s.c.Compute(s.p.program.lock + s.p.program.lockRecord*s.tx.Writes())
	for _, a := range s.set {
		if toLock(a) {
			s.p.db.Locking(int(a.Machine) == s.c.Machine()) // the Auto rule asks
		}
	}
	var err error
	if s.cfg.Lock == TwoSided {
		err = s.lockByRPC(mode)
	} else {
		err = s.lockByRNIC(mode)
	}
	if err == nil {
		s.lockInserts()
		s.insertNew()
	}
	if err := s.tx.Failed(); err != nil {
		return err
	}
	s.lockedAt = s.c.Now()
	return s.tx.AddEntries(s.conflict)
}

// hopeless says whether a lost lock ends the attempt, and conflict ends it. Neither does where the released code's switch ignores aborts.
func (c *Config) hopeless(lost bool) bool { return lost && !c.IgnoresAborts }

func (s *session) conflict() error {
	if s.cfg.IgnoresAborts {
		return s.tx.Failed()
	}
	return s.tx.Fail(txn.ErrAborted)
}

// lockInserts locks the records that the transaction inserts, for readers to see
// that it is being written. No other transaction can be about to write them, so the CPU
// stores the lock word even where the RNIC locks. For the same reason it need not
// wait for the core's local time, here and in writeBackInserts: a reader finds the
// record locked, or sees all of it, a little earlier than it would.
func (s *session) lockInserts() {
	owner := s.lockWord()
	for _, a := range s.set {
		if !inserted(a) {
			continue
		}
		head := s.c.Peek(a.loc.Addr, header)
		if s.cfg.hopeless(record.Lock(head) != 0 || s.p.h.StampOf(head) != a.seq) {
			s.tx.Met(&a.Access, 0)
			s.tx.Fail(txn.ErrAborted)
			return
		}
		s.c.Poke(a.loc.Addr+lockAt, s.c.Word(owner))
		a.locked = true
	}
}

// lockByRNIC posts {CAS lock, READ header} per record. They execute in order,
// so the version read is that of the locked record and cannot change any more.
// The own machine's records are locked through the RNIC too: its atomics are
// not atomic with the CPU's.
func (s *session) lockByRNIC(mode r2.Mode) error {
	word := s.lockWord()
	for _, a := range s.set {
		if !toLock(a) {
			continue
		}
		l := s.c.List(a.loc.Loc, true)
		a.word = (*[8]byte)(l.CAS(at(a.loc, lockAt), 0, word).B)
		head := l.Read(a.loc.Loc, header)
		a.head, a.buf, a.served = (*[header]byte)(head.B), head.Addr, true
		l.Post()
		if !mode.Outstanding && s.cfg.hopeless(!won(a)) {
			break // no use in trying the others
		}
	}
	err := s.c.Wait()
	for _, a := range s.set {
		if a.served {
			a.served = false
			s.c.TouchDMA(a.buf, header) // what CAS found is beside it
			a.locked = won(a)
			if seq := record.Seq(a.head[:]); !a.locked || seq != a.seq {
				s.forgetStale(a, seq)
				s.tx.Met(&a.Access, 0)
				s.conflict()
			}
		}
	}
	if err != nil {
		s.tx.Fail(err)
	}
	return s.tx.Failed()
}

func (s *session) lockWord() uint64 { return replication.OwnerOf(s.c).LockWord() }

// won reports whether the CAS found the lock free.
func won(a *access) bool { return wire.Get64(a.word[:]) == 0 }

// lockByRPC sends one request per participant with all its records. The
// participant locks all or none.
func (s *session) lockByRPC(mode r2.Mode) error {
	s.participants(toLock)
	n := 0
	for _, m := range s.parts {
		items, _ := s.verifyItems(m, toLock, 0) // fits has seen to it that one message does
		s.calls[n] = s.c.Call(m, s.p.rpc.lock, items)
		n++
		if !mode.Outstanding && s.cfg.hopeless(!saysYes(s.calls[n-1])) {
			break
		}
	}
	if err := s.c.Wait(); err != nil {
		s.tx.Fail(err)
	}
	for k := range n {
		if !saysYes(s.calls[k]) {
			s.conflict()
			continue
		}
		for _, a := range s.set {
			if toLock(a) && int(a.Machine) == s.parts[k] {
				a.locked = true
			}
		}
	}
	return s.tx.Failed()
}

func saysYes(r *r2.Reply) bool { return len(r.B) == 1 && r.B[0] == replyYes }

// serveLock locks the records by CPU compare-and-swap and then reads their
// versions; on a conflict it releases what it has locked.
func (p *protocol) serveLock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Validation)
	word := record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord()
	req = unpadded(req)
	rep[0] = replyYes
	got := 0 // bytes of the items that are locked
	for ; got < len(req) && rep[0] == replyYes; got += verifyItem {
		addr, seq := r2.Addr(wire.Get64(req[got:])), wire.Get64(req[got+8:])
		if c.LocalCAS(addr+lockAt, 0, word) != 0 {
			rep[0] = replyNo
			p.auditConflict(from, c.Machine(), addr)
			break
		}
		if c.Load64(addr+seqAt) != seq {
			rep[0] = replyNo
			p.auditConflict(from, c.Machine(), addr)
		}
	}
	if rep[0] == replyYes {
		return 1
	}
	for i := 0; i < got; i += verifyItem {
		c.Store64(r2.Addr(wire.Get64(req[i:]))+lockAt, 0)
	}
	return 1
}
