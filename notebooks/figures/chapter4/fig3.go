package chapter4

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-3: primitives that lock (§4.3.2). The records of both workloads are written,
// so one-sided is an ATOMIC and a READ for each in one doorbell. What a CPU locks may be
// released by a WRITE, so both lines commit one-sided: the lock alone differs.

var lockFigures = curvePanels("4-3", "Primitives of the lock in the validation phase", "4.3.2", manyOfPhases, []figure.Setting{
	{Name: twoSided, Set: figure.With(primitivesBase, experiment.Knobs{"phase.lock": "two-sided"})},
	{Name: oneSided, Set: primitivesBase},
}, func(workload string) func(f *figure.Figure) []figure.Claim {
	return func(f *figure.Figure) []figure.Claim {
		tput, lat := f.Throughputs(), f.Latencies()
		claims := func(n func(string) string) []figure.Claim {
			return []figure.Claim{
				tput.Ahead("f4-3-order", "ATOMIC gives a higher throughput than an RPC that locks", figure.Pair{Above: n(oneSided), Below: n(twoSided)}, true, figure.Everywhere),
				lat.Ahead("f4-3-order-lat", "and a lower median latency", figure.Pair{Above: n(twoSided), Below: n(oneSided)}, true, figure.Everywhere),
				f.RoundTrips("s4-valid-rtt", "lock and check of a record are one round trip", n(oneSided), "lock", 1),
			}
		}
		return variants(f, workload, claims)
	}
})
