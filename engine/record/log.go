package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of log entries in bytes.
const (
	MaxEntryBytes = 4096 // of one entry, both ends included; 2,048 in the original, which runs no TPC-C of the standard's sizes

	entryHeadBytes   = 16 // size u32, updates u16, format u16; transaction u64
	entryTailBytes   = 8  // size u32, transaction number u32
	entryFixedBytes  = entryHeadBytes + entryTailBytes
	updateFixedBytes = 24 // table u8, op u8, value bytes u16, row u32; key u64; new u64

	stampBytes = 8 // of a stamped entry: behind its head

	entryFormat   = 0x4c01 // says that these bytes were meant as an entry
	stampedFormat = 0x4c02 // and that the transaction has a stamp
)

// Op is what an update does to its record.
type Op uint8

const (
	OpUpdate Op = iota
	OpInsert
	OpDelete // carries no value
	numOps
)

var opNames = [numOps]string{"update", "insert", "delete"}

func (o Op) String() string {
	if o >= numOps {
		return fmt.Sprintf("op(%d)", uint8(o))
	}
	return opNames[o]
}

// Update is one changed record in a log entry.
type Update struct {
	Table uint8
	Op    Op
	Row   uint32 // 1 + the number of its row; 0: where the key has been from the start
	Key   uint64
	New   uint64 // the sequence of its row from now on
	Value []byte // new bytes; of a decoded update a view of the entry
}

// UpdateBytes is what an update with a value of that many bytes takes in an entry.
func UpdateBytes(valueBytes int) int { return updateFixedBytes + alignUp(valueBytes, 8) }

// EntryBytes is the size of an entry whose updates take that many bytes.
func EntryBytes(updateBytes int) int { return entryFixedBytes + updateBytes }

// ErrEntryFull says that the next update does not fit into the entry: the write set of the transaction is
// larger than the logs of this system carry.
var ErrEntryFull = errors.New("log entry full")

// EntryWriter builds one entry in a buffer of the caller. It allocates nothing.
type EntryWriter struct {
	buf     []byte
	n       int
	updates int
	id      TxnID
	format  uint64
}

// BeginStamped starts an entry of a transaction whose versions have a stamp.
func BeginStamped(buf []byte, id TxnID, stamp uint64) EntryWriter {
	w := BeginEntry(buf, id)
	binary.LittleEndian.PutUint64(w.buf[entryHeadBytes:], stamp)
	w.n, w.format = w.n+stampBytes, stampedFormat
	return w
}

// StampedBytes is what a stamp takes in an entry.
const StampedBytes = stampBytes

// BeginEntry starts an entry in buf, of which it uses at most MaxEntryBytes.
func BeginEntry(buf []byte, id TxnID) EntryWriter {
	if len(buf) > MaxEntryBytes {
		buf = buf[:MaxEntryBytes]
	}
	return EntryWriter{buf: buf, n: entryHeadBytes, id: id, format: entryFormat}
}

// Add appends an update, or reports ErrEntryFull and leaves the entry as it was.
func (w *EntryWriter) Add(u Update) error {
	end := w.n + UpdateBytes(len(u.Value))
	if end+entryTailBytes > len(w.buf) {
		return ErrEntryFull
	}
	b := w.buf[w.n:end]
	binary.LittleEndian.PutUint64(b, uint64(u.Table)|uint64(u.Op)<<8|uint64(len(u.Value))<<16|uint64(u.Row)<<32)
	binary.LittleEndian.PutUint64(b[8:], u.Key)
	binary.LittleEndian.PutUint64(b[16:], u.New)
	clear(b[updateFixedBytes+copy(b[updateFixedBytes:], u.Value):])
	w.n = end
	w.updates++
	return nil
}

// Pad lengthens the entry with zeros to at least that many bytes, both ends included; what is full stays as it is.
func (w *EntryWriter) Pad(entryBytes int) {
	if end := min(alignUp(entryBytes, 8), len(w.buf)) - entryTailBytes; end > w.n {
		clear(w.buf[w.n:end])
		w.n = end
	}
}

// End closes the entry and returns its bytes, a view of the buffer given to BeginEntry.
func (w *EntryWriter) End() []byte {
	size := w.n + entryTailBytes
	head := uint64(size) | uint64(w.updates)<<32 | w.format<<48
	binary.LittleEndian.PutUint64(w.buf, head)
	binary.LittleEndian.PutUint64(w.buf[8:], w.id.Word())
	binary.LittleEndian.PutUint64(w.buf[w.n:], uint64(size)|uint64(w.id.Number)<<32)
	return w.buf[:size]
}

// Entry is a decoded log entry: a view of bytes whose integrity was checked.
type Entry struct {
	ID      TxnID
	Bytes   int // size, both ends included
	Updates int
	Stamp   uint64 // of the versions, 0 where they have none
	body    []byte
}

// OpenEntry checks the bytes of an entry, which starts at b[0] and may be followed by anything. An error
// says that the entry is not, or not yet, completely there. A later change of b shows through the entry.
func OpenEntry(b []byte) (Entry, error) {
	if len(b) < entryFixedBytes {
		return Entry{}, fmt.Errorf("log entry: %d bytes, the shortest has %d", len(b), entryFixedBytes)
	}
	head := binary.LittleEndian.Uint64(b)
	size := int(uint32(head))
	fixed := entryFixedBytes
	switch format := head >> 48; format {
	case entryFormat:
	case stampedFormat:
		fixed += stampBytes
	default:
		return Entry{}, fmt.Errorf("log entry: format %#x, must be %#x, or %#x with a stamp", format, entryFormat, stampedFormat)
	}
	if size < fixed || size > MaxEntryBytes || size%8 != 0 || size > len(b) {
		return Entry{}, fmt.Errorf("log entry: size %d in its head, must be a multiple of 8 from %d to %d", size,
			fixed, min(MaxEntryBytes, len(b)))
	}
	e := Entry{
		ID:      TxnIDOf(binary.LittleEndian.Uint64(b[8:])),
		Bytes:   size,
		Updates: int(uint16(head >> 32)),
		body:    b[fixed-entryTailBytes : size-entryTailBytes],
	}
	if fixed > entryFixedBytes {
		e.Stamp = binary.LittleEndian.Uint64(b[entryHeadBytes:])
	}
	want := uint64(size) | uint64(e.ID.Number)<<32
	if tail := binary.LittleEndian.Uint64(b[size-entryTailBytes:]); tail != want {
		return Entry{}, fmt.Errorf("log entry: tail %#x, head says %#x: not completely written", tail, want)
	}
	return e, (&e).check()
}

// check walks the updates, so that Next needs no errors, and cuts off the padding.
func (e *Entry) check() error {
	rest := e.body
	for n := range e.Updates {
		if len(rest) < updateFixedBytes {
			return fmt.Errorf("log entry: %d bytes left after %d of %d updates, an update has at least %d", len(rest), n, e.Updates, updateFixedBytes)
		}
		head := binary.LittleEndian.Uint64(rest)
		op, size := Op(head>>8), UpdateBytes(int(uint16(head>>16)))
		if op >= numOps || size > len(rest) {
			return fmt.Errorf("log entry: update %d has op %d and %d bytes, %d are left", n, op, size, len(rest))
		}
		rest = rest[size:]
	}
	e.body = e.body[:len(e.body)-len(rest)]
	return nil
}

// Next takes the next update off the entry; ok is false after the last.
func (e *Entry) Next() (u Update, ok bool) {
	if len(e.body) == 0 {
		return Update{}, false
	}
	head := binary.LittleEndian.Uint64(e.body)
	n := int(uint16(head >> 16))
	u = Update{
		Table: uint8(head),
		Op:    Op(head >> 8),
		Row:   uint32(head >> 32),
		Key:   binary.LittleEndian.Uint64(e.body[8:]),
		New:   binary.LittleEndian.Uint64(e.body[16:]),
		Value: e.body[updateFixedBytes : updateFixedBytes+n : updateFixedBytes+n],
	}
	e.body = e.body[UpdateBytes(n):]
	return u, true
}
