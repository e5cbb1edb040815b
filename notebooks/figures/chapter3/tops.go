package chapter3

import (
	"fmt"
	"slices"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
	"drtmx/xstore/model/compare"
)

// Figures 3-13 and 3-14: top models on 10,000 keys with 100 sub-models.

// topsOf says which top models a figure compares on which keys.
type topsOf struct {
	name string // of the keys, for readers
	o    compare.TopsOptions
	band []float64 // of sigma, which the thesis does not say: claims tell what these come to as well
}

var (
	lognormalTops = topsOf{fmt.Sprintf("lognormal keys, sigma %g", dataset.Sigma), compare.TopsOptions{Set: dataset.Options{Name: dataset.LognormalName, Keys: topKeys, Seed: 1},
		SubModels: topSubModels, Points: 100, Tops: []model.TopSpec{{Kind: "lr"}, {Kind: "nn"}, {Kind: "pieces"}}}, []float64{dataset.SigmaMin, 1, dataset.SigmaMax}}
	orderLineTops = topsOf{"keys of order lines", compare.TopsOptions{Set: dataset.Options{Name: dataset.OrderLineName, Keys: topKeys, Seed: 1},
		SubModels: topSubModels, Points: 100, Tops: []model.TopSpec{{Kind: "lr"}, {Kind: "mlr"}, {Kind: "pieces"}}}, nil}
)

// tops are the data of Figures 3-13 and 3-14, with their numbers beside the picture.
func (t topsOf) tops(c *figure.Computing, f *figure.Figure) (*compare.TopsData, error) {
	c.Total = 1 + len(t.band)
	d, err := figure.Step(c, "tops", t.o, compare.Tops)
	if err != nil {
		return nil, err
	}
	f.Computed = &figure.Computed{By: comparing, Keys: t.o.Set.Keys, Seed: t.o.Set.Seed, Of: fmt.Sprintf("%d %s, %d sub-models", t.o.Set.Keys, t.name, t.o.SubModels)}
	for i := range d.Models {
		m := &d.Models[i]
		m.Name = nameOf(m.Name)
		f.Computed.Numbers = append(f.Computed.Numbers, topNumbers(m.Name, m, t.o.Set.Keys)...)
	}
	return d, t.others(c, f)
}

// others adds the numbers of the band.
func (t topsOf) others(c *figure.Computing, f *figure.Figure) error {
	for _, sigma := range t.band {
		o := t.o
		o.Set.Sigma, o.Points = sigma, 0
		d, err := figure.Step(c, "tops", o, compare.Tops)
		if err != nil {
			return err
		}
		for i := range d.Models {
			m := &d.Models[i]
			f.Computed.Numbers = append(f.Computed.Numbers, topNumbers(atSigma(nameOf(m.Name), sigma), m, o.Set.Keys)...)
		}
	}
	return nil
}

// atSigma names a top model on keys of another sigma.
func atSigma(name string, sigma float64) string { return fmt.Sprintf("%s, sigma %g", name, sigma) }

// The numbers of a top model.
const (
	topVariance = "variance" // of the keys of a sub-model
	topMean     = "mean err" // of a key: both errors of its sub-model
	topLargest  = "max err"
	topLeaves   = "leaves" // that a lookup fetches
	topAsked    = "asked"  // keys that clients ask the server for, as their sub-models cannot predict
	topBytes    = "XModel"
	topCycles   = "predict"
)

func topNumbers(name string, m *compare.TopModel, keys uint64) []figure.Number {
	return []figure.Number{
		{Series: name, Name: topVariance, Value: m.Variance, Unit: "keys²"}, {Series: name, Name: topMean, Value: m.MeanError, Unit: "positions"}, {Series: name, Name: topLargest, Value: m.MaxError, Unit: "positions"},
		{Series: name, Name: topLeaves, Value: m.Leaves, Unit: "per lookup"}, {Series: name, Name: topAsked, Value: 100 * float64(m.FallbackKeys) / float64(keys), Unit: "% of keys"},
		{Series: name, Name: topBytes, Value: float64(m.Bytes), Unit: "bytes"}, {Series: name, Name: topCycles, Value: float64(m.Cycles), Unit: "cycles"},
	}
}

// learnedPanel is what top models learn (Figures 3-13a and 3-14a).
func learnedPanel(id, title string, t topsOf, x figure.Axis) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 3, Section: "3.5.2", Scope: "server", X: x, Y: figure.Axis{Label: "CDF", Unit: "share of keys"}, Claims: figure.NoClaims,
		Compute: func(c *figure.Computing, f *figure.Figure) error {
			d, err := t.tops(c, f)
			if err != nil {
				return err
			}
			truth := figure.Series{Name: dataKeys}
			last := d.Curves[0][len(d.Curves[0])-1].Key
			for _, p := range d.Curves[0] {
				truth.Points = append(truth.Points, figure.Point{X: float64(p.Key) / float64(last), Y: p.True})
			}
			f.Series = append(f.Series, truth)
			for i, curve := range d.Curves {
				s := figure.Series{Name: d.Models[i].Name}
				for _, p := range curve {
					s.Points = append(s.Points, figure.Point{X: float64(p.Key) / float64(last), Y: p.Predicted})
				}
				f.Series = append(f.Series, s)
			}
			return nil
		}}
}

// spreadPanel is how many keys sub-models have (Figures 3-13b and 3-14b).
func spreadPanel(id, title string, t topsOf, claims func(*figure.Figure) []figure.Claim) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 3, Section: "3.5.2", Scope: "server", X: figure.Axis{Label: "Sub-model", Unit: "number"}, Y: figure.Axis{Label: "Keys sent to it", Unit: "keys"}, Claims: claims,
		Compute: func(c *figure.Computing, f *figure.Figure) error {
			d, err := t.tops(c, f)
			if err != nil {
				return err
			}
			for _, m := range d.Models {
				s := figure.Series{Name: m.Name}
				for i, n := range m.Keys {
					s.Points = append(s.Points, figure.Point{X: float64(i), Y: float64(n)})
				}
				f.Series = append(f.Series, s)
			}
			return nil
		}}
}

// of is a number beside the picture, which a computed figure has.
func of(f *figure.Figure, series, name string) figure.Point {
	n, _ := f.NumberOf(series, name)
	return figure.Point{Y: n.Value, Name: series}
}

// spreads are the claims of both figures: better is the top model that the thesis finds better than LR.
func spreads(f *figure.Figure, better, varLR, varBetter, errLR, errBetter, mem string) []figure.Claim {
	if f.Computed == nil {
		return nil
	}
	const errors = "mean over the keys of both errors of their sub-models, which cover absent keys too"
	more := 100 * (of(f, better, topBytes).Y/of(f, "LR", topBytes).Y - 1)
	span := "a top model without an inverse has 16 bytes beside each sub-model of 14, which the thesis does not count"
	var out []figure.Claim
	for _, x := range []struct{ id, series, name, unit, why string }{
		{varLR, "LR", topVariance, "keys²", "of all sub-models"}, {varBetter, better, topVariance, "keys²", "of all sub-models"},
		{errLR, "LR", topMean, "positions", errors}, {errBetter, better, topMean, "positions", errors},
	} {
		if x.id != "" {
			c := figure.Measured(x.id, map[string]string{topVariance: "variance of the keys of a sub-model, ", topMean: "mean prediction error, "}[x.name]+x.series, x.unit, of(f, x.series, x.name).Y, 0, x.why)
			banded(&c, f, x.series, x.name)
			out = append(out, c)
		}
	}
	return append(out, figure.Measured(mem, "more memory of XModel under "+better, "%", more, 0, span))
}

// banded says what a number comes to for the other values of what is assumed.
func banded(c *figure.Claim, f *figure.Figure, series, name string) {
	var values []float64
	for _, sigma := range lognormalTops.band {
		if n, ok := f.NumberOf(atSigma(series, sigma), name); ok {
			values = append(values, n.Value)
			c.Why += fmt.Sprintf("; with sigma %g it is %s", sigma, charts.Digits(n.Value, 4))
		}
	}
	if len(values) > 0 {
		values = append(values, *c.Measured)
		c.Largest, c.Smallest = figure.Ends(slices.Max(values), slices.Min(values))
	}
}

func claimsLognormalSpread(f *figure.Figure) []figure.Claim {
	out := spreads(f, "NN", "f3-13b-var-lr", "f3-13b-var-nn", "f3-13-err-lr", "f3-13-err-nn", "f3-13-nn-mem")
	if out == nil {
		return nil
	}
	return append(out,
		lower("f3-13b-order", "a neural net spreads the keys more evenly than a line", "keys²", of(f, "NN", topVariance), of(f, "LR", topVariance)),
		lower("f3-13-err-order", "so its sub-models are off by less", "positions", of(f, "NN", topMean), of(f, "LR", topMean)))
}

func claimsOrderLineSpread(f *figure.Figure) []figure.Claim {
	out := spreads(f, "MLR", "", "", "", "", "f3-14-mlr-mem")
	if out == nil {
		return nil
	}
	empty := 0
	for _, p := range f.Line("LR").Points {
		if p.Y == 0 {
			empty++
		}
	}
	return append(out,
		lower("f3-14b-order", "a line sends most keys to a few sub-models, a regression of the four fields spreads them", "keys²", of(f, "MLR", topVariance), of(f, "LR", topVariance)),
		holds("f3-14b-empty", "and it leaves other sub-models empty", empty > 0, fmt.Sprintf("%d of %d are empty", empty, topSubModels)))
}

// topCurves is throughput against latency with one top model or another (Figures 3-13c and 3-14c). These are runs.
func topCurves(id, title, set string, tops map[string]string, claims func(*figure.Figure) []figure.Claim) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 3, Section: "3.5.2", Scope: "server", Form: figure.FormCurves,
		X: figure.Axis{Label: "Throughput", Unit: "Mreq/s"}, Y: figure.Axis{Label: "Median latency", Unit: "µs"}, Claims: claims,
		Plan: func(scale string) figure.Plan {
			p := figure.Plan{Base: baseSpec(scale, "ycsb-c"), Gap: figure.GapPoint{Series: "LR", X: 8}}
			// Threads of a client call the server's threads of the same number, so clients have as many: else some would idle.
			if scale == figure.Quick { // with errors as large as these few requests end in a short time
				p.Base.Set["duration_ns"] = 1_000_000
			}
			for k, v := range (experiment.Knobs{"clients": 2, "workload.keys": topKeys, "workload.scale": 1.0, "workload.dataset": set,
				"xstore.submodels": topSubModels, "xstore.expand_at": 0}) {
				p.Base.Set[k] = v
			}
			for _, name := range []string{"NN", "MLR", "LR", pieces} {
				if tops[name] == "" {
					continue
				}
				line := figure.PlannedSeries{Name: name}
				for _, n := range []int{1, 2, 4, 8} {
					line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(systems[xstore], experiment.Knobs{"xstore.top": tops[name], "coroutines": n}), Read: medianLatency, Along: ofServer})
				}
				p.Series = append(p.Series, line)
			}
			return p
		}}
}

func claimsLognormalTops(f *figure.Figure) []figure.Claim { return higher(f, "f3-13c", "NN") }
func claimsOrderLineTops(f *figure.Figure) []figure.Claim { return higher(f, "f3-14c", "MLR") }

// higher says by how much the peak with a better top model is above that with a line.
func higher(f *figure.Figure, id, better string) []figure.Claim {
	tput := f.Throughputs()
	a, b := tput.Line(better), tput.Line("LR")
	if len(a.Points) == 0 || len(b.Points) == 0 {
		return nil
	}
	r := figure.Divide(figure.Pair{Above: better, Below: "LR"}, a.Peak(), b.Peak())
	c := tput.Gains(id+"-order", better+" as the top model has a higher peak than LR", r)
	return []figure.Claim{c, tput.Compared(id+"-peak", "the peak with "+better+" by that with LR", figure.Times, r)}
}
