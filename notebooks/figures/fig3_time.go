package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figures 3-3c, 3-16 and 3-21: what inserts do to caches over a minute. Keys and time are smaller than the thesis's by one
// factor, so that a leaf takes in as many keys from begin to end, and splits as often; rates are as they are. What is not
// smaller is the time of a READ, of a training and of a slice of the operating system.
//
// The threads of a client machine share its cache here, so that one of them learns of a change for all. The thesis does not say
// whether its do. With a cache for each thread (With xstore.cache_scope=thread) a change is met 24 times on a machine.

const (
	// The keys of a timeline at either scale. The factor is that of the thesis's keys to these.
	quickAged3 = 25_000
	paperAged3 = 200_000

	keys3  = 100_000_000
	aged3s = 60 // seconds of the thesis's timelines (§3.7.1)
	every3 = 2  // seconds of a point
	// dynamic3 are the sub-models for workloads with inserts (§3.7.1), for 100 million keys.
	dynamic3 = 2_000_000
)

// shrunk3 is the factor by which keys and time are smaller than the thesis's.
func shrunk3(scale string, keys int) int {
	if scale == Paper {
		return keys / paperAged3
	}
	return keys / quickAged3
}

// aged3 is a run over time: from second 0 to second from nothing is measured, then until second to.
func aged3(scale, workload string, keys, from, to int) plan {
	by := shrunk3(scale, keys)
	spec := base3(scale, workload)
	spec.Set = with(spec.Set, experiment.Knobs{"workload.keys": keys, "workload.scale": 1 / float64(by), "timeline": true,
		"drain_ns":  200_000_000, // workers share their cores with trainers that have a backlog
		"warmup_ns": from * (1_000_000_000 / by), "duration_ns": (to - from) * (1_000_000_000 / by), "window_ns": every3 * (1_000_000_000 / by)})
	return plan{base: spec, note: fmt.Sprintf("keys and time are smaller by %d: %d keys, %g ms for %d s", by, keys/by, float64(1000*to)/float64(by), to)}
}

// aged is a system for a run over time: XStore with the sub-models that are enough for what is inserted.
func aged(scale, name string) experiment.Knobs {
	if name != xstore {
		return systems3[name]
	}
	return with(systems3[xstore], experiment.Knobs{"xstore.submodels": dynamic3 / shrunk3(scale, keys3)})
}

// moments are the points of a run's timeline, over its time in ms.
func moments(r *result.Result, run int) (out []Point) {
	for _, m := range r.Timeline {
		out = append(out, Point{X: float64(m.T1NS) / 1e6, Y: m.Throughput / 1e6, Load: load(r), Run: run})
	}
	return out
}

func timeline3(id, title, section, distribution string, claims func(*Figure) []Claim, names ...string) *definition {
	return &definition{id: id, title: title, chapter: 3, section: section, scope: "server",
		x: Axis{Label: "Time", Unit: "ms"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, claims: claims,
		plan: func(scale string) plan {
			p := aged3(scale, "ycsb-d", keys3, aged3s/2, aged3s)
			p.base.Set["workload.distribution"] = distribution
			for _, name := range names {
				p.series = append(p.series, plannedSeries{name: name, points: []plannedPoint{{set: aged(scale, name), moments: true}}})
			}
			return p
		}}
}

var figures3time = []*definition{
	timeline3("3-3c", "Throughput of key-value stores on RDMA with 5 % inserts", "3.2", "uniform", claims33c, serverRKV, clientRKV, cell, optimal),
	timeline3("3-16a", "YCSB D over time, uniform", "3.7.2", "uniform", claims316, xstore, optimal),
	timeline3("3-16b", "YCSB D over time, latest", "3.7.2", "latest", claims316, xstore, optimal),
	{id: "3-21", title: "Throughput over time with model expansion", chapter: 3, section: "3.7.6", scope: "server",
		x: Axis{Label: "Time", Unit: "ms"}, y: Axis{Label: "Throughput", Unit: "Mreq/s"}, plan: plan321, claims: claims321},
}

// half is the run of a timeline, whose measured interval is its second half; ok is false if there is none.
func (f *Figure) half(name string) (p Point, ok bool) {
	s := f.series(name)
	if len(s.Points) == 0 {
		return p, false
	}
	p = s.Points[0]
	p.Name = "the second half"
	p.Y, p.CI95 = ofServer(f.Runs[p.Run])
	return p, true
}

func claims33c(f *Figure) []Claim {
	const reference = 25
	c := Claim{ID: "f3-3c-optimal", Claim: "with 5 % inserts the whole index cached is down to 25 M", Reference: fmt.Sprint(reference), Unit: f.Y.Unit}
	c.expectedAcross(reference)
	if p, ok := f.half(optimal); ok {
		return []Claim{c.judged(f, p, reference)}
	}
	return []Claim{noRuns(c)}
}

// expectedAcross says that a claim is a number of Y that is a line across the figure.
func (c *Claim) expectedAcross(y float64) {
	c.reference = &Reference{ID: c.ID, Text: c.Claim, From: &y, To: &y}
}

func claims316(f *Figure) []Claim {
	c := Claim{ID: "f3-16-order", Claim: "under inserts XStore stays above a cache of the whole index", Unit: "x"}
	a, ok := f.half(xstore)
	b, also := f.half(optimal)
	if !ok || !also {
		return []Claim{noRuns(c)}
	}
	c = f.gains(c.ID, c.Claim, divide(pair{xstore, optimal}, a, b))
	for _, p := range []struct {
		name string
		run  int
	}{{xstore, a.Run}, {optimal, b.Run}} {
		x := f.Runs[p.run].Parts["xstore"]
		c.Why += fmt.Sprintf("; of %s's lookups %.2g %% met a leaf or node that had changed, %.2g %% asked the server", p.name, x["invalidations"], x["fallbacks"])
	}
	c.Why += "; the threads of a machine share a cache"
	return append([]Claim{c}, f.rows316()...)
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

func plan321(scale string) plan {
	by := shrunk3(scale, expansionKeys)
	p := aged3(scale, "ycsb-d", expansionKeys, 1, expansionS)
	p.base.Set = with(p.base.Set, experiment.Knobs{"window_ns": 1_000_000_000 / by / 2, "workload.insert_rate": expansionRate,
		"xstore.submodels": expansionModels / by, "xstore.expand_at": expansionAt})
	p.series = []plannedSeries{{name: xstore, points: []plannedPoint{{set: systems3[xstore], moments: true}}}}
	return p
}

// claims321 compares the throughput just before the model has twice the sub-models with that of the last fifth of the time.
func claims321(f *Figure) []Claim {
	c := Claim{ID: "f3-21-order", Claim: "with twice the sub-models the throughput rises again", Unit: "x"}
	s := f.series(xstore)
	if len(s.Points) == 0 {
		return []Claim{noRuns(c)}
	}
	at, ms := 0, f.Runs[s.Points[0].Run].Timeline
	for i := 1; i < len(ms) && at == 0; i++ {
		if ms[i].Gauges["xstore.submodels"] > ms[i-1].Gauges["xstore.submodels"] {
			at = i
		}
	}
	last := len(ms) - len(ms)/5
	if at == 0 || at > last {
		c.Status, c.Why = Undecided, "the model was not expanded in this time"
		return []Claim{c}
	}
	before, after := s.Points[at-1], s.Points[last]
	after.Y, after.Name = 0, "the end"
	for _, p := range s.Points[last:] {
		after.Y += p.Y / float64(len(ms)-last)
	}
	c = f.gains(c.ID, c.Claim, divide(pair{"at the end", fmt.Sprintf("at %g ms", before.X)}, after, before))
	c.Why += fmt.Sprintf("; %g sub-models from %g ms on", ms[at].Gauges["xstore.submodels"], s.Points[at].X)
	return []Claim{c}
}
