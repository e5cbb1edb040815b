package engine

import (
	"fmt"

	"drtmx/engine/metrics"
)

// quality says how far the throughput of the measured interval can be trusted.
type quality struct {
	ci95     float64 // half-width of the 95 % interval as a share; 0: unknown
	drift    bool    // the throughput moves by more than noise
	steady   bool
	unsteady string
}

// judge looks at the commits in equal spans of time.
func judge(commits []float64) quality {
	e := metrics.EstimateMean(commits)
	switch {
	case e.Why == metrics.TooShort:
		return quality{unsteady: "the measured interval is " + e.Reason("throughput")}
	case e.Mean == 0:
		return quality{unsteady: "nothing was committed"}
	case e.Why != metrics.None:
		return quality{drift: e.Why == metrics.Drifting, unsteady: e.Reason("throughput")}
	}
	q := quality{ci95: e.Half95 / e.Mean, steady: true}
	if q.ci95 > steadyCI {
		q.steady, q.unsteady = false, fmt.Sprintf("the 95 %% interval of the throughput is ± %.1f %%, wider than %g %%", 100*q.ci95, 100*steadyCI)
	}
	return q
}

// quality judges the throughput since the mark.
func (s *System) quality() quality {
	if s.auto.changedSince(s.marked.ps) {
		return quality{drift: true, unsteady: s.auto.unsteady()}
	}
	return judge(s.meter.spans.series(commitsOf))
}

// The quantities that have intervals, as keys of Result.CI95.
const (
	ciThroughput = "throughput"
	ciAborts     = "abort_rate"
	ciTrips      = "round_trips"
)

// ciQuantiles are those of the latency.
var ciQuantiles = []struct {
	key string
	q   float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}

// ciKeys are the keys of Result.CI95 by the paths of the numbers that they are about.
var ciKeys = map[string]string{
	"throughput": ciThroughput, "latency_us.p50": "p50", "latency_us.p90": "p90", "latency_us.p99": "p99",
	"abort_rate": ciAborts, "round_trips_per_txn": ciTrips,
}

// addIntervals gives every quantity its interval, or the reason why there is none.
func (s *System) addIntervals(r *Result) {
	r.CI95, r.NoCI95 = map[string]float64{}, map[string]string{}
	moved := "" // what holds of one holds of all
	if q := s.quality(); q.drift {
		moved = q.unsteady
	}
	add := func(key, what string, share float64, e metrics.Estimate) {
		why := moved
		if why == "" {
			why = e.Reason(what)
		}
		if why != "" {
			r.NoCI95[key] = why
			return
		}
		r.CI95[key] = share
	}
	ratio := func(key, what string, of, over []float64) {
		e := metrics.EstimateRatio(of, over)
		share := 0.0
		if e.Mean > 0 {
			share = e.Half95 / e.Mean
		}
		add(key, what, share, e)
	}
	x := &s.meter.spans
	commits := x.series(commitsOf)
	ratio(ciThroughput, "throughput", commits, ones(len(commits)))
	ratio(ciTrips, "the number of round trips", x.series(tripsOf), commits)
	ratio(ciAborts, "the abort rate", x.series(abortsOf), x.series(attemptsOf))
	latency, parts := &s.meter.measured().latency, x.latencies()
	for _, q := range ciQuantiles {
		if _, known := latency.QuantileNS(q.q); known {
			share, e := metrics.QuantileCI95(latency, parts, q.q)
			add(q.key, "the share of what takes longer than "+q.key, share, e)
		}
	}
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
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
	if key == ciThroughput && r.CI95 == nil && r.ThroughputCI95 > 0 { // a result of before there were others
		return r.ThroughputCI95, "", true
	}
	if why = r.NoCI95[key]; why == "" {
		why = "the result has no interval of it"
	}
	return 0, why, false
}
