package published

import (
	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/model"
)

// The server's sub-models and translation tables in registered memory, as clients READ them.
//
// A sub-model has 16 bytes, of which 14 are in use, so that none straddles two lines. Its translation table is in lines of
// its own:
//
//	line   generation u32, entries u32 | 7 entries of 8 bytes
//
// Every line has the generation of the sub-model that it belongs to, so that a READ of any of them tells whether it fits
// the sub-model: entries of a new table behind an old model pass the check of incarnations, and lose keys. A table that does
// not fit into the lines of its sub-model, stride of them, is elsewhere, and its first line says where:
//
//	line   generation u32, entries u32 with far set | number of its first line u64 | unused
const (
	lineBytes   = 64
	entryBytes  = 8
	lineHeader  = 8
	lineEntries = (lineBytes - lineHeader) / entryBytes

	subStride = 16
	far       = 1 << 31
)

// linesFor is how many lines a table of n entries has; none has less than one.
func linesFor(n uint32) uint32 { return max(1, (n+lineEntries-1)/lineEntries) }

// putLine writes a line of a table: up to seven entries from the first on.
func putLine(line []byte, generation, entries uint32, list []model.Entry) {
	wire.Put32(line, generation)
	wire.Put32(line[4:], entries)
	for i := range lineEntries {
		e := model.Entry(0)
		if i < len(list) {
			e = list[i]
		}
		wire.Put64(line[lineHeader+i*entryBytes:], uint64(e))
	}
}

// putFarLine writes the first line of a table that is elsewhere.
func putFarLine(line []byte, generation, entries, first uint32) {
	putLine(line, generation, entries|far, []model.Entry{model.Entry(first)})
}

// ttLine is a view of a line.
type ttLine []byte

func (l ttLine) generation() uint32 { return wire.Get32(l) }
func (l ttLine) far() bool          { return wire.Get32(l[4:])&far != 0 }

// entry is the i-th of the line.
func (l ttLine) entry(i uint32) model.Entry {
	return model.Entry(wire.Get64(l[lineHeader+i*entryBytes:]))
}

// farLine is the number of the first line of a table that is elsewhere.
func (l ttLine) farLine() uint32 { return uint32(l.entry(0)) }

// span is the part of a table's memory that has the entries from first to last: READs begin with a line's header and end
// with the last entry that is wanted.
func span(first, last uint32) (at r2.Addr, n int) {
	from, to := first/lineEntries, last/lineEntries
	return r2.Addr(from) * lineBytes, int(to-from)*lineBytes + lineHeader + int(last%lineEntries+1)*entryBytes
}
