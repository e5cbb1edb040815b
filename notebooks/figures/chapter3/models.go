package chapter3

import (
	"fmt"
	"math"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/figure"
	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
	"drtmx/xstore/model/compare"
)

// The figures of §3.5 and §3.7.7 about models alone. They are computed from the code that servers and clients run: training,
// prediction and memory are the same on every machine. Throughput and latency of top models (3-13c, 3-14c) are runs.
//
// Beside the thesis's models stands the piecewise linear one with a bounded error, which it does not have.
//
// Sizes are the thesis's at both scales where it has few keys: 100 in 3-12, of which quick scale takes fewer sets, and 10,000 in
// 3-13 and 3-14. Memory and data sets have 100 million keys at paper scale.

const (
	comparing = "drtmx/" + figure.ComparePackage
	pieces    = "Pieces"
	dataKeys  = "Keys"

	topKeys, topSubModels = 10_000, 100
	keysPerSub            = 200 // 500 K sub-models for 100 M keys (§3.7.1)
	paperKeys             = 100_000_000
)

var modelFigures = []*figure.Definition{
	{ID: "3-12a", Title: "What sub-models learn of 100 OSM-like places", Chapter: 3, Section: "3.5.2", Scope: "server",
		X: figure.Axis{Label: "Longitude", Unit: "degrees"}, Y: figure.Axis{Label: "CDF", Unit: "share of keys"}, Compute: computePlaces, Claims: figure.NoClaims},
	{ID: "3-12b", Title: "Sub-models of 100 OSM-like places", Chapter: 3, Section: "3.5.2", Scope: "server", Form: figure.FormTable,
		X: figure.Axis{Label: "Quantity"}, Y: figure.Axis{Label: "errors in positions, mean over sets with the 95 % interval (thesis); bytes; thousand products of the training"}, Compute: computeSubModels, Claims: claimsOfSubModels},
	learnedPanel("3-13a", "What top models learn of lognormal keys", lognormalTops, figure.Axis{Label: "Key", Unit: "share of the largest", Log: true}),
	spreadPanel("3-13b", "Keys of each sub-model, lognormal keys", lognormalTops, claimsLognormalSpread),
	topCurves("3-13c", "Throughput and latency by top model, lognormal keys", dataset.LognormalName, map[string]string{"NN": "nn", "LR": "lr", pieces: "pieces"}, claimsLognormalTops),
	learnedPanel("3-14a", "What top models learn of order lines", orderLineTops, figure.Axis{Label: "Key", Unit: "share of the largest"}),
	spreadPanel("3-14b", "Keys of each sub-model, order lines", orderLineTops, claimsOrderLineSpread),
	topCurves("3-14c", "Throughput and latency by top model, order lines", dataset.OrderLineName, map[string]string{"MLR": "mlr", "LR": "lr", pieces: "pieces"}, claimsOrderLineTops),
	{ID: "3-22a", Title: "Memory of the learned cache", Chapter: 3, Section: "3.7.7", Scope: "client",
		X: figure.Axis{Label: "Sub-models", Unit: "thousands, for 100 M keys", Log: true}, Y: figure.Axis{Label: "Memory", Unit: "MB for 100 M keys"}, Compute: computeMemory, Claims: claimsMemory},
	&dataSetTable,
}

// places are the data of Figure 3-12.
func places(c *figure.Computing, f *figure.Figure) (*compare.PlacesData, error) {
	o := compare.PlacesOptions{Set: dataset.Options{Name: dataset.OSMName, Keys: 100, Seed: 1}, Sets: 10}
	if c.Scale == figure.Paper {
		o.Sets = 100
	}
	c.Total = 1
	d, err := figure.Step(c, "places", o, compare.Places)
	if err != nil {
		return nil, err
	}
	for i := range d.First {
		name := nameOf(d.First[i].Name)
		d.First[i].Name, d.Models[i].Name = name, name
	}
	f.Computed = &figure.Computed{By: comparing, Keys: o.Set.Keys, Seed: o.Set.Seed,
		Of: fmt.Sprintf("%d sets of %d OSM-like places of two floats, roughness %g", o.Sets, o.Set.Keys, dataset.Rough)}
	return d, nil
}

// nameOf is a model's name without what differs between sets.
func nameOf(name string) string {
	switch {
	case strings.HasSuffix(name, "pieces"):
		return pieces
	case strings.HasPrefix(name, "NN"):
		return "NN"
	case strings.HasPrefix(name, "MLR"):
		return "MLR"
	}
	return name
}

func computePlaces(c *figure.Computing, f *figure.Figure) error {
	d, err := places(c, f)
	if err != nil {
		return err
	}
	f.Computed.Of += "; the first is drawn"
	n := float64(len(d.Keys))
	truth := figure.Series{Name: dataKeys}
	for i, k := range d.Keys {
		truth.Points = append(truth.Points, figure.Point{X: float64(k[0]), Y: float64(i) / n})
	}
	f.Series = append(f.Series, truth)
	for _, m := range d.First {
		s := figure.Series{Name: m.Name}
		for i, p := range m.Position {
			s.Points = append(s.Points, figure.Point{X: float64(d.Keys[i][0]), Y: p / n})
		}
		f.Series = append(f.Series, s)
	}
	return nil
}

// The columns of 3-12b.
const (
	errLargest = "Err, largest"
	errMean    = "Err, mean"
	memBytes   = "Mem, bytes"
	trainWork  = "Train, 1000 products"
)

func computeSubModels(c *figure.Computing, f *figure.Figure) error {
	d, err := places(c, f)
	if err != nil {
		return err
	}
	for _, m := range d.Models {
		s := figure.Series{Name: m.Name}
		add := func(name string, v, ci95 float64, format string) {
			text := fmt.Sprintf(format, v)
			if ci95 > 0 {
				text += fmt.Sprintf(" ± "+format, ci95)
			}
			s.Points = append(s.Points, figure.Point{X: float64(len(s.Points)), Y: v, CI95: ci95, Name: name, Text: text})
		}
		add(errLargest, m.MaxError, m.MaxCI95, "%.1f")
		add(errMean, m.MeanError, m.MeanCI95, "%.2f")
		add(memBytes, m.Bytes, 0, "%.0f")
		add(trainWork, float64(m.Work)/1e3, 0, "%g")
		f.Series = append(f.Series, s)
	}
	return nil
}

// modelPoint is a number of a table, of models by name.
func modelPoint(f *figure.Figure, series, name string) (figure.Point, bool) {
	for i := range f.Series {
		if f.Series[i].Name == series {
			return f.Series[i].Named(name)
		}
	}
	return figure.Point{}, false
}

func claimsOfSubModels(f *figure.Figure) []figure.Claim {
	nn, ok := modelPoint(f, "1-NN", errLargest)
	if !ok {
		return nil
	}
	line, _ := modelPoint(f, "1-LR", errLargest)
	three, _ := modelPoint(f, "3-LR", errLargest)
	mem := func(name string) float64 { p, _ := modelPoint(f, name, memBytes); return p.Y }
	work := func(name string) float64 { p, _ := modelPoint(f, name, trainWork); return p.Y }
	const why = "largest error of a set, mean over the sets"
	return []figure.Claim{
		lower("f3-12-order", "a neural net is off by less than a line, and three lines by less than the net", "positions", nn, line, three, nn),
		figure.Measured("f3-12-lr-err", "error of a line", "positions", line.Y, line.CI95, why).At("1-LR", line.X),
		figure.Measured("f3-12-nn-err", "how much smaller the neural net's error is", "%", 100*(1-nn.Y/line.Y), 0, why),
		figure.Measured("f3-12-3lr-err", "error of three lines", "positions", three.Y, three.CI95, why).At("3-LR", three.X),
		figure.Measured("f3-12-nn-mem", "memory of the neural net by that of a line", "x", mem("1-NN")/mem("1-LR"), 0, "4 bytes for each weight"),
		figure.Measured("f3-12-3lr-mem", "memory of three lines by that of the neural net", "%", 100*mem("3-LR")/mem("1-NN"), 0, "4 bytes for each weight"),
		holds("f3-12-train-order", "a neural net takes much longer to train than a line", work("1-NN") > 10*work("1-LR"),
			fmt.Sprintf("%.3g thousand products for the net, with all that were tried for its best weights, %.3g for a line", work("1-NN"), work("1-LR"))),
	}
}

// lower is a claim that of pairs of points the first is below the second.
func lower(id, text, unit string, pairs ...figure.Point) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Status: figure.Holds}
	var why []string
	closest := math.Inf(1)
	for i := 0; i+1 < len(pairs); i += 2 {
		a, b := pairs[i], pairs[i+1]
		why = append(why, fmt.Sprintf("%s against %s %s", within(a), within(b), unit))
		closest = min(closest, b.Y/a.Y)
		switch half := a.CI95 + b.CI95; {
		case a.Y-half > b.Y:
			c.Status = figure.Worse(c.Status, figure.Contradicted)
		case a.Y+half >= b.Y:
			c.Status = figure.Worse(c.Status, figure.Undecided)
		}
	}
	c.Why, c.Measured, c.Unit = strings.Join(why, "; "), &closest, "x"
	return c
}

// within is a value with its interval, if it has one.
func within(p figure.Point) string {
	if p.CI95 == 0 {
		return charts.Digits(p.Y, 3)
	}
	return charts.Digits(p.Y, 3) + " ± " + charts.Digits(p.CI95, 2)
}

// holds is a claim that is seen to be true or not.
func holds(id, text string, ok bool, why string) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Status: figure.Holds, Why: why}
	if !ok {
		c.Status = figure.Contradicted
	}
	return c
}

// subModelCounts are sub-models for 100 million keys, in thousands.
var subModelCounts = []uint32{10, 20, 50, 100, 200, 500, 1000, 2000}

// staticModels are the sub-models for read-only workloads (§3.7.1), in thousands.
const staticModels = 500

const (
	xModel     = "XModel"
	xTable     = "TT"
	wholeIndex = "Whole index"
	smallModel = "XModel, pieces on OSM-like keys"
)

// computeMemory has a tenth of the keys and of the sub-models at quick scale, so memory is a tenth, too.
func computeMemory(c *figure.Computing, f *figure.Figure) error {
	keys := uint64(paperKeys)
	if c.Scale == figure.Quick {
		keys /= 10
	}
	times := float64(paperKeys / keys)
	o := compare.MemoryOptions{Set: dataset.Options{Name: dataset.LinearName, Keys: keys, Seed: 1}, Top: model.TopSpec{Kind: "lr"}}
	for _, n := range subModelCounts {
		o.Counts = append(o.Counts, n*1000/uint32(times))
	}
	rough := o
	rough.Set.Name, rough.Top.Kind = dataset.OSMName, "pieces"
	c.Total = 2
	d, err := figure.Step(c, "memory", o, compare.MemoryOfSet)
	if err != nil {
		return err
	}
	p, err := figure.Step(c, "memory", rough, compare.MemoryOfSet)
	if err != nil {
		return err
	}
	model, table, index, small := figure.Series{Name: xModel}, figure.Series{Name: xTable}, figure.Series{Name: wholeIndex}, figure.Series{Name: smallModel}
	for i, n := range subModelCounts {
		add := func(s *figure.Series, bytes float64) {
			s.Points = append(s.Points, figure.Point{X: float64(n), Y: times * bytes / 1e6})
		}
		add(&model, float64(d.Rows[i].XModel))
		add(&table, float64(d.Rows[i].TT))
		add(&index, float64(d.Tree.CacheBytes))
		add(&small, float64(p.Rows[i].XModel))
	}
	f.Series = append(f.Series, model, table, index, small)
	f.Computed = &figure.Computed{By: comparing, Keys: keys, Seed: 1, Of: fmt.Sprintf("%s keys in leaves of 16 slots, half full", charts.Digits(float64(keys), 3)), Numbers: []figure.Number{
		{Series: xModel, Name: "top model", Value: float64(d.Top), Unit: "bytes"}, {Series: smallModel, Name: "top model", Value: float64(p.Top), Unit: "bytes"}, {Series: xTable, Name: "leaves", Value: float64(d.Tree.Leaves), Unit: "leaves"},
		{Series: wholeIndex, Name: "inner nodes", Value: float64(d.Tree.InnerNodes), Unit: "nodes"}, {Series: wholeIndex, Name: "levels", Value: float64(d.Tree.Levels), Unit: "levels, leaves included"}}}
	if times > 1 {
		f.Computed.Of += fmt.Sprintf("; sub-models and memory times %g", times)
	}
	return nil
}

func claimsMemory(f *figure.Figure) []figure.Claim {
	if f.Computed == nil {
		return nil
	}
	at := func(series string) float64 { p, _ := f.Line(series).At(staticModels); return p.Y }
	model, table, index := at(xModel), at(xTable), at(wholeIndex)
	own := func(id, text, unit string, v, reference float64, why string) figure.Claim {
		return figure.Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Measured: &v, Unit: unit, Status: figure.Near(v, 0, reference), Why: why}
	}
	nodes := of(f, wholeIndex, "inner nodes").Y * paperKeys / float64(f.Computed.Keys)
	const full = "inner nodes begin with 11 of 16 children; of each a client keeps the 216 bytes that a READ of it brings"
	bytes := model * 1e6 / (1 << 20)
	xmodel := figure.Claim{ID: "s3-xmodel-bytes", Claim: "500 K sub-models take at most 6.7 MB", Reference: "6.7", Measured: &bytes, Unit: "MiB", Status: figure.Holds, Why: "14 bytes each, and 16 of the top model"}
	if bytes > 6.7 {
		xmodel.Status = figure.Contradicted
	}
	return []figure.Claim{xmodel,
		own("s3-tt-bytes", "TT takes nearly 100 MB", "MB", table, 100, "8 bytes for each leaf, and those of leaves that straddle sub-models twice"),
		own("s3-tt-frac", "TT takes 15 % of what the index takes", "%", 100*table/index, 15, full),
		own("s3-mem-saved", "caching only XModel takes 1 % of the memory of a whole index", "%", 100*model/index, 1, full),
		figure.Measured("f3-22a-tt", "TT with 500 K sub-models", "MB", table, 0, "leaves half full").At(xTable, staticModels),
		figure.Measured("f3-22-xmodel", "XModel with 500 K sub-models", "MB", model, 0, "for 100 M keys").At(xModel, staticModels),
		figure.Measured("f3-22-frac", "XModel by the memory of the whole index", "%", 100*model/index, 0, full),
		figure.Measured("f3-22-xtree", "inner nodes of the tree", "MB", index, 0, fmt.Sprintf("%.3g M of them; %s", nodes/1e6, full)).At(wholeIndex, staticModels),
	}
}
