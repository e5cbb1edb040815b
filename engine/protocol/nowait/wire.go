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

var zero = make([]byte, 8)

// layout is one word in front of the value: the lock, and on backups the version.
var layout = record.MustLayout(record.Options{Step: 2}, record.Word{Name: "word", Role: record.RoleLock | record.RoleStamp})

// Where the parts of a row are.
const (
	wordAt  = 0
	valueAt = 8
)

// at moves a location by some bytes.
func at(l store.Location, off int) r2.Loc {
	l.Addr += r2.Addr(off)
	return l.Loc
}
