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
func at(l store.Location, off int) r2.Loc {
	l.Addr += r2.Addr(off)
	return l.Loc
}

// Offsets within a row, as verbs need them.
const (
	lockAt  = record.LockOffset
	seqAt   = record.SeqOffset
	valueAt = record.ValueOffset
	header  = record.HeaderBytes
)
