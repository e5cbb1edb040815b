package store

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// Ref is where a record is within its shard: the number of the row and its incarnation. It fits eight bytes
// of a message or of a cache entry.
type Ref uint64

// NewRef packs a row number and an incarnation.
func NewRef(row uint32, incarnation uint16) Ref { return Ref(row) | Ref(incarnation)<<32 }

// Row is the number of the row.
func (r Ref) Row() uint32 { return uint32(r) }

// Incarnation counts the records that the row held before.
func (r Ref) Incarnation() uint16 { return uint16(r >> 32) }

// Location is where a record is.
type Location struct {
	r2.Loc
	Ref Ref
}

// Fresh reports whether a row with this stamp still holds the record that was looked up. If it does not,
// the record was deleted since: the location is stale, forget it and look the key up again.
func (l Location) Fresh(stamp uint64) bool {
	return record.Live(stamp) && record.Incarnation(stamp) == l.Ref.Incarnation()
}
