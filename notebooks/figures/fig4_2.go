package figures

import (
	"fmt"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
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
var base43 = experiment.Knobs{"txn.speculative": false, "phase.execution": "one-sided", "phase.lock": "one-sided", "phase.validation": "one-sided",
	"phase.logging": "one-sided", "phase.commit": "one-sided"}

var figures42 = panels4("4-2", "Primitives of the execution phase", "4.3.1", manyOfPhases, []line4{
	{twoSided4, with(base43, experiment.Knobs{"phase.execution": "two-sided"})},
	{oneSided4, with(base43, experiment.Knobs{"cache.enabled": false})},
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
		return append(f.reads42(n), []Claim{
			f.order42(n),
			tput.ahead("f4-2a-cache-tput", "One-sided/Cache has a higher throughput than Two-sided", pair{n(cached42), n(twoSided4)}, true, everywhere).in(times),
			lat.ahead("f4-2a-cache-lat", "its median latency is lower than that of Two-sided", pair{n(twoSided4), n(cached42)}, true, everywhere).in(shareOf),
			tput.ahead("f4-2a-two-vs-one", "Two-sided has up to a higher throughput than One-sided without cache", pair{n(twoSided4), n(oneSided4)}, false, everywhere).in(times),
			f.double42(n(oneSided4), n(cached42)),
			tput.tops("f4-2a-peak-one", "the peak throughput of One-sided without cache is higher than that of Two-sided", pair{n(oneSided4), n(twoSided4)}).in(moreBy),
			lat.crossing("f4-2a-lat-crossover", "with more than 10 coroutines its median latency is lower too", "lower", pair{n(twoSided4), n(oneSided4)}, 10),
			f.cpu42(n(oneSided4), n(twoSided4)),
		}...)
	})
}

// order42 is the summary of §4.3.1. Servers are not overloaded by up to ten coroutines: with more
// of them, it says, One-sided has the lower latency without cache too.
func (f *Figure) order42(n func(string) string) Claim {
	tput, lat := f.throughputs(), f.latencies()
	few := func(load float64) bool { return load <= 10 }
	return all("f4-2-order", "with the cache one-sided is always better, without it two-sided while servers are not overloaded",
		tput.ahead("", "throughput with cache", pair{n(cached42), n(twoSided4)}, true, everywhere),
		lat.ahead("", "latency with cache", pair{n(twoSided4), n(cached42)}, true, everywhere),
		lat.ahead("", "latency without", pair{n(oneSided4), n(twoSided4)}, true, few))
}

// reads42 are the READs for a record of the execution, counted in traces of a system as that of
// the lines' first points, with one coroutine on a machine.
func (f *Figure) reads42(n func(string) string) []Claim {
	one := Claim{ID: "f4-2-one-reads", Claim: "without cache a record takes at least two READs, of its index and of itself", Reference: "2", Unit: "count"}
	cached := Claim{ID: "f4-2-cache-reads", Claim: "with the cache it takes one", Reference: "1", Unit: "count"}
	return []Claim{
		f.read42(one, n(oneSided4), func(v float64) string {
			if v < 2 {
				return Contradicted
			}
			return Holds
		}),
		f.read42(cached, n(cached42), func(v float64) string { return near(v, 0, 1) }),
	}
}

func (f *Figure) read42(c Claim, line string, judged func(v float64) string) Claim {
	points := f.series(line).Points
	if len(points) == 0 {
		return noRuns(c)
	}
	reads, records, err := trace42reads(f.Runs[points[0].Run].Spec)
	if err != nil || records == 0 {
		c.Status, c.Why = Undecided, fmt.Sprintf("no trace of a remote record: %v", err)
		return c
	}
	v := reads / records
	c.Measured, c.Status = &v, judged(v)
	c.Why = fmt.Sprintf("%g READs in the execution of %d transactions, those that commit, for the %g remote records that they lock or validate", reads, traced42, records)
	return c
}

// trace42reads counts the READs of the execution, and the remote records: each is locked
// or, if it is read only, validated.
func trace42reads(k experiment.Knobs) (reads, records float64, err error) {
	s, err := engine.Open(experiment.Spec{Set: with(k, experiment.Knobs{"threads": 1, "coroutines": 1, "check": "off"})})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	txns, err := s.Trace(traced42)
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
	c := Claim{ID: "f4-2-cpu", Claim: "the gain comes from fewer cycles of the cores", Unit: "x"}
	a, b := f.series(one).Points, f.series(two).Points
	if len(a) == 0 || len(b) == 0 {
		return noRuns(c)
	}
	return f.cycles(c, a[len(a)-1], b[len(b)-1])
}

func claims42b(f *Figure) []Claim {
	tput, same := f.throughputs(), func(line string) string { return line }
	return append(f.reads42(same),
		f.order42(same),
		tput.ahead("f4-2b-cache-tput", "One-sided/Cache has a higher throughput than Two-sided", pair{cached42, twoSided4}, true, everywhere).in(times),
		tput.ahead("f4-2b-two-vs-one", "Two-sided has a higher throughput than One-sided without cache", pair{twoSided4, oneSided4}, true, everywhere).in(times),
		f.double42(oneSided4, cached42),
		f.network42())
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
