package twopl

import (
	"fmt"

	"drtmx/engine/record"
)

// The lock word: what others than the lock's server can see of the lock. The exclusive bit and the owner are those of
// record.Owner.LockWord.
//
//	bit  63      held exclusively
//	bit  62      a snapshot waits for its exclusive holder, see versions.Waited
//	bit  61      latched: a CPU is changing the lock, or its queue
//	bits 32..47  number of shared holders
//	bits  0..31  its exclusive holder
const (
	exclusiveBit = uint64(1) << 63
	latchBit     = uint64(1) << 61
	oneSharer    = uint64(1) << 32
)

// holders says who holds a record with this word, "" if it is free.
func holders(word uint64) string {
	switch {
	case word&exclusiveBit != 0:
		o, _ := record.Holder(word)
		return fmt.Sprintf("machine %d thread %d coroutine %d", o.Machine, o.Thread, o.Coroutine)
	case word&^latchBit != 0:
		return fmt.Sprintf("%d transactions, shared", word&^latchBit/oneSharer)
	case word != 0:
		return "a latch"
	}
	return ""
}
