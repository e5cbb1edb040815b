package twopl

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// rules are what the protocol does at the places where faults can be planted. The
// protocol calls them and does not know which of them are sound; see Variant.
type rules struct {
	// compatible says that a lock can be had now by one more, alone that who shares it can have it exclusively.
	compatible func(l *lock, want mode) bool
	alone      func(l *lock) bool
	// waits says that a request may wait.
	waits func(l *lock, r *request, want mode) bool
	// holdsGap says that the gap of a record that is missing is locked, insertGap locks that of one that is inserted.
	holdsGap  func(t *table, c *r2.Co, p *party, gap r2.Loc, want mode) bool
	insertGap func(t *table, c *r2.Co, r *request, gap r2.Loc) verdict
	// guard is the timestamp of the gap of a record that has its row.
	guard func(t *table, c *r2.Co, x *txn.Table, key uint64) uint64
	// upgraded takes the timestamps of a record whose lock has become exclusive.
	upgraded func(s *session, a *access, b []byte) (rest []byte)
	// answered comes after the answer to a request of a party, end ends an attempt.
	answered func(t *table, c *r2.Co, p *party)
	end      func(t *table, c *r2.Co, x *party, items []byte, last bool, next *list)
}

// sound are the rules of the package's comment.
func sound() rules {
	return rules{
		compatible: compatible,
		alone:      alone,
		waits:      func(*lock, *request, mode) bool { return true },
		holdsGap:   (*table).holdsGap,
		insertGap:  insertGap,
		guard:      guard,
		upgraded:   (*session).takeStamps,
		answered:   func(*table, *r2.Co, *party) {},
		end:        end,
	}
}
