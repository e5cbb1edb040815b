package measure

import (
	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// Merging takes neighbouring windows together until they have requests enough for a percentile that each of them has too few
// for. A slow system in short windows would never have a p99 otherwise.
type Merging struct{ p50, p99 merged }

// merged is the windows since the latest that had the percentile, by itself or together with others.
type merged struct {
	hist    metrics.Hist
	windows int
	version int // of the knobs
}

// Add takes the latencies of a window that ends.
func (m *Merging) Add(version int, of *metrics.Hist) (out result.MergedLatency) {
	out.P50US, out.P50Windows = m.p50.add(version, of, 0.5)
	out.P99US, out.P99Windows = m.p99.add(version, of, 0.99)
	return out
}

// add is the percentile of this window and those before it, 0 if they have too few or this one suffices.
func (m *merged) add(version int, of *metrics.Hist, q float64) (us float64, windows int) {
	if m.version != version {
		m.hist.Reset()
		m.windows, m.version = 0, version
	}
	if _, own := of.QuantileNS(q); own && m.windows == 0 {
		return 0, 0
	}
	if of.Count() == 0 && m.windows == 0 { // nothing to be merged with what comes
		return 0, 0
	}
	m.hist.Merge(of)
	m.windows++
	ns, ok := m.hist.QuantileNS(q)
	if !ok {
		return 0, 0
	}
	windows = m.windows
	m.hist.Reset()
	m.windows = 0
	return float64(ns) / 1e3, windows
}
