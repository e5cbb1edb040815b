package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
	"drtmx/engine/wire"
)

// What happens at the records of a participant. Messages are arrays of items, as those of wire.go.
const (
	lockItem    = 8 + 8 + 8 // table 8 bits | key 56 bits, address, expected sequence
	lockBack    = 8 + 8     // of an item in the reply, behind 8 bytes that say yes: tuple timestamp, stamp of the version
	readItem    = 8 + 8 + 8 // behind the stamp: address, expected sequence, stamp of the version; or gap bit, address of the gap, its expected version, 0
	installHead = 8 + 8 + 8 // behind the stamp: table and key, address 48 bits | value bytes 16 bits, new sequence; the value follows, of a tombstone none
	commitBack  = 8         // of the reply to an install that says yes, behind which are the readers of what was overwritten
	dropItem    = 8 + 8     // table and key, address
)

// lockVersions locks the records of a participant, or none: each with room for the version that will be overwritten, and its
// timestamps as they are under the lock.
func (p *protocol) lockVersions(c *r2.Co, from r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Validation)
	word := record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord()
	n, back := 0, 8
	wire.Put64(rep, coordinator.ReplyYes)
	for ; n+lockItem <= len(req) && wire.Get64(req[n+8:]) != 0; n += lockItem {
		t, _ := p.Named(wire.Get64(req[n:]))
		row, seq := r2.Addr(wire.Get64(req[n+8:])), wire.Get64(req[n+16:])
		tuple, version, won := p.lockThenLook(c, row, seq, word)
		if won && !p.MV.Reserve(c, t) {
			p.MV.Unlock(c, row, word)
			won = false
		}
		if !won {
			auditConflict(c, row)
			p.unlockItems(c, word, req[:n], lockItem)
			wire.Put64(rep, coordinator.ReplyNo)
			return 8
		}
		wire.Put64(rep[back:], tuple)
		wire.Put64(rep[back+8:], version)
		back += lockBack
	}
	return back
}

// lockThenLook locks a record, checks that it is as it was read, and then looks at its timestamps: a reader that raises them from
// now on finds the lock.
func (p *protocol) lockThenLook(c *r2.Co, row r2.Addr, seq, word uint64) (tuple, version uint64, won bool) {
	if c.LocalCAS(row+p.off.lock, 0, word) != 0 {
		return 0, 0, false
	}
	if c.Load64(row+r2.Addr(p.H.Stamp)) != seq {
		p.MV.Unlock(c, row, word)
		return 0, 0, false
	}
	tuple, version = p.MV.Under(c, row)
	return tuple, version, true
}

// unlockItems releases locks that an attempt holds, and gives back the room that was reserved.
func (p *protocol) unlockItems(c *r2.Co, word uint64, items []byte, size int) {
	for ; len(items) >= size; items = items[size:] {
		t, _ := p.Named(wire.Get64(items))
		p.MV.Cancel(c, t)
		p.MV.Unlock(c, r2.Addr(wire.Get64(items[8:])), word)
	}
}

// unlockVersions releases the locks of an aborted attempt.
func (p *protocol) unlockVersions(c *r2.Co, from r2.Peer, req, rep []byte) int {
	p.unlockItems(c, record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord(), req, dropItem)
	return p.Ended(c, rep)
}

// validateVersions raises the timestamps of what was read, and checks that it is still so.
func (p *protocol) validateVersions(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Validation)
	if rep[0] = coordinator.ReplyNo; p.raiseThenCheck(c, wire.Get64(req), unpadded(req[8:], readItem)) {
		rep[0] = coordinator.ReplyYes
	}
	return 1
}

// raiseThenCheck claims all and then looks: a transaction that changes any of it from now on has a larger stamp.
func (p *protocol) raiseThenCheck(c *r2.Co, ts uint64, items []byte) bool {
	p.raiseAll(c, ts, items)
	return p.checkAll(c, items, readItem)
}

func (p *protocol) raiseAll(c *r2.Co, ts uint64, items []byte) {
	if !p.MV.RaisesReads() {
		return
	}
	for ; len(items) > 0; items = items[readItem:] {
		word := wire.Get64(items)
		if at := r2.Addr(word &^ gapBit); word&gapBit != 0 {
			p.MV.ClaimGapAt(c, at, ts)
		} else {
			p.MV.Raise(c, at, ts)
		}
	}
}

// installed is a version that is put in place.
type installed struct {
	table *txn.Table
	key   uint64
	row   r2.Addr
	to    versions.Version
}

// installVersions installs the versions of a participant.
func (p *protocol) installVersions(c *r2.Co, from r2.Peer, req, rep []byte) int {
	chargeHandler(c, p.costs.Commit)
	word, ts := record.OwnerOf(from.Machine, from.Thread, from.Coroutine).LockWord(), wire.Get64(req)
	var x installed
	for req = req[8:]; len(req) >= installHead && wire.Get64(req[8:]) != 0; {
		x.table, x.key = p.Named(wire.Get64(req))
		at := wire.Get64(req[8:])
		n := int(at >> addrBits)
		x.row, x.to = r2.Addr(at&addrMask), versions.Version{TS: ts, Seq: wire.Get64(req[16:])}
		if n > 0 {
			x.to.Value = req[installHead : installHead+n]
		}
		p.installThenUnlock(c, word, &x)
		req = req[installHead+wire.Padded(n):]
	}
	p.Ended(c, rep)
	if n := p.MV.Passed(c, rep[commitBack:]); n > 0 {
		return commitBack + n
	}
	return 1
}

// installThenUnlock is COMMIT of one record.
func (p *protocol) installThenUnlock(c *r2.Co, word uint64, x *installed) {
	p.MV.Install(c, x.table, x.key, x.row, x.to)
	p.MV.Unlock(c, x.row, word)
}
