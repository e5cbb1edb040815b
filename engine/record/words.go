package record

import "fmt"

// Limits of what a lock word and a transaction number can name.
const (
	MaxThreads    = 1 << 6
	MaxCoroutines = 1 << 10
)

const (
	coroutineBits = 10
	threadBits    = 6
	ownerBits     = 32 // machine 16 | thread 6 | coroutine 10
	heldBit       = uint64(1) << 63
)

// Owner names the coroutine that holds a lock or runs a transaction.
type Owner struct {
	Machine   uint16
	Thread    uint8  // below MaxThreads
	Coroutine uint16 // within the thread, below MaxCoroutines
}

// Check reports an owner that a lock word cannot name.
func (o Owner) Check() error {
	if int(o.Thread) >= MaxThreads {
		return fmt.Errorf("thread %d: a lock word names threads below %d", o.Thread, MaxThreads)
	}
	if int(o.Coroutine) >= MaxCoroutines {
		return fmt.Errorf("coroutine %d: a lock word names coroutines below %d", o.Coroutine, MaxCoroutines)
	}
	return nil
}

// OwnerOf is the coroutine of those numbers.
func OwnerOf(machine, thread, coroutine int) Owner {
	return Owner{Machine: uint16(machine), Thread: uint8(thread), Coroutine: uint16(coroutine)}
}

func (o Owner) bits() uint64 {
	return uint64(o.Machine)<<(threadBits+coroutineBits) | uint64(o.Thread)<<coroutineBits | uint64(o.Coroutine)
}

func ownerOf(bits uint64) Owner {
	return Owner{
		Machine:   uint16(bits >> (threadBits + coroutineBits)),
		Thread:    uint8(bits >> coroutineBits & (MaxThreads - 1)),
		Coroutine: uint16(bits & (MaxCoroutines - 1)),
	}
}

// LockWord is what the owner swaps into a free lock. It is never 0: machine 0, thread 0, coroutine 0
// holds locks too, hence the held bit.
func (o Owner) LockWord() uint64 { return heldBit | o.bits() }

// Holder names the owner in a lock word; held is false for a free lock.
func Holder(lock uint64) (o Owner, held bool) {
	return ownerOf(lock & (1<<ownerBits - 1)), lock != 0
}

// TxnID names a transaction in log entries: its owner and its number within the owner's thread, which
// grows by one per logged transaction, so that entries of one ring are in the order of their numbers.
type TxnID struct {
	Owner
	Number uint32
}

// Word packs the identity into 64 bits.
func (t TxnID) Word() uint64 { return t.bits()<<32 | uint64(t.Number) }

// TxnIDOf undoes Word.
func TxnIDOf(word uint64) TxnID {
	return TxnID{Owner: ownerOf(word >> 32), Number: uint32(word)}
}

// The sequence: incarnation 16 bits | counter 47 bits | being written 1 bit.
const (
	InitialSeq = uint64(2) // of a record that was there from the start

	incarnationShift = 48
	counterMask      = uint64(1)<<incarnationShift - 1
)

// Stable reports that no CPU is rewriting the row.
func Stable(seq uint64) bool { return seq&1 == 0 }

// Writing is the sequence of a row whose stable sequence is seq while a CPU rewrites it.
func Writing(seq uint64) uint64 { return seq | 1 }

// Next is the sequence after a commit on top of seq.
func Next(seq uint64) uint64 { return seq + 2 }

// Live reports whether the row holds a record; the sequence of a free row has counter 0.
func Live(seq uint64) bool { return seq&counterMask != 0 }

// Incarnation counts the records that a row has held before the present one.
func Incarnation(seq uint64) uint16 { return uint16(seq >> incarnationShift) }

// LastIncarnation is the one in which a row holds no record any more: its incarnations are used up.
const LastIncarnation = 1<<16 - 1

// Freed is the sequence of a row after its record with sequence seq was deleted. The row must never be
// used again when ok is false.
func Freed(seq uint64) (free uint64, ok bool) {
	inc := min(seq>>incarnationShift+1, LastIncarnation)
	return inc << incarnationShift, inc < LastIncarnation
}

// Counter is the part of a sequence that commits advance.
func Counter(seq uint64) uint64 { return seq & counterMask }
