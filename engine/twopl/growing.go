package twopl

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The growing phase, on the coordinator: each record is locked when the body first asks for it, and read under the lock. A
// server gets one message with all of its records, its own machine's among them, and answers when it has all locks.

// Fetch locks and reads the records of the set from index first on.
func (s *session) Fetch(first int, parallel bool) error {
	s.enterGrowing(parallel)
	s.c.Compute(s.p.program.Growing)
	for i := first; i < len(s.set) && s.tx.Failed() == nil; i++ {
		if s.set[i].State == txn.Wanted {
			s.begin(s.set[i])
		}
	}
	s.collect()
	return s.tx.Failed()
}

// Start begins to lock the newest record and does not wait.
func (s *session) Start(*txn.Access) {
	s.enterGrowing(true)
	s.begin(s.set[len(s.set)-1])
}

// enterGrowing begins the phase. Records that are announced together are locked together.
func (s *session) enterGrowing(parallel bool) {
	mode := s.cfg.mode(txn.Lock)
	mode.Outstanding = parallel && (mode.Outstanding || s.cfg.Speculative)
	s.tx.Enter(txn.Lock, mode)
}

// wants is the lock that an access takes.
func (s *session) wants(a *access) mode {
	switch {
	case a.Table.Constant:
		return none
	case a.ToWrite:
		return exclusive
	case s.cfg.Isolation == ReadCommitted:
		return none
	}
	return shared
}

// begin has a record asked for.
func (s *session) begin(a *access) {
	s.c.Compute(s.p.program.GrowingRecord)
	if a.want = s.wants(a); a.want != none {
		a.Table.Touch(a.Key) // its lock may be left behind
		s.p.db.Locking(int(a.Machine) == s.c.Machine())
	}
	if a.Key > keyMask {
		s.tx.Lacks(&a.Access, 0)
		return
	}
	a.State, a.asked = txn.Asked, true
}

// collect sends what is to be asked, and takes all answers.
func (s *session) collect() {
	for i, a := range s.set {
		if a.asked && a.rep == nil {
			s.ask(i)
		}
	}
	if err := s.c.Wait(); err != nil {
		s.tx.Fail(err)
		return
	}
	for _, a := range s.set {
		if a.asked && a.rep != nil {
			s.accept(a.rep)
		}
	}
}

// head is that of a message that asks for locks.
func (s *session) head(flags uint64) []byte {
	if s.cfg.Isolation == ReadCommitted {
		flags |= lessReads
	}
	return wire.Add64(wire.Add64(s.c.Request(), s.attempt), s.age<<lessBits|flags)
}

// ask sends a message to the server of a record with all of its records that are to be asked for from there on, as many as an
// answer carries.
func (s *session) ask(from int) {
	m, room := s.set[from].Machine, s.p.maxPayload
	req, answer, last := s.head(0), status, from
	for i := from; i < len(s.set); i++ {
		a := s.set[i]
		if !a.asked || a.rep != nil || a.Machine != m {
			continue
		}
		more := lockBack + s.p.stampsBack + seqBack + wire.Padded(a.Table.ValueBytes())
		if len(req)+lockItem > room || answer+more > room {
			if answer == status {
				s.tx.Fail(fmt.Errorf("record of table %s: an answer with it has %d bytes, a message carries %d; use smaller records", a.Table.Name, status+more, room))
				a.State, a.asked = txn.Missing, false
				return
			}
			break
		}
		item := uint64(a.Table.ID)<<56 | a.Key
		if a.want == exclusive {
			item |= wantsWrite
		}
		req = wire.Add64(req, item)
		answer += more
		last = i
		if a.want != none {
			s.touches(int(m))
		}
	}
	rep := s.c.Call(int(m), s.p.rpc.lock, req)
	for _, a := range s.set[from : last+1] {
		if a.asked && a.rep == nil && a.Machine == m {
			a.rep = rep
		}
	}
}

// touches notes that a server may hold locks for the attempt.
func (s *session) touches(m int) {
	if !slices.Contains(s.asked, m) {
		s.asked = append(s.asked, m)
	}
}

// accept takes the records of an answer, or that one of them was refused.
func (s *session) accept(rep *r2.Reply) {
	b, n := rep.B, uint64(0)
	if len(b) < status {
		s.tx.Fail(fmt.Errorf("answer to a lock request of %d bytes", len(b)))
		b = zero
	}
	was := wire.Get64(b)
	b = b[status:]
	for _, a := range s.set {
		if !a.asked || a.rep != rep {
			continue
		}
		a.rep, a.asked, a.State = nil, false, txn.Wanted
		switch {
		case was&wasGranted == 0:
			if n == was>>1 && s.tx.Failed() == nil {
				s.conflict(a)
			}
		case wire.Get64(b)&foundBit == 0:
			s.tx.Lacks(&a.Access, uint32(wire.Get64(b)))
			b = b[lockBack:]
		default:
			b = s.found(a, b)
		}
		n++
	}
}

// found takes a record that is there, or that has left a tombstone, and returns what follows it in the answer.
func (s *session) found(a *access, b []byte) (rest []byte) {
	a.held = a.want
	s.locked(a.held)
	a.ref, b = store.Ref(wire.Get64(b)&^foundBit), s.readStamps(a, b[lockBack:])
	a.seq, b = wire.Get64(b), b[seqBack:]
	version := a.Table.Version(a.Key, a.ref, a.seq)
	if a.tomb = s.p.h.Tomb(a.seq); a.tomb {
		s.tx.LacksAt(&a.Access, version)
		return b
	}
	n := a.Table.ValueBytes()
	s.tx.Got(&a.Access, b[:n:n], version)
	return b[wire.Padded(n):]
}

// locked notes when the attempt has its first lock.
func (s *session) locked(m mode) {
	if s.lockedAt == 0 && m != none {
		s.lockedAt = s.c.Now() // measured: how long locks are held
	}
}

// Write takes the exclusive lock of a record that was read under a shared one, or none.
func (s *session) Write(x *txn.Access) error {
	a := s.accessOf(x)
	if a.State != txn.Fetched && !a.tomb || a.held == exclusive {
		return nil
	}
	s.tx.Enter(txn.Lock, s.cfg.mode(txn.Lock))
	s.c.Compute(s.p.program.Upgrade)
	a.Table.Touch(a.Key)
	s.touches(int(a.Machine))
	rep := s.c.Call(int(a.Machine), s.p.rpc.lock, wire.Add64(s.head(upgradeBit), uint64(a.Table.ID)<<56|wantsWrite|a.Key))
	if err := s.c.Wait(); err != nil {
		return s.tx.Fail(err)
	}
	b := rep.B
	if len(b) < status+lockBack+s.p.stampsBack+seqBack || wire.Get64(b)&wasGranted == 0 || wire.Get64(b[status:]) != uint64(a.ref)|foundBit {
		return s.conflict(a) // refused; or, without a lock until now, it is another one meanwhile
	}
	if b = s.readStamps(a, b[status+lockBack:]); wire.Get64(b) != a.seq {
		return s.conflict(a) // likewise
	}
	a.held = exclusive
	s.locked(exclusive)
	return nil
}
