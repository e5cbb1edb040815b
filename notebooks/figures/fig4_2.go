package figures

import (
	"fmt"
	"strings"

	"drtmx/engine"
)

// Figure 4-2: primitives of the execution phase (§4.3.1). What is not studied is as in
// DrTM+H without speculation, which §4.3 does without: the rest one-sided, the lock
// with ATOMIC, passive ACK for the commit. Figures 4-3 and 4-5 have the same base, so
// its line One-sided/Cache is also theirs.

const (
	twoSided4 = "Two-sided"
	oneSided4 = "One-sided"
	cached42  = "One-sided/Cache"
)

// base43 is what §4.3 does with the phases that a figure is not about.
var base43 = engine.Knobs{"txn.speculative": false, "phase.execution": "one-sided", "phase.lock": "one-sided", "phase.validation": "one-sided",
	"phase.logging": "one-sided", "phase.commit": "one-sided"}

var figures42 = panels4("4-2", "Primitives of the execution phase", "4.3.1", manyOfPhases, []line4{
	{twoSided4, with(base43, engine.Knobs{"phase.execution": "two-sided"})},
	{oneSided4, with(base43, engine.Knobs{"cache.enabled": false})},
	{cached42, base43},
}, func(workload string) func(f *Figure) []Claim {
	if workload == tpccNo {
		return claims42a
	}
	return claims42b
})

func claims42a(f *Figure) []Claim {
	tput, lat := f.throughputs(), f.latencies()
	return f.twice(func(n func(string) string) []Claim {
		return []Claim{
			tput.ahead("f4-2a-cache-tput", "One-sided/Cache has a higher throughput than Two-sided", pair{n(cached42), n(twoSided4)}, true, everywhere),
			lat.ahead("f4-2a-cache-lat", "its median latency is lower than that of Two-sided", pair{n(twoSided4), n(cached42)}, true, everywhere),
			tput.ahead("f4-2a-two-vs-one", "Two-sided has up to a higher throughput than One-sided without cache", pair{n(twoSided4), n(oneSided4)}, false, everywhere),
			f.double42(n(oneSided4), n(cached42)),
			tput.tops("f4-2a-peak-one", "the peak throughput of One-sided without cache is higher than that of Two-sided", pair{n(oneSided4), n(twoSided4)}),
			lat.ahead("f4-2a-lat-crossover", "with more than 10 coroutines its median latency is lower too", pair{n(twoSided4), n(oneSided4)}, true, func(load float64) bool { return load > 10 }),
			f.cpu42(n(oneSided4), n(twoSided4)),
		}
	})
}

// double42 compares the round trips of the execution.
func (f *Figure) double42(one, cached string) Claim {
	c := Claim{ID: "f4-2a-one-rtt-ratio", Claim: "without cache a record takes twice the round trips", Reference: "2", Unit: "x"}
	a, b := f.series(one).Points, f.series(cached).Points
	if len(a) == 0 || len(b) == 0 {
		return noRuns(c)
	}
	without, had := f.Runs[a[0].Run].Phases["execution"].RoundTrips, f.Runs[b[0].Run].Phases["execution"].RoundTrips
	v := without / had
	c.Measured, c.Status = &v, near(v, 0, 2)
	c.Why = fmt.Sprintf("%.3g for %.3g round trips of a transaction's execution", without, had)
	return c
}

// cpu42 compares what a transaction takes of the cores, under the most coroutines.
func (f *Figure) cpu42(one, two string) Claim {
	c := Claim{ID: "f4-2-cpu", Claim: "the gain comes from fewer cycles of the cores", Unit: "x", Status: Contradicted}
	a, b := f.series(one).Points, f.series(two).Points
	if len(a) == 0 || len(b) == 0 {
		return noRuns(c)
	}
	ra, rb := f.Runs[a[len(a)-1].Run], f.Runs[b[len(b)-1].Run]
	v := coreUS(rb) / coreUS(ra)
	c.Measured = &v
	if v > 1 {
		c.Status = Holds
	}
	c.Why = fmt.Sprintf("%.3g us of the cores for a transaction, %.3g two-sided, with %s: %s, %s", coreUS(ra), coreUS(rb), countOf(a[len(a)-1].Load), limit(ra), limit(rb))
	return c
}

func claims42b(f *Figure) []Claim {
	tput := f.throughputs()
	return []Claim{
		tput.ahead("f4-2b-cache-tput", "One-sided/Cache has a higher throughput than Two-sided", pair{cached42, twoSided4}, true, everywhere),
		tput.ahead("f4-2b-two-vs-one", "Two-sided has a higher throughput than One-sided without cache", pair{twoSided4, oneSided4}, true, everywhere),
		f.double42(oneSided4, cached42),
		f.network42(),
	}
}

// network42 looks at what limits every line at its highest throughput.
func (f *Figure) network42() Claim {
	c := Claim{ID: "f4-2b-network", Claim: "the network limits SmallBank", Status: Holds}
	tput := f.throughputs()
	var why []string
	for i := range tput.Series {
		s := &tput.Series[i]
		if len(s.Points) == 0 {
			return noRuns(c)
		}
		r := f.Runs[s.peak().Run]
		if k := r.Bottleneck; k == nil || k.Resource == "cpu" || k.Resource == "memory" {
			c.Status = Contradicted
		}
		why = append(why, fmt.Sprintf("%s: %s, cores %.0f %% busy", s.Name, limit(r), 100*r.Utilization["cpu"].Mean))
	}
	c.Why = strings.Join(why, "; ")
	return c
}
