package figures

import "drtmx/engine/experiment"

// Figure 4-6: primitives of read-only transactions, by customer-position of TPC-E
// (§4.3.5): both phases, Read and Validation, take the primitive. Speculation is off, as
// in the rest of §4.3.

const tpceCP = "tpce-cp"

func lines46() []line4 {
	line := func(name, primitive string, cached bool) line4 {
		return line4{name, experiment.Knobs{"txn.speculative": false, "phase.ro_read": primitive, "phase.ro_validation": primitive, "cache.enabled": cached}}
	}
	return []line4{line(twoSided4, "two-sided", false), line(oneSided4, "one-sided", false), line(cached42, "one-sided", true)}
}

var figure46 = definition{
	id: "4-6", title: "Primitives of a read-only transaction, customer-position of TPC-E", chapter: 4, section: "4.3.5", scope: "cluster", form: formCurves,
	x: Axis{Label: "Throughput", Unit: "Mtxn/s"}, y: Axis{Label: "Median latency", Unit: "us"},
	plan:   func(scale string) plan { return plan4(scale, tpceCP, 0, lines46()) },
	claims: claims46,
}

// most46 is the load of the peaks, beside which the thesis names the latencies.
func most46(load float64) bool { return load == 16 }

func claims46(f *Figure) []Claim {
	tput, lat := f.throughputs(), f.latencies()
	return []Claim{
		tput.peak("f4-6-two-peak", "the peak throughput of Two-sided", twoSided4),
		tput.peak("f4-6-one-peak", "that of One-sided", oneSided4),
		tput.peak("f4-6-cache-peak", "that of One-sided/Cache", cached42),
		tput.tops("f4-6-one-gain", "the peak throughput of One-sided is higher than that of Two-sided", pair{oneSided4, twoSided4}).in(moreBy),
		lat.ahead("f4-6-one-lat", "and its median latency lower", pair{twoSided4, oneSided4}, true, most46).in(shareOf),
		tput.tops("f4-6-cache-gain", "the cache improves its peak throughput further", pair{cached42, oneSided4}).in(moreBy),
		lat.ahead("f4-6-cache-lat", "and shortens the median latency", pair{oneSided4, cached42}, true, most46).in(lessBy),
		all("f4-6-order", "one-sided primitives with cache are the best, two-sided ones the worst",
			tput.ahead("", "cache", pair{cached42, oneSided4}, true, everywhere), tput.ahead("", "one-sided", pair{oneSided4, twoSided4}, true, everywhere)),
	}
}
