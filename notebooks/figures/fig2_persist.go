package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
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
func planPersist(scale string) plan {
	base := experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "server.threads": 2, "client.threads": 1, "coroutines": 1,
		"nvm.h1": true, "nvm.h3": true, "check": "off", "warmup_ns": 100_000, "duration_ns": 2_000_000}
	payloads := []int{8, smallWrite, 256, 1024, 4096}
	if scale == Paper {
		base["warmup_ns"], base["duration_ns"] = 1_000_000, 10_000_000
		payloads = []int{8, 16, 32, smallWrite, 128, 256, 512, 1024, 2048, 4096}
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{twoTrips, smallWrite}}
	for _, l := range []nvmLine{
		{loneWrite, experiment.Knobs{"workload": "micro-write"}},
		{loneRead, experiment.Knobs{"workload": "micro-read"}},
		{twoTrips, experiment.Knobs{"workload": "micro-write", "nvm.persist": true}},
		{oneTrip, experiment.Knobs{"workload": "micro-write", "nvm.persist": true, "nvm.h9": true}},
	} {
		s := plannedSeries{name: l.name}
		for _, n := range payloads {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, experiment.Knobs{"workload.payload": n}), read: meanLatency})
		}
		p.series = append(p.series, s)
	}
	return p
}

func meanLatency(r *result.Result) (y, ci95 float64) { return r.LatencyUS.Mean, 0 }

var figurePersist = definition{
	id: "2-persist", title: "Latency of persistent writes", chapter: 2, section: "2.3.4.3", scope: "request",
	x: Axis{Label: "Payload", Unit: "bytes", Log: true}, y: Axis{Label: "Mean latency", Unit: "us"},
	plan: planPersist,
	claims: func(f *Figure) []Claim {
		shorter := f.above("s2-h9-order", "H9 is faster at every payload, and no persistent write is as fast as a WRITE", func(float64) bool { return true },
			pair{twoTrips, oneTrip}, pair{oneTrip, loneWrite})
		return []Claim{
			f.single(),
			f.value("s2-pwrite-naive-lat", "a persistent write takes 4 us in two round trips", twoTrips, smallWrite, 4),
			f.value("s2-pwrite-h9-lat", "and 3 us in one", oneTrip, smallWrite, 3),
			shorter,
		}
	},
}

// single is about the two requests that a persistent write consists of, as row
// s2-onesided-lat is measured: two of them make the 4 us of two round trips.
func (f *Figure) single() Claim {
	c := Claim{ID: "s2-onesided-lat", Claim: "a single one-sided request takes 2 us", Reference: "2", Unit: f.Y.Unit}
	w, ok := f.series(loneWrite).at(smallWrite)
	r, also := f.series(loneRead).at(smallWrite)
	if !ok || !also {
		return noRuns(c)
	}
	mean := (w.Y + r.Y) / 2
	c.Measured, c.Status = &mean, near(mean, (w.CI95+r.CI95)/2, 2)
	c.Why = fmt.Sprintf("the mean of a WRITE, %.3g us, and a READ, %.3g us, of %d bytes", w.Y, r.Y, smallWrite)
	return c
}
