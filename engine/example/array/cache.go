package array

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Caches need no memory: every client knows where every record is.
func (kind) Caches(*r2.Cluster, []store.Table, uint64, uint64) (store.Caches, error) {
	return caches{}, nil
}

// Needs nothing: a row has no index and no cache entry.
func (kind) Needs() store.Memory { return store.Memory{} }

// Halves has none: records are there from the start.
func (kind) Halves() store.Halves { return 0 }

type caches struct{}

func (caches) Of(int) store.Cache     { return computed{} }
func (caches) Each(func(store.Cache)) {}
func (caches) Resize(uint64) error    { return nil }

// computed is a cache that computes what it would remember.
type computed struct{}

// Get is the location of a key.
func (computed) Get(_ *r2.Co, t store.Table, key uint64) (store.Location, bool) { return t.Find(key) }

func (computed) Put(*r2.Co, store.Table, uint64, store.Ref) {}
func (computed) Invalidate(*r2.Co, store.Table, uint64)     {}
func (computed) Fill(func(table uint8, key uint64) bool)    {}
func (computed) Warm(store.Table, uint64)                   {}
func (computed) Line(store.Table, uint64) (r2.Addr, int)    { return 0, 0 }
func (computed) Stats() store.CacheStats                    { return store.CacheStats{} }
