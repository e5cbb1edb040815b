package record

import (
	"encoding/binary"
	"fmt"
)

// Where the parts of a row are, in bytes.
const (
	LockOffset  = 0
	SeqOffset   = 8
	ValueOffset = 16

	HeaderBytes = ValueOffset // what validation reads: lock and sequence
	LineBytes   = 64          // granularity of CPU caches and of PCIe words (thesis Table 2-3)
)

// MaxValueBytes bounds a value so that a log entry can carry at least one record.
const MaxValueBytes = MaxEntryBytes - entryFixedBytes - updateFixedBytes

// versionedAlign puts the lock and the read timestamp of a row in one line.
const versionedAlign = 16

// Layout is the geometry of all rows of one table.
type Layout struct {
	Header     Header
	ValueBytes int // of the table's values; all values of a table have the same length
	Stride     int // distance of two rows in bytes, a multiple of 8
}

// Packed places rows densely: 8-byte aligned, rows longer than a line 16-byte aligned. Some rows straddle a
// line.
func Packed(h Header, valueBytes int) (Layout, error) {
	return newLayout(h, valueBytes, func(size int) int {
		if size > LineBytes {
			return alignUp(size, HeaderBytes)
		}
		if h.HasVersions() {
			return alignUp(size, versionedAlign)
		}
		return alignUp(size, 8)
	})
}

// Aligned spends memory so that no row of at most a line straddles one; longer rows start on a line.
func Aligned(h Header, valueBytes int) (Layout, error) {
	return newLayout(h, valueBytes, func(size int) int {
		if size > LineBytes {
			return alignUp(size, LineBytes)
		}
		stride := 8
		for stride < size {
			stride *= 2
		}
		return stride
	})
}

func newLayout(h Header, valueBytes int, stride func(size int) int) (Layout, error) {
	most := MaxValueBytes
	if h.HasVersions() {
		most -= stampBytes
	}
	if valueBytes < 1 || valueBytes > most {
		return Layout{}, fmt.Errorf("value bytes %d: must be 1 to %d, so that a log entry of %d bytes can carry the record",
			valueBytes, most, MaxEntryBytes)
	}
	return Layout{Header: h, ValueBytes: valueBytes, Stride: stride(h.Tail(valueBytes).RowBytes())}, nil
}

// Bytes is the length of one row, without its tail and the gap to the next.
func (l Layout) Bytes() int { return l.Header.Bytes + l.ValueBytes }

// OneLine reports whether n bytes at address a lie in one line, so that a READ of them cannot be torn.
func OneLine(a uint64, n int) bool {
	return n == 0 || a/LineBytes == (a+uint64(n)-1)/LineBytes
}

// Lock is the lock word of a row.
func Lock(row []byte) uint64 { return binary.LittleEndian.Uint64(row[LockOffset:]) }

// Seq is the sequence of a row.
func Seq(row []byte) uint64 { return binary.LittleEndian.Uint64(row[SeqOffset:]) }

// Value is the value of a row: what follows the header.
func Value(row []byte) []byte { return row[ValueOffset:] }

// SetSeq overwrites the sequence of a row.
func SetSeq(row []byte, seq uint64) { binary.LittleEndian.PutUint64(row[SeqOffset:], seq) }

func alignUp(n, to int) int { return (n + to - 1) / to * to }
