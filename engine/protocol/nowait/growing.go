package nowait

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The growing phase: each record is locked when the body first asks for it, and read under the
// lock. This file has what the coordinator's RNIC and CPU do; message.go has the RPCs.

// request is what a record waits for.
type request uint8

const (
	byRPC   request = iota // the answer of an RPC will tell
	byIndex                // a READ of the index is under way
	byWord                 // a READ of the lock word is under way
	byLock                 // a CAS of the lock word and a READ of the value are under way
	byValue                // a READ of a constant value is under way
	byGap                  // nothing yet: it is missing, and its gap is not locked
)

// lookups is how often a record is looked up whose location turns out to be stale; then the
// attempt aborts.
const lookups = 8

// Fetch locks and reads the records of the set from index first on.
func (s *session) Fetch(first int, parallel bool) error {
	outstanding := s.enterGrowing(parallel)
	s.C.Compute(s.p.Program.Growing)
	for range lookups {
		for i := first; i < len(s.Set) && s.Tx.Failed() == nil; i++ {
			a := s.Set[i]
			if a.State != txn.Wanted {
				continue
			}
			s.begin(a)
			for !outstanding && s.arrived() && s.accept(a) { // each request has waited for itself
			}
		}
		s.askAll(first)
		s.Collect(first, s.accept)
		s.lockGaps(first)
		if err := s.Tx.Failed(); err != nil {
			return err
		}
		var left *access
		for _, a := range s.Set[first:] {
			if a.State == txn.Wanted {
				left = a
			}
		}
		if left == nil {
			return nil
		}
	}
	return s.Tx.Fail(txn.ErrAborted)
}

// Start begins to lock the newest record and does not wait.
func (s *session) Start(*txn.Access) {
	s.enterGrowing(true)
	s.begin(s.Set[len(s.Set)-1])
}

// enterGrowing begins the phase. Records that are announced together are locked together.
func (s *session) enterGrowing(parallel bool) (outstanding bool) {
	mode := s.cfg.Posts(txn.Lock, s.cfg.Lock)
	mode.Outstanding = parallel && (mode.Outstanding || s.cfg.Speculative)
	s.Tx.Enter(txn.Lock, mode)
	return mode.Outstanding
}

// arrived waits for what is under way.
func (s *session) arrived() bool {
	err := s.C.Wait()
	if err != nil {
		s.Tx.Fail(err)
	}
	return err == nil
}

// isLocal says that a record is on the coroutine's machine.
func (s *session) isLocal(a *access) bool { return s.IsOwn(int(a.Machine)) }

// stops says that no more locks are taken: the attempt has failed.
func (s *session) stops() bool { return s.over || s.Tx.Failed() != nil }

// wants is the lock that an access takes.
func (s *session) wants(a *access) lock {
	switch {
	case a.Table.Constant:
		return none
	case a.ToWrite || s.cfg.Mode == Exclusive:
		return exclusive
	}
	return shared
}

// begin posts the first request for a record, or takes it by the CPU, or leaves it to askAll.
func (s *session) begin(a *access) {
	s.C.Compute(s.p.Program.GrowingRecord)
	if a.want = s.wants(a); a.want != none {
		a.Table.Audit.Touch(s.C.Machine(), a.Key) // its lock may be left behind
		s.p.DB.Locking(s.C.Machine(), s.isLocal(a))
	}
	switch {
	case a.Key > coordinator.LockKey:
		s.Tx.Lacks(&a.Access.Access, 0)
		return
	case s.isLocal(a):
		if !s.find(a) {
			return
		}
		if s.cfg.Lock == TwoSided || a.want == none {
			s.fetchLocal(a)
			return
		}
	case s.cfg.Lock == TwoSided:
		a.State, a.by = txn.Asked, byRPC
		return
	case !a.Located && s.cfg.CacheEnabled && a.Table.Cached:
		if loc, ok := s.cache.Get(s.C, a.Table.Store, a.Key); ok {
			s.locate(a, loc)
		}
	}
	if a.Located {
		s.request(a)
		return
	}
	a.Look, a.State, a.by = a.Table.Store.Search(s.C, a.Key, a.Look), txn.Asked, byIndex
}

// find looks up a record of the own machine.
func (s *session) find(a *access) bool {
	if a.Located {
		return true
	}
	loc, ok, err := a.Table.Store.LookupLocal(s.C, a.Key)
	if err != nil {
		s.Tx.Fail(err)
	}
	if !ok {
		s.lacks(a, loc)
		return false
	}
	s.locate(a, loc)
	return true
}

// fetchLocal locks and reads a record of the own machine by the CPU. A constant one is only read.
func (s *session) fetchLocal(a *access) {
	value := s.Tx.Alloc(a.Table.ValueBytes())
	if a.Table.UnorderedReads {
		copy(value, s.C.Peek(a.Loc.Addr+valueAt, len(value)))
		s.got(a, value)
		return
	}
	if word, ok := lockLocal(s.C, a.Loc, a.want, value); !ok {
		s.refused(a, word)
		return
	}
	s.got(a, value)
}

// request posts what gets a record whose location is known.
func (s *session) request(a *access) {
	switch a.want {
	case none:
		b := s.C.Read(valueOf(a.Loc), a.Table.ValueBytes())
		a.value, a.buf, a.State, a.by = b.B, b.Addr, txn.Asked, byValue
	case exclusive:
		s.postLock(a, freeWord(a.Loc.Ref))
	default:
		a.State, a.by = txn.Asked, byWord
		l := s.C.List(a.Loc.Loc, true)
		b := l.Read(a.at, 8)
		a.found, a.buf = b.B, b.Addr
		l.Post()
	}
}

// postLock asks for lock and value.
func (s *session) postLock(a *access, expect uint64) {
	a.expect, a.State, a.by = expect, txn.Asked, byLock
	s.lockThenRead(a)
}

func (s *session) addCAS(l *r2.List, a *access) {
	a.found = l.CAS(a.at, a.expect, a.want.withLock(a.expect)).B
}

func (s *session) addValue(l *r2.List, a *access) {
	b := l.Read(valueOf(a.Loc), a.Table.ValueBytes())
	a.value, a.buf = b.B, b.Addr
}

// lockThenRead posts {CAS, READ value}. They execute in order, so the value is that under the lock.
func (s *session) lockThenRead(a *access) {
	l := s.C.List(a.Loc.Loc, true)
	s.addCAS(l, a)
	s.addValue(l, a)
	l.Post()
}

// accept takes what came back for one record. more says that it posted another request.
func (s *session) accept(a *access) (more bool) {
	if a.State != txn.Asked {
		return false
	}
	switch a.by {
	case byIndex:
		return s.acceptLookup(a)
	case byWord:
		return s.acceptWord(a)
	case byLock:
		s.acceptLock(a)
	case byValue:
		s.C.TouchDMA(a.buf, len(a.value))
		s.got(a, a.value)
	default:
		if a.Rep != nil {
			s.TakeLocks(a.Rep, s.answered)
		}
	}
	return false
}

// acceptLookup goes one step further in the index, and at its end to the row.
func (s *session) acceptLookup(a *access) (more bool) {
	if s.stops() {
		a.State = txn.Wanted
		return false
	}
	loc, state, err := a.Look.Next(s.C)
	switch state {
	case store.More:
		return true
	case store.Found:
		s.locate(a, loc)
		if s.cfg.CacheEnabled && a.Table.Cached {
			s.cache.Put(s.C, a.Table.Store, a.Key, loc.Ref)
		}
		s.request(a)
		return true
	case store.Failed:
		s.Tx.Fail(err)
	}
	s.lacks(a, loc)
	return false
}

// locate notes where a record is.
func (s *session) locate(a *access, loc store.Location) {
	a.Loc, a.Located, a.at, a.free = loc, true, loc.Loc, freeWord(loc.Ref)
}

// acceptWord asks for a shared lock on top of the word that came.
func (s *session) acceptWord(a *access) (more bool) {
	word := wire.Get64(a.found)
	s.C.TouchDMA(a.buf, len(a.found))
	a.State = txn.Wanted
	switch {
	case s.stops():
		return false
	case !holds(word, a.Loc.Ref) || word&exclusiveBit != 0:
		s.refused(a, word)
		return false
	}
	s.postLock(a, word)
	return true
}

// acceptLock takes a value that was read under a lock, if the lock was won.
func (s *session) acceptLock(a *access) {
	s.C.TouchDMA(a.buf, len(a.value)) // what the CAS found is beside it
	a.State = txn.Wanted
	if found := wire.Get64(a.found); found != a.expect {
		s.refused(a, found)
		return
	}
	s.got(a, a.value)
}

// got has a value under its lock.
func (s *session) got(a *access, value []byte) {
	a.held, a.found, a.value = a.want, nil, nil
	if s.LockedAt == 0 && a.held != none {
		s.LockedAt = s.C.Now()
	}
	s.Tx.Got(&a.Access.Access, value, s.Tx.Latest(&a.Access.Access, a.Loc.Ref))
}

// refused deals with a lock word that is not what it should be: the location is stale and the record
// stays wanted, or another transaction holds it.
func (s *session) refused(a *access, word uint64) {
	a.State = txn.Wanted
	if holds(word, a.Loc.Ref) {
		s.Conflict(&a.Access)
		return
	}
	if a.Table.Cached && !s.isLocal(a) {
		s.cache.Invalidate(s.C, a.Table.Store, a.Key)
	}
	a.Located = false
}

// Write takes the exclusive lock of a record that was read under a shared one: no other transaction may share it.
func (s *session) Write(x *txn.Access) error {
	a := s.Own(x)
	if a.held != shared {
		return nil
	}
	s.Tx.Enter(txn.Lock, s.cfg.Posts(txn.Lock, s.cfg.Lock))
	s.C.Compute(s.p.Program.Upgrade)
	switch {
	case s.cfg.Lock == TwoSided && s.isLocal(a):
		if !upgradeLocal(s.C, a.Loc.Addr) {
			return s.Conflict(&a.Access)
		}
	case s.cfg.Lock == TwoSided:
		rep := s.C.Call(int(a.Machine), s.p.rpc.upgrade, wire.Add64(s.C.Request(), uint64(a.Loc.Addr)))
		if !s.arrived() {
			return s.Tx.Failed()
		}
		if !coordinator.SaysYes(rep) {
			return s.Conflict(&a.Access)
		}
	default:
		found := s.C.CAS(a.at, a.free+oneHolder, a.free|exclusiveBit)
		if !s.arrived() {
			return s.Tx.Failed()
		}
		s.C.TouchDMA(found.Addr, len(found.B))
		if wire.Get64(found.B) != a.free+oneHolder {
			return s.Conflict(&a.Access)
		}
	}
	a.held = exclusive
	return nil
}
