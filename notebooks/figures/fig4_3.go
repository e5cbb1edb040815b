package figures

import "drtmx/engine/experiment"

// Figure 4-3: primitives that lock (§4.3.2). The records of both workloads are written,
// so one-sided is an ATOMIC and a READ for each in one doorbell. What a CPU locks may be
// released by a WRITE, so both lines commit one-sided: the lock alone differs.

var figures43 = panels4("4-3", "Primitives of the lock in the validation phase", "4.3.2", manyOfPhases, []line4{
	{twoSided4, with(base43, experiment.Knobs{"phase.lock": "two-sided"})},
	{oneSided4, base43},
}, func(workload string) func(f *Figure) []Claim {
	return func(f *Figure) []Claim {
		tput, lat := f.throughputs(), f.latencies()
		claims := func(n func(string) string) []Claim {
			return []Claim{
				tput.ahead("f4-3-order", "ATOMIC gives a higher throughput than an RPC that locks", pair{n(oneSided4), n(twoSided4)}, true, everywhere),
				lat.ahead("f4-3-order-lat", "and a lower median latency", pair{n(twoSided4), n(oneSided4)}, true, everywhere),
				f.trips("s4-valid-rtt", "lock and check of a record are one round trip", n(oneSided4), "lock", 1),
			}
		}
		return f.variants(workload, claims)
	}
})
