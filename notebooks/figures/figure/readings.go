package figure

import "drtmx/engine/result"

// Mtxn is the throughput of the cluster.
func Mtxn(r *result.Result) (v, ci95 float64) {
	v = r.Throughput / 1e6
	return v, v * r.ThroughputCI95
}

// MeanLatency is in us.
func MeanLatency(r *result.Result) (y, ci95 float64) { return r.LatencyUS.Mean, 0 }

// ShareOfCI is the half-width of the 95 % interval of a number as a share of it. A run without one is
// drawn without one; if it is not steady, no claim rests on it.
func ShareOfCI(r *result.Result, path string) float64 {
	if share, _, ok := r.Interval(path); ok {
		return share
	}
	return r.ThroughputCI95
}

// MedianLatency is the median latency.
func MedianLatency(r *result.Result) (v, ci95 float64) {
	return r.LatencyUS.P50, r.LatencyUS.P50 * ShareOfCI(r, "latency_us.p50")
}
