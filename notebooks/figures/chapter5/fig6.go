package chapter5

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 5-6: what timestamp oracles cost (§5.1.3), on sixteen machines without RDMA of which one is the oracle, without any of
// the optimisations of §5.5. Panel (a) is the oracle: its counters by the threads of its machine alone, with stable timestamps,
// and over the network. Panel (b) is empty read-write transactions that spin for a time, (c) read-only ones of ten small
// records. Without timestamps those of (c) read without validation.
//
// Quick scale has all machines and threads, for little happens in a transaction.

const (
	counters     = "Counters"
	withStableTS = "+StableTS"
	overNetwork  = "TSOracle"

	tpceSpinUS = 470 // us of TPC-E's read-write transactions, up to 1,400
	tpccSpinUS = 50  // us of TPC-C's
)

var oracleFigures = []*figure.Definition{
	{ID: "5-6a", Title: "Peak of timestamp oracles", Chapter: 5, Section: "5.1.3", Scope: "machine", Form: figure.FormBars, Costs: tcpCosts[1:],
		X: figure.Axis{Label: "Oracle"}, Y: figure.Axis{Label: "Transactions that it serves", Unit: "Mops/s"}, Plan: planOracles, Claims: oracleClaims},
	{ID: "5-6b", Title: "What timestamps cost read-write transactions", Chapter: 5, Section: "5.1.3", Scope: "cluster", Costs: tcpCosts,
		X: figure.Axis{Label: "Execution time", Unit: "µs"}, Y: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Plan: planReadWrite, Claims: readWriteClaims},
	{ID: "5-6c", Title: "What timestamps cost read-only transactions", Chapter: 5, Section: "5.1.3", Scope: "cluster", Costs: tcpCosts,
		X: figure.Axis{Label: "Machines", Unit: "machines"}, Y: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Plan: planReadOnly, Claims: readOnlyClaims},
}

// plainBase has no optimisation, and one coroutine per thread. The interval begins beyond tcp.softirq_limit.
func plainBase(workload string) experiment.Spec {
	return vale.base(figure.Paper, workload, experiment.Knobs{"coroutines": 1, "warmup_ns": 4_000_000, "duration_ns": 4_000_000})
}

func planOracles(scale string) figure.Plan {
	p := figure.Plan{Base: plainBase("ts-oracle"), Note: "one oracle of 24 cores; the thesis's systems would ask it for 0.281 (TPC-E), 1.64 (TPC-C) and 80 Mtxn/s (SmallBank) on 16 machines"}
	alone := experiment.Knobs{"nodes": 2, "oracle": false} // each has an oracle to itself
	for _, name := range []string{labelGTS, labelVTS} {
		of := experiment.Knobs{"workload.oracle": map[string]string{labelGTS: "gts", labelVTS: "vts"}[name]}
		p.Series = append(p.Series, figure.PlannedSeries{Name: name, Points: []figure.PlannedPoint{
			{X: 0, Name: counters, Set: figure.With(of, alone, experiment.Knobs{"workload.oracle_op": "count"}), Read: perMachine},
			{X: 1, Name: withStableTS, Set: figure.With(of, alone, experiment.Knobs{"workload.oracle_op": "install"}), Read: perMachine},
			{X: 2, Name: overNetwork, Set: figure.With(of, experiment.Knobs{"workload.oracle_op": "network", "coroutines": 4}), Read: figure.Mtxn},
		}})
	}
	return p
}

// perMachine is the throughput of one machine.
func perMachine(r *result.Result) (v, ci95 float64) {
	v = r.Throughput / 1e6 / numberOf(r, "nodes")
	return v, v * r.ThroughputCI95
}

// At most and close to are what the thesis says of the counters.
func oracleClaims(f *figure.Figure) []figure.Claim {
	at := func(line, name string) (figure.Point, bool) { return f.Line(line).Named(name) }
	var out []figure.Claim
	for _, x := range []struct {
		id, text, line, name string
		reference            float64
	}{
		{"f5-6a-globalcnt", "a counter that all threads share takes less than 10 Mops/s", labelGTS, counters, 10},
		{"f5-6a-vts-local", "local counters take close to 40", labelVTS, counters, 40},
		{"f5-6a-oracle-gts", "over the network GTS serves 1.26", labelGTS, overNetwork, 1.26},
		{"f5-6a-oracle-vts", "and VTS 2.39", labelVTS, overNetwork, 2.39},
	} {
		if p, ok := at(x.line, x.name); ok {
			c := figure.Claim{ID: x.id, Claim: x.text, Reference: fmt.Sprint(x.reference), Unit: f.Y.Unit}
			c = c.Judged(f, p, x.reference)
			if x.id == "f5-6a-globalcnt" {
				c.Status = figure.NotBelowZero(x.reference-p.Y, p.CI95)
			}
			out = append(out, c)
		}
	}
	return append(out, oracleOrder(f))
}

// oracleOrder is what limits what.
func oracleOrder(f *figure.Figure) figure.Claim {
	of := func(line, name string) (figure.Point, bool) { return f.Line(line).Named(name) }
	lower5 := func(text string, lower, higher [2]string) figure.Claim {
		a, ok := of(lower[0], lower[1])
		b, also := of(higher[0], higher[1])
		if !ok || !also {
			return figure.NoRuns(figure.Claim{Claim: text, Unit: "x"})
		}
		return f.Gains("", text, figure.Divide(figure.Pair{Above: higher[0] + " " + higher[1], Below: lower[0] + " " + lower[1]}, b, a))
	}
	return figure.AllOf("f5-6a-order", "a shared counter is slower than local ones, stable timestamps slow both, and the network is the first limit",
		lower5("GTS counts more slowly", [2]string{labelGTS, counters}, [2]string{labelVTS, counters}),
		lower5("stable timestamps slow GTS", [2]string{labelGTS, withStableTS}, [2]string{labelGTS, counters}),
		lower5("stable timestamps slow VTS", [2]string{labelVTS, withStableTS}, [2]string{labelVTS, counters}),
		lower5("the network limits GTS", [2]string{labelGTS, overNetwork}, [2]string{labelGTS, withStableTS}),
		lower5("the network limits VTS", [2]string{labelVTS, overNetwork}, [2]string{labelVTS, withStableTS}))
}

// plainLines are the schemes without their optimisations.
func plainLines(without experiment.Knobs) []figure.Setting {
	return []figure.Setting{{Name: labelNone, Set: without}, {Name: labelGTS, Set: experiment.Knobs{"ts.scheme": "gts"}}, {Name: labelVTS, Set: experiment.Knobs{"ts.scheme": "vts"}}}
}

func planReadWrite(scale string) figure.Plan {
	p := figure.Plan{Base: plainBase("ts-spin"), Note: vale.name + ", without optimisations of the schemes"}
	times := []int{tpccSpinUS, 200, tpceSpinUS, 1400}
	if scale == figure.Paper {
		times = []int{tpccSpinUS, 100, 200, 300, tpceSpinUS, 700, 1000, 1400}
	}
	for _, l := range plainLines(experiment.Knobs{"cc": "occ"}) {
		s := figure.PlannedSeries{Name: l.Name}
		for _, us := range times {
			k := experiment.Knobs{"workload.spin_ns": 1000 * us}
			if us >= tpceSpinUS {
				k["warmup_ns"], k["duration_ns"] = 8_000_000, 20_000_000
			}
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(us), Set: figure.With(l.Set, k), Read: figure.Mtxn})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func readWriteClaims(f *figure.Figure) []figure.Claim {
	return slices.Concat(
		lost(f, "f5-6b-vts-overhead", "VTS costs 10 to 30 % at the times of TPC-E", labelVTS, labelNone, func(x float64) bool { return x >= tpceSpinUS }, 10, 30),
		dropClaims(f), halfClaims(f),
		spinClaims(f, "f5-6b-exec-tpce", "TPC-E's read-write transactions take 470 to 1,400 µs", tpceSpinUS),
		spinClaims(f, "f5-6b-exec-tpcc", "TPC-C's take about 50 µs", tpccSpinUS))
}

// lost is by how many percent one line is below another, of a range that is published.
func lost(f *figure.Figure, id, text, below, above string, at func(x float64) bool, from, to float64) []figure.Claim {
	rs := f.Ratios(figure.Pair{Above: below, Below: above}, at)
	if len(rs) == 0 {
		return nil
	}
	most, least := figure.Extremes(rs)
	low, high := 100*(1-most.Value), 100*(1-least.Value)
	c := figure.Claim{ID: id, Claim: text, Reference: fmt.Sprintf("%g..%g", from, to), Unit: "%", Measured: &high, Smallest: &low, Largest: &high}
	c.Status = figure.Worse(figure.Near(low, 100*most.Half, from), figure.Near(high, 100*least.Half, to))
	c.Why = f.Because(least) + "; least: " + f.Because(most)
	return []figure.Claim{c}
}

// dropClaims is a lower bound.
func dropClaims(f *figure.Figure) []figure.Claim {
	const published = 80
	rs := f.Ratios(figure.Pair{Above: labelVTS, Below: labelNone}, onlyAt(tpccSpinUS))
	if len(rs) == 0 {
		return nil
	}
	v := 100 * (1 - rs[0].Value)
	return []figure.Claim{{ID: "f5-6b-drop-tpcc", Claim: "at the time of TPC-C it costs more than 80 %", Reference: fmt.Sprint(published), Measured: &v, Unit: "%",
		Status: figure.NotBelowZero(v-published, 100*rs[0].Half), Why: f.Because(rs[0])}}
}

func halfClaims(f *figure.Figure) []figure.Claim {
	const published = 50
	rs := f.Ratios(figure.Pair{Above: labelGTS, Below: labelVTS}, onlyAt(tpccSpinUS))
	if len(rs) == 0 {
		return nil
	}
	v := 100 * rs[0].Value
	return []figure.Claim{{ID: "f5-6b-gts-half", Claim: "GTS has half of the throughput of VTS", Reference: fmt.Sprint(published), Measured: &v, Unit: "%", Status: figure.Near(v, 100*rs[0].Half, published), Why: f.Because(rs[0])}}
}

// spinClaims is what a transaction without timestamps takes at a place, which the runs are given.
func spinClaims(f *figure.Figure, id, text string, us float64) []figure.Claim {
	p, ok := f.Line(labelNone).At(us)
	if !ok {
		return nil
	}
	r := f.Runs[p.Run]
	v := r.LatencyUS.Mean
	return []figure.Claim{{ID: id, Claim: text, Reference: fmt.Sprint(us), Measured: &v, Unit: "µs", Status: figure.Near(v, 0, us), Why: "given to the runs: the mean latency without timestamps"}}
}

func planReadOnly(scale string) figure.Plan {
	p := figure.Plan{Base: plainBase("ts-read"), Note: vale.name + ", without optimisations of the schemes; without timestamps nothing is validated (cc=rc)"}
	machines := []int{3, 6, 10, vale.machines} // three replicas
	if scale == figure.Paper {
		machines = []int{3, 4, 6, 8, 10, 12, 14, vale.machines}
	}
	delete(p.Base.Set, "nodes")
	for _, l := range plainLines(experiment.Knobs{"cc": "rc"}) {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range machines {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, experiment.Knobs{"nodes": n}), Read: figure.Mtxn})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func readOnlyClaims(f *figure.Figure) []figure.Claim {
	const published = 10
	var out []figure.Claim
	last := float64(vale.machines)
	if rs := f.Ratios(figure.Pair{Above: labelNone, Below: labelGTS}, onlyAt(last)); len(rs) > 0 {
		v := rs[0].Value
		out = append(out, figure.Claim{ID: "f5-6c-gts-slow", Claim: "GTS is ten times slower than without timestamps", Reference: fmt.Sprint(published), Measured: &v, Unit: "x", Status: figure.Near(v, rs[0].Half, published), Why: f.Because(rs[0])})
	}
	out = append(out, figure.AllOf("f5-6c-order", "VTS collapses as machines come, and GTS is far below none", grows(f, "none over VTS", labelNone, labelVTS), f.Above("", "none over GTS", figure.Everywhere, figure.Pair{Above: labelNone, Below: labelGTS})))
	p, ok := f.Line(labelNone).At(last)
	if !ok {
		return out
	}
	number := func(name string) float64 { return numberOf(f.Runs[p.Run], name) }
	return append(out,
		figure.Counted("f5-6c-tuples", "a transaction reads ten records", 10, number("workload.tuples"), "knob workload.tuples"),
		figure.Counted("f5-6c-tuple-bytes", "of 8 bytes", 8, number("workload.value_bytes"), "knob workload.value_bytes"),
		figure.Counted("f5-6c-local", "90 % of them on its own machine", 90, number("workload.local"), "knob workload.local"),
		figure.Counted("f5-6-cores", "a machine has 24 workers", 24, number("threads"), "knob threads"),
		figure.Counted("f5-6-nodes", "16 machines, with the oracle", 16, number("nodes")+1, "knobs nodes and oracle"))
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
