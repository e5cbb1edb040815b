package chapter4

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// What the figures of chapter 4 share: throughput against median latency, a point for
// each number of coroutines per thread, on 16 machines with three replicas (§4.3).
//
// TPC-C/no is drawn twice. New-orders of a district exclude each other, so with many
// coroutines many attempts of the correct protocol abort. The released code has a
// switch that ignores aborts (workload.variant = as-published); the thesis neither
// mentions aborts nor says how the switch was set. The lines with the thesis's names
// are the correct protocol, those with "(aborts ignored)" the variant; what the
// thesis says is measured of the variant, for only it has the sixteen coroutines
// of the thesis do useful work, and each claim says what the correct protocol does.
//
// At quick scale SmallBank and TPC-E have a tenth of their rows. TPC-C has all, for a
// smaller cache would not hold the log entries that are under way, which do not shrink;
// there each machine is half of one, twelve threads and an RNIC with the memory beside
// it, because a new-order is a hundred verbs: what threads and RNIC have for each other
// stays, every other thread is on the other socket as in a whole machine, throughputs
// are half, and the figure says so.

const (
	tpccNo    = "tpcc-no"
	smallBank = "smallbank"

	// What the thesis says of many coroutines: of phases more than 10 (§4.3.1), of
	// whole designs 16 (§4.4.2).
	manyOfPhases  = 12
	manyOfDesigns = 16

	allMachines = 16
)

// baseSpec is what the runs of chapter 4 share.
func baseSpec(scale, workload string) experiment.Spec {
	k := experiment.Knobs{"nodes": allMachines, "threads": 24, "check": "sampled"}
	if scale == figure.Quick {
		if workload == tpccNo {
			k["threads"], k["nics"] = 12, 1
		} else {
			k["workload.scale"] = 0.1
		}
	}
	return experiment.Spec{Preset: "drtm+h", Workload: workload, Set: k}
}

// underLoad is a load with intervals that fit its latency. All coroutines begin at once, so throughput
// swings for a few latencies, and a latency is as long as all coroutines of a thread take of its core.
func underLoad(scale, workload string, coroutines int) experiment.Knobs {
	warmup, duration := 100_000+8_000*coroutines, 250_000+35_000*coroutines
	switch workload {
	case tpccNo:
		warmup, duration = 300_000+70_000*coroutines, 700_000+50_000*coroutines
	case tpceCP:
		warmup, duration = 300_000+40_000*coroutines, 800_000+40_000*coroutines
	}
	if scale == figure.Paper && (workload != tpccNo || coroutines > 1) { // one is compared with quick scale, so it is short
		duration *= 4
	}
	return experiment.Knobs{"coroutines": coroutines, "warmup_ns": warmup, "duration_ns": duration}
}

// mostCorrect are the most coroutines with which quick runs of the correct protocol of TPC-C/no are
// steady: with more, some new-orders abort for longer than a run takes.
const mostCorrect = 4

// loadsOf are the coroutines of the points, and of those of the correct protocol where
// there are two. many are the most on TPC-C/no at quick scale: these take longest.
func loadsOf(scale, workload string, many int) (all, correct []int) {
	if scale == figure.Paper {
		all = []int{1, 2, 4, 6, 8, 10, 12, 16}
		return all, all
	}
	switch workload {
	case tpccNo:
		return []int{1, mostCorrect, many}, []int{mostCorrect}
	case tpceCP:
		all = []int{1, 4, 16}
	default:
		all = []int{1, 4, 8, 16}
	}
	return all, all
}

// variantLines are the lines and, of TPC-C/no, the same with aborts ignored. What those
// lose is known, so it is not checked.
func variantLines(workload string, ls []figure.Setting) (correct, published []figure.Setting) {
	if workload != tpccNo {
		return ls, nil
	}
	for _, l := range ls {
		published = append(published, figure.Setting{Name: l.Name + figure.AbortsIgnored, Set: figure.With(l.Set, experiment.Knobs{"workload.variant": "as-published", "check": "off"})})
	}
	return ls, published
}

// planCurves compares the last of the lines with paper scale, under one coroutine.
func planCurves(scale, workload string, many int, ls []figure.Setting) figure.Plan {
	all, fewer := loadsOf(scale, workload, many)
	p := figure.Plan{Base: baseSpec(scale, workload)}
	add := func(ls []figure.Setting, loads []int) {
		for _, l := range ls {
			s := figure.PlannedSeries{Name: l.Name}
			for _, n := range loads {
				s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, underLoad(scale, workload, n)), Read: figure.MedianLatency, Along: figure.Mtxn})
			}
			p.Series = append(p.Series, s)
		}
	}
	correct, published := variantLines(workload, ls)
	add(correct, fewer)
	add(published, all)
	p.Gap = figure.GapPoint{Series: p.Series[len(p.Series)-1].Name, X: 1}
	return p
}

// curvePanels are panel a on TPC-C/no and panel b on SmallBank.
func curvePanels(id, title, section string, many int, ls []figure.Setting, claims func(workload string) func(f *figure.Figure) []figure.Claim) []*figure.Definition {
	var out []*figure.Definition
	for i, workload := range []string{tpccNo, smallBank} {
		out = append(out, &figure.Definition{
			ID: id + string(rune('a'+i)), Title: title + ", " + []string{"TPC-C/no", "SmallBank"}[i], Chapter: 4, Section: section, Scope: "cluster", Form: figure.FormCurves,
			X: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Y: figure.Axis{Label: "Median latency", Unit: "µs"},
			Plan:   func(scale string) figure.Plan { return planCurves(scale, workload, many, ls) },
			Claims: claims(workload),
		})
	}
	return out
}

// variants measures claims twice on TPC-C/no, else once.
func variants(f *figure.Figure, workload string, claims func(name func(string) string) []figure.Claim) []figure.Claim {
	if workload == tpccNo {
		return f.Twice(claims)
	}
	return claims(func(line string) string { return line })
}

// asGood is a claim that two lines are as good as equal.
func asGood(f *figure.Figure, id, text string, r figure.Ratio) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Unit: "x", Measured: &r.Value, Status: figure.Near(r.Value, r.Half, 1)}
	c.Why = f.Because(r) + "; " + f.Costs(r)
	return c
}
