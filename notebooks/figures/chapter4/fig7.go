package chapter4

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-7: DrTM+H on more machines, with the queue pairs that it needs and, as
// DrTM+H-80, with those of 80 machines (§4.4.2); on SmallBank two-sided too. A thread
// keeps four transactions going on TPC-C/no, eight on SmallBank: about as many as the
// peak needs.

const drtmHManyContexts = "DrTM+H-80"

var machinesFigures = []*figure.Definition{machinesPanel("4-7a", tpccNo), machinesPanel("4-7b", smallBank)}

func machinesPanel(id, workload string) *figure.Definition {
	title := map[string]string{tpccNo: "TPC-C/no", smallBank: "SmallBank"}[workload]
	return &figure.Definition{
		ID: id, Title: "DrTM+H with more machines, " + title, Chapter: 4, Section: "4.4.2", Scope: "cluster",
		X: figure.Axis{Label: "Cluster", Unit: "machines"}, Y: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"},
		Plan: func(scale string) figure.Plan { return planMachines(scale, workload) },
		Claims: func(f *figure.Figure) []figure.Claim {
			if workload == tpccNo {
				return f.Twice(func(n func(string) string) []figure.Claim { return machinesClaims(f, n) })
			}
			return machinesClaimsSmallBank(f)
		},
	}
}

func planMachines(scale, workload string) figure.Plan {
	ls := []figure.Setting{{Name: drtmH, Set: experiment.Knobs{"preset": "drtm+h"}}, {Name: drtmHManyContexts, Set: experiment.Knobs{"preset": "drtm+h", "emulated_nodes": 80}}}
	coroutines := 4
	if workload == smallBank {
		ls, coroutines = append(ls, figure.Setting{Name: twoSided, Set: experiment.Knobs{"preset": "fasst"}}), 8
	}
	machines := []int{4, allMachines}
	switch {
	case scale == figure.Paper:
		machines = []int{3, 4, 6, 8, 10, 12, 14, allMachines}
	case workload == smallBank:
		machines = []int{4, 8, allMachines}
	}
	p := figure.Plan{Base: baseSpec(scale, workload), Gap: figure.GapPoint{Series: drtmH, X: 4}}
	p.Base.Set["threads"], p.Base.Set["nics"] = 24, 0 // few points: whole machines at quick scale too
	correct, published := variantLines(workload, ls)
	for _, l := range append(correct, published...) {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range machines {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, underLoad(scale, workload, coroutines), experiment.Knobs{"nodes": n}), Read: figure.Mtxn})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// linear compares the throughput per machine on the most machines and the fewest.
func linear(f *figure.Figure, line string) figure.Claim {
	c := figure.Claim{ID: "f4-7-order", Claim: "DrTM+H scales linearly with the machines", Reference: "1", Unit: "x"}
	s := f.Line(line).Points
	if len(s) < 2 {
		return figure.NoRuns(c)
	}
	each := func(p figure.Point) figure.Point {
		return figure.Point{X: p.X, Y: p.Y / p.X, CI95: p.CI95 / p.X, Run: p.Run}
	}
	few, many := each(s[0]), each(s[len(s)-1])
	r := figure.Divide(figure.Pair{Above: line, Below: line}, many, few)
	c.Measured, c.Status = &r.Value, figure.Near(r.Value, r.Half, 1)
	c.Why = fmt.Sprintf("%.4g %s a machine on %g machines, %.4g on %g: %s, %s; %s", many.Y, f.Y.Unit, many.X, few.Y, few.X, figure.LimitOf(f.Runs[many.Run]), figure.LimitOf(f.Runs[few.Run]), f.Costs(r))
	return c
}

func mostMachines(x float64) bool { return x == allMachines }

// withContexts adds how busy the fetches of queue-pair contexts are.
func withContexts(f *figure.Figure, c figure.Claim, lines ...string) figure.Claim {
	for _, l := range lines {
		if p, ok := f.Line(l).At(allMachines); ok {
			r := f.Runs[p.Run]
			c.Why += fmt.Sprintf("; %s: %s %.0f %% busy", l, figure.ResourceNames["nic_context"], 100*r.Utilization["nic_context"].Mean)
		}
	}
	return c
}

func machinesClaims(f *figure.Figure, n func(string) string) []figure.Claim {
	return []figure.Claim{
		linear(f, n(drtmH)),
		withContexts(f, f.Ahead("f4-7a-80-drop", "the queue pairs of 80 machines cost throughput", figure.Pair{Above: n(drtmH), Below: n(drtmHManyContexts)}, true, mostMachines).As(figure.LessBy), n(drtmH), n(drtmHManyContexts)),
	}
}

func machinesClaimsSmallBank(f *figure.Figure) []figure.Claim {
	out := []figure.Claim{
		linear(f, drtmH),
		withContexts(f, f.Ahead("f4-7b-80-drop", "the queue pairs of 80 machines cost throughput", figure.Pair{Above: drtmH, Below: drtmHManyContexts}, true, mostMachines).As(figure.LessBy), drtmH, drtmHManyContexts),
		f.Ahead("f4-7b-80-vs-two", "even so its throughput is above that of the two-sided design", figure.Pair{Above: drtmHManyContexts, Below: twoSided}, true, mostMachines).As(figure.Times),
	}
	for _, q := range []struct {
		id, name string
		of       func(r *result.Result) float64
	}{
		{"f4-7b-80-p50", "median", func(r *result.Result) float64 { return r.LatencyUS.P50 }},
		{"f4-7b-80-p90", "90th percentile", func(r *result.Result) float64 { return r.LatencyUS.P90 }},
		{"f4-7b-80-p99", "99th percentile", func(r *result.Result) float64 { return r.LatencyUS.P99 }},
	} {
		out = append(out, latencyOfMost(f, q.id, "and the "+q.name+" of its latency below", q.of).As(figure.LessBy))
	}
	return out
}

// latencyOfMost compares latencies on all machines.
func latencyOfMost(f *figure.Figure, id, text string, of func(r *result.Result) float64) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Unit: "x"}
	a, ok := f.Line(twoSided).At(allMachines)
	b, also := f.Line(drtmHManyContexts).At(allMachines)
	if !ok || !also || of(f.Runs[a.Run]) == 0 || of(f.Runs[b.Run]) == 0 {
		return figure.NoRuns(c)
	}
	us := func(p figure.Point) figure.Point {
		r := f.Runs[p.Run]
		return figure.Point{X: p.X, Y: of(r), CI95: of(r) * r.ThroughputCI95, Run: p.Run}
	}
	r := figure.Divide(figure.Pair{Above: twoSided, Below: drtmHManyContexts}, us(a), us(b))
	c = f.Gains(id, text, r)
	c.Why = fmt.Sprintf("%.4g µs for %.4g µs two-sided, %.3gx ± %.2g; %s", r.B.Y, r.A.Y, r.Value, r.Half, f.Costs(r))
	return c
}
