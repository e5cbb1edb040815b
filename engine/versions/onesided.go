package versions

import (
	"encoding/binary"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// DEP_READ by a READ, which is ours: the thesis's is an RPC. There is nothing for a CPU to do where a claim would change nothing, for
// the tuple timestamp is no less than the snapshot's point already, and where the lock is free. Lock and tuple timestamp are in
// one line, so a READ sees them at one moment, and it sees the rest of the row then or later. What it brings is what DEP_READ had
// read that claimed and looked at the lock at that moment: a transaction that locks the record afterwards has a stamp larger than
// the tuple timestamp, and one that has released it before has installed all. Where the present version is beyond the point, so is whatever
// follows on it, and the row's tail has the answer if that is young enough: then neither lock nor claim matters. Where
// the answer is not in the row, or its location is unknown, the snapshot asks by RPC.
//
// Schemes whose snapshots do not claim, or do not wait, have the same READ without what they do not look at.

// ReadsBy says whether snapshots READ records whose locations the cache of their machine has.
func (s *Store) ReadsBy(oneSided bool) { s.oneSided = oneSided }

// learn remembers where a record is, for the next snapshot.
func (x *session) learn(a *access, at store.Ref) {
	if x.s.oneSided && a.Table.Cached {
		x.s.db.Cache(x.c.Machine()).Put(x.c, a.Table.Store, a.Key, at)
	}
}

// fetched is a record that is READ.
type fetched struct {
	row, again      []byte // again is nil where the row is READ once
	rowBuf, nextBuf r2.Addr
	refused         bool // its row could not be used, or is not known: an RPC is next
}

// readRemote posts READs of the records of other machines whose locations are known.
func (x *session) readRemote(first int) {
	if !x.s.oneSided {
		return
	}
	cache := x.s.db.Cache(x.c.Machine())
	before := x.c.Using(r2.Mode{Outstanding: true})
	for _, a := range x.set[first:] {
		if a.State != txn.Wanted || a.refused || int(a.Machine) == x.c.Machine() || !a.Table.Cached {
			continue
		}
		if a.at.loc, a.at.ok = cache.Get(x.c, a.Table.Store, a.Key); !a.at.ok {
			a.refused = true
			continue
		}
		x.c.Compute(x.s.costs.Record)
		x.postRow(a)
		a.served, a.State = true, txn.Asked
	}
	x.c.Using(before)
}

func tailOf(t *txn.Table) record.Tail { return t.Store.Rows().Layout.Tail(t.ValueBytes()) }

// postRow READs a row with its tail. Without one it READs the version again, if the row may come torn: requests on a queue pair are
// served in their order.
func (x *session) postRow(a *access) {
	to, tail := a.at.loc.Loc, tailOf(a.Table)
	l := x.c.List(to, false)
	row := l.Read(to, tail.RowBytes())
	a.row, a.rowBuf, a.again = row.B, row.Addr, nil
	if tail.Slots() == 0 && !a.Table.Constant && !record.OneLine(uint64(to.Addr), a.Table.RowBytes) {
		to.Addr += x.s.at.version // stamp and sequence of the present version
		next := l.Read(to, int(x.s.at.value-x.s.at.version))
		a.again, a.nextBuf = next.B, next.Addr
	}
	l.Post()
}

// acceptRow takes a record from its row, if that has the answer. If not it is wanted still.
func (x *session) acceptRow(a *access) {
	row, again := a.row, a.again
	a.row, a.again, a.State, a.refused = nil, nil, txn.Wanted, true
	x.c.TouchDMA(a.rowBuf, len(row))
	if again != nil {
		x.c.TouchDMA(a.nextBuf, len(again))
	}
	if a.at.loc.Stale(wire.Get64(row[x.s.at.seq:])) {
		x.s.db.Cache(x.c.Machine()).Invalidate(x.c, a.Table.Store, a.Key)
		return
	}
	v := x.answer(a.Table, row, again)
	if v.seq == 0 {
		return
	}
	x.s.counts(x.c).Reads++
	x.s.counts(x.c).OneSided++
	a.Version = auditVersion(x.c, a.Table, a.Key, a.at.loc.Ref, v)
	if a.State = txn.Missing; v.ok {
		x.tx.Got(&a.Access, row[x.s.at.value:a.Table.RowBytes], a.Version)
	}
}

// answer is what the point sees of a record, if its row says so. Then the row has that version's value.
func (x *session) answer(t *txn.Table, row, again []byte) found {
	s, p, seq := x.s, x.point.Words, wire.Get64(row[x.s.at.seq:])
	tail := tailOf(t)
	if !record.Live(seq) || !t.Constant && !s.inOnePiece(row, again, tail) {
		return found{}
	}
	if stamp := wire.Get64(row[s.at.version:]); visible(stamp, p) {
		if !t.Constant && !(s.alreadyClaimed(wire.Get64(row[s.at.tuple:]), p) && s.isFree(wire.Get64(row[s.at.lock:]))) {
			return found{}
		}
		return found{ok: !record.Tomb(seq), stamp: stamp, seq: seq}
	}
	var v found
	for i := range tail.Slots() {
		stamp, seq, value := tail.Old(row, i)
		if seq > v.seq && record.Incarnation(seq) == record.Incarnation(wire.Get64(row[s.at.seq:])) && visible(stamp, p) {
			v = found{ok: !record.Tomb(seq), stamp: stamp, seq: seq}
			copy(row[s.at.value:], value[:t.Written])
		}
	}
	return v
}

// alreadyClaimed says that a claim would not raise a tuple timestamp.
func (s *Store) alreadyClaimed(tuple uint64, p []uint64) bool {
	return !s.traits.Claims || tuple >= p[0]
}

// isFree says that a snapshot would not wait for a lock.
func (s *Store) isFree(lock uint64) bool { return !s.traits.Waits || !s.host.Busy(lock) }

// inOnePiece says that the version of a row was in place before the rest of it was read, and that no transaction had begun to overwrite it
// by then.
func (s *Store) inOnePiece(row, again []byte, tail record.Tail) bool {
	switch {
	case !record.Stable(wire.Get64(row[s.at.seq:])):
		return false
	case tail.Slots() > 0:
		return wire.Get64(row[s.at.version:]) == wire.Get64(row[tail.End():])
	}
	return again == nil || string(row[s.at.version:s.at.value]) == string(again)
}

// keepInline copies a version that leaves a row to the row's tail. node is what the heap has of it.
func (s *Store) keepInline(c *r2.Co, t *txn.Table, row r2.Addr, node []byte, seq uint64) {
	tail := tailOf(t)
	if tail.Slots() == 0 {
		return
	}
	to, least := 0, c.Load64(row+r2.Addr(tail.SeqAt(0)))
	for i := 1; i < tail.Slots(); i++ {
		if old := c.Load64(row + r2.Addr(tail.SeqAt(i))); old < least {
			to, least = i, old
		}
	}
	binary.LittleEndian.PutUint64(node[8:], seq) // where the heap has the next one
	c.Store(row+r2.Addr(tail.Slot(to)), node)
}
