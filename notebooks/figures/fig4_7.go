package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 4-7: DrTM+H on more machines, with the queue pairs that it needs and, as
// DrTM+H-80, with those of 80 machines (§4.4.2); on SmallBank two-sided too. A thread
// keeps four transactions going on TPC-C/no, eight on SmallBank: about as many as the
// peak needs.

const drtmH80 = "DrTM+H-80"

var figures47 = []*definition{machines47("4-7a", tpccNo), machines47("4-7b", smallBank)}

func machines47(id, workload string) *definition {
	title := map[string]string{tpccNo: "TPC-C/no", smallBank: "SmallBank"}[workload]
	return &definition{
		id: id, title: "DrTM+H with more machines, " + title, chapter: 4, section: "4.4.2", scope: "cluster",
		x: Axis{Label: "Cluster", Unit: "machines"}, y: Axis{Label: "Throughput", Unit: "Mtxn/s"},
		plan: func(scale string) plan { return plan47(scale, workload) },
		claims: func(f *Figure) []Claim {
			if workload == tpccNo {
				return f.twice(f.claims47a)
			}
			return f.claims47b()
		},
	}
}

func plan47(scale, workload string) plan {
	ls := []line4{{drtmH, experiment.Knobs{"preset": "drtm+h"}}, {drtmH80, experiment.Knobs{"preset": "drtm+h", "emulated_nodes": 80}}}
	coroutines := 4
	if workload == smallBank {
		ls, coroutines = append(ls, line4{twoSided4, experiment.Knobs{"preset": "fasst"}}), 8
	}
	machines := []int{4, machines4}
	switch {
	case scale == Paper:
		machines = []int{3, 4, 6, 8, 10, 12, 14, machines4}
	case workload == smallBank:
		machines = []int{4, 8, machines4}
	}
	p := plan{base: base4(scale, workload), gap: gapPoint{drtmH, 4}}
	p.base.Set["threads"], p.base.Set["nics"] = 24, 0 // few points: whole machines at quick scale too
	correct, published := variants4(workload, ls)
	for _, l := range append(correct, published...) {
		s := plannedSeries{name: l.name}
		for _, n := range machines {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, under4(scale, workload, coroutines), experiment.Knobs{"nodes": n}), read: mtxn})
		}
		p.series = append(p.series, s)
	}
	return p
}

// linear47 compares the throughput per machine on the most machines and the fewest.
func (f *Figure) linear47(line string) Claim {
	c := Claim{ID: "f4-7-order", Claim: "DrTM+H scales linearly with the machines", Reference: "1", Unit: "x"}
	s := f.series(line).Points
	if len(s) < 2 {
		return noRuns(c)
	}
	each := func(p Point) Point { return Point{X: p.X, Y: p.Y / p.X, CI95: p.CI95 / p.X, Run: p.Run} }
	few, many := each(s[0]), each(s[len(s)-1])
	r := divide(pair{line, line}, many, few)
	c.Measured, c.Status = &r.value, near(r.value, r.half, 1)
	c.Why = fmt.Sprintf("%.4g %s a machine on %g machines, %.4g on %g: %s, %s; %s", many.Y, f.Y.Unit, many.X, few.Y, few.X, limit(f.Runs[many.Run]), limit(f.Runs[few.Run]), f.costs(r))
	return c
}

func last47(x float64) bool { return x == machines4 }

// context47 adds how busy the fetches of queue-pair contexts are.
func (f *Figure) context47(c Claim, lines ...string) Claim {
	for _, l := range lines {
		if p, ok := f.series(l).at(machines4); ok {
			r := f.Runs[p.Run]
			c.Why += fmt.Sprintf("; %s: %s %.0f %% busy", l, resourceNames["nic_context"], 100*r.Utilization["nic_context"].Mean)
		}
	}
	return c
}

func (f *Figure) claims47a(n func(string) string) []Claim {
	return []Claim{
		f.linear47(n(drtmH)),
		f.context47(f.ahead("f4-7a-80-drop", "the queue pairs of 80 machines cost throughput", pair{n(drtmH), n(drtmH80)}, true, last47).in(lessBy), n(drtmH), n(drtmH80)),
	}
}

func (f *Figure) claims47b() []Claim {
	out := []Claim{
		f.linear47(drtmH),
		f.context47(f.ahead("f4-7b-80-drop", "the queue pairs of 80 machines cost throughput", pair{drtmH, drtmH80}, true, last47).in(lessBy), drtmH, drtmH80),
		f.ahead("f4-7b-80-vs-two", "even so its throughput is above that of the two-sided design", pair{drtmH80, twoSided4}, true, last47).in(times),
	}
	for _, q := range []struct {
		id, name string
		of       func(r *result.Result) float64
	}{
		{"f4-7b-80-p50", "median", func(r *result.Result) float64 { return r.LatencyUS.P50 }},
		{"f4-7b-80-p90", "90th percentile", func(r *result.Result) float64 { return r.LatencyUS.P90 }},
		{"f4-7b-80-p99", "99th percentile", func(r *result.Result) float64 { return r.LatencyUS.P99 }},
	} {
		out = append(out, f.latency47(q.id, "and the "+q.name+" of its latency below", q.of).in(lessBy))
	}
	return out
}

// latency47 compares latencies on all machines.
func (f *Figure) latency47(id, text string, of func(r *result.Result) float64) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x"}
	a, ok := f.series(twoSided4).at(machines4)
	b, also := f.series(drtmH80).at(machines4)
	if !ok || !also || of(f.Runs[a.Run]) == 0 || of(f.Runs[b.Run]) == 0 {
		return noRuns(c)
	}
	us := func(p Point) Point {
		r := f.Runs[p.Run]
		return Point{X: p.X, Y: of(r), CI95: of(r) * r.ThroughputCI95, Run: p.Run}
	}
	r := divide(pair{twoSided4, drtmH80}, us(a), us(b))
	c = f.gains(id, text, r)
	c.Why = fmt.Sprintf("%.4g us for %.4g us two-sided, %.3gx ± %.2g; %s", r.b.Y, r.a.Y, r.value, r.half, f.costs(r))
	return c
}
