package twopl

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
)

// table is the locks of one server that are held. Handlers of all its threads work on them. A handler that changes a
// lock latches it, by an atomic on its word; the lock itself, its holders and its queue are in private memory, whose
// lines the latch's holder touches.
type table struct {
	p       *protocol
	machine int
	private r2.Addr // lines of the table's buckets and of the parties

	locks   map[r2.Addr]*lock // by the word's address; lookups only
	parties map[uint64]*party // lookups only

	spareLocks    []*lock
	spareParties  []*party
	spareRequests []*request

	counts counts
	clerks []*clerk     // by thread
	own    [maxOwn]byte // what the row of a new record begins with
}

// privateLines are those over which the table's buckets spread.
const privateLines = 1 << 14

const (
	lineBytes  = 64
	spinCycles = 40      // between two looks at a word that other CPUs change
	attempts   = 1 << 16 // of what others can be in the way of for a moment
)

// touch charges the line of the private structure that a number hashes to.
func (t *table) touch(c *r2.Co, x uint64) {
	c.Touch(t.private+r2.Addr(x*0x9e3779b97f4a7c15>>32%privateLines*lineBytes), 8)
}

// latch keeps others from a lock, and returns its word.
func (t *table) latch(c *r2.Co, at r2.Addr) (word uint64) {
	for range attempts {
		word = c.Load64(at)
		if word&latchBit == 0 && c.LocalCAS(at, word, word|latchBit) == word {
			t.touch(c, uint64(at))
			return word
		}
		c.Compute(spinCycles)
	}
	c.Fail(fmt.Errorf("twopl: a lock of machine %d is still latched after %d attempts", t.machine, attempts))
	return word
}

// unlatch releases the latch of a lock and stores its new word; was is the word that the latch found. If the same holder still has
// it exclusively, waiting snapshots keep waiting; otherwise they are woken. A row that was free may be another record's by now.
func (t *table) unlatch(c *r2.Co, at r2.Addr, was, word uint64) {
	for now := was | latchBit; ; {
		to := word
		if word&^versions.Waited == was&^versions.Waited {
			to |= now & versions.Waited
		}
		found := c.LocalCAS(at, now, to)
		switch {
		case found == now:
			if now&^to&versions.Waited != 0 {
				t.p.MV.Released(c, at)
			}
			return
		case found&^versions.Waited != now&^versions.Waited:
			return
		}
		now = found
	}
}

// find is the lock of a word that is latched. A word that is held, but by no known transaction, is that of a row on its
// way to another record, or to none.
func (t *table) find(at r2.Addr, word uint64) (l *lock, ok bool) {
	if l = t.locks[at]; l != nil {
		return l, true
	}
	if word != 0 {
		return nil, false
	}
	if n := len(t.spareLocks); n > 0 {
		l = t.spareLocks[n-1]
		t.spareLocks = t.spareLocks[:n-1]
	} else {
		l = &lock{}
	}
	l.at = at
	t.locks[at] = l
	return l, true
}

// forget drops a lock that is free.
func (t *table) forget(l *lock) {
	if l.mode == none {
		delete(t.locks, l.at)
		t.spareLocks = append(t.spareLocks, l)
	}
}

// join has the attempt of a request known to the table.
func (t *table) join(c *r2.Co, r *request) {
	if r.party != nil {
		return
	}
	t.touch(c, r.id)
	p := t.parties[r.id]
	if p == nil {
		if n := len(t.spareParties); n > 0 {
			p = t.spareParties[n-1]
			t.spareParties = t.spareParties[:n-1]
		} else {
			p = &party{}
		}
		p.id, p.age, p.owner = r.id, r.age, record.OwnerOf(r.from.Machine, r.from.Thread, r.from.Coroutine)
		t.parties[r.id] = p
	}
	r.party = p
}

// forgetParty drops a party that holds nothing any more.
func (t *table) forgetParty(p *party) {
	delete(t.parties, p.id)
	*p = party{held: p.held[:0], placed: p.placed[:0], gaps: p.gaps[:0]}
	t.spareParties = append(t.spareParties, p)
}

// askRow asks for the lock of a row. ok is false if it does not hold the record any more that was looked up: then it has
// to be looked up again.
func (t *table) askRow(c *r2.Co, r *request, at store.Location, want mode) (v verdict, ok bool) {
	word := t.latch(c, at.Addr)
	if at.Stale(c.Load64(at.Addr + t.p.seqAt)) {
		t.unlatch(c, at.Addr, word, word)
		return refused, false
	}
	return t.ask(c, r, at.Addr, word, want)
}

// askGap asks for the lock of a gap.
func (t *table) askGap(c *r2.Co, r *request, at r2.Addr, want mode) verdict {
	v, _ := t.ask(c, r, at, t.latch(c, at), want)
	return v
}

// ask asks for a lock that is latched, and unlatches it.
func (t *table) ask(c *r2.Co, r *request, at r2.Addr, word uint64, want mode) (v verdict, ok bool) {
	l, ok := t.find(at, word)
	if !ok {
		t.unlatch(c, at, word, word)
		c.Compute(spinCycles)
		return refused, false
	}
	v, victim := l.request(r, want, t.p.Cfg.waits)
	switch v {
	case waits:
		t.suspend(c, r, l)
	case refused:
		t.counts.refused++
	}
	t.unlatch(c, at, word, l.word())
	if victim != nil {
		t.counts.deadlocks++
		t.refuse(c, victim)
	}
	return v, true
}

// release takes a party's lock away and puts the next holders on the list.
func (t *table) release(c *r2.Co, l *lock, p *party, next *list) {
	at := l.at
	t.unreserve(c, l)
	was := t.latch(c, at)
	l.release(p)
	l.grant(next)
	word := l.word()
	t.forget(l)
	t.unlatch(c, at, was, word)
}

// adopt makes a party the holder of the lock of a row that it has just got for a new record.
func (t *table) adopt(c *r2.Co, row r2.Addr, p *party) {
	t.touch(c, uint64(row))
	l, _ := t.find(row, 0)
	l.admit(p, exclusive)
}

// retire drops the lock of a row whose record has been taken out of its table. Its word stays as it is, so no transaction gets the
// lock through an older lookup of the record; waiting requests look again.
func (t *table) retire(c *r2.Co, row r2.Addr, p *party, next *list) {
	word := t.latch(c, row)
	l := t.locks[row]
	l.dissolve(next)
	l.release(p)
	t.forget(l)
	t.unlatch(c, row, word, word)
	for i, h := range p.held {
		if h == l {
			p.held = append(p.held[:i], p.held[i+1:]...)
			break
		}
	}
}

// finish releases all that a party holds and resumes those that waited for it.
func (t *table) finish(c *r2.Co, p *party, next *list) {
	for _, l := range p.held {
		t.release(c, l, p, next)
	}
	t.forgetParty(p)
	t.resume(c, next)
}

// resume has requests go on.
func (t *table) resume(c *r2.Co, next *list) {
	for r := next.pop(); r != nil; r = next.pop() {
		if t.advance(c, r) {
			t.answer(c, r)
		}
	}
}

// row is where a record of the machine is.
func row(t *txn.Table, key uint64, at store.Ref) r2.Addr { return t.Store.Location(key, at).Addr }
