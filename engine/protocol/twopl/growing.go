package twopl

import (
	"slices"

	"drtmx/engine/coordinator"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The growing phase, on the coordinator: each record is locked when the body first asks for it, and read under the lock. A
// server gets one message with all of its records, its own machine's among them, and answers when it has all locks.

// Fetch locks and reads the records of the set from index first on.
func (s *session) Fetch(first int, parallel bool) error {
	s.enterGrowing(parallel)
	s.C.Compute(s.p.Program.Growing)
	for i := first; i < len(s.Set) && s.Tx.Failed() == nil; i++ {
		if s.Set[i].State == txn.Wanted {
			s.begin(s.Set[i])
		}
	}
	s.collect()
	return s.Tx.Failed()
}

// Start begins to lock the newest record and does not wait.
func (s *session) Start(*txn.Access) {
	s.enterGrowing(true)
	s.begin(s.Set[len(s.Set)-1])
}

// enterGrowing begins the phase. Records that are announced together are locked together.
func (s *session) enterGrowing(parallel bool) {
	mode := s.cfg.mode(txn.Lock)
	mode.Outstanding = parallel && (mode.Outstanding || s.cfg.Speculative)
	s.Tx.Enter(txn.Lock, mode)
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
	s.C.Compute(s.p.Program.GrowingRecord)
	if a.want = s.wants(a); a.want != none {
		a.Table.Audit.Touch(s.C.Machine(), a.Key) // its lock may be left behind
		s.p.DB.Locking(s.C.Machine(), int(a.Machine) == s.C.Machine())
	}
	if a.Key > coordinator.LockKey {
		s.Tx.Lacks(&a.Access.Access, 0)
		return
	}
	a.State = txn.Asked
}

// collect sends what is to be asked, and takes all answers.
func (s *session) collect() {
	s.AskAll(0, s.p.rpc.lock, func() []byte { return s.head(0) }, coordinator.LockStatus, func(a *access) bool { return a.State == txn.Asked && a.Rep == nil }, s.lockItem, "use smaller records")
	if err := s.C.Wait(); err != nil {
		s.Tx.Fail(err)
		return
	}
	for _, a := range s.Set {
		if a.State == txn.Asked && a.Rep != nil {
			s.TakeLocks(a.Rep, s.answered)
		}
	}
}

// head is that of a message that asks for locks.
func (s *session) head(flags uint64) []byte {
	if s.cfg.Isolation == ReadCommitted {
		flags |= lessReads
	}
	return wire.Add64(wire.Add64(s.C.Request(), s.attempt), s.age<<lessBits|flags)
}

// lockItem is what a message has of a record, whose server may then hold a lock.
func (s *session) lockItem(a *access) (word uint64, answer int) {
	if word = a.Name(); a.want == exclusive {
		word |= coordinator.WantsWrite
	}
	if a.want != none {
		s.touches(int(a.Machine))
	}
	return word, lockBack + s.p.stampsBack + seqBack + wire.Padded(a.Table.ValueBytes())
}

// touches notes that a server may hold locks for the attempt.
func (s *session) touches(m int) {
	if !slices.Contains(s.asked, m) {
		s.asked = append(s.asked, m)
	}
}

// answered takes a record of an answer, or that there is none or a tombstone, and returns what follows.
func (s *session) answered(a *access, b []byte) (rest []byte) {
	if a.row = wire.Get64(b); a.row&coordinator.Found == 0 {
		s.Tx.Lacks(&a.Access.Access, uint32(a.row))
		return b[lockBack:]
	}
	a.held = a.want
	s.locked(a.held)
	a.Loc.Ref, b = store.Ref(a.row&^coordinator.Found), s.readStamps(a, b[lockBack:])
	a.seq, b = wire.Get64(b), b[seqBack:]
	version := a.Table.Audit.Version(s.C.Machine(), a.Key, a.Loc.Ref, a.seq)
	if a.Tomb = s.p.H.Tomb(a.seq); a.Tomb {
		s.Tx.LacksAt(&a.Access.Access, version)
		return b
	}
	n := a.Table.ValueBytes()
	s.Tx.Got(&a.Access.Access, b[:n:n], version)
	return b[wire.Padded(n):]
}

// locked notes when the attempt has its first lock.
func (s *session) locked(m mode) {
	if s.LockedAt == 0 && m != none {
		s.LockedAt = s.C.Now() // measured: how long locks are held
	}
}

// Write takes the exclusive lock of a record that was read under a shared one, or none, and of the gap of one that was found missing under
// none. What was read without a lock is as it was.
func (s *session) Write(x *txn.Access) error {
	a := s.Own(x)
	here := a.State == txn.Fetched || a.Tomb
	if a.held == exclusive || !here && !s.lacksUnlocked(a) {
		return nil
	}
	s.Tx.Enter(txn.Lock, s.cfg.mode(txn.Lock))
	s.C.Compute(s.p.Program.Upgrade)
	a.Table.Audit.Touch(s.C.Machine(), a.Key)
	s.touches(int(a.Machine))
	rep := s.C.Call(int(a.Machine), s.p.rpc.lock, wire.Add64(s.head(upgradeBit), a.Name()|coordinator.WantsWrite))
	if err := s.C.Wait(); err != nil {
		return s.Tx.Fail(err)
	}
	b := rep.B
	if len(b) < coordinator.LockStatus+lockBack || wire.Get64(b)&coordinator.LocksGranted == 0 || wire.Get64(b[coordinator.LockStatus:]) != a.row {
		return s.Conflict(&a.Access) // refused; or, without a lock until now, it is another one meanwhile
	}
	if here {
		if b = s.readStamps(a, b[coordinator.LockStatus+lockBack:]); wire.Get64(b) != a.seq {
			return s.Conflict(&a.Access) // likewise
		}
	}
	a.held = exclusive
	s.locked(exclusive)
	return nil
}

// lacksUnlocked says that a record which is to be inserted was looked for without a lock, and not found.
func (s *session) lacksUnlocked(a *access) bool {
	return s.cfg.Isolation == ReadCommitted && a.State == txn.Missing && !a.Blind && a.want == none
}
