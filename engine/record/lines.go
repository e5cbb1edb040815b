package record

import "encoding/binary"

const versionBytes = 2

// Lines is the layout of data that RNICs read across several cache lines (thesis §3.4.3, after FaRM). A READ is
// coherent within a line only, so a 16-bit version stands at the start of the block and at the start of each further
// line, and a change of the block gives all of them the next one:
//
//	version | data ... | version | data ... | version | data
//	block              line               line
//
// A block that lies in one line has no versions. Applications see the data alone.
type Lines struct {
	at    int // of the block in its first line
	data  int
	bytes int
}

// NewLines is the layout of so many bytes of data that begin at an even address, of which the place in its line is all
// that matters.
func NewLines(at uint64, data int) Lines {
	l := Lines{at: int(at % LineBytes), data: data, bytes: data}
	if l.at+data > LineBytes {
		l.bytes += l.versions(data)
	}
	return l
}

// versions are the bytes of them in front of so many bytes of data.
func (l Lines) versions(data int) int {
	const each = LineBytes - versionBytes
	first := each - l.at
	return versionBytes * (1 + (max(data-first, 0)+each-1)/each)
}

// Prefix is the layout of the first bytes of the data, as they are in the whole block.
func (l Lines) Prefix(data int) Lines {
	p := Lines{at: l.at, data: data, bytes: data}
	if l.Versioned() {
		p.bytes += l.versions(data)
	}
	return p
}

// Bytes is what the block takes in memory, and the length of a READ of it.
func (l Lines) Bytes() int { return l.bytes }

// Data is what applications see of it.
func (l Lines) Data() int { return l.data }

// Versioned reports whether there are versions at all.
func (l Lines) Versioned() bool { return l.bytes > l.data }

// Version is that at the start of the block, of which src has the first bytes. It is 0 without versions.
func (l Lines) Version(src []byte) uint16 {
	if !l.Versioned() {
		return 0
	}
	return binary.LittleEndian.Uint16(src)
}

// Encode makes the bytes in memory of some data.
func (l Lines) Encode(dst, data []byte, version uint16) {
	if !l.Versioned() {
		copy(dst[:l.bytes], data)
		return
	}
	data = data[:l.data]
	for from, to := 0, LineBytes-l.at; from < l.bytes; from, to = to, to+LineBytes {
		to = min(to, l.bytes)
		binary.LittleEndian.PutUint16(dst[from:], version)
		data = data[copy(dst[from+versionBytes:to], data):]
	}
}

// Decode undoes Encode. whole is false if the versions differ: src is of several moments, and dst means nothing.
// dst may be src.
func (l Lines) Decode(dst, src []byte) (version uint16, whole bool) {
	if !l.Versioned() {
		copy(dst[:l.data], src)
		return 0, true
	}
	version, dst, src = binary.LittleEndian.Uint16(src), dst[:l.data], src[:l.bytes]
	for from, to := 0, LineBytes-l.at; from < l.bytes; from, to = to, to+LineBytes {
		to = min(to, l.bytes)
		if binary.LittleEndian.Uint16(src[from:]) != version {
			return version, false
		}
		dst = dst[copy(dst, src[from+versionBytes:to]):]
	}
	return version, true
}
