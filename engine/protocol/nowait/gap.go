package nowait

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// What is locked in place of a record that is missing is its gap, see coordinator.Gaps; in mode E a transaction that has found nothing
// has it alone. The word is locked after
// the lookup, so the version of the gap is read once more, under the lock: it has to be what the lookup
// saw, else the record is looked up again.

// Audit looks at the locks of gaps at rest.
func (p *protocol) Audit(bad func(text string)) {
	for m := range p.DB.Servers() {
		p.gaps.Audit(m, holders, bad)
	}
}

// lacks takes that a record is missing: its gap is to be locked.
func (s *session) lacks(a *access, gap store.Location) {
	a.Loc, a.Located = gap, false
	if a.Table.Fixed {
		s.Tx.Lacks(&a.Access.Access, uint32(gap.Ref))
		return
	}
	a.State, a.by = txn.Asked, byGap
}

// lockGaps locks the gaps of what is missing, from index first on. One after the other: two of them may
// have one lock.
func (s *session) lockGaps(first int) {
	for _, a := range s.Set[first:] {
		if a.State == txn.Asked && a.by == byGap && !s.stops() {
			s.lockGap(a)
		}
	}
}

// gapOf is the attempt's lock of a gap, which it may not hold yet.
func (s *session) gapOf(gap r2.Loc) *heldLock {
	at := s.p.gaps.Of(gap)
	for i := range s.gaps {
		if h := &s.gaps[i]; h.at == at {
			return h
		}
	}
	s.gaps = append(s.gaps, heldLock{at: at})
	return &s.gaps[len(s.gaps)-1]
}

// lockGap locks the gap of a record that is missing.
func (s *session) lockGap(a *access) {
	want := shared
	if a.ToWrite || s.cfg.Mode == Exclusive {
		want = exclusive
	}
	h := s.gapOf(a.Loc.Loc)
	if h.held >= want {
		want = none // it is held already
	}
	version, ok := uint32(0), false
	switch {
	case s.cfg.Lock == OneSided:
		version, ok = s.lockGapByRNIC(a, h, want)
	case s.isLocal(a):
		if ok = lockWord(s.C, h.at.Addr, h.held, want); ok {
			h.held = max(h.held, want)
		}
		version = uint32(s.C.Load64(a.Loc.Addr))
	default:
		version, ok = s.lockGapByRPC(a, h, want)
	}
	switch {
	case s.Tx.Failed() != nil:
	case !ok:
		s.Conflict(&a.Access)
	case version != uint32(a.Loc.Ref):
		a.State = txn.Wanted // something came or went: look again
	default:
		s.Tx.Lacks(&a.Access.Access, version)
	}
}

// lockGapByRNIC posts {CAS lock, READ version}; for a shared lock it READs the word first.
func (s *session) lockGapByRNIC(a *access, h *heldLock, want lock) (version uint32, ok bool) {
	expect := s.expectOf(h)
	if want == shared {
		l := s.C.List(h.at, true)
		b := l.Read(h.at, 8)
		l.Post()
		if !s.arrived() {
			return 0, false
		}
		s.C.TouchDMA(b.Addr, 8)
		if expect = wire.Get64(b.B); expect&exclusiveBit != 0 {
			return 0, false
		}
	}
	l := s.C.List(h.at, true)
	if want != none {
		s.addLock(l, h, want, expect)
	}
	b := l.Read(a.Loc.Loc, 8)
	l.Post()
	if !s.arrived() {
		return 0, false
	}
	s.C.TouchDMA(b.Addr, 8)
	return uint32(wire.Get64(b.B)), want == none || s.wonLock(h, want)
}

// expectOf is what the word of a lock is before the attempt has it exclusively.
func (s *session) expectOf(h *heldLock) uint64 {
	if h.held == shared {
		return oneHolder
	}
	return 0
}

// addLock adds the CAS that locks a word.
func (s *session) addLock(l *r2.List, h *heldLock, want lock, expect uint64) {
	to := expect + oneHolder
	if want == exclusive {
		to = exclusiveBit
	}
	h.expect = expect
	b := l.CAS(h.at, expect, to)
	h.found, h.buf = b.B, b.Addr
}

// wonLock looks at the answer to it.
func (s *session) wonLock(h *heldLock, want lock) bool {
	if wire.Get64(h.found) != h.expect {
		return false
	}
	h.held = want
	return true
}

// lockWord locks the word of a gap of the machine, of which another transaction has a lock already.
func lockWord(c *r2.Co, word r2.Addr, has, want lock) bool {
	expect, to := uint64(0), exclusiveBit
	switch {
	case want == none:
		return true
	case want == shared:
		if expect = c.Load64(word); expect&exclusiveBit != 0 {
			return false
		}
		to = expect + oneHolder
	case has == shared:
		expect = oneHolder
	}
	return c.LocalCAS(word, expect, to) == expect
}

// lockGapByRPC asks the participant.
func (s *session) lockGapByRPC(a *access, h *heldLock, want lock) (version uint32, ok bool) {
	req := wire.Add64(s.C.Request(), uint64(h.at.Addr)|uint64(h.held)<<60|uint64(want)<<62)
	req = wire.Add64(req, uint64(a.Loc.Addr))
	rep := s.C.Call(int(a.Machine), s.p.rpc.gap, req)
	if !s.arrived() {
		return 0, false
	}
	word := wire.Get64(rep.B)
	if ok = word&gapGranted != 0; ok {
		h.held = max(h.held, want)
	}
	return uint32(word), ok
}

// serveGap locks a gap and reads its version.
func (p *protocol) serveGap(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	word, answer := wire.Get64(req), uint64(0)
	if lockWord(c, r2.Addr(word&addrMask), lock(word>>60&3), lock(word>>62)) {
		answer = gapGranted
	}
	wire.Put64(rep, answer|uint64(uint32(c.Load64(r2.Addr(wire.Get64(req[8:]))))))
	return gapBack
}
