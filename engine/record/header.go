package record

import "encoding/binary"

// Header is what the rows of a table have in front of the value. A protocol chooses it, and stores lay
// their rows out around it. One of its words is the stamp: its upper 16 bits are the incarnation of the
// row, its lowest bit says that a CPU rewrites the row.
type Header struct {
	Bytes   int    // a multiple of 8
	Stamp   int    // offset of the stamp
	Initial uint64 // the stamp of a record that was there from the start
	Own     int    // leading bytes that the primary has for itself: the lock
	Step    uint64 // that a commit moves the stamp's counter by

	Tuple, Chain, Version int // offsets of what records with versions have, see Versioned; 0: there are none

	Inline  int // old versions that the tail of a row has room for, see Tail; 0: rows have none
	Written int // leading bytes of a value that updates write, and so those of old versions; 0: all of them
}

// inLock says that the stamp of a primary is in the lock word: the incarnation is above the lock, and there is
// no more of it. The lowest bit is then that of an exclusive lock.
func (h Header) inLock() bool { return h.Stamp < h.Own }

// MarkInserted is what the own bytes of a row become whose record is inserted: own, and if the stamp is among them
// its incarnation.
func (h Header) MarkInserted(own []byte, stamp uint64) {
	if h.inLock() {
		b := own[h.Stamp:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&counterMask|stamp&^counterMask)
	}
}

// Freed is the stamp of a row after its record was deleted, and whether it may be used again: see Freed. Where the
// lock is, it stays as it is.
func (h Header) Freed(stamp uint64) (free uint64, ok bool) {
	free, ok = Freed(stamp)
	if h.inLock() {
		free |= stamp & counterMask
	}
	return free, ok
}

// Vacant says that a primary's row with this stamp, which is free, holds no record: it cannot be locked.
func (h Header) Vacant(stamp uint64) bool {
	if h.inLock() {
		return stamp&1 != 0
	}
	return !Live(stamp)
}

// LockSeq is a lock word and a sequence, which is the stamp: see the package's comment.
var LockSeq = Header{Bytes: HeaderBytes, Stamp: SeqOffset, Initial: InitialSeq, Own: SeqOffset, Step: 2}

// Value is the value of a row.
func (h Header) Value(row []byte) []byte { return row[h.Bytes:] }

// StampOf is the stamp of a row.
func (h Header) StampOf(row []byte) uint64 { return binary.LittleEndian.Uint64(row[h.Stamp:]) }

// StampAt is the stamp whose bytes begin b, SetStamp puts it there.
func (h Header) StampAt(b []byte) uint64         { return binary.LittleEndian.Uint64(b) }
func (h Header) SetStamp(b []byte, stamp uint64) { binary.LittleEndian.PutUint64(b, stamp) }

// Init makes a row of zeros one that holds a record from the start.
func (h Header) Init(row []byte) { binary.LittleEndian.PutUint64(row[h.Stamp:], h.Initial) }

// FirstStamp is the first stamp of a record that is inserted into a row of an incarnation. It is not the one of a
// record that was there from the start, so that histories can tell them apart.
func (h Header) FirstStamp(incarnation uint16) uint64 {
	return uint64(incarnation)<<incarnationShift | (h.Initial + h.Step)
}
