package chapter5

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figures 5-10 to 5-12: TPC-E, and TPC-C with the read-only stock-level over more and more districts, on three clusters (§5.5.1). A
// bar or a point is the peak over the numbers of coroutines. Their lines are those of Figure 5-1, which names no cluster and
// has fewer of them.

const labelUncompressed = "VTS, uncompressed"

// schemePanels are both panels on a cluster.
func schemePanels(id string, c thesisCluster, claimsA, claimsB func(f *figure.Figure) []figure.Claim) []*figure.Definition {
	return []*figure.Definition{
		{ID: id + "a", Title: "TPC-E on " + c.name, Chapter: 5, Section: "5.5.1", Scope: "cluster", Form: figure.FormBars, Costs: c.costs,
			X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Peak throughput", Unit: "Mtxn/s"}, Arrange: arrangePeaks, Claims: claimsA,
			Plan: func(scale string) figure.Plan { return planMixes(scale, c, schemeLines) }},
		{ID: id + "b", Title: "TPC-C on " + c.name + " by the districts of a stock-level", Chapter: 5, Section: "5.5.1", Scope: "cluster", Costs: c.costs,
			X: figure.Axis{Label: "Districts of a stock-level", Unit: "districts"}, Y: figure.Axis{Label: "Peak throughput", Unit: "Mtxn/s"}, Arrange: arrangePeaks, Claims: claimsB,
			Plan: func(scale string) figure.Plan { return planDistricts(scale, c, schemeLines) }},
	}
}

var (
	headlines     = []*figure.Definition{headlinePanel("5-1a", "TPC-E", planMixes, figure.FormBars), headlinePanel("5-1b", "TPC-C", planDistricts, figure.FormLines)}
	schemeFigures = slices.Concat(schemePanels("5-10", aws, awsMixClaims, awsDistrictClaims), schemePanels("5-11", vale, valeMixClaims, valeDistrictClaims), schemePanels("5-12", val, valMixClaims, valDistrictClaims))
)

// headlinePanel has the runs of Figure 5-12.
func headlinePanel(id, workload string, of func(scale string, c thesisCluster, ls []figure.Setting) figure.Plan, form string) *figure.Definition {
	d := figure.Definition{ID: id, Title: workload + " on DrTM+H with RDMA", Chapter: 5, Section: "5", Scope: "cluster", Form: form, Costs: val.costs, Arrange: arrangePeaks,
		X: figure.Axis{Label: "Workload"}, Y: figure.Axis{Label: "Peak throughput", Unit: "Mtxn/s"}, Claims: headlineClaims}
	if form == figure.FormLines {
		d.X = figure.Axis{Label: "Districts of a stock-level", Unit: "districts"}
	}
	d.Plan = func(scale string) figure.Plan {
		p := of(scale, val, but(schemeLines, labelDST))
		p.Note += "; the thesis names no cluster"
		return p
	}
	return &d
}

func planMixes(scale string, c thesisCluster, ls []figure.Setting) figure.Plan {
	p := figure.Plan{Base: c.base(scale, "tpce"), Note: c.note(scale)}
	if c.name == vale.name { // the sixteen nodes of which §5.5 tells what compression brings
		ls = append(slices.Clone(ls), figure.Setting{Name: labelUncompressed, Set: experiment.Knobs{"ts.scheme": "vts", "ts.batching": true, "ts.fetch_thread": true}})
	}
	for _, l := range ls {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range withOne(loadsOf(scale, "tpce"), l.Name == labelGTS && c.name == aws.name) {
			s.Points = append(s.Points, figure.PlannedPoint{X: 0, Name: "TPC-E", Set: figure.With(l.Set, c.under(n, 1)), Read: figure.Mtxn})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// withOne adds one coroutine, of which cooperative multitasking is the other case.
func withOne(loads []int, ok bool) []int {
	if ok && !slices.Contains(loads, 1) {
		return append([]int{1}, loads...)
	}
	return loads
}

// districts are the places of panels b.
func districts(scale string) []int {
	if scale == figure.Paper {
		return []int{1, 5, 10, 15, 20}
	}
	return []int{1, 5, 20}
}

func planDistricts(scale string, c thesisCluster, ls []figure.Setting) figure.Plan {
	p := figure.Plan{Base: c.base(scale, "tpcc"), Note: c.note(scale)}
	for _, l := range ls {
		s := figure.PlannedSeries{Name: l.Name}
		for _, d := range districts(scale) {
			for _, n := range loadsOf(scale, "tpcc") {
				s.Points = append(s.Points, figure.PlannedPoint{X: float64(d), Set: figure.With(l.Set, c.under(n, 1+float64(d)/20), experiment.Knobs{"workload.stock_districts": d}), Read: figure.Mtxn})
			}
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// headlineClaims is what the chapter's first page says of the figure.
func headlineClaims(f *figure.Figure) []figure.Claim {
	pairs := []figure.Pair{{Above: labelRC, Below: labelGTS}, {Above: labelRC, Below: labelVTS}}
	text := "neither GTS nor VTS reaches RC"
	if f.ID == "5-1a" {
		pairs, text = append(pairs, figure.Pair{Above: labelRC, Below: labelOCC}), text+", nor does OCC"
	}
	return []figure.Claim{f.Above("f5-1-order", text, figure.Everywhere, pairs...)}
}

// headline are the numbers of the chapter's first page, the highest of several clusters there.
func headline(f *figure.Figure, id, text string, reference float64, above string, below ...string) []figure.Claim {
	var rs []figure.Ratio
	for _, b := range below {
		rs = append(rs, f.Ratios(figure.Pair{Above: above, Below: b}, figure.Everywhere)...)
	}
	if len(rs) == 0 {
		return nil
	}
	most, least := figure.Extremes(rs)
	c := figure.Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "x"}
	c.SetRatios(most, least, figure.PeakRatio(rs))
	c.Status, c.Why = figure.Gain(most.Value, most.Half, reference), f.Because(most)
	return []figure.Claim{c}
}

// measuredOf is what a line's first run has of something that the thesis says of the workload.
func measuredOf(f *figure.Figure, id, text, unit, line string, reference float64, of func(r *result.Result) float64) []figure.Claim {
	s := f.Line(line)
	if len(s.Points) == 0 {
		return nil
	}
	v := of(f.Runs[s.Points[0].Run])
	return []figure.Claim{{ID: id, Claim: text, Reference: fmt.Sprint(reference), Measured: &v, Unit: unit, Status: figure.Near(v, 0, reference), Why: "in the first run of " + line}}
}

// blockedReads is how often snapshots were blocked, where the run counts it: once for each record that a snapshot waited for. TPC-C has
// about as many as the thesis says, TPC-E many more. Five of six of these are last prices that a market-feed has locked, 20 at a time
// through its commit, so they grow with the market-feeds under way and as the prices are fewer. On AWS at quick scale they are 23,000 a
// second with a tenth of the data and 6,300 with all, 1,000 without market-feeds, and 54 with one coroutine per thread (drtmx run
// --preset fasst --set profile=aws --set workload=tpce --set ts.scheme=dst --set oracle=true and the knobs of the figure, --set
// workload.scale=1 and more).
func blockedReads(f *figure.Figure, id, text string, reference float64, mostly string) []figure.Claim {
	s := f.Line(labelDST)
	if len(s.Points) == 0 {
		return nil
	}
	p := f.Runs[s.Points[0].Run].Parts["snapshots"]
	if p == nil {
		return nil
	}
	claims := measuredOf(f, id, text, "blocks/s", labelDST, reference, func(r *result.Result) float64 {
		return p["reads"] * p["blocked"] / 100 / numberOf(r, "nodes")
	})
	claims[0].Why += fmt.Sprintf(": %.2g %% of %.3g M records a second, for %.3g µs on average%s", p["blocked"], p["reads"]/1e6, p["wait"], mostly)
	return claims
}

func awsMixClaims(f *figure.Figure) []figure.Claim {
	return slices.Concat(
		faster(f, "f5-10a-rc-occ", "RC by the throughput of OCC", labelRC, labelOCC, figure.Everywhere),
		faster(f, "f5-10a-dst-gts", "DST by the throughput of GTS", labelDST, labelGTS, figure.Everywhere),
		faster(f, "f5-10a-dst-vts", "DST by the throughput of VTS", labelDST, labelVTS, figure.Everywhere),
		[]figure.Claim{
			f.Above("f5-10a-order", "RC is above OCC, and DST above GTS and VTS", figure.Everywhere, figure.Pair{Above: labelRC, Below: labelOCC}, figure.Pair{Above: labelDST, Below: labelGTS}, figure.Pair{Above: labelDST, Below: labelVTS}),
			reaches(f, "s5-dst-vs-rc", "DST reaches 95 % of RC", labelDST, labelRC, 0.95),
		},
		headline(f, "s5-drtmh-tpce", "DST makes DrTM+H up to 1.8 times faster on TPC-E", 1.8, labelDST, labelOCC),
		headline(f, "s5-vs-ts-tpce", "and is up to 1.7 times faster than centralised timestamps", 1.7, labelDST, labelGTS, labelVTS),
		measuredOf(f, "s5-tpce-ro", "79 % of the transactions only read", "%", labelDST, 79, readOnlyShare),
		measuredOf(f, "s5-oracle-node", "one machine is the oracle's", "count", labelDST, 1, func(r *result.Result) float64 { return map[any]float64{true: 1}[r.Spec["oracle"]] }),
		cooperative(f), blockedReads(f, "s5-blocks-tpce", "a machine has about 160 blocked reads a second", 160,
			"; they are mostly last prices that market-feeds have locked, and fewer with all data or fewer coroutines"))
}

// readOnlyTypes are those of both workloads.
var readOnlyTypes = []string{"order-status", "stock-level", "broker-volume", "customer-position", "market-watch", "security-detail", "trade-lookup", "trade-status", "data-maintenance"}

func readOnlyShare(r *result.Result) float64 { return shareOfType(r, readOnlyTypes...) }

// cooperative compares the peak of GTS with its throughput under one coroutine.
func cooperative(f *figure.Figure) []figure.Claim {
	peak, ok := f.Line(labelGTS).At(0)
	if !ok {
		return nil
	}
	for i, r := range f.Runs {
		if r != nil && r.Spec["ts.scheme"] == "gts" && r.Spec["coroutines"] == 1 {
			y, ci := figure.Mtxn(r)
			return []figure.Claim{f.Quotient("s5-gts-coop", "cooperative multitasking makes GTS 3.04 times faster", peak, figure.Point{Y: y, CI95: ci, Run: i}, "the best", "one coroutine", 3.04)}
		}
	}
	return nil
}

func awsDistrictClaims(f *figure.Figure) []figure.Claim {
	return slices.Concat(
		faster(f, "f5-10b-gts", "one district: DST by the throughput of GTS", labelDST, labelGTS, onlyAt(1)),
		faster(f, "f5-10b-vts", "one district: DST by the throughput of VTS", labelDST, labelVTS, onlyAt(1)),
		faster(f, "f5-10b-occ20", "20 districts: DST by the throughput of OCC", labelDST, labelOCC, onlyAt(20)),
		faster(f, "f5-10b-vts20", "20 districts: DST by the throughput of VTS", labelDST, labelVTS, onlyAt(20)),
		faster(f, "f5-10b-gts20", "20 districts: DST by the throughput of GTS", labelDST, labelGTS, onlyAt(20)),
		[]figure.Claim{
			figure.AllOf("f5-10b-order", "RC gains on OCC with the districts, and DST stays close to RC and above GTS and VTS", grows(f, "RC over OCC", labelRC, labelOCC),
				f.Above("", "DST over GTS and VTS", figure.Everywhere, figure.Pair{Above: labelDST, Below: labelGTS}, figure.Pair{Above: labelDST, Below: labelVTS})),
			reaches(f, "s5-dst-vs-rc", "DST reaches 95 % of RC", labelDST, labelRC, 0.95),
		},
		headline(f, "s5-drtmh-tpcc", "DST makes DrTM+H up to 6.1 times faster on TPC-C", 6.1, labelDST, labelOCC),
		headline(f, "s5-vs-ts-tpcc", "and is up to 6.3 times faster than centralised timestamps", 6.3, labelDST, labelGTS, labelVTS),
		measuredOf(f, "s5-tpcc-ro", "8 % of the transactions only read", "%", labelDST, 8, readOnlyShare),
		measuredOf(f, "s5-stocklevel", "4 % are stock-levels", "%", labelDST, 4, func(r *result.Result) float64 { return shareOfType(r, "stock-level") }),
		firstAndLast(f), blockedReads(f, "s5-blocks-tpcc", "a machine has about 200 blocked reads a second", 200, ""))
}

// firstAndLast are the first and the last number of districts.
func firstAndLast(f *figure.Figure) []figure.Claim {
	points := f.Line(labelDST).Points
	if len(points) == 0 {
		return nil
	}
	first, last := points[0].X, points[len(points)-1].X
	return []figure.Claim{figure.Counted("s5-districts-default", "the first point has the standard's district", 1, first, "knob workload.stock_districts"),
		figure.Counted("f5-10b-districts", "the last one has twenty", 20, last, "knob workload.stock_districts")}
}

// grows is that the ratio of two lines is larger at the last place than at the first.
func grows(f *figure.Figure, text, above, below string) figure.Claim {
	rs := f.Ratios(figure.Pair{Above: above, Below: below}, figure.Everywhere)
	if len(rs) < 2 {
		return figure.NoRuns(figure.Claim{Claim: text, Unit: "x"})
	}
	first, last := rs[0], rs[len(rs)-1]
	v, half := last.Over(first)
	return figure.Claim{Claim: text, Unit: "x", Measured: &v, Status: figure.ExceedsOne(v, half), Why: f.Because(last) + "; " + f.Because(first)}
}

func valeMixClaims(f *figure.Figure) []figure.Claim {
	out := slices.Concat(
		faster(f, "f5-11a-dst-gts", "DST by the throughput of GTS", labelDST, labelGTS, figure.Everywhere),
		faster(f, "f5-11a-dst-vts", "DST by the throughput of VTS", labelDST, labelVTS, figure.Everywhere))
	if a, ok := f.Line(labelVTS).At(0); ok {
		if b, ok := f.Line(labelUncompressed).At(0); ok {
			out = append(out, f.Quotient("s5-vts-compress", "compression makes VTS 2.7 times faster on 16 nodes", a, b, "compressed", "not compressed", 2.7))
		}
	}
	return out
}

func valeDistrictClaims(f *figure.Figure) []figure.Claim {
	return slices.Concat(
		faster(f, "f5-11b-gts", "DST by the throughput of GTS, up to and from", labelDST, labelGTS, figure.Everywhere),
		faster(f, "f5-11b-vts", "DST by the throughput of VTS, up to and from", labelDST, labelVTS, figure.Everywhere))
}

func valMixClaims(f *figure.Figure) []figure.Claim {
	return slices.Concat(
		faster(f, "f5-12a-dst-gts", "DST by the throughput of GTS", labelDST, labelGTS, figure.Everywhere),
		faster(f, "f5-12a-dst-vts", "DST by the throughput of VTS", labelDST, labelVTS, figure.Everywhere))
}

func valDistrictClaims(f *figure.Figure) []figure.Claim {
	return slices.Concat(
		faster(f, "f5-12b-dst-gts", "DST by the throughput of GTS, up to and from", labelDST, labelGTS, figure.Everywhere),
		faster(f, "f5-12b-dst-vts", "DST by the throughput of VTS, up to and from", labelDST, labelVTS, figure.Everywhere),
		[]figure.Claim{f.Above("f5-12-order", "DST is above GTS and VTS with RDMA too", figure.Everywhere, figure.Pair{Above: labelDST, Below: labelGTS}, figure.Pair{Above: labelDST, Below: labelVTS})})
}
