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

// Location is where a record is. Where a search says Missing, it is the key's gap instead: Loc is where its
// version lies, see Table.Gap, and Ref is the version, with Unsettled where the search took several steps: that
// the gap had the version in each of them is then for a validation to find out.
type Location struct {
	r2.Loc
	Ref Ref
}

// Unsettled is a bit of the Ref of a gap.
const Unsettled = Ref(1) << 32

// Stale reports whether a row with this stamp has lost the record that was looked up: it was deleted, or its
// insert was taken back. Then the location has to be forgotten and the key looked up again. A row that is not
// stale and not live is about to get the record.
func (l Location) Stale(stamp uint64) bool { return record.Incarnation(stamp) != l.Ref.Incarnation() }
