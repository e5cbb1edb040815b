package occ

import (
	"fmt"

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
	s.c.Compute(s.p.program.execution)
	for try := 0; ; try++ {
		for _, a := range s.set[first:] {
			if a.State == txn.Wanted {
				s.begin(a, prim)
			}
		}
		s.askAll(first)
		for more := true; more; {
			if err := s.c.Wait(); err != nil {
				return s.tx.Fail(err)
			}
			more = false
			for _, a := range s.set[first:] {
				if s.accept(a) {
					more = true
				}
			}
		}
		left, stale := 0, 0
		for _, a := range s.set[first:] {
			if a.State == txn.Wanted {
				left++
				if !a.located {
					stale++
				}
			}
		}
		switch {
		case s.tx.Failed() != nil:
			return s.tx.Failed()
		case left == 0:
			return nil
		case try == s.cfg.ReadRetries && !s.cfg.ReadCommitted:
			s.lockedOut(first, 0)
			return s.tx.Fail(txn.ErrAborted)
		}
		if stale == left { // their locations are forgotten: they are not locked
			continue
		}
		s.lockedOut(first, s.cfg.ReadRetryNS*r2.Nanosecond)
		s.c.Sleep(s.cfg.ReadRetryNS * r2.Nanosecond)
	}
}

// enterFetch begins the phase that fetches and returns its primitive. READs get
// the optimisations of READs, also in a hybrid phase.
func (s *session) enterFetch(parallel bool) Prim {
	prim, phase := s.cfg.Execution, txn.Execution
	if s.tx.ReadOnly() {
		prim, phase = s.cfg.RORead, txn.RORead
	}
	mode := s.cfg.mode(phase, prim)
	if parallel {
		mode.Outstanding = s.cfg.Opt[phase].Outstanding || s.cfg.Speculative || s.cfg.batches(phase, prim)
	}
	s.reads = mode
	s.reads.Doorbell = s.cfg.mode(phase, OneSided).Doorbell
	s.tx.Enter(phase, mode)
	return prim
}

// begin posts the first READ for a record, or reads it by the CPU, or leaves
// it to askAll.
func (s *session) begin(a *access, prim Prim) {
	s.c.Compute(s.p.program.executionRecord)
	switch {
	case int(a.Machine) == s.c.Machine():
		s.readLocal(a)
		return
	case prim == TwoSided:
		a.State, a.by = txn.Asked, byRPC
		return
	case a.located:
	case s.cfg.CacheEnabled && a.Table.Cached:
		a.loc, a.located = s.cache.Get(s.c, a.Table.Store, a.Key)
	}
	switch {
	case a.located:
		s.readRow(a)
	case prim == Hybrid:
		a.State, a.by = txn.Asked, byRPC
	default:
		a.look, a.State, a.by = a.Table.Store.Search(s.c, a.Key, a.look), txn.Asked, byIndex
	}
}

func (s *session) readRow(a *access) {
	before := s.c.Using(s.reads)
	if s.cfg.ReadCommitted {
		s.postRowTwice(a)
	} else {
		s.postRow(a)
	}
	s.c.Using(before)
	a.State, a.by = txn.Asked, byRow
}

func (s *session) postRow(a *access) {
	b := s.c.Read(a.loc.Loc, a.Table.RowBytes)
	a.row, a.buf = b.B, b.Addr
}

// readLocal reads a record of the own machine by CPU loads.
func (s *session) readLocal(a *access) {
	if !a.located {
		loc, ok, err := a.Table.Store.LookupLocal(s.c, a.Key)
		if err != nil {
			s.tx.Fail(err)
		}
		if !ok {
			s.lacks(a, loc)
			return
		}
		a.loc, a.located = loc, true
	}
	var row []byte
	if a.Table.UnorderedReads || a.Insert && s.p.mv == nil {
		row = s.c.Peek(a.loc.Addr, a.Table.RowBytes)
	} else {
		row = s.c.Load(a.loc.Addr, a.Table.RowBytes)
	}
	if a.loc.Stale(s.p.h.StampOf(row)) {
		a.located = false // deleted between the lookup and now: stays wanted
		return
	}
	if !s.readable(row) {
		return // stays wanted
	}
	value := s.tx.Alloc(len(row) - s.p.h.Bytes)
	copy(value, s.p.h.Value(row))
	a.direct = true
	s.got(a, value, row)
}

// readable says that a row holds a record that is neither being written nor locked: the switch of the released code that ignores aborts reads
// past locks.
func (s *session) readable(row []byte) bool {
	seq := s.p.h.StampOf(row)
	return record.Stable(seq) && record.Live(seq) && (record.Lock(row) == 0 || s.cfg.IgnoresAborts)
}

// got takes a record, as its row says, and its value.
func (s *session) got(a *access, value, row []byte) {
	a.seq = s.p.h.StampOf(row)
	if s.p.mv != nil && s.gotVersion(a, row) {
		return
	}
	s.tx.Got(&a.Access, value, a.Table.Version(a.Key, a.loc.Ref, a.seq))
}

// lacks takes that a record is missing, of which the gap was seen.
func (s *session) lacks(a *access, gap store.Location) {
	a.loc, a.gap, a.direct = gap, uint32(gap.Ref), gap.Ref&store.Unsettled == 0
	s.tx.Lacks(&a.Access, a.gap)
}

// forgetStale forgets a location whose row has a sequence, if it is stale.
func (s *session) forgetStale(a *access, seq uint64) {
	if a.loc.Stale(seq) && a.Table.Cached && int(a.Machine) != s.c.Machine() {
		s.cache.Invalidate(s.c, a.Table.Store, a.Key)
	}
}

// askAll sends one RPC per machine with all records that are asked of it, more
// if they do not fit into one message.
func (s *session) askAll(first int) {
	for i := first; i < len(s.set); i++ {
		if s.set[i].unasked() {
			s.ask(i)
		}
	}
}

// unasked says that a record waits for an RPC that is not sent yet.
func (a *access) unasked() bool { return a.State == txn.Asked && a.by == byRPC && a.rep == nil }

func (s *session) ask(from int) {
	m, room := s.set[from].Machine, s.p.maxPayload
	req, replyBytes, last := s.c.Request(), 0, from
	for i := from; i < len(s.set); i++ {
		a := s.set[i]
		if !a.unasked() || a.Machine != m {
			continue
		}
		answer := fetchHead + wire.Padded(a.Table.RowBytes)
		if len(req)+fetchItem > room || replyBytes+answer > room {
			if replyBytes == 0 {
				s.tx.Fail(fmt.Errorf("record of table %s: a reply with it has %d bytes, a message carries %d; use one-sided execution", a.Table.Name, answer, room))
				a.State = txn.Missing
				return
			}
			break
		}
		req = wire.Add64(req, uint64(a.Table.ID)<<56|a.Key&txn.MaxKey)
		replyBytes += answer
		last = i
	}
	rep := s.c.Call(int(m), s.p.rpc.fetch, req)
	for _, a := range s.set[from : last+1] {
		if a.unasked() && a.Machine == m {
			a.rep = rep
		}
	}
}

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
	loc, state, err := a.look.Next(s.c)
	switch state {
	case store.More:
		return true
	case store.Found:
		a.loc, a.located = loc, true
		if s.cfg.CacheEnabled && a.Table.Cached {
			s.cache.Put(s.c, a.Table.Store, a.Key, loc.Ref)
		}
		s.readRow(a)
		return true
	case store.Failed:
		s.tx.Fail(err)
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
	s.c.TouchDMA(a.buf, len(row))
	if seq := s.p.h.StampOf(row); a.loc.Stale(seq) {
		// The row holds another record by now, or none.
		s.forgetStale(a, seq)
		a.located = false
		return
	}
	if s.readable(row) && s.keptSequence(a, row) {
		a.direct = record.OneLine(uint64(a.loc.Addr), a.Table.RowBytes)
		s.got(a, s.p.h.Value(row), row)
	}
}

// lockedOut notes that records from index first on could not be read, and that the transaction
// tries again after a pause, or if 0 gives up. A record whose cached location was stale is none.
func (s *session) lockedOut(first int, pause r2.Time) {
	for _, a := range s.set[first:] {
		if a.State == txn.Wanted && a.located {
			s.tx.Met(&a.Access, pause)
		}
	}
	s.tx.Paused(pause)
}

// acceptReply takes the next row of an RPC's reply.
func (s *session) acceptReply(a *access) {
	b := a.rep.B
	if len(b) < fetchHead || wire.Get64(b)&foundBit == 0 {
		if len(b) < fetchHead {
			s.tx.Fail(fmt.Errorf("fetch reply of machine %d ends early", a.Machine))
			b = zero
		}
		a.rep.B, a.rep = b[fetchHead:], nil
		s.lacks(a, store.Location{Loc: a.Table.Store.Gap(a.Key), Ref: store.Ref(wire.Get64(b))})
		return
	}
	n := fetchHead + wire.Padded(a.Table.RowBytes)
	row := b[fetchHead : fetchHead+a.Table.RowBytes]
	a.loc, a.located = a.Table.Store.Location(a.Key, store.Ref(wire.Get64(b)&^foundBit)), true
	a.rep.B, a.rep, a.State = b[n:], nil, txn.Wanted
	if s.cfg.CacheEnabled && a.Table.Cached && s.fills() {
		s.cache.Put(s.c, a.Table.Store, a.Key, a.loc.Ref)
	}
	switch {
	case a.loc.Stale(s.p.h.StampOf(row)):
		a.located = false
	case s.readable(row):
		a.direct = true
		s.got(a, s.p.h.Value(row), row)
	}
}

// fills reports whether a miss refills the location cache though an RPC
// answered it ("always refill the cache", §4.3.1).
func (s *session) fills() bool {
	if s.tx.ReadOnly() {
		return s.cfg.RORead != TwoSided
	}
	return s.cfg.Execution != TwoSided
}

// serveFetch looks records up and returns address and row of each. The time of Table
// 4-2 is that of a message, see Config.ChargePerRecord.
func (p *protocol) serveFetch(c *r2.Co, from r2.Peer, req, rep []byte) int {
	cycles := p.costs.Execution
	if p.cfg.ChargePerRecord {
		cycles *= len(req) / fetchItem
	}
	chargeHandler(c, cycles)
	n := 0
	for ; len(req) >= fetchItem; req = req[fetchItem:] {
		item := wire.Get64(req)
		t := p.db.TableOf(uint8(item >> 56))
		loc, ok, err := t.Store.LookupLocal(c, item&txn.MaxKey)
		if err != nil {
			p.cl.Fail(fmt.Errorf("occ: fetch: %w", err))
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
