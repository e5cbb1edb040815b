package nowait

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// rules are what the protocol does at the places where faults can be planted. The
// protocol calls them and does not know which of them are sound; see Variant.
type rules struct {
	// won says whether a lock was taken by a CAS, by what that found and expected.
	won wonRule
	// lockAndRead posts what locks a row and reads its value, lockHere does it by the CPU, and
	// upgradeHere an upgrade.
	lockAndRead func(s *session, a *access)
	lockHere    func(won wonRule, c *r2.Co, loc store.Location, want lock, value []byte) (word uint64, ok bool)
	upgradeHere func(won wonRule, c *r2.Co, row r2.Addr) bool
	// writeBack posts what installs a record and releases its lock, store does it by the CPU.
	writeBack func(s *session, a *access)
	store     func(p *protocol, c *r2.Co, row r2.Addr, value []byte)
	// absent locks the gap of a record that is missing, insertGaps those of records that are inserted, and
	// insertGapHere does it by the CPU.
	absent        func(s *session, a *access)
	insertGaps    func(s *session) error
	insertGapHere func(won wonRule, c *r2.Co, word r2.Addr, has lock) bool
	// giveBack releases the locks of an attempt that aborts.
	giveBack func(s *session) error
}

type wonRule func(want lock, found, expected uint64) bool

// sound are the rules of the package's comment.
func sound() rules {
	return rules{
		won:         func(_ lock, found, expected uint64) bool { return found == expected },
		lockAndRead: (*session).lockThenRead,
		lockHere:    lockHere,
		upgradeHere: upgradeHere,
		writeBack:   (*session).postWriteBack,
		store:       (*protocol).storeHere,
		absent:      (*session).lockGap,
		insertGaps:  (*session).lockInsertGaps,
		insertGapHere: func(won wonRule, c *r2.Co, word r2.Addr, has lock) bool {
			return lockWord(won, c, word, has, exclusive)
		},
		giveBack: (*session).releaseAll,
	}
}
