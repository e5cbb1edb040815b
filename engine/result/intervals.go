package result

// The quantities that have intervals, as keys of Result.CI95.
const (
	CIThroughput = "throughput"
	CIAborts     = "abort_rate"
	CITrips      = "round_trips"
)

// ciKeys are the keys of Result.CI95 by the paths of the numbers that they are about.
var ciKeys = map[string]string{
	"throughput": CIThroughput, "latency_us.p50": "p50", "latency_us.p90": "p90", "latency_us.p99": "p99",
	"abort_rate": CIAborts, "round_trips_per_txn": CITrips,
}

// Interval is the half-width of the 95 % interval of a number as a share of it, by the number's path.
// Where there is none, why says why, "" if no number of this kind has one.
func (r *Result) Interval(path string) (share float64, why string, ok bool) {
	key, judged := ciKeys[path]
	if !judged {
		return 0, "", false
	}
	if share, ok = r.CI95[key]; ok {
		return share, "", true
	}
	if key == CIThroughput && r.CI95 == nil && r.ThroughputCI95 > 0 { // a result of before there were others
		return r.ThroughputCI95, "", true
	}
	if why = r.NoCI95[key]; why == "" {
		why = "the result has no interval of it"
	}
	return 0, why, false
}
