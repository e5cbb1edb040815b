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

	// Entries calls f with the entries of a part in order. An unused part has what it begins with.
	Entries(part uint64, f func(Entry))
	// Used reports whether a part was used.
	Used(part uint64) bool
}

// Claim is where a snapshot reads: the words of its point. Raise says that what it looks at has to be lifted to the
// point, so that nothing comes in below it any more.
type Claim struct {
	Point []uint64
	Raise bool
}

// Dated is an ordered table of which snapshots are read. What it has at a point is a superset: entries that were not
// there yet may be among them, for an entry is entered before its transaction has a stamp. What was taken out before the
// point is not, and of a key that had several values there is the one of the point.
type Dated interface {
	OrderedTable
	// ScanAt is Scan at the point of a snapshot.
	ScanAt(c *r2.Co, at Claim, r Range, dst []Entry) ([]Entry, error)
	// Enter is Insert. guard is the highest point at which a snapshot has looked for the key's neighbours and may not have
	// found it, also with ErrExists.
	Enter(c *r2.Co, part, key, value uint64) (guard uint64, err error)
	// Retire is Delete with the stamp of the transaction: snapshots before it find the entry on.
	Retire(c *r2.Co, part, key, stamp uint64) error
}

// DatedIndexes can make tables that are Dated.
type DatedIndexes interface {
	Indexes
	// Date has those that are added from now on be so. visible says whether what has a stamp is there at a point.
	Date(visible func(stamp uint64, point []uint64) bool)
	// Collect takes out of all tables what was retired, on the coroutine's machine, with stamps that are visible to all
	// snapshots to come.
	Collect(c *r2.Co, visible func(stamp uint64) bool)
	// Restamp forgets points and stamps: all that was retired is taken out, free of time. No transaction runs.
	Restamp()
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
	// At, instead of Fill, is the entry with the i-th lowest key of the Size that each part has from the start. If At is
	// set, entries are computed when they are first read.
	At func(part, i uint64) Entry
	// Size is how many entries each part has from the start. With Fill it may be 0: then they are counted, if it matters.
	Size uint64
}
