package chapter2

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// The latency of persistent writes (§2.3.4.3), which the thesis gives in its text:
// a request 2 us, WRITE and then READ 4 us, both in one list 3 us.

const (
	loneWrite  = "WRITE"
	loneRead   = "READ"
	twoTrips   = "WRITE, then READ"
	oneTrip    = "WRITE+READ (H9)"
	smallWrite = 64
)

// planPersist is one client with one request at a time, past the cache.
func planPersist(scale string) figure.Plan {
	base := experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "server.threads": 2, "client.threads": 1, "coroutines": 1,
		"nvm.h1": true, "nvm.h3": true, "check": "off", "warmup_ns": 100_000, "duration_ns": 2_000_000}
	payloads := []int{8, smallWrite, 256, 1024, 4096}
	if scale == figure.Paper {
		base["warmup_ns"], base["duration_ns"] = 1_000_000, 10_000_000
		payloads = []int{8, 16, 32, smallWrite, 128, 256, 512, 1024, 2048, 4096}
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: twoTrips, X: smallWrite}}
	for _, l := range []figure.Setting{
		{Name: loneWrite, Set: experiment.Knobs{"workload": "micro-write"}},
		{Name: loneRead, Set: experiment.Knobs{"workload": "micro-read"}},
		{Name: twoTrips, Set: experiment.Knobs{"workload": "micro-write", "nvm.persist": true}},
		{Name: oneTrip, Set: experiment.Knobs{"workload": "micro-write", "nvm.persist": true, "nvm.h9": true}},
	} {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range payloads {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, experiment.Knobs{"workload.payload": n}), Read: figure.MeanLatency})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

var figurePersist = figure.Definition{
	ID: "2-persist", Title: "Latency of persistent writes", Chapter: 2, Section: "2.3.4.3", Scope: "request",
	X: figure.Axis{Label: "Payload", Unit: "bytes", Log: true}, Y: figure.Axis{Label: "Mean latency", Unit: "µs"},
	Plan: planPersist,
	Claims: func(f *figure.Figure) []figure.Claim {
		shorter := f.Above("s2-h9-order", "H9 is faster at every payload, and no persistent write is as fast as a WRITE", func(float64) bool { return true },
			figure.Pair{Above: twoTrips, Below: oneTrip}, figure.Pair{Above: oneTrip, Below: loneWrite})
		return []figure.Claim{
			single(f),
			f.Value("s2-pwrite-naive-lat", "a persistent write takes 4 µs in two round trips", twoTrips, smallWrite, 4),
			f.Value("s2-pwrite-h9-lat", "and 3 µs in one", oneTrip, smallWrite, 3),
			shorter,
		}
	},
}

// single is about the two requests that a persistent write consists of, as row
// s2-onesided-lat is measured: two of them make the 4 us of two round trips.
func single(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "s2-onesided-lat", Claim: "a single one-sided request takes 2 µs", Reference: "2", Unit: f.Y.Unit}
	w, ok := f.Line(loneWrite).At(smallWrite)
	r, also := f.Line(loneRead).At(smallWrite)
	if !ok || !also {
		return figure.NoRuns(c)
	}
	mean := (w.Y + r.Y) / 2
	c.Measured, c.Status = &mean, figure.Near(mean, (w.CI95+r.CI95)/2, 2)
	c.Why = fmt.Sprintf("the mean of a WRITE, %.3g µs, and a READ, %.3g µs, of %d bytes", w.Y, r.Y, smallWrite)
	return c
}
