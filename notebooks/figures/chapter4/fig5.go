package chapter4

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-5: primitives of the logging phase (§4.3.4).

var loggingFigures = curvePanels("4-5", "Primitives of the logging phase", "4.3.4", manyOfPhases, []figure.Setting{
	{Name: twoSided, Set: figure.With(primitivesBase, experiment.Knobs{"phase.logging": "two-sided"})},
	{Name: oneSided, Set: primitivesBase},
}, func(workload string) func(f *figure.Figure) []figure.Claim {
	id := map[string]string{tpccNo: "f4-5a-tput", smallBank: "f4-5b-tput"}[workload]
	return func(f *figure.Figure) []figure.Claim {
		tput, lat := f.Throughputs(), f.Latencies()
		claims := func(n func(string) string) []figure.Claim {
			return []figure.Claim{
				tput.Ahead(id, "one-sided logging always has a higher throughput", figure.Pair{Above: n(oneSided), Below: n(twoSided)}, true, figure.Everywhere).As(figure.Times),
				lat.Ahead("f4-5-order", "and a lower median latency", figure.Pair{Above: n(twoSided), Below: n(oneSided)}, true, figure.Everywhere),
				f.RoundTrips("s4-log-rtt", "one-sided logging is one round trip", n(oneSided), "logging", 1),
			}
		}
		return variants(f, workload, claims)
	}
})
