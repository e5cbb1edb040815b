package nowait

import (
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
	s.c.Compute(s.p.program.Growing)
	for range lookups {
		for i := first; i < len(s.set) && s.tx.Failed() == nil; i++ {
			a := s.set[i]
			if a.State != txn.Wanted {
				continue
			}
			s.begin(a)
			for !outstanding && s.arrived() && s.accept(a) { // each request has waited for itself
			}
		}
		s.askAll(first)
		s.collect(first)
		s.lockGaps(first)
		if err := s.tx.Failed(); err != nil {
			return err
		}
		var left *access
		for _, a := range s.set[first:] {
			if a.State == txn.Wanted {
				left = a
			}
		}
		if left == nil {
			return nil
		}
	}
	return s.tx.Fail(txn.ErrAborted)
}

// Start begins to lock the newest record and does not wait.
func (s *session) Start(*txn.Access) {
	s.enterGrowing(true)
	s.begin(s.set[len(s.set)-1])
}

// enterGrowing begins the phase. Records that are announced together are locked together.
func (s *session) enterGrowing(parallel bool) (outstanding bool) {
	mode := s.cfg.mode(txn.Lock, s.cfg.Lock)
	mode.Outstanding = parallel && (mode.Outstanding || s.cfg.Speculative)
	s.tx.Enter(txn.Lock, mode)
	return mode.Outstanding
}

// arrived waits for what is under way.
func (s *session) arrived() bool {
	err := s.c.Wait()
	if err != nil {
		s.tx.Fail(err)
	}
	return err == nil
}

// collect waits for the answers about records from index first on, and for those to the requests
// that follow from them.
func (s *session) collect(first int) {
	for more := true; more && s.arrived(); {
		more = false
		for _, a := range s.set[first:] {
			if s.accept(a) {
				more = true
			}
		}
	}
}

// stops says that no more locks are taken: the attempt has failed.
func (s *session) stops() bool { return s.over || s.tx.Failed() != nil }

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
	s.c.Compute(s.p.program.GrowingRecord)
	if a.want = s.wants(a); a.want != none {
		a.Table.Touch(a.Key) // its lock may be left behind
		s.p.db.Locking(s.isLocal(a))
	}
	switch {
	case a.Key > keyMask:
		s.tx.Lacks(&a.Access, 0)
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
	case !a.located && s.cfg.CacheEnabled && a.Table.Cached:
		if loc, ok := s.cache.Get(s.c, a.Table.Store, a.Key); ok {
			s.locate(a, loc)
		}
	}
	if a.located {
		s.request(a)
		return
	}
	a.look, a.State, a.by = a.Table.Store.Search(s.c, a.Key, a.look), txn.Asked, byIndex
}

// find looks up a record of the own machine.
func (s *session) find(a *access) bool {
	if a.located {
		return true
	}
	loc, ok, err := a.Table.Store.LookupLocal(s.c, a.Key)
	if err != nil {
		s.tx.Fail(err)
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
	value := s.tx.Alloc(a.Table.ValueBytes())
	if a.Table.UnorderedReads {
		copy(value, s.c.Peek(a.loc.Addr+valueAt, len(value)))
		s.got(a, value)
		return
	}
	if word, ok := lockLocal(s.c, a.loc, a.want, value); !ok {
		s.refused(a, word)
		return
	}
	s.got(a, value)
}

// request posts what gets a record whose location is known.
func (s *session) request(a *access) {
	switch a.want {
	case none:
		b := s.c.Read(at(a.loc, valueAt), a.Table.ValueBytes())
		a.value, a.buf, a.State, a.by = b.B, b.Addr, txn.Asked, byValue
	case exclusive:
		s.postLock(a, freeWord(a.loc.Ref))
	default:
		a.State, a.by = txn.Asked, byWord
		l := s.c.List(a.loc.Loc, true)
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
	b := l.Read(at(a.loc, valueAt), a.Table.ValueBytes())
	a.value, a.buf = b.B, b.Addr
}

// lockThenRead posts {CAS, READ value}. They execute in order, so the value is that under the lock.
func (s *session) lockThenRead(a *access) {
	l := s.c.List(a.loc.Loc, true)
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
		s.c.TouchDMA(a.buf, len(a.value))
		s.got(a, a.value)
	default:
		if a.rep != nil {
			s.acceptReply(a.rep)
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
	loc, state, err := a.look.Next(s.c)
	switch state {
	case store.More:
		return true
	case store.Found:
		s.locate(a, loc)
		if s.cfg.CacheEnabled && a.Table.Cached {
			s.cache.Put(s.c, a.Table.Store, a.Key, loc.Ref)
		}
		s.request(a)
		return true
	case store.Failed:
		s.tx.Fail(err)
	}
	s.lacks(a, loc)
	return false
}

// locate notes where a record is.
func (s *session) locate(a *access, loc store.Location) {
	a.loc, a.located, a.at, a.free = loc, true, at(loc, wordAt), freeWord(loc.Ref)
}

// acceptWord asks for a shared lock on top of the word that came.
func (s *session) acceptWord(a *access) (more bool) {
	word := wire.Get64(a.found)
	s.c.TouchDMA(a.buf, len(a.found))
	a.State = txn.Wanted
	switch {
	case s.stops():
		return false
	case !holds(word, a.loc.Ref) || word&exclusiveBit != 0:
		s.refused(a, word)
		return false
	}
	s.postLock(a, word)
	return true
}

// acceptLock takes a value that was read under a lock, if the lock was won.
func (s *session) acceptLock(a *access) {
	s.c.TouchDMA(a.buf, len(a.value)) // what the CAS found is beside it
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
	if s.lockedAt == 0 && a.held != none {
		s.lockedAt = s.c.Now()
	}
	s.tx.Got(&a.Access, value, s.tx.Latest(&a.Access, a.loc.Ref))
}

// refused deals with a lock word that is not what it should be: the location is stale and the record
// stays wanted, or another transaction holds it.
func (s *session) refused(a *access, word uint64) {
	a.State = txn.Wanted
	if holds(word, a.loc.Ref) {
		s.conflict(a)
		return
	}
	if a.Table.Cached && !s.isLocal(a) {
		s.cache.Invalidate(s.c, a.Table.Store, a.Key)
	}
	a.located = false
}

// Write takes the exclusive lock of a record that was read under a shared one: no other transaction may share it.
func (s *session) Write(x *txn.Access) error {
	a := s.accessOf(x)
	if a.held != shared {
		return nil
	}
	s.tx.Enter(txn.Lock, s.cfg.mode(txn.Lock, s.cfg.Lock))
	s.c.Compute(s.p.program.Upgrade)
	switch {
	case s.cfg.Lock == TwoSided && s.isLocal(a):
		if !upgradeLocal(s.c, a.loc.Addr) {
			return s.conflict(a)
		}
	case s.cfg.Lock == TwoSided:
		rep := s.c.Call(int(a.Machine), s.p.rpc.upgrade, wire.Add64(s.c.Request(), uint64(a.loc.Addr)))
		if !s.arrived() {
			return s.tx.Failed()
		}
		if len(rep.B) != 1 || rep.B[0] != replyYes {
			return s.conflict(a)
		}
	default:
		found := s.c.CAS(a.at, a.free+oneHolder, a.free|exclusiveBit)
		if !s.arrived() {
			return s.tx.Failed()
		}
		s.c.TouchDMA(found.Addr, len(found.B))
		if wire.Get64(found.B) != a.free+oneHolder {
			return s.conflict(a)
		}
	}
	a.held = exclusive
	return nil
}

// accessOf is the protocol's own part of an access.
func (s *session) accessOf(x *txn.Access) *access {
	for _, a := range s.set {
		if &a.Access == x {
			return a
		}
	}
	panic("nowait: an access that is not in the set")
}
