package txn

import (
	"drtmx/engine/metrics"
	"drtmx/engine/store"
)

// What the transaction layer shows of itself, whatever protocol runs.
var (
	cacheHits    = metrics.NewGauge(metrics.Gauge{Part: "cache", Name: "hits", Label: "location hits", Unit: "%", Kind: metrics.Share})
	cacheEvicted = metrics.NewGauge(metrics.Gauge{Part: "cache", Name: "evicted", Label: "locations evicted", Unit: "/s", Kind: metrics.Rate})
	cacheStale   = metrics.NewGauge(metrics.Gauge{Part: "cache", Name: "stale", Label: "stale locations", Unit: "/s", Kind: metrics.Rate})
	locksTried   = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "tried", Label: "locks tried", Unit: "/s", Kind: metrics.Rate})
	locksLocal   = metrics.NewGauge(metrics.Gauge{Part: "locks", Name: "local", Label: "locks of own records", Unit: "%", Kind: metrics.Share})
)

// Gauges reads them, those of the logs, and those of the protocol if it has any.
func (db *DB) Gauges(r *metrics.Readings) {
	if db.caches != nil && db.common.CacheEnabled {
		db.caches.Each(func(x store.Cache) {
			s := x.Stats()
			r.Add(cacheHits, float64(s.Hits), float64(s.Hits+s.Misses))
			r.Add(cacheEvicted, float64(s.Evictions), 0)
			r.Add(cacheStale, float64(s.Stale), 0)
		})
	}
	n := db.Locks()
	r.Add(locksTried, float64(n.All), 0)
	r.Add(locksLocal, float64(n.Local), float64(n.All))
	db.log.Gauges(r)
	if p, ok := db.protocol.(metrics.Gauged); ok {
		p.Gauges(r)
	}
}
