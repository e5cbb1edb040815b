package twopl

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// What a server does at the end of a transaction: it installs what was written, takes out what was deleted, and then
// releases all locks of the attempt, which it knows.

// placement is a row that an attempt has given to a new record.
type placement struct {
	table *txn.Table
	key   uint64
	ref   store.Ref
}

// serveCommit ends an attempt on this server. Where what it has written takes several messages, the last that comes
// releases the locks.
func (p *protocol) serveCommit(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	t := p.tables[c.Machine()]
	x, parts, committed := t.parties[wire.Get64(req)], int(wire.Get64(req[8:])>>1), wire.Get64(req[8:])&1 != 0
	t.touch(c, wire.Get64(req))
	next := &t.clerks[c.Thread()].next
	if x != nil {
		items := req[commitHead:]
		if t.p.MV != nil {
			items = items[stampBytes:]
		}
		switch x.parts++; {
		case !committed:
			for _, q := range x.placed { // they never were
				t.drop(c, x, q, false, next)
			}
		case t.p.MV != nil:
			x.stamp = wire.Get64(req[commitHead:])
		}
		t.end(c, x, items, x.parts == parts, next)
	}
	p.Ended(c, rep)
	if n := p.MV.Passed(c, rep[commitBack:]); n > 0 {
		return commitBack + n
	}
	return 1
}

// end installs the items of a message, and after the last one releases the locks.
func (t *table) end(c *r2.Co, x *party, items []byte, last bool, next *list) {
	t.install(c, x, items, next)
	if last {
		t.raise(c, x)
		t.finish(c, x, next)
	} else {
		t.resume(c, next)
	}
}

// install makes what an attempt has written the records of its items.
func (t *table) install(c *r2.Co, x *party, items []byte, next *list) {
	for len(items) >= commitItem {
		place, seq := wire.Get64(items[8:]), wire.Get64(items[16:])
		q := placement{ref: store.Ref(place & refMask)}
		q.table, q.key = t.p.Named(wire.Get64(items))
		if place&deletedBit != 0 {
			if items = items[commitItem:]; t.p.MV != nil {
				t.putVersion(c, x, q, nil, seq)
			} else {
				t.drop(c, x, q, true, next)
			}
			continue
		}
		n := int(place >> bytesAt & bytesMask)
		t.write(c, x, q, items[commitItem:commitItem+n], seq)
		items = items[commitItem+wire.Padded(n):]
	}
}

// write writes a row whose lock is held. Reads without a lock see by the sequence that it is being written.
func (t *table) write(c *r2.Co, x *party, q placement, value []byte, seq uint64) {
	p := t.p
	if p.MV != nil {
		t.putVersion(c, x, q, value, seq)
		return
	}
	at := row(q.table, q.key, q.ref)
	c.Store64(at+p.seqAt, record.Writing(seq))
	c.Store(at+p.valueAt, value)
	c.Store64(at+p.seqAt, seq)
}

// drop takes a record out of its table: one that a committed transaction deletes, or one that an aborted attempt has placed.
// The row's lock goes before the row may be used again.
func (t *table) drop(c *r2.Co, x *party, q placement, deleted bool, next *list) {
	if err := t.p.TakeOut(c, q.table, q.key, q.ref, deleted); err != nil {
		c.Fail(fmt.Errorf("twopl: %w", err))
		return
	}
	at := row(q.table, q.key, q.ref)
	t.retire(c, at, x, next)
	q.table.Store.Free(c, q.key, q.ref)
	if t.p.MV != nil {
		t.p.MV.Released(c, at)
	}
}

// stable and live are of sequences of rows.
func stable(seq uint64) bool { return record.Stable(seq) }
func live(seq uint64) bool   { return record.Live(seq) }
