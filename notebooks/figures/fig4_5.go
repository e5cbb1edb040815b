package figures

import "drtmx/engine/experiment"

// Figure 4-5: primitives of the logging phase (§4.3.4).

var figures45 = panels4("4-5", "Primitives of the logging phase", "4.3.4", manyOfPhases, []line4{
	{twoSided4, with(base43, experiment.Knobs{"phase.logging": "two-sided"})},
	{oneSided4, base43},
}, func(workload string) func(f *Figure) []Claim {
	id := map[string]string{tpccNo: "f4-5a-tput", smallBank: "f4-5b-tput"}[workload]
	return func(f *Figure) []Claim {
		tput, lat := f.throughputs(), f.latencies()
		claims := func(n func(string) string) []Claim {
			return []Claim{
				tput.ahead(id, "one-sided logging always has a higher throughput", pair{n(oneSided4), n(twoSided4)}, true, everywhere).in(times),
				lat.ahead("f4-5-order", "and a lower median latency", pair{n(twoSided4), n(oneSided4)}, true, everywhere),
				f.trips("s4-log-rtt", "one-sided logging is one round trip", n(oneSided4), "logging", 1),
			}
		}
		return f.variants(workload, claims)
	}
})
