package twopl

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// request is a message that asks a server for locks. The server goes through its items one after the other, waits where
// it has to, and answers when it has all locks, or was refused one.
type request struct {
	t       *table
	from    r2.Peer
	id, age uint64 // of the attempt
	party   *party // nil: it has asked for no lock yet
	inserts bool   // it inserts records
	upgrade bool   // it asks for locks that it shares, and for no values
	less    bool   // reads take no lock
	items   []byte // that it has not got yet
	got     []item // by item
	failed  bool   // it was refused the item after those
	ticket  *r2.Ticket
	reply   func(c *r2.Co, req, rep []byte) int // answers it: fill

	// While it waits.
	at       *lock
	want     mode
	upgrades bool
	turn     uint32   // counts its waits
	until    r2.Time  // the end of all of them
	next     *request // of a list of those that go on
}

// item is one record of a request.
type item struct {
	table *txn.Table
	key   uint64
	ref   store.Ref // of its row
	gap   uint32    // version of its gap, if it is missing
	state itemState

	x     store.Change // of an insert
	err   error
	guard uint64 // of the gap that it fills, where records have versions
}

type itemState uint8

const (
	unlocked itemState = iota // it is read when the answer is made
	found
	missing
)

// open makes a request of a message.
func (t *table) open(c *r2.Co, from r2.Peer, req []byte, inserts bool) *request {
	var r *request
	if n := len(t.spareRequests); n > 0 {
		r = t.spareRequests[n-1]
		t.spareRequests = t.spareRequests[:n-1]
	} else {
		r = &request{t: t}
		r.reply = r.fill
	}
	word := wire.Get64(req[8:])
	r.inserts, r.upgrade, r.less, r.items, r.got = inserts, word&upgradeBit != 0, word&lessReads != 0, req[lockHead:], r.got[:0]
	if cycles := t.p.cycles(r); cycles > 0 {
		c.ChargeHandler(cycles)
	}
	r.from, r.id, r.age = from, wire.Get64(req), word>>lessBits
	return r
}

// close gives an answered request back.
func (t *table) close(r *request) {
	r.party, r.items, r.ticket, r.failed = nil, nil, nil, false
	r.turn++ // a client that remembers it means another one
	t.spareRequests = append(t.spareRequests, r)
}

// serve serves a message that asks for locks.
func (p *protocol) serve(c *r2.Co, from r2.Peer, req, rep []byte, inserts bool) int {
	t := p.tables[c.Machine()]
	r := t.open(c, from, req, inserts)
	if !t.advance(c, r) {
		return 0 // suspend has deferred the answer
	}
	return r.fill(c, req, rep)
}

func (p *protocol) serveLock(c *r2.Co, from r2.Peer, req, rep []byte) int {
	return p.serve(c, from, req, rep, false)
}

func (p *protocol) serveInsert(c *r2.Co, from r2.Peer, req, rep []byte) int {
	return p.serve(c, from, req, rep, true)
}

// advance goes on with a request until it can be answered. It returns false if it waits.
func (t *table) advance(c *r2.Co, r *request) bool {
	for len(r.items) > 0 && !r.failed {
		var v verdict
		if r.inserts {
			v = t.insert(c, r, wire.Get64(r.items))
		} else {
			v = t.lockItem(c, r, wire.Get64(r.items))
		}
		switch v {
		case waits:
			return false
		case refused:
			r.failed = true
		default:
			r.items = r.items[coordinator.LockItem:]
		}
	}
	return true
}

// wanted is the lock that an item takes.
func (r *request) wanted(t *txn.Table, word uint64) mode {
	switch {
	case t.Constant:
		return none
	case word&coordinator.WantsWrite != 0:
		return exclusive
	case r.less:
		return none
	}
	return shared
}

// lockItem locks the record of an item, or its gap. After a wait it does all again: what it has it gets at once.
func (t *table) lockItem(c *r2.Co, r *request, word uint64) verdict {
	x := item{table: t.p.DB.TableOf(uint8(word >> 56)), key: word & coordinator.LockKey}
	want := r.wanted(x.table, word)
	if want == none {
		r.got = append(r.got, x)
		return granted
	}
	t.join(c, r)
	for range attempts {
		loc, ok := t.lookup(c, x.table, x.key)
		switch {
		case ok:
			v, valid := t.askRow(c, r, loc, want)
			if !valid {
				c.Compute(spinCycles)
				continue
			}
			if v == granted && want == exclusive && !t.reserve(c, x.table, loc.Addr) {
				v = refused
			}
			if v == granted {
				x.ref, x.state = loc.Ref, found
				r.got = append(r.got, x)
			}
			return v
		case x.table.Fixed || t.holdsGap(c, r.party, loc.Loc, want):
			x.gap, x.state = uint32(loc.Ref), missing
			r.got = append(r.got, x)
			t.foundEmpty(r.party, loc.Loc)
			return granted
		}
		if v := t.askGap(c, r, t.lockOf(loc.Loc), want); v != granted {
			return v
		}
	}
	c.Fail(fmt.Errorf("twopl: a record of table %s is never where it is looked up", x.table.Name))
	return refused
}

// lookup finds a record of the machine. Where it is missing, loc is its gap.
func (t *table) lookup(c *r2.Co, x *txn.Table, key uint64) (loc store.Location, ok bool) {
	loc, ok, err := x.Store.LookupLocal(c, key)
	if err != nil {
		c.Fail(fmt.Errorf("twopl: lookup: %w", err))
	}
	return loc, ok
}

// insert gives the record of an item a row, when it has its gap alone.
func (t *table) insert(c *r2.Co, r *request, word uint64) verdict {
	x := item{table: t.p.DB.TableOf(uint8(word >> 56)), key: word & txn.MaxKey}
	t.join(c, r)
	if v := t.insertGap(c, r, x.table.Store.Gap(x.key)); v != granted {
		return v
	}
	wire.Put64(t.own[:], r.party.owner.LockWord())
	x.x, x.err = x.table.Store.Insert(c, x.key, t.own[:t.p.H.Own], store.AnyVersion)
	if x.err == nil {
		t.adopt(c, row(x.table, x.key, x.x.Ref), r.party)
		r.party.placed = append(r.party.placed, placement{x.table, x.key, x.x.Ref})
		x.guard = t.guard(c, x.table, x.key)
		t.p.MV.Fill(c, x.table, x.key, x.x.Ref)
	} else {
		r.items = r.items[:insertItem] // the others will not be needed
	}
	r.got = append(r.got, x)
	return granted
}

// fill makes the answer to a request, which ends it.
func (r *request) fill(c *r2.Co, _, rep []byte) (n int) {
	n = coordinator.LockStatus
	switch {
	case r.failed:
		wire.Put64(rep, uint64(len(r.got))<<1)
	case r.inserts:
		wire.Put64(rep, coordinator.LocksGranted)
		for i := range r.got {
			x := &r.got[i]
			coordinator.PutInsert(rep[n:], x.x, x.err)
			if n += coordinator.InsertBack; r.t.p.MV != nil {
				wire.Put64(rep[n:], x.guard)
				n += guardBack
			}
		}
	default:
		wire.Put64(rep, coordinator.LocksGranted)
		for i := range r.got {
			n += r.read(c, &r.got[i], rep[n:])
		}
	}
	r.t.close(r)
	return n
}

// read puts a record into the answer.
func (r *request) read(c *r2.Co, x *item, rep []byte) (n int) {
	for x.state == unlocked {
		if n, ok := r.t.readUnlocked(c, x, rep); ok {
			return n
		}
		c.Compute(spinCycles)
	}
	if x.state == missing {
		wire.Put64(rep, uint64(x.gap))
		return lockBack
	}
	at := row(x.table, x.key, x.ref)
	p := r.t.p
	wire.Put64(rep, uint64(x.ref)|coordinator.Found)
	n = lockBack + r.t.stamps(c, at, rep[lockBack:])
	seq := c.Load64(at + p.seqAt)
	wire.Put64(rep[n:], seq)
	if n += seqBack; !r.upgrade && !p.H.Tomb(seq) {
		n += wire.Padded(copy(rep[n:], c.Load(at+p.valueAt, x.table.ValueBytes())))
	}
	return n
}

// readUnlocked reads a record without a lock, as it was committed last. ok is false if it is being changed.
func (t *table) readUnlocked(c *r2.Co, x *item, rep []byte) (n int, ok bool) {
	loc, there := t.lookup(c, x.table, x.key)
	if !there {
		wire.Put64(rep, uint64(uint32(loc.Ref)))
		return lockBack, true
	}
	p := t.p
	seq := c.Load64(loc.Addr + p.seqAt)
	n = lockBack + t.stamps(c, loc.Addr, rep[lockBack:])
	wire.Put64(rep[n:], seq)
	n += seqBack
	value := rep[n : n+x.table.ValueBytes()]
	copy(value, c.Load(loc.Addr+p.valueAt, len(value)))
	switch {
	case loc.Stale(seq) || seq != c.Load64(loc.Addr+p.seqAt):
		return 0, false
	case !live(seq): // it is being inserted
		wire.Put64(rep, uint64(uint32(c.Load64(x.table.Store.Gap(x.key).Addr))))
		return lockBack, true
	case !stable(seq):
		return 0, false
	}
	if wire.Put64(rep, uint64(loc.Ref)|coordinator.Found); p.H.Tomb(seq) {
		return n, true
	}
	return n + wire.Padded(len(value)), true
}
