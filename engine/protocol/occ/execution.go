package occ

import (
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// The execution phase (§4.3.1) and the first phase of read-only transactions
// (§4.3.5): fetch the records of the read set.

// Fetch gets the records of the set from index first on. A record that is
// locked or being written is tried again, some times, with time in between. The attempt holds no lock
// yet, so under read committed it may take as long as it takes.
func (s *session) Fetch(first int, parallel bool) error {
	prim := s.enterFetch(parallel)
	s.C.Compute(s.p.Program.Execution)
	for try := 0; ; try++ {
		for _, a := range s.Set[first:] {
			if a.State == txn.Wanted {
				s.begin(a, prim)
			}
		}
		s.askAll(first)
		if err := s.Collect(first, s.accept); err != nil {
			return err
		}
		left, stale := 0, 0
		for _, a := range s.Set[first:] {
			if a.State == txn.Wanted {
				left++
				if !a.Located {
					stale++
				}
			}
		}
		switch {
		case s.Tx.Failed() != nil:
			return s.Tx.Failed()
		case left == 0:
			return nil
		case try == s.cfg.ReadRetries && !s.cfg.ReadCommitted:
			s.lockedOut(first, 0)
			return s.Tx.Fail(txn.ErrAborted)
		}
		if stale == left { // their locations are forgotten: they are not locked
			continue
		}
		s.lockedOut(first, s.cfg.ReadRetryNS*r2.Nanosecond)
		s.C.Sleep(s.cfg.ReadRetryNS * r2.Nanosecond)
	}
}

// fetching is the phase in which the attempt fetches, and its primitive.
func (s *session) fetching() (metrics.Phase, Prim) {
	if s.Tx.ReadOnly() {
		return txn.RORead, s.cfg.RORead
	}
	return txn.Execution, s.cfg.Execution
}

// enterFetch begins the phase that fetches and returns its primitive. READs get
// the optimisations of READs, also in a hybrid phase.
func (s *session) enterFetch(parallel bool) Prim {
	phase, prim := s.fetching()
	mode := s.cfg.Posts(phase, prim)
	if parallel {
		mode.Outstanding = s.cfg.Opt[phase].Outstanding || s.cfg.Speculative || s.cfg.batches(phase, prim)
	}
	s.reads = mode
	s.reads.Doorbell = s.cfg.Posts(phase, OneSided).Doorbell
	s.Tx.Enter(phase, mode)
	return prim
}

// begin posts the first READ for a record, or reads it by the CPU, or leaves
// it to askAll.
func (s *session) begin(a *access, prim Prim) {
	s.C.Compute(s.p.Program.ExecutionRecord)
	switch {
	case int(a.Machine) == s.C.Machine():
		s.readLocal(a)
		return
	case prim == TwoSided:
		a.State, a.by = txn.Asked, byRPC
		return
	case a.Located:
	case s.cfg.CacheEnabled && a.Table.Cached:
		a.Loc, a.Located = s.cache.Get(s.C, a.Table.Store, a.Key)
	}
	switch {
	case a.Located:
		s.readRow(a)
	case prim == Hybrid:
		a.State, a.by = txn.Asked, byRPC
	default:
		a.Look, a.State, a.by = a.Table.Store.Search(s.C, a.Key, a.Look), txn.Asked, byIndex
	}
}

func (s *session) readRow(a *access) {
	before := s.C.Using(s.reads)
	if s.cfg.ReadCommitted {
		s.postRowTwice(a)
	} else {
		s.postRow(a)
	}
	s.C.Using(before)
	a.State, a.by = txn.Asked, byRow
}

func (s *session) postRow(a *access) {
	b := s.C.Read(a.Loc.Loc, a.Table.RowBytes)
	a.row, a.buf = b.B, b.Addr
}

// readLocal reads a record of the own machine by CPU loads.
func (s *session) readLocal(a *access) {
	if !a.Located {
		loc, ok, err := a.Table.Store.LookupLocal(s.C, a.Key)
		if err != nil {
			s.Tx.Fail(err)
		}
		if !ok {
			s.lacks(a, loc)
			return
		}
		a.Loc, a.Located = loc, true
	}
	var row []byte
	if a.Table.UnorderedReads || a.Insert && s.p.MV == nil {
		row = s.C.Peek(a.Loc.Addr, a.Table.RowBytes)
	} else {
		row = s.C.Load(a.Loc.Addr, a.Table.RowBytes)
	}
	if a.Loc.Stale(s.p.H.StampOf(row)) {
		a.Located = false // deleted between the lookup and now: stays wanted
		return
	}
	if !s.readable(row) {
		return // stays wanted
	}
	value := s.Tx.Alloc(len(row) - s.p.H.Bytes)
	copy(value, s.p.H.Value(row))
	a.direct = true
	s.got(a, value, row)
}

// readable says that a row holds a record that is neither being written nor locked: the switch of the released code that ignores aborts reads
// past locks.
func (s *session) readable(row []byte) bool {
	seq := s.p.H.StampOf(row)
	return record.Stable(seq) && record.Live(seq) && (s.p.H.LockOf(row) == 0 || s.cfg.IgnoresAborts)
}

// got takes a record, as its row says, and its value.
func (s *session) got(a *access, value, row []byte) {
	a.seq = s.p.H.StampOf(row)
	if s.p.MV != nil && s.gotVersion(a, row) {
		return
	}
	s.Tx.Got(&a.Access.Access, value, a.Table.Audit.Version(s.C.Machine(), a.Key, a.Loc.Ref, a.seq))
}

// lacks takes that a record is missing, of which the gap was seen.
func (s *session) lacks(a *access, gap store.Location) {
	a.Loc, a.gap, a.direct = gap, uint32(gap.Ref), gap.Ref&store.Unsettled == 0
	s.Tx.Lacks(&a.Access.Access, a.gap)
}

// forgetStale forgets a location whose row has a sequence, if it is stale.
func (s *session) forgetStale(a *access, seq uint64) {
	if a.Loc.Stale(seq) && a.Table.Cached && int(a.Machine) != s.C.Machine() {
		s.cache.Invalidate(s.C, a.Table.Store, a.Key)
	}
}

// askAll asks other machines for records.
func (s *session) askAll(first int) {
	s.AskAll(first, s.p.rpc.fetch, s.C.Request, 0, (*access).unasked, func(a *access) (word uint64, answer int) {
		return a.Name(), fetchHead + wire.Padded(a.Table.RowBytes)
	}, "use one-sided execution")
}

// unasked says that a record waits for an RPC that is not sent yet.
func (a *access) unasked() bool { return a.State == txn.Asked && a.by == byRPC && a.Rep == nil }

// accept takes what came back for one record. more says that it posted another
// request.
func (s *session) accept(a *access) (more bool) {
	if a.State != txn.Asked {
		return false
	}
	switch a.by {
	case byIndex:
		return s.acceptLookup(a)
	case byRow:
		s.acceptRead(a)
	default:
		s.acceptReply(a)
	}
	return false
}

// acceptLookup goes one step further in the index, and at its end to the row.
func (s *session) acceptLookup(a *access) (more bool) {
	loc, state, err := a.Look.Next(s.C)
	switch state {
	case store.More:
		return true
	case store.Found:
		a.Loc, a.Located = loc, true
		if s.cfg.CacheEnabled && a.Table.Cached {
			s.cache.Put(s.C, a.Table.Store, a.Key, loc.Ref)
		}
		s.readRow(a)
		return true
	case store.Failed:
		s.Tx.Fail(err)
	}
	s.lacks(a, loc)
	return false
}

// acceptRead takes a row that a READ fetched, if it was not locked or being written. A
// torn row may slip through: its sequence is then older than its value and
// validation rejects it.
func (s *session) acceptRead(a *access) {
	row := a.row
	a.row, a.State = nil, txn.Wanted
	s.C.TouchDMA(a.buf, len(row))
	if seq := s.p.H.StampOf(row); a.Loc.Stale(seq) {
		// The row holds another record by now, or none.
		s.forgetStale(a, seq)
		a.Located = false
		return
	}
	if s.readable(row) && s.keptSequence(a, row) {
		a.direct = record.OneLine(uint64(a.Loc.Addr), a.Table.RowBytes)
		s.got(a, s.p.H.Value(row), row)
	}
}

// lockedOut notes that records from index first on could not be read, and that the transaction
// tries again after a pause, or if 0 gives up. A record whose cached location was stale is none.
func (s *session) lockedOut(first int, pause r2.Time) {
	for _, a := range s.Set[first:] {
		if a.State == txn.Wanted && a.Located {
			s.Tx.Met(&a.Access.Access, pause)
		}
	}
	s.Tx.Paused(pause)
}

// acceptReply takes the next row of an RPC's reply.
func (s *session) acceptReply(a *access) {
	b := a.Rep.B
	if len(b) < fetchHead || wire.Get64(b)&foundBit == 0 {
		if len(b) < fetchHead {
			s.Tx.Fail(fmt.Errorf("fetch reply of machine %d ends early", a.Machine))
			b = zero
		}
		a.Rep.B, a.Rep = b[fetchHead:], nil
		s.lacks(a, store.Location{Loc: a.Table.Store.Gap(a.Key), Ref: store.Ref(wire.Get64(b))})
		return
	}
	n := fetchHead + wire.Padded(a.Table.RowBytes)
	row := b[fetchHead : fetchHead+a.Table.RowBytes]
	a.Loc, a.Located = a.Table.Store.Location(a.Key, store.Ref(wire.Get64(b)&^foundBit)), true
	a.Rep.B, a.Rep, a.State = b[n:], nil, txn.Wanted
	// "Always refill the cache" (§4.3.1): a miss does, though an RPC has answered it.
	if _, prim := s.fetching(); prim != TwoSided && s.cfg.CacheEnabled && a.Table.Cached {
		s.cache.Put(s.C, a.Table.Store, a.Key, a.Loc.Ref)
	}
	switch {
	case a.Loc.Stale(s.p.H.StampOf(row)):
		a.Located = false
	case s.readable(row):
		a.direct = true
		s.got(a, s.p.H.Value(row), row)
	}
}

// serveFetch looks records up and returns address and row of each. The time of Table
// 4-2 is that of a message, see Config.ChargePerRecord.
func (p *protocol) serveFetch(c *r2.Co, from r2.Peer, req, rep []byte) int {
	cycles := p.costs.Execution
	if p.Cfg.ChargePerRecord {
		cycles *= len(req) / fetchItem
	}
	chargeHandler(c, cycles)
	n := 0
	for ; len(req) >= fetchItem; req = req[fetchItem:] {
		t, key := p.Named(wire.Get64(req))
		loc, ok, err := t.Store.LookupLocal(c, key)
		if err != nil {
			c.Fail(fmt.Errorf("occ: fetch: %w", err))
		}
		if !ok {
			wire.Put64(rep[n:], uint64(loc.Ref))
			n += fetchHead
			continue
		}
		wire.Put64(rep[n:], uint64(loc.Ref)|foundBit)
		copy(rep[n+fetchHead:], c.Load(loc.Addr, t.RowBytes))
		n += fetchHead + wire.Padded(t.RowBytes)
	}
	return len(padded(rep[:n], p.costs.Payload.Execution))
}
