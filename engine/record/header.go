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
}

// LockSeq is a lock word and a sequence, which is the stamp: see the package's comment.
var LockSeq = Header{Bytes: HeaderBytes, Stamp: SeqOffset, Initial: InitialSeq, Own: SeqOffset}

// Value is the value of a row.
func (h Header) Value(row []byte) []byte { return row[h.Bytes:] }

// Init makes a row of zeros one that holds a record from the start.
func (h Header) Init(row []byte) { binary.LittleEndian.PutUint64(row[h.Stamp:], h.Initial) }

// Born is the first stamp of a record that is inserted into a row of an incarnation. It is not the one of a
// record that was there from the start, so that histories can tell them apart.
func (h Header) Born(incarnation uint16) uint64 {
	return uint64(incarnation)<<incarnationShift | Next(h.Initial)
}
