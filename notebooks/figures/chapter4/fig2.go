package chapter4

import (
	"fmt"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-2: primitives of the execution phase (§4.3.1). What is not studied is as in
// DrTM+H without speculation, which §4.3 does without: the rest one-sided, the lock
// with ATOMIC, passive ACK for the commit. Figures 4-3 and 4-5 have the same base, so
// its line One-sided/Cache is also theirs.

const (
	twoSided       = "Two-sided"
	oneSided       = "One-sided"
	oneSidedCached = "One-sided/Cache"
)

// primitivesBase is what §4.3 does with the phases that a figure is not about.
var primitivesBase = experiment.Knobs{"txn.speculative": false, "phase.execution": "one-sided", "phase.lock": "one-sided", "phase.validation": "one-sided",
	"phase.logging": "one-sided", "phase.commit": "one-sided"}

var executionFigures = curvePanels("4-2", "Primitives of the execution phase", "4.3.1", manyOfPhases, []figure.Setting{
	{Name: twoSided, Set: figure.With(primitivesBase, experiment.Knobs{"phase.execution": "two-sided"})},
	{Name: oneSided, Set: figure.With(primitivesBase, experiment.Knobs{"cache.enabled": false})},
	{Name: oneSidedCached, Set: primitivesBase},
}, func(workload string) func(f *figure.Figure) []figure.Claim {
	if workload == tpccNo {
		return executionClaims
	}
	return executionClaimsSmallBank
})

func executionClaims(f *figure.Figure) []figure.Claim {
	tput, lat := f.Throughputs(), f.Latencies()
	return f.Twice(func(n func(string) string) []figure.Claim {
		return append(executionReads(f, n), []figure.Claim{
			executionOrder(f, n),
			tput.Ahead("f4-2a-cache-tput", "One-sided/Cache has a higher throughput than Two-sided", figure.Pair{Above: n(oneSidedCached), Below: n(twoSided)}, true, figure.Everywhere).As(figure.Times),
			lat.Ahead("f4-2a-cache-lat", "its median latency is lower than that of Two-sided", figure.Pair{Above: n(twoSided), Below: n(oneSidedCached)}, true, figure.Everywhere).As(figure.ShareOf),
			tput.Ahead("f4-2a-two-vs-one", "Two-sided has up to 1.28 times the throughput of One-sided without cache", figure.Pair{Above: n(twoSided), Below: n(oneSided)}, false, figure.Everywhere).As(figure.Times),
			cacheHalvesTrips(f, n(oneSided), n(oneSidedCached)),
			tput.Tops("f4-2a-peak-one", "the peak throughput of One-sided without cache is higher than that of Two-sided", figure.Pair{Above: n(oneSided), Below: n(twoSided)}).As(figure.MoreBy),
			lat.Crossing("f4-2a-lat-crossover", "with more than 10 coroutines its median latency is lower too", "lower", figure.Pair{Above: n(twoSided), Below: n(oneSided)}, 10),
			oneSidedSavesCores(f, n(oneSided), n(twoSided)),
		}...)
	})
}

// executionOrder is the summary of §4.3.1. Servers are not overloaded by up to ten coroutines: with more
// of them, it says, One-sided has the lower latency without cache too.
func executionOrder(f *figure.Figure, n func(string) string) figure.Claim {
	tput, lat := f.Throughputs(), f.Latencies()
	few := func(load float64) bool { return load <= 10 }
	return figure.AllOf("f4-2-order", "with the cache one-sided is always better, without it two-sided while servers are not overloaded",
		tput.Ahead("", "throughput with cache", figure.Pair{Above: n(oneSidedCached), Below: n(twoSided)}, true, figure.Everywhere),
		lat.Ahead("", "latency with cache", figure.Pair{Above: n(twoSided), Below: n(oneSidedCached)}, true, figure.Everywhere),
		lat.Ahead("", "latency without", figure.Pair{Above: n(oneSided), Below: n(twoSided)}, true, few))
}

// executionReads are the READs for a record of the execution, counted in traces of a system as that of
// the lines' first points, with one coroutine on a machine.
func executionReads(f *figure.Figure, n func(string) string) []figure.Claim {
	one := figure.Claim{ID: "f4-2-one-reads", Claim: "without cache a record takes at least two READs, of its index and of itself", Reference: "2", Unit: "count"}
	cached := figure.Claim{ID: "f4-2-cache-reads", Claim: "with the cache it takes one", Reference: "1", Unit: "count"}
	return []figure.Claim{
		executionRead(f, one, n(oneSided), func(v float64) string {
			if v < 2 {
				return figure.Contradicted
			}
			return figure.Holds
		}),
		executionRead(f, cached, n(oneSidedCached), func(v float64) string { return figure.Near(v, 0, 1) }),
	}
}

func executionRead(f *figure.Figure, c figure.Claim, line string, judged func(v float64) string) figure.Claim {
	points := f.Line(line).Points
	if len(points) == 0 {
		return figure.NoRuns(c)
	}
	reads, records, err := traceReads(f.Runs[points[0].Run].Spec)
	if err != nil || records == 0 {
		c.Status, c.Why = figure.Undecided, fmt.Sprintf("no trace of a remote record: %v", err)
		return c
	}
	v := reads / records
	c.Measured, c.Status = &v, judged(v)
	c.Why = fmt.Sprintf("%g READs in the execution of %d transactions, those that commit, for the %g remote records that they lock or validate", reads, tracedTransactions, records)
	return c
}

// traceReads counts the READs of the execution, and the remote records: each is locked
// or, if it is read only, validated.
func traceReads(k experiment.Knobs) (reads, records float64, err error) {
	s, err := engine.Open(experiment.Spec{Set: figure.With(k, experiment.Knobs{"threads": 1, "coroutines": 1, "check": "off"})})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	txns, err := s.Trace(tracedTransactions)
	for _, t := range txns {
		if t.Outcome != "committed" { // it locks and validates nothing of what it has read
			continue
		}
		for _, v := range t.Verbs {
			switch {
			case v.From == v.To:
			case v.Phase == "execution" && v.Verb == "READ":
				reads++
			case v.Phase == "lock" && v.Verb == "CAS", v.Phase == "validation" && v.Verb == "READ":
				records++
			}
		}
	}
	return reads, records, err
}

// cacheHalvesTrips compares the round trips of the execution.
func cacheHalvesTrips(f *figure.Figure, one, cached string) figure.Claim {
	c := figure.Claim{ID: "f4-2a-one-rtt-ratio", Claim: "without cache a record takes twice the round trips", Reference: "2", Unit: "x"}
	a, b := f.Line(one).Points, f.Line(cached).Points
	if len(a) == 0 || len(b) == 0 {
		return figure.NoRuns(c)
	}
	without, had := f.Runs[a[0].Run].Phases["execution"].RoundTrips, f.Runs[b[0].Run].Phases["execution"].RoundTrips
	v := without / had
	c.Measured, c.Status = &v, figure.Near(v, 0, 2)
	c.Why = fmt.Sprintf("%.3g for %.3g round trips of a transaction's execution", without, had)
	return c
}

// oneSidedSavesCores compares what a transaction takes of the cores, under the most coroutines.
func oneSidedSavesCores(f *figure.Figure, one, two string) figure.Claim {
	c := figure.Claim{ID: "f4-2-cpu", Claim: "the gain comes from fewer cycles of the cores", Unit: "x"}
	a, b := f.Line(one).Points, f.Line(two).Points
	if len(a) == 0 || len(b) == 0 {
		return figure.NoRuns(c)
	}
	return f.Cycles(c, a[len(a)-1], b[len(b)-1])
}

func executionClaimsSmallBank(f *figure.Figure) []figure.Claim {
	tput, same := f.Throughputs(), func(line string) string { return line }
	return append(executionReads(f, same),
		executionOrder(f, same),
		tput.Ahead("f4-2b-cache-tput", "One-sided/Cache has a higher throughput than Two-sided", figure.Pair{Above: oneSidedCached, Below: twoSided}, true, figure.Everywhere).As(figure.Times),
		tput.Ahead("f4-2b-two-vs-one", "Two-sided has a higher throughput than One-sided without cache", figure.Pair{Above: twoSided, Below: oneSided}, true, figure.Everywhere).As(figure.Times),
		cacheHalvesTrips(f, oneSided, oneSidedCached),
		networkLimits(f))
}

// networkLimits looks at what limits every line at its highest throughput.
func networkLimits(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f4-2b-network", Claim: "the network limits SmallBank", Status: figure.Holds}
	tput := f.Throughputs()
	var why []string
	for i := range tput.Series {
		s := &tput.Series[i]
		if len(s.Points) == 0 {
			return figure.NoRuns(c)
		}
		r := f.Runs[s.Peak().Run]
		if k := r.Bottleneck; k == nil || k.Resource == "cpu" || k.Resource == "memory" {
			c.Status = figure.Contradicted
		}
		why = append(why, fmt.Sprintf("%s: %s, cores %.0f %% busy", s.Name, figure.LimitOf(r), 100*r.Utilization["cpu"].Mean))
	}
	c.Why = strings.Join(why, "; ")
	return c
}
