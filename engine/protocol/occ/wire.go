package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// rpcs are the ids of the protocol's requests.
type rpcs struct{ fetch, lock, validate, commit, unlock, insert, remove uint8 }

// Messages are arrays of items of a fixed size per kind; their number follows
// from the length of the message, or from where its padding begins.
const (
	fetchItem  = 8     // table 8 bits | key 56 bits
	fetchHead  = 8     // of an item in the reply: found bit, ref, and the row follows; or the version of the gap
	verifyItem = 8 + 8 // lock, validate: address, expected sequence; or gap bit, address of the gap, its expected version
	commitHead = 8 + 8 // address 48 bits | value bytes 16 bits, new sequence; the value follows
	unlockItem = 8     // address
	insertItem = 8 + 8 // table 8 bits | key 56 bits, version of the gap or AnyVersion

	insertBackVersioned = coordinator.InsertBack + 8 // and the timestamp of the gap

	foundBit = 1 << 63
	gapBit   = 1 << 63

	gapBytes = 8
	addrBits = 48
	addrMask = 1<<addrBits - 1
)

// at moves a location by some bytes.
func at(l store.Location, off r2.Addr) r2.Loc {
	l.Addr += off
	return l.Loc
}

// offsets are those within a row, as verbs need them.
type offsets struct {
	lock, seq, value r2.Addr
	head             int // bytes from the row's first on that have lock and sequence
}

func offsetsOf(l *record.Layout) offsets {
	return offsets{lock: r2.Addr(l.Lock), seq: r2.Addr(l.Stamp), value: r2.Addr(l.Bytes), head: l.Checked}
}
