package store

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// MinCacheBytes is the smallest budget of a client cache: a line.
const MinCacheBytes = record.LineBytes

// Caches are the client caches of a cluster.
type Caches interface {
	// Of is that of a machine, which is made when it is first asked for.
	Of(machine int) Cache
	// Each calls f with those that have been made, by machine: it is free of time.
	Each(f func(Cache))
	// Resize changes the budget of all of them while the system runs.
	Resize(bytes uint64) error
}

// Cache is a machine's memory of where records of other machines are. All threads of the machine share it.
// Tables are of the kind that made the cache.
type Cache interface {
	// Get is the location of a key of another machine, if it is known.
	Get(c *r2.Co, t Table, key uint64) (Location, bool)
	// Put remembers where a record is.
	Put(c *r2.Co, t Table, key uint64, r Ref)
	// Invalidate forgets a location that turned out to be stale.
	Invalidate(c *r2.Co, t Table, key uint64)

	// What follows charges nothing.

	// Fill makes the cache as full as a long run leaves it, popular records first; popular may be nil.
	Fill(popular func(table uint8, key uint64) bool)
	// Warm is Put before the system runs.
	Warm(t Table, key uint64)
	// Line is the line of memory in which the cache looks for a record.
	Line(t Table, key uint64) (a r2.Addr, n int)
	Stats() CacheStats
}

// CacheStats counts what happened since the cache was made.
type CacheStats struct {
	Hits, Misses uint64
	Evictions    uint64 // entries given up for others
	Stale        uint64 // entries forgotten because the record had gone
	Entries      uint64 // now; of a filled cache those in sets that were looked at
	Capacity     uint64 // entries that fit, now
}
