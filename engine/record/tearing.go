package record

import (
	"encoding/binary"
	"fmt"
)

// Tearing is how a reader finds out that a READ has brought the lines of a row as they were at several moments. RNICs read
// lines in ascending order, each of them whole.
type Tearing uint8

const (
	// AsPublished rows do not say it: the stamp stands in front of the value alone. A reader has to validate what it has read, or
	// to ask OneLine first.
	AsPublished Tearing = iota
	// HeaderLast rows have their stamp again behind the value. A writer writes that first, then what is between, and last the
	// header up to the stamp, which is in one line: a READ whose two stamps are equal is of one moment.
	HeaderLast
	// LineVersions rows have the low bits of the stamp at the start of each line but the first: a READ in which all agree is of one
	// moment (FaRM). A writer may write lines in any order. Rows longer than a line begin on one.
	LineVersions
	numTearings
)

var tearingNames = [numTearings]string{"as-published", "header-last", "line-versions"}

func (t Tearing) String() string {
	if t >= numTearings {
		return fmt.Sprintf("tearing(%d)", uint8(t))
	}
	return tearingNames[t]
}

// checkTearing refuses forms that a header cannot have.
func (l *Layout) checkTearing() error {
	switch {
	case l.Tearing >= numTearings:
		return fmt.Errorf("%v: no such form", l.Tearing)
	case l.Tearing == AsPublished:
	case l.inLock():
		return fmt.Errorf("%v with the stamp in the lock word: a lock would make the row look torn", l.Tearing)
	case l.Tearing == LineVersions && l.Bytes > LineBytes:
		return fmt.Errorf("%v with a header of %d bytes: it has to be in the row's first line, of %d", l.Tearing, l.Bytes, LineBytes)
	case l.Tearing == HeaderLast && l.Checked > LineBytes:
		return fmt.Errorf("%v with a stamp that ends at byte %d: it is written in one line with what is before it, of %d bytes", l.Tearing, l.Checked, LineBytes)
	}
	return nil
}

// lineData is what a line has room for beside its version.
const lineData = LineBytes - versionBytes

// imageBytes is what a row takes in memory, of which header and value take size bytes. oneLine says that it never straddles a line
// unless it is longer than one.
func (l *Layout) imageBytes(size int, oneLine bool) int {
	switch {
	case l.Tearing == HeaderLast && (size > LineBytes || !oneLine):
		return alignUp(size, wordBytes) + wordBytes
	case l.Tearing == LineVersions && size > LineBytes:
		return size + (size-LineBytes+lineData-1)/lineData*versionBytes
	}
	return size
}

// lineVersion is what the lines of a row with a stamp say.
func lineVersion(stamp uint64) uint16 { return uint16(stamp >> 1) }

// Image makes the bytes in memory of a row, which is its header and its value.
func (r *Rows) Image(dst, row []byte) {
	size := r.Bytes()
	if r.image == size {
		copy(dst[:size], row)
		return
	}
	stamp := r.Layout.StampOf(row)
	if r.Layout.Tearing == HeaderLast {
		clear(dst[copy(dst[:size], row):r.image])
		binary.LittleEndian.PutUint64(dst[r.image-wordBytes:], stamp)
		return
	}
	row = row[copy(dst[:LineBytes], row):size]
	for at := LineBytes; at < r.image; at += LineBytes {
		binary.LittleEndian.PutUint16(dst[at:], lineVersion(stamp))
		row = row[copy(dst[at+versionBytes:min(at+LineBytes, r.image)], row):]
	}
}

// Whole takes the bytes of a READ for a row: in place, they become header and value, of which it returns the view. ok says that they
// are of one moment, of which an as-published row of several lines says nothing.
func (r *Rows) Whole(image []byte) (row []byte, ok bool) {
	size := r.Bytes()
	if r.image == size {
		return image[:size], true
	}
	stamp := r.Layout.StampOf(image)
	if r.Layout.Tearing == HeaderLast {
		return image[:size], Stable(stamp) && stamp == binary.LittleEndian.Uint64(image[r.image-wordBytes:])
	}
	ok = Stable(stamp)
	to := image[LineBytes:]
	for at := LineBytes; at < r.image; at += LineBytes {
		ok = ok && binary.LittleEndian.Uint16(image[at:]) == lineVersion(stamp)
		to = to[copy(to, image[at+versionBytes:min(at+LineBytes, r.image)]):]
	}
	return image[:size], ok
}

// Writes are the parts of an image that a writer writes, one after the other in this order: all but what the primary has for itself.
// The lock is released behind them.
func (r *Rows) Writes() []Span { return r.writes[:r.parts] }

// setWrites computes them.
func (r *Rows) setWrites() {
	l := &r.Layout
	if l.Tearing == HeaderLast && r.image > r.Bytes() {
		end := r.image - wordBytes
		r.writes, r.parts = [3]Span{{From: end, To: r.image}, {From: l.Checked, To: end}, {From: l.Own, To: l.Checked}}, 3
		return
	}
	r.writes, r.parts = [3]Span{{From: l.Own, To: r.image}}, 1
}
