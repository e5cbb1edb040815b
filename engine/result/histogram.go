package result

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
