package store

import "drtmx/engine/r2"

// Index is an ordered table: entries in parts, each of which is on one server.
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
