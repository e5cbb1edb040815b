package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
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

	// abortsIgnored is what names of the variant end with.
	abortsIgnored = " (aborts ignored)"

	machines4 = 16
)

// line4 is a line of such a figure.
type line4 struct {
	name string
	set  experiment.Knobs
}

// base4 is what the runs of chapter 4 share.
func base4(scale, workload string) experiment.Spec {
	k := experiment.Knobs{"nodes": machines4, "threads": 24, "check": "sampled"}
	if scale == Quick {
		if workload == tpccNo {
			k["threads"], k["nics"] = 12, 1
		} else {
			k["workload.scale"] = 0.1
		}
	}
	return experiment.Spec{Preset: "drtm+h", Workload: workload, Set: k}
}

// under4 is a load with intervals that fit its latency. All coroutines begin at once, so throughput
// swings for a few latencies, and a latency is as long as all coroutines of a thread take of its core.
func under4(scale, workload string, coroutines int) experiment.Knobs {
	warmup, duration := 100_000+8_000*coroutines, 250_000+35_000*coroutines
	switch workload {
	case tpccNo:
		warmup, duration = 300_000+70_000*coroutines, 700_000+50_000*coroutines
	case tpceCP:
		warmup, duration = 300_000+40_000*coroutines, 800_000+40_000*coroutines
	}
	if scale == Paper && (workload != tpccNo || coroutines > 1) { // one is compared with quick scale, so it is short
		duration *= 4
	}
	return experiment.Knobs{"coroutines": coroutines, "warmup_ns": warmup, "duration_ns": duration}
}

// mostCorrect are the most coroutines with which quick runs of the correct protocol of TPC-C/no are
// steady: with more, some new-orders abort for longer than a run takes.
const mostCorrect = 4

// loads4 are the coroutines of the points, and of those of the correct protocol where
// there are two. many are the most on TPC-C/no at quick scale: these take longest.
func loads4(scale, workload string, many int) (all, correct []int) {
	if scale == Paper {
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

// variants4 are the lines and, of TPC-C/no, the same with aborts ignored. What those
// lose is known, so it is not checked.
func variants4(workload string, ls []line4) (correct, published []line4) {
	if workload != tpccNo {
		return ls, nil
	}
	for _, l := range ls {
		published = append(published, line4{l.name + abortsIgnored, with(l.set, experiment.Knobs{"workload.variant": "as-published", "check": "off"})})
	}
	return ls, published
}

// plan4 compares the last of the lines with paper scale, under one coroutine.
func plan4(scale, workload string, many int, ls []line4) plan {
	all, fewer := loads4(scale, workload, many)
	p := plan{base: base4(scale, workload)}
	add := func(ls []line4, loads []int) {
		for _, l := range ls {
			s := plannedSeries{name: l.name}
			for _, n := range loads {
				s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, under4(scale, workload, n)), read: median4, along: mtxn})
			}
			p.series = append(p.series, s)
		}
	}
	correct, published := variants4(workload, ls)
	add(correct, fewer)
	add(published, all)
	p.gap = gapPoint{p.series[len(p.series)-1].name, 1}
	return p
}

// mtxn is the throughput of the cluster.
func mtxn(r *result.Result) (v, ci95 float64) {
	v = r.Throughput / 1e6
	return v, v * r.ThroughputCI95
}

// median4 is the median latency.
func median4(r *result.Result) (v, ci95 float64) {
	return r.LatencyUS.P50, r.LatencyUS.P50 * shareOfCI(r, "latency_us.p50")
}

// shareOfCI is the half-width of the 95 % interval of a number as a share of it. A run without one is
// drawn without one; if it is not steady, no claim rests on it.
func shareOfCI(r *result.Result, path string) float64 {
	if share, _, ok := r.Interval(path); ok {
		return share
	}
	return r.ThroughputCI95
}

// panels4 are panel a on TPC-C/no and panel b on SmallBank.
func panels4(id, title, section string, many int, ls []line4, claims func(workload string) func(f *Figure) []Claim) []*definition {
	var out []*definition
	for i, workload := range []string{tpccNo, smallBank} {
		out = append(out, &definition{
			id: id + string(rune('a'+i)), title: title + ", " + []string{"TPC-C/no", "SmallBank"}[i], chapter: 4, section: section, scope: "cluster", form: formCurves,
			x: Axis{Label: "Throughput", Unit: "Mtxn/s"}, y: Axis{Label: "Median latency", Unit: "us"},
			plan:   func(scale string) plan { return plan4(scale, workload, many, ls) },
			claims: claims(workload),
		})
	}
	return out
}

// throughputs is the figure with the load along X and the throughput as Y.
func (f *Figure) throughputs() *Figure {
	return f.along(Axis{Label: "Throughput", Unit: f.X.Unit}, func(p Point) (float64, float64) { return p.X, p.XCI95 })
}

// latencies has the latency as Y.
func (f *Figure) latencies() *Figure {
	return f.along(f.Y, func(p Point) (float64, float64) { return p.Y, p.CI95 })
}

func (f *Figure) along(y Axis, value func(p Point) (v, ci95 float64)) *Figure {
	out := &Figure{ID: f.ID, X: Axis{Label: "Load", Unit: "coroutines per thread"}, Y: y, Runs: f.Runs}
	for _, s := range f.Series {
		t := Series{Name: s.Name}
		for _, p := range s.Points {
			v, ci := value(p)
			t.Points = append(t.Points, Point{X: float64(p.Load), Y: v, CI95: ci, Load: p.Load, Run: p.Run})
		}
		out.Series = append(out.Series, t)
	}
	return out
}

// variants measures claims twice on TPC-C/no, else once.
func (f *Figure) variants(workload string, claims func(name func(string) string) []Claim) []Claim {
	if workload == tpccNo {
		return f.twice(claims)
	}
	return claims(func(line string) string { return line })
}

// everywhere is any load.
func everywhere(float64) bool { return true }

// ahead is a claim without a published number, that one line is above another: under
// every load, or, not always, under the one where it is most.
func (f *Figure) ahead(id, text string, p pair, always bool, at func(load float64) bool) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x"}
	rs := f.ratios(p, at)
	if len(rs) == 0 {
		return noRuns(c)
	}
	most, least := extremes(rs)
	if always {
		c = f.gains(id, text, rs...)
	} else {
		c = f.gains(id, text, most)
	}
	c.ratios(most, least, peaks(rs))
	c.most, c.least = most, least
	c.Why = f.because(most)
	if least.x != most.x {
		c.Why += "; smallest: " + f.because(least)
	}
	c.Why += "; " + f.costs(most)
	return f.settled(c, most.a, most.b)
}

// tops is a claim about the highest points of two lines.
func (f *Figure) tops(id, text string, p pair) Claim {
	a, b := f.series(p.above), f.series(p.below)
	if len(a.Points) == 0 || len(b.Points) == 0 {
		return noRuns(Claim{ID: id, Claim: text, Unit: "x"})
	}
	r := divide(p, a.peak(), b.peak())
	c := f.gains(id, text, r)
	c.Measured, c.Why = &r.value, f.because(r)+"; "+f.costs(r)
	return f.settled(c, r.a, r.b)
}

// peak is the number of a line's highest point.
func (f *Figure) peak(id, text, line string) Claim {
	c := Claim{ID: id, Claim: text, Unit: f.Y.Unit}
	p, published := systemResult(id)
	if published {
		c.Reference, c.First = p.text(), p.First
		c.reference = &Reference{ID: id, Text: text, Section: p.Section, X: &p.To}
	}
	s := f.series(line)
	if len(s.Points) == 0 {
		return noRuns(c)
	}
	at := s.peak()
	c.Measured, c.Status = &at.Y, Undecided
	if published {
		c.Status = near(at.Y, at.CI95, p.To)
	}
	c.Why = fmt.Sprintf("%.4g ± %.2g %s at %s, %s", at.Y, at.CI95, f.Y.Unit, f.X.at(at.X), limit(f.Runs[at.Run]))
	return f.settled(c, at)
}

// near1 is a claim that two lines are as good as equal.
func (f *Figure) near1(id, text string, r ratio) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x", Measured: &r.value, Status: near(r.value, r.half, 1)}
	c.Why = f.because(r) + "; " + f.costs(r)
	return c
}

// all is a claim that is its parts together. Of their ratios it has the largest, the
// smallest and the smallest peak over peak.
func all(id, text string, parts ...Claim) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x", Status: Holds}
	for i, p := range parts {
		c.Status = worse(c.Status, p.Status)
		if i > 0 {
			c.Why += ". "
		}
		c.Why += p.Claim + ": " + p.Why
		if v := p.Measured; v != nil && (c.Measured == nil || *v < *c.Measured) {
			c.Measured = v
		}
		if v := p.Largest; v != nil && (c.Largest == nil || *v > *c.Largest) {
			c.Largest = v
		}
		if v := p.Smallest; v != nil && (c.Smallest == nil || *v < *c.Smallest) {
			c.Smallest = v
		}
		if v := p.Peak; v != nil && (c.Peak == nil || *v < *c.Peak) {
			c.Peak = v
		}
	}
	return c
}

// settled leaves a claim undecided if one of its runs was too short.
func (f *Figure) settled(c Claim, points ...Point) Claim {
	for _, p := range points {
		if l := f.Runs[p.Run].Little; l != nil && !l.Settled() {
			c.Status, c.short = Undecided, true
			if why := fmt.Sprintf("; a run is too short: Little's law is off by %.0f %%, %.0f %% of its attempts abort", 100*l.Error, 100*f.Runs[p.Run].AbortRate); !strings.HasSuffix(c.Why, why) {
				c.Why += why
			}
		}
	}
	return c
}

// costs says what a transaction takes on both sides of a ratio.
func (f *Figure) costs(r ratio) string {
	a, b := f.Runs[r.a.Run], f.Runs[r.b.Run]
	s := fmt.Sprintf("a transaction takes %.3g us of cores and %.3g round trips for %.3g and %.3g", coreUS(a), a.RoundTripsPerTxn, coreUS(b), b.RoundTripsPerTxn)
	if most := max(a.AbortRate, b.AbortRate); most >= 0.01 {
		s += fmt.Sprintf(", %.0f %% of the attempts abort for %.0f %%", 100*a.AbortRate, 100*b.AbortRate)
	}
	return s
}

// coreUS is what a commit takes of all cores: its handlers, polls and aborted attempts
// included.
func coreUS(r *result.Result) float64 {
	nodes, _ := r.Spec["nodes"].(int)
	threads, _ := r.Spec["threads"].(int)
	if r.Throughput == 0 {
		return math.NaN()
	}
	return r.Utilization["cpu"].Mean * float64(nodes*threads) / r.Throughput * 1e6
}

// cycles is a claim that a transaction of the first run takes less of the cores than one of
// the second. Core time per commit has the intervals of the throughputs.
func (f *Figure) cycles(c Claim, less, more Point) Claim {
	spent := func(p Point) Point {
		r := f.Runs[p.Run]
		return Point{X: p.X, Y: coreUS(r), CI95: coreUS(r) * r.ThroughputCI95, Load: p.Load, Run: p.Run}
	}
	a, b := spent(less), spent(more)
	out := f.gains(c.ID, c.Claim, divide(pair{}, b, a))
	out.Why = fmt.Sprintf("%.3g ± %.2g us of the cores for a transaction, against %.3g ± %.2g, with %s: %s, %s", a.Y, a.CI95, b.Y, b.CI95,
		countOf(a.Load), limit(f.Runs[a.Run]), limit(f.Runs[b.Run]))
	return f.settled(out, less, more)
}

// trips is a claim that a phase takes no more round trips, of a line under its least load.
func (f *Figure) trips(id, text, line, phase string, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "round trips"}
	points := f.series(line).Points
	if len(points) == 0 {
		return noRuns(c)
	}
	r := f.Runs[points[0].Run]
	n := r.Phases[phase].RoundTrips * (1 - r.AbortRate)
	c.Measured, c.Status = &n, Holds
	if n == 0 || n > (1+tolerance)*reference { // less: not all transactions have the phase
		c.Status = Contradicted
	}
	c.Why = fmt.Sprintf("%.3g an attempt of %s in phase %s", n, line, phase)
	return c
}

// countOf is a number of coroutines in words.
func countOf(coroutines int) string { return Axis{Unit: "coroutines"}.at(float64(coroutines)) }

// figures4 are those of chapter 4.
var figures4 = slices.Concat(figures42, figures43, figures44, figures45, []*definition{&figure46}, figures47, figures48, figures49, figures410, tables4)
