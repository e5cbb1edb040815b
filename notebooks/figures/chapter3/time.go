package chapter3

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figures 3-3c, 3-16 and 3-21: what inserts do to caches over a minute. Keys and time are smaller than the thesis's by one
// factor, so that a leaf takes in as many keys from begin to end, and splits as often; rates are as they are. What is not
// smaller is the time of a READ, of a training and of a slice of the operating system.
//
// The threads of a client machine share its cache here, so that one of them learns of a change for all. The thesis does not say
// whether its do. With a cache for each thread (With xstore.cache_scope=thread) a change is met 24 times on a machine.

const (
	// The keys of a timeline at either scale. The factor is that of the thesis's keys to these.
	quickShrinks = 25_000
	paperShrinks = 200_000

	thesisKeys      = 100_000_000
	timelineSeconds = 60 // seconds of the thesis's timelines (§3.7.1)
	secondsOfPoint  = 2  // seconds of a point
	// dynamicModels are the sub-models for workloads with inserts (§3.7.1), for 100 million keys.
	dynamicModels = 2_000_000
)

// shrunk is the factor by which keys and time are smaller than the thesis's.
func shrunk(scale string, keys int) int {
	if scale == figure.Paper {
		return keys / paperShrinks
	}
	return keys / quickShrinks
}

// overTime is a run over time: from second 0 to second from nothing is measured, then until second to.
func overTime(scale, workload string, keys, from, to int) figure.Plan {
	by := shrunk(scale, keys)
	spec := baseSpec(scale, workload)
	spec.Set = figure.With(spec.Set, experiment.Knobs{"workload.keys": keys, "workload.scale": 1 / float64(by), "timeline": true,
		"drain_ns":  200_000_000, // workers share their cores with trainers that have a backlog
		"warmup_ns": from * (1_000_000_000 / by), "duration_ns": (to - from) * (1_000_000_000 / by), "window_ns": secondsOfPoint * (1_000_000_000 / by)})
	return figure.Plan{Base: spec, Note: fmt.Sprintf("keys and time are smaller by %d: %d keys, %g ms for %d s", by, keys/by, float64(1000*to)/float64(by), to)}
}

// aged is a system for a run over time: XStore with the sub-models that are enough for what is inserted.
func aged(scale, name string) experiment.Knobs {
	if name != xstore {
		return systems[name]
	}
	return figure.With(systems[xstore], experiment.Knobs{"xstore.submodels": dynamicModels / shrunk(scale, thesisKeys)})
}

func timeline(id, title, section, distribution string, claims func(*figure.Figure) []figure.Claim, names ...string) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 3, Section: section, Scope: "server",
		X: figure.Axis{Label: "Time", Unit: "ms"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Claims: claims,
		Plan: func(scale string) figure.Plan {
			p := overTime(scale, "ycsb-d", thesisKeys, timelineSeconds/2, timelineSeconds)
			p.Base.Set["workload.distribution"] = distribution
			for _, name := range names {
				p.Series = append(p.Series, figure.PlannedSeries{Name: name, Points: []figure.PlannedPoint{{Set: aged(scale, name), Moments: true}}})
			}
			return p
		}}
}

var timelines = []*figure.Definition{
	timeline("3-3c", "Throughput of key-value stores on RDMA with 5 % inserts", "3.2", "uniform", claimsOfInserts, serverRKV, clientRKV, cell, optimal),
	timeline("3-16a", "YCSB D over time, uniform", "3.7.2", "uniform", claimsOverTime, xstore, optimal),
	timeline("3-16b", "YCSB D over time, latest", "3.7.2", "latest", claimsOverTime, xstore, optimal),
	{ID: "3-21", Title: "Throughput over time with model expansion", Chapter: 3, Section: "3.7.6", Scope: "server",
		X: figure.Axis{Label: "Time", Unit: "ms"}, Y: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Plan: planExpansion, Claims: claimsExpansion},
}

// half is the run of a timeline, whose measured interval is its second half; ok is false if there is none.
func half(f *figure.Figure, name string) (p figure.Point, ok bool) {
	s := f.Line(name)
	if len(s.Points) == 0 {
		return p, false
	}
	p = s.Points[0]
	p.Name = "the second half"
	p.Y, p.CI95 = ofServer(f.Runs[p.Run])
	return p, true
}

func claimsOfInserts(f *figure.Figure) []figure.Claim {
	const reference = 25
	c := figure.Claim{ID: "f3-3c-optimal", Claim: "with 5 % inserts the whole index cached is down to 25 M", Reference: fmt.Sprint(reference), Unit: f.Y.Unit}
	expectedAcross(&c, reference)
	if p, ok := half(f, optimal); ok {
		return []figure.Claim{c.Judged(f, p, reference)}
	}
	return []figure.Claim{figure.NoRuns(c)}
}

// expectedAcross says that a claim is a number of Y that is a line across the figure.
func expectedAcross(c *figure.Claim, y float64) {
	c.Place = &figure.Reference{ID: c.ID, Text: c.Claim, From: &y, To: &y}
}

func claimsOverTime(f *figure.Figure) []figure.Claim {
	c := figure.Claim{ID: "f3-16-order", Claim: "under inserts XStore stays above a cache of the whole index", Unit: "x"}
	a, ok := half(f, xstore)
	b, also := half(f, optimal)
	if !ok || !also {
		return []figure.Claim{figure.NoRuns(c)}
	}
	c = f.Gains(c.ID, c.Claim, figure.Divide(figure.Pair{Above: xstore, Below: optimal}, a, b))
	for _, p := range []struct {
		name string
		run  int
	}{{xstore, a.Run}, {optimal, b.Run}} {
		x := f.Runs[p.run].Parts["xstore"]
		c.Why += fmt.Sprintf("; of %s's lookups %.2g %% met a leaf or node that had changed, %.2g %% asked the server", p.name, x["invalidations"], x["fallbacks"])
	}
	c.Why += "; the threads of a machine share a cache"
	return append([]figure.Claim{c}, rowsOverTime(f)...)
}

// Figure 3-21 begins with 10 million keys and 100 keys for a sub-model. The thesis does not say how many are inserted in a
// second; with 2 million the keys have doubled after 5 s.
const (
	expansionKeys   = 10_000_000
	expansionModels = 100_000
	expansionAt     = 200 // keys of a sub-model
	expansionRate   = 2_000_000
	expansionS      = 15
)

func planExpansion(scale string) figure.Plan {
	by := shrunk(scale, expansionKeys)
	p := overTime(scale, "ycsb-d", expansionKeys, 1, expansionS)
	p.Base.Set = figure.With(p.Base.Set, experiment.Knobs{"window_ns": 1_000_000_000 / by / 2, "workload.insert_rate": expansionRate,
		"xstore.submodels": expansionModels / by, "xstore.expand_at": expansionAt})
	p.Series = []figure.PlannedSeries{{Name: xstore, Points: []figure.PlannedPoint{{Set: systems[xstore], Moments: true}}}}
	return p
}

// claimsExpansion compares the throughput just before the model has twice the sub-models with that of the last fifth of the time.
func claimsExpansion(f *figure.Figure) []figure.Claim {
	c := figure.Claim{ID: "f3-21-order", Claim: "with twice the sub-models the throughput rises again", Unit: "x"}
	s := f.Line(xstore)
	if len(s.Points) == 0 {
		return []figure.Claim{figure.NoRuns(c)}
	}
	at, ms := 0, f.Runs[s.Points[0].Run].Timeline
	for i := 1; i < len(ms) && at == 0; i++ {
		if ms[i].Gauges["xstore.submodels"] > ms[i-1].Gauges["xstore.submodels"] {
			at = i
		}
	}
	last := len(ms) - len(ms)/5
	if at == 0 || at > last {
		c.Status, c.Why = figure.Undecided, "the model was not expanded in this time"
		return []figure.Claim{c}
	}
	before, after := s.Points[at-1], s.Points[last]
	after.Y, after.Name = 0, "the end"
	for _, p := range s.Points[last:] {
		after.Y += p.Y / float64(len(ms)-last)
	}
	c = f.Gains(c.ID, c.Claim, figure.Divide(figure.Pair{Above: "at the end", Below: fmt.Sprintf("at %g ms", before.X)}, after, before))
	c.Why += fmt.Sprintf("; %g sub-models from %g ms on", ms[at].Gauges["xstore.submodels"], s.Points[at].X)
	return []figure.Claim{c}
}
