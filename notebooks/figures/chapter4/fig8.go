package chapter4

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
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

// stepLines are cumulative.
func stepLines() []figure.Setting {
	logging := experiment.Knobs{"preset": "fasst", "phase.logging": "one-sided"}
	read := figure.With(logging, experiment.Knobs{"phase.execution": "one-sided"})
	atomic := experiment.Knobs{"preset": "drtm+r"}
	return []figure.Setting{
		{Name: stepTwoSided, Set: experiment.Knobs{"preset": "fasst"}}, {Name: stepLogging, Set: logging}, {Name: stepREAD, Set: read}, {Name: stepCache, Set: figure.With(read, experiment.Knobs{"cache.enabled": true})},
		{Name: stepAtomic, Set: atomic}, {Name: stepPassive, Set: figure.With(atomic, experiment.Knobs{"opt.commit.pa": true})}, {Name: stepAhead, Set: experiment.Knobs{"preset": "drtm+h"}},
	}
}

// seriesOfLoad is a series: what is read of the runs with so many coroutines.
type seriesOfLoad struct {
	name       string
	coroutines int
	read       func(r *result.Result) (y, ci95 float64)
	correct    []string // the steps that the correct protocol has
}

func planSteps(scale string, reads []seriesOfLoad) figure.Plan {
	p := figure.Plan{Base: baseSpec(scale, tpccNo)}
	if reads[0].coroutines == 1 { // of sixteen the run at paper scale takes as long as all others
		p.Gap = figure.GapPoint{Series: reads[0].name + figure.AbortsIgnored, X: 0}
	}
	correct, published := variantLines(tpccNo, stepLines())
	for _, x := range reads {
		right, ignoring := figure.PlannedSeries{Name: x.name}, figure.PlannedSeries{Name: x.name + figure.AbortsIgnored}
		add := func(s *figure.PlannedSeries, i int, set experiment.Knobs) {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(i), Name: correct[i].Name, Set: figure.With(set, underLoad(scale, tpccNo, x.coroutines)), Read: x.read})
		}
		for i := range published {
			add(&ignoring, i, published[i].Set)
			if slices.Contains(x.correct, correct[i].Name) && (scale == figure.Paper || x.coroutines <= mostCorrect) {
				add(&right, i, correct[i].Set)
			}
		}
		p.Series = append(p.Series, ignoring, right)
	}
	return p
}

// perThread is the same at both scales, which differ in threads.
func perThread(r *result.Result) (v, ci95 float64) {
	nodes, _ := r.Spec["nodes"].(int)
	threads, _ := r.Spec["threads"].(int)
	v = r.Throughput / float64(nodes*threads) / 1e3
	return v, v * r.ThroughputCI95
}

func tailLatency(r *result.Result) (v, ci95 float64) {
	return r.LatencyUS.P90, r.LatencyUS.P90 * figure.ShareOfCI(r, "latency_us.p90")
}

const (
	oneCoroutine   = "1 coroutine"
	manyCoroutines = "16 coroutines"
	medianName     = "median"
	tailName       = "90th percentile"
)

func stepsPanel(id, title string, y figure.Axis, claims func(f *figure.Figure) []figure.Claim, reads ...seriesOfLoad) *figure.Definition {
	scope := "cluster"
	if y.Unit != "µs" {
		scope = "thread"
	}
	return &figure.Definition{ID: id, Title: title, Chapter: 4, Section: "4.4.2", Scope: scope, Form: figure.FormBars,
		X: figure.Axis{Label: "Step"}, Y: y, Plan: func(scale string) figure.Plan { return planSteps(scale, reads) }, Claims: claims}
}

// What the claims compare.
var (
	designSteps = []string{stepTwoSided, stepAtomic}
	endSteps    = []string{stepTwoSided, stepAhead}
	readSteps   = []string{stepLogging, stepREAD}
)

var stepFigures = []*figure.Definition{
	stepsPanel("4-8a", "Contribution of optimisations to throughput, TPC-C/no", figure.Axis{Label: "Throughput per thread", Unit: "ktxn/s"}, stepClaimsThroughput,
		seriesOfLoad{oneCoroutine, 1, perThread, designSteps}, seriesOfLoad{manyCoroutines, 16, perThread, slices.Concat(readSteps, designSteps)}),
	stepsPanel("4-8b", "Contribution of optimisations to latency, TPC-C/no, 1 coroutine", figure.Axis{Label: "Latency", Unit: "µs"}, stepClaimsOneCoroutine,
		seriesOfLoad{medianName, 1, figure.MedianLatency, designSteps}, seriesOfLoad{tailName, 1, tailLatency, nil}),
	stepsPanel("4-8c", "Contribution of optimisations to latency, TPC-C/no, 16 coroutines", figure.Axis{Label: "Latency", Unit: "µs"}, stepClaimsManyCoroutines,
		seriesOfLoad{medianName, 16, figure.MedianLatency, slices.Concat(readSteps, endSteps)}, seriesOfLoad{tailName, 16, tailLatency, endSteps}),
}

// steps are two steps of a series, the one that is expected higher first.
func steps(f *figure.Figure, series, high, low string) (figure.Ratio, bool) {
	s := f.Line(series)
	a, ok := s.Named(high)
	b, also := s.Named(low)
	if !ok || !also || a.Y <= 0 || b.Y <= 0 {
		return figure.Ratio{}, false
	}
	return figure.Divide(figure.Pair{Above: high, Below: low}, a, b), true
}

// stepClaim is a claim that one step of a series is above another.
func stepClaim(f *figure.Figure, id, text, series, high, low string) figure.Claim {
	r, ok := steps(f, series, high, low)
	if !ok {
		return figure.NoRuns(figure.Claim{ID: id, Claim: text, Unit: "x"})
	}
	c := f.Gains(id, text, r)
	c.Why = sayBetween(f, series, r)
	return c
}

func sayBetween(f *figure.Figure, series string, r figure.Ratio) string {
	return fmt.Sprintf("%s: %s %.4g for %s %.4g %s, %.3gx ± %.2g; %s, %s; %s", series, r.Above, r.A.Y, r.Below, r.B.Y, f.Y.Unit, r.Value, r.Half,
		figure.LimitOf(f.Runs[r.A.Run]), figure.LimitOf(f.Runs[r.B.Run]), f.Costs(r))
}

func stepClaimsThroughput(f *figure.Figure) []figure.Claim {
	return f.Twice(func(n func(string) string) []figure.Claim {
		alike := figure.Claim{ID: "f4-8-order-high", Claim: "with 16 coroutines the two-sided design is close to the one-sided one", Unit: "x"}
		if r, ok := steps(f, n(manyCoroutines), stepAtomic, stepTwoSided); ok {
			alike = asGood(f, alike.ID, alike.Claim, r)
			alike.Why = sayBetween(f, n(manyCoroutines), r)
		} else {
			alike = figure.NoRuns(alike)
		}
		cpu := figure.Claim{ID: "f4-8-cpu", Claim: "because one-sided primitives take fewer cycles of the cores", Unit: "x"}
		if r, ok := steps(f, n(manyCoroutines), stepREAD, stepLogging); ok {
			cpu = f.Cycles(cpu, r.A, r.B)
		} else {
			cpu = figure.NoRuns(cpu)
		}
		return []figure.Claim{
			stepClaim(f, "f4-8-order-low", "with 1 coroutine one-sided primitives improve the throughput", n(oneCoroutine), stepAtomic, stepTwoSided), alike,
			stepClaim(f, "f4-8-order-reads", "with 16 coroutines READs improve the throughput in spite of more round trips", n(manyCoroutines), stepREAD, stepLogging),
			cpu,
		}
	})
}

func stepClaimsOneCoroutine(f *figure.Figure) []figure.Claim {
	return f.Twice(func(n func(string) string) []figure.Claim {
		return []figure.Claim{stepClaim(f, "f4-8-order-low-lat", "with 1 coroutine one-sided primitives improve the latency", n(medianName), stepTwoSided, stepAtomic)}
	})
}

func stepClaimsManyCoroutines(f *figure.Figure) []figure.Claim {
	return f.Twice(func(n func(string) string) []figure.Claim {
		return []figure.Claim{
			stepClaim(f, "f4-8-order-high-lat", "with 16 coroutines DrTM+H improves the median latency", n(medianName), stepTwoSided, stepAhead),
			stepClaim(f, "f4-8-order-high-tail", "and the tail", n(tailName), stepTwoSided, stepAhead),
			stepClaim(f, "f4-8-order-reads-lat", "round trips count for latency: READs without cache lengthen it", n(medianName), stepREAD, stepLogging),
		}
	})
}
