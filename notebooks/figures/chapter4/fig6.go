package chapter4

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 4-6: primitives of read-only transactions, by customer-position of TPC-E
// (§4.3.5): both phases, Read and Validation, take the primitive. Speculation is off, as
// in the rest of §4.3.

const tpceCP = "tpce-cp"

func readOnlyLines() []figure.Setting {
	line := func(name, primitive string, cached bool) figure.Setting {
		return figure.Setting{Name: name, Set: experiment.Knobs{"txn.speculative": false, "phase.ro_read": primitive, "phase.ro_validation": primitive, "cache.enabled": cached}}
	}
	return []figure.Setting{line(twoSided, "two-sided", false), line(oneSided, "one-sided", false), line(oneSidedCached, "one-sided", true)}
}

var readOnlyFigure = figure.Definition{
	ID: "4-6", Title: "Primitives of a read-only transaction, customer-position of TPC-E", Chapter: 4, Section: "4.3.5", Scope: "cluster", Form: figure.FormCurves,
	X: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Y: figure.Axis{Label: "Median latency", Unit: "µs"},
	Plan:   func(scale string) figure.Plan { return planCurves(scale, tpceCP, 0, readOnlyLines()) },
	Claims: readOnlyClaims,
}

// mostLoad is the load of the peaks, beside which the thesis names the latencies.
func mostLoad(load float64) bool { return load == 16 }

func readOnlyClaims(f *figure.Figure) []figure.Claim {
	tput, lat := f.Throughputs(), f.Latencies()
	return []figure.Claim{
		tput.Peak("f4-6-two-peak", "the peak throughput of Two-sided", twoSided),
		tput.Peak("f4-6-one-peak", "that of One-sided", oneSided),
		tput.Peak("f4-6-cache-peak", "that of One-sided/Cache", oneSidedCached),
		tput.Tops("f4-6-one-gain", "the peak throughput of One-sided is higher than that of Two-sided", figure.Pair{Above: oneSided, Below: twoSided}).As(figure.MoreBy),
		lat.Ahead("f4-6-one-lat", "and its median latency lower", figure.Pair{Above: twoSided, Below: oneSided}, true, mostLoad).As(figure.ShareOf),
		tput.Tops("f4-6-cache-gain", "the cache improves its peak throughput further", figure.Pair{Above: oneSidedCached, Below: oneSided}).As(figure.MoreBy),
		lat.Ahead("f4-6-cache-lat", "and shortens the median latency", figure.Pair{Above: oneSided, Below: oneSidedCached}, true, mostLoad).As(figure.LessBy),
		figure.AllOf("f4-6-order", "one-sided primitives with cache are the best, two-sided ones the worst",
			tput.Ahead("", "cache", figure.Pair{Above: oneSidedCached, Below: oneSided}, true, figure.Everywhere), tput.Ahead("", "one-sided", figure.Pair{Above: oneSided, Below: twoSided}, true, figure.Everywhere)),
	}
}
