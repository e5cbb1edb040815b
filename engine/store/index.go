package store

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
)

// Index is an ordered table as transactions use it: entries in parts, each of which is on one server.
type Index interface {
	// Scan appends the entries of a range to dst.
	Scan(c *r2.Co, r Range, dst []Entry) ([]Entry, error)
	// Insert adds an entry, or says ErrExists.
	Insert(c *r2.Co, part, key, value uint64) error
	// Delete takes an entry out, or says ErrMissing.
	Delete(c *r2.Co, part, key uint64) error
}

// Entry is one entry of an ordered table.
type Entry struct{ Key, Value uint64 }

// Range is what a scan reads: the entries of a part with From <= key <= To, rising or, Down, falling, Limit at most.
type Range struct {
	Part, From, To uint64
	Limit          int
	Down           bool
}

// OrderedTable is an index as workloads make it.
type OrderedTable interface {
	Index
	// Name is for messages.
	Name() string
	// Primary is the server of a part.
	Primary(part uint64) int

	// What follows is for checks: it is free of time.

	// Entries calls f with the entries of a part in order. A part that nobody used has what it begins with.
	Entries(part uint64, f func(Entry))
	// Used reports whether anybody has used a part.
	Used(part uint64) bool
}

// Indexes makes the ordered tables of a cluster.
type Indexes interface {
	Add(s IndexSpec) (OrderedTable, error)
}

// LiveIndexes have knobs that change while they run.
type LiveIndexes interface{ Set(v knob.Values) error }

// IndexSpec describes an ordered table that is to be made, whatever makes it.
type IndexSpec struct {
	ID      uint8  // names the table in messages; unique among the ordered tables
	Name    string // for messages to people
	Servers int    // machines 0 to Servers-1 have equal shares of the parts, in order
	Parts   uint64
	Nodes   uint64 // of a B-tree by RPC: addresses for so many nodes of a part, more share them; 0: 65,536, or what 8 GB of a server give
	// Bits are the widths of the fields that a key consists of, the highest first: a store that has all parts in one space of keys
	// puts a part's number above them. What they come to is at least what the highest key has.
	Bits []int
	// Spare is the number of entries that a server has room for beyond its initial ones, where a store takes room ahead.
	Spare uint64
	// Fill calls add with the entries that a part has from the start, in any order of keys; in rising order it is
	// faster. It must be a pure function of the part. Nil: none, or those of At.
	Fill func(part uint64, add func(key, value uint64))
	// At, instead of Fill, is the entry with the i-th lowest key of the Size that each part has from the start: where
	// they can be computed one by one, only those are that somebody looks at.
	At func(part, i uint64) Entry
	// Size is how many entries each part has from the start. With Fill it may be 0: then they are counted, if it matters.
	Size uint64
}
