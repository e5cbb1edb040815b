package engine

import "drtmx/engine/metrics"

// Histogram is a distribution of latencies.
type Histogram = metrics.Histogram

// HistogramOf is the distribution of the latency of a transaction type, "" for all of them; nil where nothing
// of it was committed.
func (r *Result) HistogramOf(typ string) *Histogram {
	t, known := r.ByType[typ]
	switch {
	case typ == "" || known && len(r.ByType) == 1:
		return r.Histogram
	case known:
		return t.Histogram
	}
	return nil
}

// latencies are the distributions of the latest windows, in turn.
type latencies struct {
	windows [insideOver]metrics.Hist // coarse
	version [insideOver]int          // of the knobs
	next    int
}

// keep remembers the distribution of a window that ends.
func (l *latencies) keep(version int, of *metrics.Hist) {
	i := l.next % insideOver
	h := &l.windows[i]
	h.Coarse = true
	h.Reset()
	h.Merge(of)
	l.version[i] = version
	l.next++
}

// RecentLatency is the distribution of latency in the latest windows, ten at most, and only those under the
// knobs of the last of them; nil while nothing was committed in any.
func (s *System) RecentLatency() *Histogram {
	l := &s.latencies
	all := metrics.Hist{Coarse: true}
	for i := l.next - 1; i >= max(0, l.next-insideOver) && l.version[i%insideOver] == l.version[(l.next-1)%insideOver]; i-- {
		all.Merge(&l.windows[i%insideOver])
	}
	return all.Histogram()
}
