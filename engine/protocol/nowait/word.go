package nowait

import (
	"fmt"

	"drtmx/engine/record"
	"drtmx/engine/store"
)

// The lock word, see the package's comment.
const (
	exclusiveBit = uint64(1)
	oneHolder    = uint64(2) // what a shared holder adds

	incarnationShift = 48
	stateMask        = uint64(1)<<incarnationShift - 1 // its holder
)

// lock is how a record is held.
type lock uint8

const (
	none lock = iota
	shared
	exclusive
)

func (l lock) String() string { return [...]string{"none", "shared", "exclusive"}[l] }

// freeWord is the word of the record at a location while it is not locked.
func freeWord(r store.Ref) uint64 { return uint64(r.Incarnation()) << incarnationShift }

// versionOf is the version of a record in a replica's word: by the incarnation of its row, then by
// the clock, in nanoseconds. A delete has the next incarnation and no clock.
func versionOf(r store.Ref, now uint64) uint64 { return freeWord(r) | now&stateMask }

// holds says that a row with this word still holds the record that was looked up.
func holds(word uint64, r store.Ref) bool { return record.Incarnation(word) == r.Incarnation() }

// withLock is the word after a lock is taken on top of it.
func (l lock) withLock(word uint64) uint64 {
	if l == exclusive {
		return word | exclusiveBit
	}
	return word + oneHolder
}

// holders says who holds a record with this word, "" if it is free.
func holders(word uint64) string {
	switch state := word & stateMask; {
	case state == 0:
		return ""
	case state&exclusiveBit != 0:
		return "a transaction, exclusively"
	default:
		return fmt.Sprintf("%d transactions, shared", state/oneHolder)
	}
}
