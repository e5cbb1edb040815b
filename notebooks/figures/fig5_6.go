package figures

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 5-6: what timestamp oracles cost (§5.1.3), on sixteen machines without RDMA of which one is the oracle, without any of
// the optimisations of §5.5. Panel (a) is the oracle: its counters by the threads of its machine alone, with stable timestamps,
// and over the network. Panel (b) is empty read-write transactions that spin for a time, (c) read-only ones of ten small
// records. Without timestamps those of (c) read without validation.
//
// Quick scale has all machines and threads, for little happens in a transaction.

const (
	counter56 = "Counters"
	stable56  = "+StableTS"
	network56 = "TSOracle"

	tpceFrom5 = 470 // us of TPC-E's read-write transactions, up to 1,400
	tpcc5     = 50  // us of TPC-C's
)

var figures56 = []*definition{
	{id: "5-6a", title: "Peak of timestamp oracles", chapter: 5, section: "5.1.3", scope: "machine", form: formBars, costs: tcpCosts[1:],
		x: Axis{Label: "Oracle"}, y: Axis{Label: "Transactions that it serves", Unit: "Mops/s"}, plan: plan56a, claims: claims56a},
	{id: "5-6b", title: "What timestamps cost read-write transactions", chapter: 5, section: "5.1.3", scope: "cluster", costs: tcpCosts,
		x: Axis{Label: "Execution time", Unit: "us"}, y: Axis{Label: "Throughput", Unit: "Mtxn/s"}, plan: plan56b, claims: claims56b},
	{id: "5-6c", title: "What timestamps cost read-only transactions", chapter: 5, section: "5.1.3", scope: "cluster", costs: tcpCosts,
		x: Axis{Label: "Machines", Unit: "machines"}, y: Axis{Label: "Throughput", Unit: "Mtxn/s"}, plan: plan56c, claims: claims56c},
}

// base56 has no optimisation, and one coroutine per thread. The interval begins beyond tcp.softirq_limit.
func base56(workload string) experiment.Spec {
	return vale5.base(Paper, workload, experiment.Knobs{"coroutines": 1, "warmup_ns": 4_000_000, "duration_ns": 4_000_000})
}

func plan56a(scale string) plan {
	p := plan{base: base56("ts-oracle"), note: "one oracle of 24 cores; the thesis's systems would ask it for 0.281 (TPC-E), 1.64 (TPC-C) and 80 Mtxn/s (SmallBank) on 16 machines"}
	alone := experiment.Knobs{"nodes": 2, "oracle": false} // each has an oracle to itself
	for _, name := range []string{gts5, vts5} {
		of := experiment.Knobs{"workload.oracle": map[string]string{gts5: "gts", vts5: "vts"}[name]}
		p.series = append(p.series, plannedSeries{name: name, points: []plannedPoint{
			{x: 0, name: counter56, set: with(of, alone, experiment.Knobs{"workload.oracle_op": "count"}), read: perMachine5},
			{x: 1, name: stable56, set: with(of, alone, experiment.Knobs{"workload.oracle_op": "install"}), read: perMachine5},
			{x: 2, name: network56, set: with(of, experiment.Knobs{"workload.oracle_op": "network", "coroutines": 4}), read: mtxn},
		}})
	}
	return p
}

// perMachine5 is the throughput of one machine.
func perMachine5(r *result.Result) (v, ci95 float64) {
	v = r.Throughput / 1e6 / numberOf(r, "nodes")
	return v, v * r.ThroughputCI95
}

// At most and close to are what the thesis says of the counters.
func claims56a(f *Figure) []Claim {
	at := func(line, name string) (Point, bool) { return f.series(line).named(name) }
	var out []Claim
	for _, x := range []struct {
		id, text, line, name string
		reference            float64
	}{
		{"f5-6a-globalcnt", "a counter that all threads share takes less than 10 Mops/s", gts5, counter56, 10},
		{"f5-6a-vts-local", "local counters take close to 40", vts5, counter56, 40},
		{"f5-6a-oracle-gts", "over the network GTS serves 1.26", gts5, network56, 1.26},
		{"f5-6a-oracle-vts", "and VTS 2.39", vts5, network56, 2.39},
	} {
		if p, ok := at(x.line, x.name); ok {
			c := Claim{ID: x.id, Claim: x.text, Reference: fmt.Sprint(x.reference), Unit: f.Y.Unit}
			c = c.judged(f, p, x.reference)
			if x.id == "f5-6a-globalcnt" {
				c.Status = side(x.reference-p.Y, p.CI95)
			}
			out = append(out, c)
		}
	}
	return append(out, f.order56a())
}

// order56a is what limits what.
func (f *Figure) order56a() Claim {
	of := func(line, name string) (Point, bool) { return f.series(line).named(name) }
	lower5 := func(text string, lower, higher [2]string) Claim {
		a, ok := of(lower[0], lower[1])
		b, also := of(higher[0], higher[1])
		if !ok || !also {
			return noRuns(Claim{Claim: text, Unit: "x"})
		}
		return f.gains("", text, divide(pair{higher[0] + " " + higher[1], lower[0] + " " + lower[1]}, b, a))
	}
	return all("f5-6a-order", "a shared counter is slower than local ones, stable timestamps slow both, and the network is the first limit",
		lower5("GTS counts more slowly", [2]string{gts5, counter56}, [2]string{vts5, counter56}),
		lower5("stable timestamps slow GTS", [2]string{gts5, stable56}, [2]string{gts5, counter56}),
		lower5("stable timestamps slow VTS", [2]string{vts5, stable56}, [2]string{vts5, counter56}),
		lower5("the network limits GTS", [2]string{gts5, network56}, [2]string{gts5, stable56}),
		lower5("the network limits VTS", [2]string{vts5, network56}, [2]string{vts5, stable56}))
}

// plain56 are the schemes without their optimisations.
func plain56(without experiment.Knobs) []line4 {
	return []line4{{none5, without}, {gts5, experiment.Knobs{"ts.scheme": "gts"}}, {vts5, experiment.Knobs{"ts.scheme": "vts"}}}
}

func plan56b(scale string) plan {
	p := plan{base: base56("ts-spin"), note: vale5.name + ", without optimisations of the schemes"}
	times := []int{tpcc5, 200, tpceFrom5, 1400}
	if scale == Paper {
		times = []int{tpcc5, 100, 200, 300, tpceFrom5, 700, 1000, 1400}
	}
	for _, l := range plain56(experiment.Knobs{"cc": "occ"}) {
		s := plannedSeries{name: l.name}
		for _, us := range times {
			k := experiment.Knobs{"workload.spin_ns": 1000 * us}
			if us >= tpceFrom5 {
				k["warmup_ns"], k["duration_ns"] = 8_000_000, 20_000_000
			}
			s.points = append(s.points, plannedPoint{x: float64(us), set: with(l.set, k), read: mtxn})
		}
		p.series = append(p.series, s)
	}
	return p
}

func claims56b(f *Figure) []Claim {
	return slices.Concat(
		f.lost56("f5-6b-vts-overhead", "VTS costs 10 to 30 % at the times of TPC-E", vts5, none5, func(x float64) bool { return x >= tpceFrom5 }, 10, 30),
		f.drop56(), f.half56(),
		f.spins56("f5-6b-exec-tpce", "TPC-E's read-write transactions take 470 to 1,400 us", tpceFrom5),
		f.spins56("f5-6b-exec-tpcc", "TPC-C's take about 50 us", tpcc5))
}

// lost56 is by how many percent one line is below another, of a range that is published.
func (f *Figure) lost56(id, text, below, above string, at func(x float64) bool, from, to float64) []Claim {
	rs := f.ratios(pair{below, above}, at)
	if len(rs) == 0 {
		return nil
	}
	most, least := extremes(rs)
	low, high := 100*(1-most.value), 100*(1-least.value)
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprintf("%g..%g", from, to), Unit: "%", Measured: &high, Smallest: &low, Largest: &high}
	c.Status = worse(near(low, 100*most.half, from), near(high, 100*least.half, to))
	c.Why = f.because(least) + "; least: " + f.because(most)
	return []Claim{c}
}

// drop56 is a lower bound.
func (f *Figure) drop56() []Claim {
	const published = 80
	rs := f.ratios(pair{vts5, none5}, at5(tpcc5))
	if len(rs) == 0 {
		return nil
	}
	v := 100 * (1 - rs[0].value)
	return []Claim{{ID: "f5-6b-drop-tpcc", Claim: "at the time of TPC-C it costs more than 80 %", Reference: fmt.Sprint(published), Measured: &v, Unit: "%",
		Status: side(v-published, 100*rs[0].half), Why: f.because(rs[0])}}
}

func (f *Figure) half56() []Claim {
	const published = 50
	rs := f.ratios(pair{gts5, vts5}, at5(tpcc5))
	if len(rs) == 0 {
		return nil
	}
	v := 100 * rs[0].value
	return []Claim{{ID: "f5-6b-gts-half", Claim: "GTS has half of the throughput of VTS", Reference: fmt.Sprint(published), Measured: &v, Unit: "%", Status: near(v, 100*rs[0].half, published), Why: f.because(rs[0])}}
}

// spins56 is what a transaction without timestamps takes at a place, which the runs are given.
func (f *Figure) spins56(id, text string, us float64) []Claim {
	p, ok := f.series(none5).at(us)
	if !ok {
		return nil
	}
	r := f.Runs[p.Run]
	v := r.LatencyUS.Mean
	return []Claim{{ID: id, Claim: text, Reference: fmt.Sprint(us), Measured: &v, Unit: "us", Status: near(v, 0, us), Why: "given to the runs: the mean latency without timestamps"}}
}

func plan56c(scale string) plan {
	p := plan{base: base56("ts-read"), note: vale5.name + ", without optimisations of the schemes; without timestamps nothing is validated (cc=rc)"}
	machines := []int{3, 6, 10, vale5.machines} // three replicas
	if scale == Paper {
		machines = []int{3, 4, 6, 8, 10, 12, 14, vale5.machines}
	}
	delete(p.base.Set, "nodes")
	for _, l := range plain56(experiment.Knobs{"cc": "rc"}) {
		s := plannedSeries{name: l.name}
		for _, n := range machines {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, experiment.Knobs{"nodes": n}), read: mtxn})
		}
		p.series = append(p.series, s)
	}
	return p
}

func claims56c(f *Figure) []Claim {
	const published = 10
	var out []Claim
	last := float64(vale5.machines)
	if rs := f.ratios(pair{none5, gts5}, at5(last)); len(rs) > 0 {
		v := rs[0].value
		out = append(out, Claim{ID: "f5-6c-gts-slow", Claim: "GTS is ten times slower than without timestamps", Reference: fmt.Sprint(published), Measured: &v, Unit: "x", Status: near(v, rs[0].half, published), Why: f.because(rs[0])})
	}
	out = append(out, all("f5-6c-order", "VTS collapses as machines come, and GTS is far below none", f.grows5("none over VTS", none5, vts5), f.above("", "none over GTS", everywhere, pair{none5, gts5})))
	p, ok := f.series(none5).at(last)
	if !ok {
		return out
	}
	number := func(name string) float64 { return numberOf(f.Runs[p.Run], name) }
	return append(out,
		counted("f5-6c-tuples", "a transaction reads ten records", 10, number("workload.tuples"), "knob workload.tuples"),
		counted("f5-6c-tuple-bytes", "of 8 bytes", 8, number("workload.value_bytes"), "knob workload.value_bytes"),
		counted("f5-6c-local", "90 % of them on its own machine", 90, number("workload.local"), "knob workload.local"),
		counted("f5-6-cores", "a machine has 24 workers", 24, number("threads"), "knob threads"),
		counted("f5-6-nodes", "16 machines, with the oracle", 16, number("nodes")+1, "knobs nodes and oracle"))
}

// numberOf is a knob of a run, NaN if it is none that counts.
func numberOf(r *result.Result, name string) float64 {
	switch v := r.Spec[name].(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}
