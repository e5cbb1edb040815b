package record

import "encoding/binary"

// Tail is what rows with Layout.Inline have behind their values, for READs of a row without the CPU of its primary: the
// youngest of its old versions, and at the very end the stamp of the present one again.
//
//	header | value | old version ... | stamp u64
//	old version: stamp u64 | seq u64 | value
//
// A place has the version of the sequence beside it, which may be of another incarnation of the row, or has none. The version
// that leaves takes the place of the lowest sequence, so the places are in no order.
//
// Lines are read in ascending order. A transaction that installs a version writes its stamp to the end first, and then from the places to the
// header: a READ in which the end agrees with the header, and the sequence is even, has the row as that version left it.
type Tail struct {
	row         int // bytes of the row without it
	first, each int
	n           int
}

const slotHead = 16

// Tail is that of rows with a value of so many bytes.
func (l *Layout) Tail(valueBytes int) Tail {
	written := l.Written
	if written == 0 {
		written = valueBytes
	}
	return Tail{row: l.Bytes + valueBytes, first: alignUp(l.Bytes+valueBytes, 8), each: SlotBytes(written), n: l.Inline}
}

// SlotBytes is what an old version takes of a row, of whose value updates write so many bytes.
func SlotBytes(written int) int { return slotHead + alignUp(written, 8) }

// Slots is how many old versions it has room for, Slot where one is in the row, and End where the stamp is.
func (t Tail) Slots() int     { return t.n }
func (t Tail) Slot(i int) int { return t.first + i*t.each }
func (t Tail) End() int       { return t.Slot(t.n) }

// RowBytes is the length of a row with it.
func (t Tail) RowBytes() int {
	if t.n == 0 {
		return t.row
	}
	return t.End() + stampBytes
}

// SeqAt is where the sequence of the version in a place is.
func (t Tail) SeqAt(i int) int { return t.Slot(i) + 8 }

// Old are stamp, sequence and value of the version in a place of a row.
func (t Tail) Old(row []byte, i int) (stamp, seq uint64, value []byte) {
	b := row[t.Slot(i):t.Slot(i+1)]
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), b[slotHead:]
}
