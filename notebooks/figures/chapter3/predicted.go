package chapter3

import (
	"fmt"
	"math"
	"slices"

	"drtmx/notebooks/figures/figure"
)

// The rows of chapter 3 about throughput and latency: what the figures of systems.go come to beside the published numbers.

// predictPoint is a published number that is a point.
func predictPoint(f *figure.Figure, id, text, series string, x float64) []figure.Claim {
	p, ok := f.Line(series).At(x)
	if !ok {
		return nil
	}
	return []figure.Claim{figure.Measured(id, text, f.Y.Unit, p.Y, p.CI95, figure.LimitOf(f.Runs[p.Run])).At(series, x)}
}

// predictRatios is a published number that says how far one line is above others at x: the largest and the smallest ratio.
func predictRatios(f *figure.Figure, id, text string, x float64, above string, below ...string) []figure.Claim {
	var rs []figure.Ratio
	for _, b := range below {
		rs = append(rs, f.Ratios(figure.Pair{Above: above, Below: b}, func(at float64) bool { return at == x })...)
	}
	if len(rs) == 0 {
		return nil
	}
	return []figure.Claim{f.Compared(id, text, figure.Times, rs...)}
}

// The numbers of the chapter's first page.

// peakReadOnly is that XStore serves more than 80 M reads.
func peakReadOnly(f *figure.Figure) []figure.Claim {
	const published = 80
	p, ok := f.Line(xstore).At(3)
	if !ok {
		return nil
	}
	return []figure.Claim{{ID: "s3-peak-readonly", Claim: "one server serves more than 80 M reads/s", Reference: fmt.Sprint(published), Measured: &p.Y, Unit: f.Y.Unit,
		Status: figure.NotBelowZero(p.Y-published*(1-figure.Tolerance), p.CI95), Why: figure.LimitOf(f.Runs[p.Run])}}
}

// speedupReadOnly is by how much XStore serves more of them than others.
func speedupReadOnly(f *figure.Figure) []figure.Claim {
	const from, to = 3.7, 5.9
	c := figure.Claim{ID: "s3-speedup-readonly", Claim: "reads are served 3.7 to 5.9 times faster than by EMT, DrTM-Tree and Cell", Reference: fmt.Sprintf("%g..%g", from, to), Unit: "x"}
	var rs []figure.Ratio
	for _, name := range []string{emt, drtmTree, cell} {
		rs = append(rs, f.Ratios(figure.Pair{Above: xstore, Below: name}, func(x float64) bool { return x == 3 })...)
	}
	if len(rs) == 0 {
		return nil
	}
	most, least := figure.Extremes(rs)
	c.SetRatios(most, least, figure.PeakRatio(rs))
	c.Status = figure.Worse(figure.Gain(most.Value, most.Half, to), figure.Gain(least.Value, least.Half, from))
	c.Why = f.Because(most) + "; smallest: " + f.Because(least)
	return []figure.Claim{c}
}

// costOfMemory is what it costs to keep sub-models alone.
func costOfMemory(f *figure.Figure) []figure.Claim {
	const published = 20
	models := f.Line(xstore)
	sub, ok := models.At(2)
	full, both := models.At(3)
	if !ok || !both {
		return nil
	}
	r := figure.Divide(figure.Pair{Above: "with XModel alone", Below: "with TT"}, sub, full)
	lost := 100 * (1 - r.Value)
	return []figure.Claim{{ID: "s3-mem-cost", Claim: "to cache XModel alone costs 20 % of the peak", Reference: fmt.Sprint(published), Measured: &lost, Unit: "%", Status: figure.Near(lost, 100*r.Half, published), Why: f.Because(r)}}
}

// rowsYCSB are those of Figure 3-15. Workloads A to F are at 1 to 6.
func rowsYCSB(f *figure.Figure) []figure.Claim {
	others := []string{emt, drtmTree, cell}
	if f.ID == "3-15b" {
		return slices.Concat(
			predictRatios(f, "f3-15-c-zipf-emt", "YCSB C, zipfian: XStore over EMT", 3, xstore, emt),
			predictRatios(f, "f3-15-c-zipf-drtm", "YCSB C, zipfian: XStore over DrTM-Tree", 3, xstore, drtmTree),
			predictRatios(f, "f3-15-c-zipf-cell", "YCSB C, zipfian: XStore over Cell", 3, xstore, cell),
			predictRatios(f, "f3-15-a-zipf", "YCSB A, zipfian: XStore over the others, up to and from", 1, xstore, others...),
			predictRatios(f, "f3-15-d-latest", "YCSB D, latest: XStore over the others, up to and from", 4, xstore, others...),
			predictPoint(f, "f3-15-d-latest-abs", "YCSB D, latest: XStore", xstore, 4))
	}
	out := slices.Concat(peakReadOnly(f), speedupReadOnly(f),
		predictPoint(f, "f3-15-c-uni", "YCSB C, uniform: XStore", xstore, 3),
		predictRatios(f, "f3-15-c-uni-emt", "YCSB C, uniform: XStore over EMT", 3, xstore, emt),
		predictRatios(f, "f3-15-c-uni-drtm", "YCSB C, uniform: XStore over DrTM-Tree", 3, xstore, drtmTree),
		predictRatios(f, "f3-15-c-uni-cell", "YCSB C, uniform: XStore over Cell", 3, xstore, cell),
		predictRatios(f, "f3-15-a-uni", "YCSB A, uniform: XStore over the others, up to and from", 1, xstore, others...),
		predictRatios(f, "f3-15-b", "YCSB B, uniform: XStore over the others, up to and from", 2, xstore, others...),
		predictRatios(f, "f3-15-d-uni", "YCSB D, uniform: XStore over the others, up to and from", 4, xstore, others...),
		predictPoint(f, "f3-15-d-uni-abs", "YCSB D, uniform: XStore", xstore, 4),
		predictRatios(f, "f3-15-e", "YCSB E, uniform: XStore over the others, up to and from", 5, xstore, others...))
	if p, ok := f.Line(xstore).At(2); ok {
		busy, _ := busy("cpu")(f.Runs[p.Run])
		out = append(out, figure.Measured("f3-15-b-cpu", "YCSB B, uniform: how busy the server's CPUs are", "%", busy, 0, figure.LimitOf(f.Runs[p.Run])))
	}
	return out
}

// peakOfReads is the throughput of XStore at which the thesis tells its latency, in Mreq/s.
const peakOfReads = 82

// rowsReadOnly are those of Figure 3-17a.
func rowsReadOnly(f *figure.Figure) []figure.Claim {
	var out []figure.Claim
	tree, learned := f.Throughputs().Line(drtmTree), f.Line(xstore)
	if len(tree.Points) > 0 {
		p := tree.Peak()
		out = append(out, figure.Measured("f3-17a-drtm-sat", "where DrTM-Tree's CPUs are saturated", f.X.Unit, p.Y, p.CI95, figure.LimitOf(f.Runs[p.Run])).AlongX(drtmTree))
	}
	if n := len(learned.Points); n > 0 {
		p := learned.Points[n-1]
		out = append(out, figure.Measured("f3-17a-xstore-lat", "median latency of XStore at its peak", f.Y.Unit, p.Y, p.CI95, fmt.Sprintf("at %.3g %s", p.X, f.X.Unit)).At(xstore, peakOfReads))
	}
	return out
}

// rowsCache are those of Figures 3-22b and c.
func rowsCache(f *figure.Figure) []figure.Claim {
	models, nodes := f.Line(xstore), f.Line("Tree-based cache")
	sub, ok := models.At(2)
	whole, both := nodes.At(6)
	if !ok || !both {
		return nil
	}
	id := map[string]string{"3-22b": "f3-22b-xmodel-uni", "3-22c": "f3-22c-xmodel-zipf"}[f.ID]
	r := figure.Divide(figure.Pair{Above: "Tree-based cache", Below: xstore}, whole, sub)
	out := []figure.Claim{f.Compared(id, "XModel alone by the throughput of a whole-index cache", figure.ShareOf, r)}
	if f.ID == "3-22b" {
		out = slices.Concat(out, predictPoint(f, "f3-22-toponly", "XStore with the top model alone", xstore, 1), costOfMemory(f))
	}
	return out
}

// rowsSubModels are those of Figure 3-23a.
func rowsSubModels(f *figure.Figure) []figure.Claim {
	osm := f.Line("OSM")
	if len(osm.Points) == 0 {
		return nil
	}
	p := osm.Peak()
	const text = "OSM at its peak: "
	return []figure.Claim{figure.Measured("f3-23a-osm-peak", text+"throughput", f.Y.Unit, p.Y, p.CI95, figure.LimitOf(f.Runs[p.Run])).At("OSM", math.NaN()),
		figure.Measured("f3-23a-osm-models", text+"sub-models for 100 M keys", "K models", p.X/10, 0, "the best of those that were measured")}
}
