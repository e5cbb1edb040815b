package txn

import (
	"fmt"

	"drtmx/engine/kv"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// The execution phase (§4.3.1) and the first phase of read-only transactions
// (§4.3.5): fetch the records of the read set.

// fetch gets the records of the set from index first on. A record that is
// locked or being written is tried again, some times, with time in between.
func (tx *Tx) fetch(first int, parallel bool) error {
	prim := tx.enterFetch(parallel)
	tx.c.Compute(tx.db.program.execution)
	for try := 0; ; try++ {
		for i := first; i < len(tx.set); i++ {
			if a := &tx.set[i]; a.state == wanted {
				tx.begin(a, prim)
			}
		}
		tx.askAll(first)
		for more := true; more; {
			if err := tx.c.Wait(); err != nil {
				return tx.fail(err)
			}
			more = false
			for i := first; i < len(tx.set); i++ {
				if tx.accept(&tx.set[i]) {
					more = true
				}
			}
		}
		left := 0
		for i := first; i < len(tx.set); i++ {
			if tx.set[i].state == wanted {
				left++
			}
		}
		switch {
		case tx.failed != nil:
			return tx.failed
		case left == 0:
			return nil
		case try == tx.cfg.ReadRetries:
			tx.lockedOut(first, 0)
			return tx.fail(errAborted)
		}
		tx.lockedOut(first, tx.cfg.ReadRetryNS*nanosecond)
		tx.c.Sleep(tx.cfg.ReadRetryNS * nanosecond)
	}
}

// enterFetch begins the phase that fetches and returns its primitive. READs get
// the optimisations of READs, also in a hybrid phase.
func (tx *Tx) enterFetch(parallel bool) Prim {
	prim, phase := tx.cfg.Execution, metrics.Execution
	if tx.readOnly {
		prim, phase = tx.cfg.RORead, metrics.RORead
	}
	mode := tx.cfg.mode(phase, prim)
	if parallel {
		mode.Outstanding = tx.cfg.Opt[phase].Outstanding || tx.cfg.Speculative
	}
	tx.reads = mode
	tx.reads.Doorbell = tx.cfg.mode(phase, OneSided).Doorbell
	tx.enter(phase, mode)
	return prim
}

// begin posts the first READ for a record, or reads it by the CPU, or leaves
// it to askAll.
func (tx *Tx) begin(a *access, prim Prim) {
	tx.c.Compute(tx.db.program.executionRecord)
	switch {
	case int(a.machine) == tx.c.Machine():
		tx.readLocal(a)
		return
	case prim == TwoSided:
		a.state = asked
		return
	case a.located:
	case tx.cfg.CacheEnabled && a.table.cached:
		a.loc, a.located = tx.cache.Get(tx.c, a.table.store, a.key)
	}
	switch {
	case a.located:
		tx.readRow(a)
	case prim == Hybrid:
		a.state = asked
	default:
		if a.look == nil {
			a.look = new(kv.Lookup)
		}
		*a.look, a.state = a.table.store.Start(tx.c, a.key), looking
	}
}

func (tx *Tx) readRow(a *access) {
	before := tx.c.Using(tx.reads)
	b := tx.c.Read(a.loc.Loc, a.table.rowBytes)
	tx.c.Using(before)
	a.value, a.buf, a.state = b.B, b.Addr, reading
}

// readLocal reads a record of the own machine by CPU loads.
func (tx *Tx) readLocal(a *access) {
	if !a.located {
		loc, ok, err := a.table.store.LookupLocal(tx.c, a.key)
		if err != nil {
			tx.fail(err)
		}
		if !ok {
			a.state = missing
			return
		}
		a.loc, a.located = loc, true
	}
	var row []byte
	if a.table.still || a.insert {
		row = tx.c.Peek(a.loc.Addr, a.table.rowBytes)
	} else {
		row = tx.c.Load(a.loc.Addr, a.table.rowBytes)
	}
	if !tx.readable(row) {
		return // stays wanted
	}
	a.value = tx.mem.take(len(row) - valueAt)
	copy(a.value, record.Value(row))
	a.seq, a.state, a.direct = record.Seq(row), fetched, true
	tx.sumUp(a)
}

// askAll sends one RPC per machine with all records that are asked of it, more
// if they do not fit into one message.
func (tx *Tx) askAll(first int) {
	for i := first; i < len(tx.set); i++ {
		if a := &tx.set[i]; a.state == asked && a.rep == nil {
			tx.ask(i)
		}
	}
}

func (tx *Tx) ask(from int) {
	m, room := tx.set[from].machine, tx.db.maxPayload
	req, replyBytes, last := tx.db.req[:0], 0, from
	for i := from; i < len(tx.set); i++ {
		a := &tx.set[i]
		if a.state != asked || a.rep != nil || a.machine != m {
			continue
		}
		answer := fetchHead + pad8(a.table.rowBytes)
		if len(req)+fetchItem > room || replyBytes+answer > room {
			if replyBytes == 0 {
				tx.fail(fmt.Errorf("record of table %s: a reply with it has %d bytes, a message carries %d; use one-sided execution", a.table.name, answer, room))
				a.state = missing
				return
			}
			break
		}
		req = add64(req, uint64(a.table.id)<<56|a.key&keyMask)
		replyBytes += answer
		last = i
	}
	tx.db.req = req
	rep := tx.c.Call(int(m), rpcFetch, req)
	for i := from; i <= last; i++ {
		if a := &tx.set[i]; a.state == asked && a.rep == nil && a.machine == m {
			a.rep = rep
		}
	}
}

// accept takes what came back for one record. more says that it posted another
// request.
func (tx *Tx) accept(a *access) (more bool) {
	switch a.state {
	case looking:
		return tx.acceptLookup(a)
	case reading:
		tx.acceptRead(a)
	case asked:
		tx.acceptReply(a)
	}
	return false
}

// acceptLookup goes one step further in the index, and at its end to the row.
func (tx *Tx) acceptLookup(a *access) (more bool) {
	loc, state, err := a.look.Next(tx.c)
	switch state {
	case kv.More:
		return true
	case kv.Found:
		a.loc, a.located = loc, true
		if tx.cfg.CacheEnabled && a.table.cached {
			tx.cache.Put(tx.c, a.table.store, a.key, loc.Ref)
		}
		tx.readRow(a)
		return true
	case kv.Failed:
		tx.fail(err)
	}
	a.state = missing
	return false
}

// acceptRead takes a row that a READ fetched, if nobody held or wrote it. A
// torn row may slip through: its sequence is then older than its value and
// validation rejects it.
func (tx *Tx) acceptRead(a *access) {
	row := a.value
	a.value, a.state = nil, wanted
	tx.c.Brought(a.buf, len(row))
	if !a.loc.Fresh(record.Seq(row)) {
		// The row holds another record by now: the cached location is stale.
		if a.table.cached {
			tx.cache.Invalidate(tx.c, a.table.store, a.key)
		}
		a.located = false
		return
	}
	if tx.readable(row) {
		a.value, a.seq, a.state = record.Value(row), record.Seq(row), fetched
		a.direct = record.OneLine(uint64(a.loc.Addr), a.table.rowBytes) || tx.cfg.Variant == ReadTorn
		tx.sumUp(a)
	}
}

// readable reports whether the row may be used: nobody holds or writes it.
func (tx *Tx) readable(row []byte) bool {
	switch tx.cfg.Variant {
	case IgnoreAborts, ReadLocked:
		return record.Stable(record.Seq(row)) && record.Live(record.Seq(row))
	case ReadTorn:
		return record.Live(record.Seq(row))
	}
	return record.Readable(row)
}

// acceptReply takes the next row of an RPC's reply.
func (tx *Tx) acceptReply(a *access) {
	b := a.rep.B
	if len(b) < fetchHead || u64(b)&foundBit == 0 {
		if len(b) < fetchHead {
			tx.fail(fmt.Errorf("fetch reply of machine %d ends early", a.machine))
			b = zero
		}
		a.rep.B, a.rep, a.state = b[fetchHead:], nil, missing
		return
	}
	n := fetchHead + pad8(a.table.rowBytes)
	row := b[fetchHead : fetchHead+a.table.rowBytes]
	a.loc, a.located = a.table.store.Location(a.key, kv.Ref(u64(b)&^foundBit)), true
	a.rep.B, a.rep, a.state = b[n:], nil, wanted
	if tx.cfg.CacheEnabled && a.table.cached && tx.fills() {
		tx.cache.Put(tx.c, a.table.store, a.key, a.loc.Ref)
	}
	if tx.readable(row) {
		a.value, a.seq, a.state, a.direct = record.Value(row), record.Seq(row), fetched, true
		tx.sumUp(a)
	}
}

// fills reports whether a miss refills the location cache though an RPC
// answered it ("always refill the cache", §4.3.1).
func (tx *Tx) fills() bool {
	if tx.readOnly {
		return tx.cfg.RORead != TwoSided
	}
	return tx.cfg.Execution != TwoSided
}

// serveFetch looks records up and returns address and row of each. The time of Table
// 4-2 is that of one: without speculation a request has no more.
func (db *DB) serveFetch(c *r2.Co, from r2.Peer, req, rep []byte) int {
	db.covered(c, len(req)/fetchItem*db.costs.Execution)
	n := 0
	for ; len(req) >= fetchItem; req = req[fetchItem:] {
		item := u64(req)
		t := db.tables[item>>56]
		loc, ok, err := t.store.LookupLocal(c, item&keyMask)
		if err != nil {
			db.cl.Fail(fmt.Errorf("txn: fetch: %w", err))
		}
		if !ok {
			put64(rep[n:], 0)
			n += fetchHead
			continue
		}
		put64(rep[n:], uint64(loc.Ref)|foundBit)
		copy(rep[n+fetchHead:], c.Load(loc.Addr, t.rowBytes))
		n += fetchHead + pad8(t.rowBytes)
	}
	return len(padded(rep[:n], db.costs.Payload.Execution))
}
