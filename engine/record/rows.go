package record

import "fmt"

// LineBytes is the granularity of CPU caches and of PCIe words (thesis Table 2-3).
const LineBytes = 64

// MaxValueBytes bounds a value so that a log entry can carry at least one record.
const MaxValueBytes = MaxEntryBytes - entryFixedBytes - updateFixedBytes

// Rows is the geometry of all rows of one table.
type Rows struct {
	Layout     Layout
	ValueBytes int // of the table's values; all values of a table have the same length
	Stride     int // distance of two rows in bytes, a multiple of 8

	image  int // bytes of a row in memory, see Image
	writes [3]Span
	parts  int
}

// Packed places rows densely: 8-byte aligned, rows longer than a line so that lock and stamp share one. Some rows straddle a
// line.
func Packed(l Layout, valueBytes int) (Rows, error) {
	return newRows(l, valueBytes, false, func(size int) int {
		switch {
		case size > LineBytes && l.Tearing == LineVersions:
			return alignUp(size, LineBytes)
		case l.align > 0 && l.Tearing != HeaderLast:
			return alignUp(size, l.align)
		case size > LineBytes || l.Tearing == HeaderLast:
			return alignUp(size, l.checkedAlign())
		}
		return alignUp(size, wordBytes)
	})
}

// checkedAlign is the least power of two that lock and stamp fit between two multiples of, if a line has room for them.
func (l *Layout) checkedAlign() int {
	to := wordBytes
	for to < l.Checked && to < LineBytes {
		to *= 2
	}
	return max(to, 2*wordBytes)
}

// Aligned spends memory so that no row of at most a line straddles one; longer rows start on a line.
func Aligned(l Layout, valueBytes int) (Rows, error) {
	return newRows(l, valueBytes, true, func(size int) int {
		if size > LineBytes {
			return alignUp(size, LineBytes)
		}
		stride := wordBytes
		for stride < size {
			stride *= 2
		}
		return stride
	})
}

func newRows(l Layout, valueBytes int, oneLine bool, stride func(size int) int) (Rows, error) {
	most := MaxValueBytes - (l.Bytes - l.Carried)
	if l.HasVersions() {
		most -= stampBytes
	}
	if valueBytes < 1 || valueBytes > most {
		return Rows{}, fmt.Errorf("value bytes %d: must be 1 to %d, so that a log entry of %d bytes can carry the record",
			valueBytes, most, MaxEntryBytes)
	}
	if l.Inline > 0 && l.Tearing != AsPublished {
		return Rows{}, fmt.Errorf("%d old versions in rows of the form %v: their tails have a form of their own", l.Inline, l.Tearing)
	}
	r := Rows{Layout: l, ValueBytes: valueBytes, image: l.imageBytes(l.Bytes+valueBytes, oneLine)}
	r.Stride = stride(max(r.image, l.Tail(valueBytes).RowBytes()))
	r.setWrites()
	return r, nil
}

// Bytes is the length of one row, header and value, without its tail and the gap to the next.
func (r *Rows) Bytes() int { return r.Layout.Bytes + r.ValueBytes }

// ImageBytes is what a row takes in memory, and the length of a READ of it: Bytes, and what its form of tearing adds.
func (r *Rows) ImageBytes() int { return r.image }

// OneLine reports whether n bytes at address a lie in one line, so that a READ of them cannot be torn.
func OneLine(a uint64, n int) bool {
	return n == 0 || a/LineBytes == (a+uint64(n)-1)/LineBytes
}

func alignUp(n, to int) int { return (n + to - 1) / to * to }
