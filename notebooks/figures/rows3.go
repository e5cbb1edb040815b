package figures

import (
	"fmt"
	"slices"
)

// The rows of chapter 3 about throughput and latency that are withheld: what the figures of fig3.go predict for them. Ids and
// sentences are the thesis's, the numbers are ours.

// predictPoint is a withheld number that is a point.
func (f *Figure) predictPoint(id, text, series string, x float64) []Claim {
	p, ok := f.series(series).at(x)
	if !ok {
		return nil
	}
	return []Claim{withheld(id, text, f.Y.Unit, p.Y, limit(f.Runs[p.Run]))}
}

// predictRatios is a withheld number that says how far one line is above others at x: the largest and the smallest ratio.
func (f *Figure) predictRatios(id, text string, x float64, above string, below ...string) []Claim {
	var rs []ratio
	for _, b := range below {
		rs = append(rs, f.ratios(pair{above, b}, func(at float64) bool { return at == x })...)
	}
	if len(rs) == 0 {
		return nil
	}
	most, least := extremes(rs)
	c := withheld(id, text, "x", most.value, f.because(most))
	c.Largest, c.Smallest = &most.value, &least.value
	return []Claim{c}
}

// The numbers of the chapter's first page are open.

// peakReadOnly is that XStore serves more than 80 M reads.
func (f *Figure) peakReadOnly() []Claim {
	const published = 80
	p, ok := f.series(xstore).at(3)
	if !ok {
		return nil
	}
	return []Claim{{ID: "s3-peak-readonly", Claim: "one server serves more than 80 M reads/s", Reference: fmt.Sprint(published), Measured: &p.Y, Unit: f.Y.Unit,
		Status: side(p.Y-published*(1-tolerance), p.CI95), Why: limit(f.Runs[p.Run])}}
}

// speedupReadOnly is by how much XStore serves more of them than others.
func (f *Figure) speedupReadOnly() []Claim {
	const from, to = 3.7, 5.9
	c := Claim{ID: "s3-speedup-readonly", Claim: "reads are served 3.7 to 5.9 times faster than by EMT, DrTM-Tree and Cell", Reference: fmt.Sprintf("%g..%g", from, to), Unit: "x"}
	var rs []ratio
	for _, name := range []string{emt, drtmTree, cell} {
		rs = append(rs, f.ratios(pair{xstore, name}, func(x float64) bool { return x == 3 })...)
	}
	if len(rs) == 0 {
		return nil
	}
	most, least := extremes(rs)
	c.ratios(most, least, peaks(rs))
	c.Status = worse(gain(most.value, most.half, to), gain(least.value, least.half, from))
	c.Why = f.because(most) + "; smallest: " + f.because(least)
	return []Claim{c}
}

// costOfMemory is what it costs to keep sub-models alone.
func (f *Figure) costOfMemory() []Claim {
	const published = 20
	models := f.series(xstore)
	sub, ok := models.at(2)
	full, both := models.at(3)
	if !ok || !both {
		return nil
	}
	r := divide(pair{"with XModel alone", "with TT"}, sub, full)
	lost := 100 * (1 - r.value)
	return []Claim{{ID: "s3-mem-cost", Claim: "to cache XModel alone costs 20 % of the peak", Reference: fmt.Sprint(published), Measured: &lost, Unit: "%", Status: near(lost, 100*r.half, published), Why: f.because(r)}}
}

// rows315 are those of Figure 3-15. Workloads A to F are at 1 to 6.
func (f *Figure) rows315() []Claim {
	others := []string{emt, drtmTree, cell}
	if f.ID == "3-15b" {
		return slices.Concat(
			f.predictRatios("f3-15-c-zipf-emt", "YCSB C, zipfian: XStore over EMT", 3, xstore, emt),
			f.predictRatios("f3-15-c-zipf-drtm", "YCSB C, zipfian: XStore over DrTM-Tree", 3, xstore, drtmTree),
			f.predictRatios("f3-15-c-zipf-cell", "YCSB C, zipfian: XStore over Cell", 3, xstore, cell),
			f.predictRatios("f3-15-a-zipf", "YCSB A, zipfian: XStore over the others, up to and from", 1, xstore, others...),
			f.predictRatios("f3-15-d-latest", "YCSB D, latest: XStore over the others, up to and from", 4, xstore, others...),
			f.predictPoint("f3-15-d-latest-abs", "YCSB D, latest: XStore", xstore, 4))
	}
	out := slices.Concat(f.peakReadOnly(), f.speedupReadOnly(),
		f.predictPoint("f3-15-c-uni", "YCSB C, uniform: XStore", xstore, 3),
		f.predictRatios("f3-15-c-uni-emt", "YCSB C, uniform: XStore over EMT", 3, xstore, emt),
		f.predictRatios("f3-15-c-uni-drtm", "YCSB C, uniform: XStore over DrTM-Tree", 3, xstore, drtmTree),
		f.predictRatios("f3-15-c-uni-cell", "YCSB C, uniform: XStore over Cell", 3, xstore, cell),
		f.predictRatios("f3-15-a-uni", "YCSB A, uniform: XStore over the others, up to and from", 1, xstore, others...),
		f.predictRatios("f3-15-b", "YCSB B, uniform: XStore over the others, up to and from", 2, xstore, others...),
		f.predictRatios("f3-15-d-uni", "YCSB D, uniform: XStore over the others, up to and from", 4, xstore, others...),
		f.predictPoint("f3-15-d-uni-abs", "YCSB D, uniform: XStore", xstore, 4),
		f.predictRatios("f3-15-e", "YCSB E, uniform: XStore over the others, up to and from", 5, xstore, others...))
	if p, ok := f.series(xstore).at(2); ok {
		busy, _ := busy3("cpu")(f.Runs[p.Run])
		out = append(out, withheld("f3-15-b-cpu", "YCSB B, uniform: how busy the server's CPUs are", "%", busy, limit(f.Runs[p.Run])))
	}
	return out
}

// rows317 are those of Figure 3-17a.
func (f *Figure) rows317() []Claim {
	var out []Claim
	tree, learned := f.throughputs().series(drtmTree), f.series(xstore)
	if len(tree.Points) > 0 {
		p := tree.peak()
		out = append(out, withheld("f3-17a-drtm-sat", "where DrTM-Tree's CPUs are saturated", f.X.Unit, p.Y, limit(f.Runs[p.Run])))
	}
	if n := len(learned.Points); n > 0 {
		p := learned.Points[n-1]
		out = append(out, withheld("f3-17a-xstore-lat", "median latency of XStore at a high load", f.Y.Unit, p.Y, fmt.Sprintf("at %.3g %s", p.X, f.X.Unit)))
	}
	return out
}

// rows322 are those of Figures 3-22b and c.
func (f *Figure) rows322() []Claim {
	models, nodes := f.series(xstore), f.series("Tree-based cache")
	sub, ok := models.at(2)
	whole, both := nodes.at(6)
	if !ok || !both {
		return nil
	}
	id := map[string]string{"3-22b": "f3-22b-xmodel-uni", "3-22c": "f3-22c-xmodel-zipf"}[f.ID]
	r := divide(pair{xstore, "Tree-based cache"}, sub, whole)
	out := []Claim{withheld(id, "XModel alone by the throughput of a whole-index cache", "%", 100*r.value, f.because(r))}
	if f.ID == "3-22b" {
		out = slices.Concat(out, f.predictPoint("f3-22-toponly", "XStore with the top model alone", xstore, 1), f.costOfMemory())
	}
	return out
}

// rows323 are those of Figure 3-23a.
func (f *Figure) rows323() []Claim {
	osm := f.series("OSM")
	if len(osm.Points) == 0 {
		return nil
	}
	p := osm.peak()
	const text = "OSM at its peak: "
	return []Claim{withheld("f3-23a-osm-peak", text+"throughput", f.Y.Unit, p.Y, limit(f.Runs[p.Run])),
		withheld("f3-23a-osm-models", text+"sub-models for 100 M keys", "K models", p.X/10, "the best of those that were measured")}
}
