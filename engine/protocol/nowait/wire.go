package nowait

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// rpcs are the ids of the protocol's requests.
type rpcs struct{ lock, upgrade, commit, release, gap, insert, remove uint8 }

// Messages are arrays of items; their number follows from the length of the message.
const (
	lockHead   = 8 // of an item in the reply: found 1 bit | location, and the value follows; or the version of the gap
	commitItem = 8 // value bytes 16 bits | address 48 bits, of which the lowest says that the lock is shared; the value follows

	gapBack    = 8     // granted 1 bit | version of the gap 32 bits
	insertItem = 8 + 8 // table 8 bits | key 56 bits, what the attempt has of the gap's lock

	gapGranted = 1 << 63

	sharedHolder = 1
	addrBits     = 48
	addrMask     = 1<<addrBits - 1
)

// layout is one word in front of the value: the lock, and on backups the version.
var layout = record.MustLayout(record.Options{Step: 2}, record.Word{Name: "word", Role: record.RoleLock | record.RoleStamp})

// valueAt is where the value of a row is: the word is in front of it.
var valueAt = r2.Addr(layout.Bytes)

// valueOf is where that of a record is.
func valueOf(l store.Location) r2.Loc {
	l.Addr += valueAt
	return l.Loc
}
