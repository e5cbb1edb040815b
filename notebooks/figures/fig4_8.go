package figures

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 4-8: what DrTM+H is made of, step by step from a two-sided design, on
// TPC-C/no; of the correct protocol there are the
// steps that a claim compares, at quick scale with one coroutine. The thesis does not name the steps; they follow the
// comparison of the designs (§4.4.3). The first is FaSST, the fifth DrTM+R, the last
// DrTM+H, whose runs are those of figures 4-9(a) and 4-10. The tail is the 90th
// percentile: quick runs are too short for the 99th.

const (
	stepTwoSided = "Two-sided (FaSST)"
	stepLogging  = "+ one-sided logging"
	stepREAD     = "+ one-sided READ"
	stepCache    = "+ cache"
	stepAtomic   = "+ one-sided lock, commit (DrTM+R)"
	stepPassive  = "+ passive ACK"
	stepAhead    = "+ speculation (DrTM+H)"
)

// steps48 are cumulative.
func steps48() []line4 {
	logging := experiment.Knobs{"preset": "fasst", "phase.logging": "one-sided"}
	read := with(logging, experiment.Knobs{"phase.execution": "one-sided"})
	atomic := experiment.Knobs{"preset": "drtm+r"}
	return []line4{
		{stepTwoSided, experiment.Knobs{"preset": "fasst"}}, {stepLogging, logging}, {stepREAD, read}, {stepCache, with(read, experiment.Knobs{"cache.enabled": true})},
		{stepAtomic, atomic}, {stepPassive, with(atomic, experiment.Knobs{"opt.commit.pa": true})}, {stepAhead, experiment.Knobs{"preset": "drtm+h"}},
	}
}

// read48 is a series: what is read of the runs with so many coroutines.
type read48 struct {
	name       string
	coroutines int
	read       func(r *result.Result) (y, ci95 float64)
	correct    []string // the steps that the correct protocol has
}

func plan48(scale string, reads []read48) plan {
	p := plan{base: base4(scale, tpccNo)}
	if reads[0].coroutines == 1 { // of sixteen the run at paper scale takes as long as all others
		p.gap = gapPoint{reads[0].name + abortsIgnored, 0}
	}
	correct, published := variants4(tpccNo, steps48())
	for _, x := range reads {
		right, ignoring := plannedSeries{name: x.name}, plannedSeries{name: x.name + abortsIgnored}
		add := func(s *plannedSeries, i int, set experiment.Knobs) {
			s.points = append(s.points, plannedPoint{x: float64(i), name: correct[i].name, set: with(set, under4(scale, tpccNo, x.coroutines)), read: x.read})
		}
		for i := range published {
			add(&ignoring, i, published[i].set)
			if slices.Contains(x.correct, correct[i].name) && (scale == Paper || x.coroutines <= mostCorrect) {
				add(&right, i, correct[i].set)
			}
		}
		p.series = append(p.series, ignoring, right)
	}
	return p
}

// perThread4 is the same at both scales, which differ in threads.
func perThread4(r *result.Result) (v, ci95 float64) {
	nodes, _ := r.Spec["nodes"].(int)
	threads, _ := r.Spec["threads"].(int)
	v = r.Throughput / float64(nodes*threads) / 1e3
	return v, v * r.ThroughputCI95
}

func tail4(r *result.Result) (v, ci95 float64) {
	return r.LatencyUS.P90, r.LatencyUS.P90 * shareOfCI(r, "latency_us.p90")
}

const (
	one48     = "1 coroutine"
	sixteen48 = "16 coroutines"
	median48  = "median"
	tail48    = "90th percentile"
)

func factors48(id, title string, y Axis, claims func(f *Figure) []Claim, reads ...read48) *definition {
	scope := "cluster"
	if y.Unit != "us" {
		scope = "thread"
	}
	return &definition{id: id, title: title, chapter: 4, section: "4.4.2", scope: scope, form: formBars,
		x: Axis{Label: "Step"}, y: y, plan: func(scale string) plan { return plan48(scale, reads) }, claims: claims}
}

// What the claims compare.
var (
	designs48 = []string{stepTwoSided, stepAtomic}
	ends48    = []string{stepTwoSided, stepAhead}
	reads48   = []string{stepLogging, stepREAD}
)

var figures48 = []*definition{
	factors48("4-8a", "Contribution of optimisations to throughput, TPC-C/no", Axis{Label: "Throughput per thread", Unit: "ktxn/s"}, claims48a,
		read48{one48, 1, perThread4, designs48}, read48{sixteen48, 16, perThread4, slices.Concat(reads48, designs48)}),
	factors48("4-8b", "Contribution of optimisations to latency, TPC-C/no, 1 coroutine", Axis{Label: "Latency", Unit: "us"}, claims48b,
		read48{median48, 1, median4, designs48}, read48{tail48, 1, tail4, nil}),
	factors48("4-8c", "Contribution of optimisations to latency, TPC-C/no, 16 coroutines", Axis{Label: "Latency", Unit: "us"}, claims48c,
		read48{median48, 16, median4, slices.Concat(reads48, ends48)}, read48{tail48, 16, tail4, ends48}),
}

// steps are two steps of a series, the one that is expected higher first.
func (f *Figure) steps(series, high, low string) (ratio, bool) {
	s := f.series(series)
	a, ok := s.named(high)
	b, also := s.named(low)
	if !ok || !also || a.Y <= 0 || b.Y <= 0 {
		return ratio{}, false
	}
	return divide(pair{high, low}, a, b), true
}

// step48 is a claim that one step of a series is above another.
func (f *Figure) step48(id, text, series, high, low string) Claim {
	r, ok := f.steps(series, high, low)
	if !ok {
		return noRuns(Claim{ID: id, Claim: text, Unit: "x"})
	}
	c := f.gains(id, text, r)
	c.Why = f.between48(series, r)
	return c
}

func (f *Figure) between48(series string, r ratio) string {
	return fmt.Sprintf("%s: %s %.4g for %s %.4g %s, %.3gx ± %.2g; %s, %s; %s", series, r.above, r.a.Y, r.below, r.b.Y, f.Y.Unit, r.value, r.half,
		limit(f.Runs[r.a.Run]), limit(f.Runs[r.b.Run]), f.costs(r))
}

func claims48a(f *Figure) []Claim {
	return f.twice(func(n func(string) string) []Claim {
		alike := Claim{ID: "f4-8-order-high", Claim: "with 16 coroutines the two-sided design is close to the one-sided one", Unit: "x"}
		if r, ok := f.steps(n(sixteen48), stepAtomic, stepTwoSided); ok {
			alike = f.near1(alike.ID, alike.Claim, r)
			alike.Why = f.between48(n(sixteen48), r)
		} else {
			alike = noRuns(alike)
		}
		cpu := Claim{ID: "f4-8-cpu", Claim: "because one-sided primitives take fewer cycles of the cores", Unit: "x"}
		if r, ok := f.steps(n(sixteen48), stepREAD, stepLogging); ok {
			cpu = f.cycles(cpu, r.a, r.b)
		} else {
			cpu = noRuns(cpu)
		}
		return []Claim{
			f.step48("f4-8-order-low", "with 1 coroutine one-sided primitives improve the throughput", n(one48), stepAtomic, stepTwoSided), alike,
			f.step48("f4-8-order-reads", "with 16 coroutines READs improve the throughput in spite of more round trips", n(sixteen48), stepREAD, stepLogging),
			cpu,
		}
	})
}

func claims48b(f *Figure) []Claim {
	return f.twice(func(n func(string) string) []Claim {
		return []Claim{f.step48("f4-8-order-low-lat", "with 1 coroutine one-sided primitives improve the latency", n(median48), stepTwoSided, stepAtomic)}
	})
}

func claims48c(f *Figure) []Claim {
	return f.twice(func(n func(string) string) []Claim {
		return []Claim{
			f.step48("f4-8-order-high-lat", "with 16 coroutines DrTM+H improves the median latency", n(median48), stepTwoSided, stepAhead),
			f.step48("f4-8-order-high-tail", "and the tail", n(tail48), stepTwoSided, stepAhead),
			f.step48("f4-8-order-reads-lat", "round trips count for latency: READs without cache lengthen it", n(median48), stepREAD, stepLogging),
		}
	})
}
