package figures

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figures 5-10 to 5-12: TPC-E, and TPC-C with the read-only stock-level over more and more districts, on three clusters (§5.5.1). A
// bar or a point is the peak over the numbers of coroutines. Their lines are those of Figure 5-1, which names no cluster and
// has fewer of them.

const uncompressed5 = "VTS, uncompressed"

// figure510 are both panels on a cluster.
func figure510(id string, c cluster5, claimsA, claimsB func(f *Figure) []Claim) []*definition {
	return []*definition{
		{id: id + "a", title: "TPC-E on " + c.name, chapter: 5, section: "5.5.1", scope: "cluster", form: formBars, costs: c.costs,
			x: Axis{Label: "Workload"}, y: Axis{Label: "Peak throughput", Unit: "Mtxn/s"}, arrange: peak5, claims: claimsA,
			plan: func(scale string) plan { return plan510a(scale, c, lines5) }},
		{id: id + "b", title: "TPC-C on " + c.name + " by the districts of a stock-level", chapter: 5, section: "5.5.1", scope: "cluster", costs: c.costs,
			x: Axis{Label: "Districts of a stock-level", Unit: "districts"}, y: Axis{Label: "Peak throughput", Unit: "Mtxn/s"}, arrange: peak5, claims: claimsB,
			plan: func(scale string) plan { return plan510b(scale, c, lines5) }},
	}
}

var (
	figures51  = []*definition{figure51("5-1a", "TPC-E", plan510a, formBars), figure51("5-1b", "TPC-C", plan510b, formLines)}
	figures510 = slices.Concat(figure510("5-10", aws5, claims510a, claims510b), figure510("5-11", vale5, claims511a, claims511b), figure510("5-12", val5, claims512a, claims512b))
)

// figure51 has the runs of Figure 5-12.
func figure51(id, workload string, of func(scale string, c cluster5, ls []line4) plan, form string) *definition {
	d := definition{id: id, title: workload + " on DrTM+H with RDMA", chapter: 5, section: "5", scope: "cluster", form: form, costs: val5.costs, arrange: peak5,
		x: Axis{Label: "Workload"}, y: Axis{Label: "Peak throughput", Unit: "Mtxn/s"}, claims: claims51}
	if form == formLines {
		d.x = Axis{Label: "Districts of a stock-level", Unit: "districts"}
	}
	d.plan = func(scale string) plan {
		p := of(scale, val5, but(lines5, dst5))
		p.note += "; the thesis names no cluster"
		return p
	}
	return &d
}

func plan510a(scale string, c cluster5, ls []line4) plan {
	p := plan{base: c.base(scale, "tpce"), note: c.note(scale)}
	if c.name == vale5.name { // the sixteen nodes of which §5.5 tells what compression brings
		ls = append(slices.Clone(ls), line4{uncompressed5, experiment.Knobs{"ts.scheme": "vts", "ts.batching": true, "ts.fetch_thread": true}})
	}
	for _, l := range ls {
		s := plannedSeries{name: l.name}
		for _, n := range withOne(loads5(scale, "tpce"), l.name == gts5 && c.name == aws5.name) {
			s.points = append(s.points, plannedPoint{x: 0, name: "TPC-E", set: with(l.set, c.under(n, 1)), read: mtxn})
		}
		p.series = append(p.series, s)
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

// districts5 are the places of panels b.
func districts5(scale string) []int {
	if scale == Paper {
		return []int{1, 5, 10, 15, 20}
	}
	return []int{1, 5, 20}
}

func plan510b(scale string, c cluster5, ls []line4) plan {
	p := plan{base: c.base(scale, "tpcc"), note: c.note(scale)}
	for _, l := range ls {
		s := plannedSeries{name: l.name}
		for _, d := range districts5(scale) {
			for _, n := range loads5(scale, "tpcc") {
				s.points = append(s.points, plannedPoint{x: float64(d), set: with(l.set, c.under(n, 1+float64(d)/20), experiment.Knobs{"workload.stock_districts": d}), read: mtxn})
			}
		}
		p.series = append(p.series, s)
	}
	return p
}

// claims51 is what the chapter's first page says of the figure.
func claims51(f *Figure) []Claim {
	pairs := []pair{{rc5, gts5}, {rc5, vts5}}
	text := "neither GTS nor VTS reaches RC"
	if f.ID == "5-1a" {
		pairs, text = append(pairs, pair{rc5, occ5}), text+", nor does OCC"
	}
	return []Claim{f.above("f5-1-order", text, everywhere, pairs...)}
}

// headline5 are the numbers of the chapter's first page, the highest of several clusters there.
func (f *Figure) headline5(id, text string, reference float64, above string, below ...string) []Claim {
	var rs []ratio
	for _, b := range below {
		rs = append(rs, f.ratios(pair{above, b}, everywhere)...)
	}
	if len(rs) == 0 {
		return nil
	}
	most, least := extremes(rs)
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "x"}
	c.ratios(most, least, peaks(rs))
	c.Status, c.Why = gain(most.value, most.half, reference), f.because(most)
	return []Claim{c}
}

// measuredOf is what a line's first run has of something that the thesis says of the workload.
func (f *Figure) measuredOf(id, text, unit, line string, reference float64, of func(r *result.Result) float64) []Claim {
	s := f.series(line)
	if len(s.Points) == 0 {
		return nil
	}
	v := of(f.Runs[s.Points[0].Run])
	return []Claim{{ID: id, Claim: text, Reference: fmt.Sprint(reference), Measured: &v, Unit: unit, Status: near(v, 0, reference), Why: "in the first run of " + line}}
}

// blocks5 is how often snapshots were blocked, where the run counts it: once for each record that a snapshot waited for. TPC-C has
// about as many as the thesis says, TPC-E many more. Five of six of these are last prices that a market-feed has locked, 20 at a time
// through its commit, so they grow with the market-feeds under way and as the prices are fewer. On AWS at quick scale they are 23,000 a
// second with a tenth of the data and 6,300 with all, 1,000 without market-feeds, and 54 with one coroutine per thread (drtmx run
// --preset fasst --set profile=aws --set workload=tpce --set ts.scheme=dst --set oracle=true and the knobs of the figure, --set
// workload.scale=1 and more).
func (f *Figure) blocks5(id, text string, reference float64, mostly string) []Claim {
	s := f.series(dst5)
	if len(s.Points) == 0 {
		return nil
	}
	p := f.Runs[s.Points[0].Run].Parts["snapshots"]
	if p == nil {
		return nil
	}
	claims := f.measuredOf(id, text, "/s", dst5, reference, func(r *result.Result) float64 {
		return p["reads"] * p["blocked"] / 100 / numberOf(r, "nodes")
	})
	claims[0].Why += fmt.Sprintf(": %.2g %% of %.3g M records a second, for %.3g us on average%s", p["blocked"], p["reads"]/1e6, p["wait"], mostly)
	return claims
}

func claims510a(f *Figure) []Claim {
	return slices.Concat(
		f.faster("f5-10a-rc-occ", "RC by the throughput of OCC", rc5, occ5, everywhere),
		f.faster("f5-10a-dst-gts", "DST by the throughput of GTS", dst5, gts5, everywhere),
		f.faster("f5-10a-dst-vts", "DST by the throughput of VTS", dst5, vts5, everywhere),
		[]Claim{
			f.above("f5-10a-order", "RC is above OCC, and DST above GTS and VTS", everywhere, pair{rc5, occ5}, pair{dst5, gts5}, pair{dst5, vts5}),
			f.close5("s5-dst-vs-rc", "DST reaches 95 % of RC", dst5, rc5, 0.95),
		},
		f.headline5("s5-drtmh-tpce", "DST makes DrTM+H up to 1.8 times faster on TPC-E", 1.8, dst5, occ5),
		f.headline5("s5-vs-ts-tpce", "and is up to 1.7 times faster than centralised timestamps", 1.7, dst5, gts5, vts5),
		f.measuredOf("s5-tpce-ro", "79 % of the transactions only read", "%", dst5, 79, readOnly5),
		f.measuredOf("s5-oracle-node", "one machine is the oracle's", "count", dst5, 1, func(r *result.Result) float64 { return map[any]float64{true: 1}[r.Spec["oracle"]] }),
		f.cooperative5(), f.blocks5("s5-blocks-tpce", "a machine has about 160 blocked reads a second", 160,
			"; they are mostly last prices that market-feeds have locked, and fewer with all data or fewer coroutines"))
}

// readOnlyTypes are those of both workloads.
var readOnlyTypes = []string{"order-status", "stock-level", "broker-volume", "customer-position", "market-watch", "security-detail", "trade-lookup", "trade-status", "data-maintenance"}

func readOnly5(r *result.Result) float64 { return shareOfType(r, readOnlyTypes...) }

// cooperative5 compares the peak of GTS with its throughput under one coroutine.
func (f *Figure) cooperative5() []Claim {
	peak, ok := f.series(gts5).at(0)
	if !ok {
		return nil
	}
	for i, r := range f.Runs {
		if r != nil && r.Spec["ts.scheme"] == "gts" && r.Spec["coroutines"] == 1 {
			y, ci := mtxn(r)
			return []Claim{f.quotient("s5-gts-coop", "cooperative multitasking makes GTS 3.04 times faster", peak, Point{Y: y, CI95: ci, Run: i}, "the best", "one coroutine", 3.04)}
		}
	}
	return nil
}

func claims510b(f *Figure) []Claim {
	return slices.Concat(
		f.slower("f5-10b-gts", "one district: by how much GTS is below DST", gts5, dst5, at5(1)),
		f.slower("f5-10b-vts", "one district: by how much VTS is below DST", vts5, dst5, at5(1)),
		f.faster("f5-10b-occ20", "20 districts: DST by the throughput of OCC", dst5, occ5, at5(20)),
		f.faster("f5-10b-vts20", "20 districts: DST by the throughput of VTS", dst5, vts5, at5(20)),
		f.faster("f5-10b-gts20", "20 districts: DST by the throughput of GTS", dst5, gts5, at5(20)),
		[]Claim{
			all("f5-10b-order", "RC gains on OCC with the districts, and DST stays close to RC and above GTS and VTS", f.grows5("RC over OCC", rc5, occ5),
				f.above("", "DST over GTS and VTS", everywhere, pair{dst5, gts5}, pair{dst5, vts5})),
			f.close5("s5-dst-vs-rc", "DST reaches 95 % of RC", dst5, rc5, 0.95),
		},
		f.headline5("s5-drtmh-tpcc", "DST makes DrTM+H up to 6.1 times faster on TPC-C", 6.1, dst5, occ5),
		f.headline5("s5-vs-ts-tpcc", "and is up to 6.3 times faster than centralised timestamps", 6.3, dst5, gts5, vts5),
		f.measuredOf("s5-tpcc-ro", "8 % of the transactions only read", "%", dst5, 8, readOnly5),
		f.measuredOf("s5-stocklevel", "4 % are stock-levels", "%", dst5, 4, func(r *result.Result) float64 { return shareOfType(r, "stock-level") }),
		f.places5(), f.blocks5("s5-blocks-tpcc", "a machine has about 200 blocked reads a second", 200, ""))
}

// places5 are the first and the last number of districts.
func (f *Figure) places5() []Claim {
	points := f.series(dst5).Points
	if len(points) == 0 {
		return nil
	}
	first, last := points[0].X, points[len(points)-1].X
	return []Claim{counted("s5-districts-default", "the first point has the standard's district", 1, first, "knob workload.stock_districts"),
		counted("f5-10b-districts", "the last one has twenty", 20, last, "knob workload.stock_districts")}
}

// grows5 is that the ratio of two lines is larger at the last place than at the first.
func (f *Figure) grows5(text, above, below string) Claim {
	rs := f.ratios(pair{above, below}, everywhere)
	if len(rs) < 2 {
		return noRuns(Claim{Claim: text, Unit: "x"})
	}
	first, last := rs[0], rs[len(rs)-1]
	v, half := last.over(first)
	return Claim{Claim: text, Unit: "x", Measured: &v, Status: exceedsOne(v, half), Why: f.because(last) + "; " + f.because(first)}
}

func claims511a(f *Figure) []Claim {
	out := slices.Concat(
		f.faster("f5-11a-dst-gts", "DST by the throughput of GTS", dst5, gts5, everywhere),
		f.faster("f5-11a-dst-vts", "DST by the throughput of VTS", dst5, vts5, everywhere))
	if a, ok := f.series(vts5).at(0); ok {
		if b, ok := f.series(uncompressed5).at(0); ok {
			out = append(out, f.quotient("s5-vts-compress", "compression makes VTS 2.7 times faster on 16 nodes", a, b, "compressed", "not compressed", 2.7))
		}
	}
	return out
}

func claims511b(f *Figure) []Claim {
	return slices.Concat(
		f.slower("f5-11b-gts", "by how much GTS is below DST, up to and from", gts5, dst5, everywhere),
		f.slower("f5-11b-vts", "by how much VTS is below DST, up to and from", vts5, dst5, everywhere))
}

func claims512a(f *Figure) []Claim {
	return slices.Concat(
		f.faster("f5-12a-dst-gts", "DST by the throughput of GTS", dst5, gts5, everywhere),
		f.faster("f5-12a-dst-vts", "DST by the throughput of VTS", dst5, vts5, everywhere))
}

func claims512b(f *Figure) []Claim {
	return slices.Concat(
		f.faster("f5-12b-dst-gts", "DST by the throughput of GTS, up to and from", dst5, gts5, everywhere),
		f.faster("f5-12b-dst-vts", "DST by the throughput of VTS, up to and from", dst5, vts5, everywhere),
		[]Claim{f.above("f5-12-order", "DST is above GTS and VTS with RDMA too", everywhere, pair{dst5, gts5}, pair{dst5, vts5})})
}
