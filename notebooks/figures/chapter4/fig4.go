package chapter4

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-4: primitives of the commit phase, with and without passive ACK (§4.3.3).
// Validation is two-sided, as there: what an RNIC locks no CPU can release.

const (
	oneSidedPA = "One-sided, PA"
	twoSidedPA = "Two-sided, PA"
)

func commitLines() []figure.Setting {
	line := func(name, primitive string, passive bool) figure.Setting {
		return figure.Setting{Name: name, Set: figure.With(primitivesBase, experiment.Knobs{"phase.lock": "two-sided", "phase.commit": primitive, "opt.commit.pa": passive})}
	}
	return []figure.Setting{line(oneSided, "one-sided", false), line(twoSided, "two-sided", false), line(oneSidedPA, "one-sided", true), line(twoSidedPA, "two-sided", true)}
}

var commitFigures = curvePanels("4-4", "Primitives of the commit phase", "4.3.3", manyOfPhases, commitLines(), func(workload string) func(f *figure.Figure) []figure.Claim {
	return func(f *figure.Figure) []figure.Claim {
		tput, lat := f.Throughputs(), f.Latencies()
		claims := func(n func(string) string) []figure.Claim {
			return []figure.Claim{
				figure.AllOf("f4-4-order-nopa", "without passive ACK one-sided is faster",
					tput.Ahead("", "throughput", figure.Pair{Above: n(oneSided), Below: n(twoSided)}, true, figure.Everywhere), lat.Ahead("", "latency", figure.Pair{Above: n(twoSided), Below: n(oneSided)}, true, figure.Everywhere)),
				figure.AllOf("f4-4-order-pa", "with passive ACK two-sided is faster",
					tput.Ahead("", "throughput", figure.Pair{Above: n(twoSidedPA), Below: n(oneSidedPA)}, true, figure.Everywhere), lat.Ahead("", "latency", figure.Pair{Above: n(oneSidedPA), Below: n(twoSidedPA)}, true, figure.Everywhere)),
				tput.Ahead("f4-4-pa-two", "passive ACK saves two-sided commits what replies cost", figure.Pair{Above: n(twoSidedPA), Below: n(twoSided)}, true, figure.Everywhere),
				f.RoundTrips("s4-commit-rtt", "a commit is one round trip, one-sided too", n(oneSided), "commit", 1),
			}
		}
		return variants(f, workload, claims)
	}
})
