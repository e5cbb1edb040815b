package figures

import "drtmx/engine/experiment"

// Figure 4-4: primitives of the commit phase, with and without passive ACK (§4.3.3).
// Validation is two-sided, as there: what an RNIC locks no CPU can release.

const (
	oneSidedPA = "One-sided, PA"
	twoSidedPA = "Two-sided, PA"
)

func lines44() []line4 {
	line := func(name, primitive string, passive bool) line4 {
		return line4{name, with(base43, experiment.Knobs{"phase.lock": "two-sided", "phase.commit": primitive, "opt.commit.pa": passive})}
	}
	return []line4{line(oneSided4, "one-sided", false), line(twoSided4, "two-sided", false), line(oneSidedPA, "one-sided", true), line(twoSidedPA, "two-sided", true)}
}

var figures44 = panels4("4-4", "Primitives of the commit phase", "4.3.3", manyOfPhases, lines44(), func(workload string) func(f *Figure) []Claim {
	return func(f *Figure) []Claim {
		tput, lat := f.throughputs(), f.latencies()
		claims := func(n func(string) string) []Claim {
			return []Claim{
				all("f4-4-order-nopa", "without passive ACK one-sided is faster",
					tput.ahead("", "throughput", pair{n(oneSided4), n(twoSided4)}, true, everywhere), lat.ahead("", "latency", pair{n(twoSided4), n(oneSided4)}, true, everywhere)),
				all("f4-4-order-pa", "with passive ACK two-sided is faster",
					tput.ahead("", "throughput", pair{n(twoSidedPA), n(oneSidedPA)}, true, everywhere), lat.ahead("", "latency", pair{n(oneSidedPA), n(twoSidedPA)}, true, everywhere)),
				tput.ahead("f4-4-pa-two", "passive ACK saves two-sided commits what replies cost", pair{n(twoSidedPA), n(twoSided4)}, true, everywhere),
				f.trips("s4-commit-rtt", "a commit is one round trip, one-sided too", n(oneSided4), "commit", 1),
			}
		}
		return f.variants(workload, claims)
	}
})
