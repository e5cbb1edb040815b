package versions

import "drtmx/engine/metrics"

// The gauges of part snapshots: what snapshots meet, and the old versions that are kept for them.
var (
	gReads     = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "reads", Label: "records read by snapshots", Unit: "/s", Kind: metrics.Rate})
	gBlocked   = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "blocked", Label: "blocked reads", Unit: "%", Kind: metrics.Share})
	gOneSided  = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "one_sided", Label: "one-sided reads", Unit: "%", Kind: metrics.Share})
	gWait      = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "wait", Label: "mean wait if blocked", Unit: "µs", Kind: metrics.Mean})
	gVersions  = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "versions", Label: "old versions kept"})
	gCollected = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "collected", Label: "old versions collected", Unit: "/s", Kind: metrics.Rate})
	gHeap      = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "heap", Label: "heaps of old versions", Unit: "MB"})
	gFull      = metrics.NewGauge(metrics.Gauge{Part: "snapshots", Name: "heap_full", Label: "locks refused, heap full", Unit: "/s", Kind: metrics.Rate})
)

// Gauges reads them, and those of schemes that are or were in force: what they count does not begin anew when the scheme changes. A
// nil store has none.
func (s *Store) Gauges(r *metrics.Readings) {
	if s == nil {
		return
	}
	stats := s.Stats()
	r.Add(gReads, float64(stats.Reads), 0)
	r.Add(gBlocked, float64(stats.Blocked), float64(stats.Reads))
	r.Add(gOneSided, float64(stats.OneSided), float64(stats.Reads))
	r.Add(gWait, float64(stats.WaitPS)/1e6, float64(stats.Blocked))
	versions, bytes := s.kept()
	r.Add(gVersions, float64(versions), 0)
	r.Add(gCollected, float64(stats.Freed), 0)
	r.Add(gHeap, float64(bytes)/1e6, 0)
	r.Add(gFull, float64(stats.Full), 0)
	for _, x := range s.schemes {
		if g, ok := x.scheme.(metrics.Gauged); ok {
			g.Gauges(r)
		}
	}
}

// kept counts the old versions that are there, and their bytes.
func (s *Store) kept() (versions, bytes int) {
	for _, m := range s.machines {
		for _, h := range m.heaps {
			if h != nil {
				versions += h.used()
				bytes += h.used() * h.bytes
			}
		}
	}
	return versions, bytes
}
