package figures

import (
	"fmt"
	"slices"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
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
	lognormal313 = topsOf{fmt.Sprintf("lognormal keys, sigma %g", dataset.Sigma), compare.TopsOptions{Set: dataset.Options{Name: dataset.LognormalName, Keys: keys313, Seed: 1},
		SubModels: subs313, Points: 100, Tops: []model.TopSpec{{Kind: "lr"}, {Kind: "nn"}, {Kind: "pieces"}}}, []float64{dataset.SigmaMin, 1, dataset.SigmaMax}}
	orderLine314 = topsOf{"keys of order lines", compare.TopsOptions{Set: dataset.Options{Name: dataset.OrderLineName, Keys: keys313, Seed: 1},
		SubModels: subs313, Points: 100, Tops: []model.TopSpec{{Kind: "lr"}, {Kind: "mlr"}, {Kind: "pieces"}}}, nil}
)

// tops are the data of Figures 3-13 and 3-14, with their numbers beside the picture.
func (t topsOf) tops(c *computing, f *Figure) (*compare.TopsData, error) {
	c.total = 1 + len(t.band)
	d, err := step(c, "tops", t.o, compare.Tops)
	if err != nil {
		return nil, err
	}
	f.Computed = &Computed{By: comparing, Keys: t.o.Set.Keys, Seed: t.o.Set.Seed, Of: fmt.Sprintf("%d %s, %d sub-models", t.o.Set.Keys, t.name, t.o.SubModels)}
	for i := range d.Models {
		m := &d.Models[i]
		m.Name = nameOf(m.Name)
		f.Computed.Numbers = append(f.Computed.Numbers, topNumbers(m.Name, m, t.o.Set.Keys)...)
	}
	return d, t.others(c, f)
}

// others adds the numbers of the band.
func (t topsOf) others(c *computing, f *Figure) error {
	for _, sigma := range t.band {
		o := t.o
		o.Set.Sigma, o.Points = sigma, 0
		d, err := step(c, "tops", o, compare.Tops)
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

func topNumbers(name string, m *compare.TopModel, keys uint64) []Number {
	return []Number{
		{name, topVariance, m.Variance, "keys²"}, {name, topMean, m.MeanError, "positions"}, {name, topLargest, m.MaxError, "positions"},
		{name, topLeaves, m.Leaves, "per lookup"}, {name, topAsked, 100 * float64(m.FallbackKeys) / float64(keys), "% of keys"},
		{name, topBytes, float64(m.Bytes), "bytes"}, {name, topCycles, float64(m.Cycles), "cycles"},
	}
}

// cdf313 is what top models learn (Figures 3-13a and 3-14a).
func cdf313(id, title string, t topsOf, x Axis) *definition {
	return &definition{id: id, title: title, chapter: 3, section: "3.5.2", scope: "server", x: x, y: Axis{Label: "CDF", Unit: "share of keys"}, claims: noClaims,
		compute: func(c *computing, f *Figure) error {
			d, err := t.tops(c, f)
			if err != nil {
				return err
			}
			truth := Series{Name: dataKeys}
			last := d.Curves[0][len(d.Curves[0])-1].Key
			for _, p := range d.Curves[0] {
				truth.Points = append(truth.Points, Point{X: float64(p.Key) / float64(last), Y: p.True})
			}
			f.Series = append(f.Series, truth)
			for i, curve := range d.Curves {
				s := Series{Name: d.Models[i].Name}
				for _, p := range curve {
					s.Points = append(s.Points, Point{X: float64(p.Key) / float64(last), Y: p.Predicted})
				}
				f.Series = append(f.Series, s)
			}
			return nil
		}}
}

// spread313 is how many keys sub-models have (Figures 3-13b and 3-14b).
func spread313(id, title string, t topsOf, claims func(*Figure) []Claim) *definition {
	return &definition{id: id, title: title, chapter: 3, section: "3.5.2", scope: "server", x: Axis{Label: "Sub-model", Unit: "number"}, y: Axis{Label: "Keys sent to it", Unit: "keys"}, claims: claims,
		compute: func(c *computing, f *Figure) error {
			d, err := t.tops(c, f)
			if err != nil {
				return err
			}
			for _, m := range d.Models {
				s := Series{Name: m.Name}
				for i, n := range m.Keys {
					s.Points = append(s.Points, Point{X: float64(i), Y: float64(n)})
				}
				f.Series = append(f.Series, s)
			}
			return nil
		}}
}

// of is a number beside the picture, which a computed figure has.
func (f *Figure) of(series, name string) Point {
	n, _ := f.number(series, name)
	return Point{Y: n.Value, Name: series}
}

// spreads are the claims of both figures: better is the top model that the thesis finds better than LR.
func (f *Figure) spreads(better, varLR, varBetter, errLR, errBetter, mem string) []Claim {
	if f.Computed == nil {
		return nil
	}
	const errors = "mean over the keys of both errors of their sub-models, which cover absent keys too"
	more := 100 * (f.of(better, topBytes).Y/f.of("LR", topBytes).Y - 1)
	span := "a top model without an inverse has 16 bytes beside each sub-model of 14, which the thesis does not count"
	var out []Claim
	for _, x := range []struct{ id, series, name, unit, why string }{
		{varLR, "LR", topVariance, "keys²", "of all sub-models"}, {varBetter, better, topVariance, "keys²", "of all sub-models"},
		{errLR, "LR", topMean, "positions", errors}, {errBetter, better, topMean, "positions", errors},
	} {
		if x.id != "" {
			c := withheld(x.id, map[string]string{topVariance: "variance of the keys of a sub-model, ", topMean: "mean prediction error, "}[x.name]+x.series, x.unit, f.of(x.series, x.name).Y, x.why)
			c.banded(f, x.series, x.name)
			out = append(out, c)
		}
	}
	return append(out, withheld(mem, "more memory of XModel under "+better, "%", more, span))
}

// banded says what a number comes to for the other values of what is assumed.
func (c *Claim) banded(f *Figure, series, name string) {
	var values []float64
	for _, sigma := range lognormal313.band {
		if n, ok := f.number(atSigma(series, sigma), name); ok {
			values = append(values, n.Value)
			c.Why += fmt.Sprintf("; with sigma %g it is %s", sigma, charts.Digits(n.Value, 4))
		}
	}
	if len(values) > 0 {
		values = append(values, *c.Measured)
		c.Largest, c.Smallest = ends(slices.Max(values), slices.Min(values))
	}
}

func claims313b(f *Figure) []Claim {
	out := f.spreads("NN", "f3-13b-var-lr", "f3-13b-var-nn", "f3-13-err-lr", "f3-13-err-nn", "f3-13-nn-mem")
	if out == nil {
		return nil
	}
	return append(out,
		lower("f3-13b-order", "a neural net spreads the keys more evenly than a line", "keys²", f.of("NN", topVariance), f.of("LR", topVariance)),
		lower("f3-13-err-order", "so its sub-models are off by less", "positions", f.of("NN", topMean), f.of("LR", topMean)))
}

func claims314b(f *Figure) []Claim {
	out := f.spreads("MLR", "", "", "", "", "f3-14-mlr-mem")
	if out == nil {
		return nil
	}
	empty := 0
	for _, p := range f.series("LR").Points {
		if p.Y == 0 {
			empty++
		}
	}
	return append(out,
		lower("f3-14b-order", "a line sends most keys to a few sub-models, a regression of the four fields spreads them", "keys²", f.of("MLR", topVariance), f.of("LR", topVariance)),
		holds("f3-14b-empty", "and it leaves other sub-models empty", empty > 0, fmt.Sprintf("%d of %d are empty", empty, subs313)))
}

// curves313 is throughput against latency with one top model or another (Figures 3-13c and 3-14c). These are runs.
func curves313(id, title, set string, tops map[string]string, claims func(*Figure) []Claim) *definition {
	return &definition{id: id, title: title, chapter: 3, section: "3.5.2", scope: "server", form: formCurves,
		x: Axis{Label: "Throughput", Unit: "Mreq/s"}, y: Axis{Label: "Median latency", Unit: "us"}, claims: claims,
		plan: func(scale string) plan {
			p := plan{base: base3(scale, "ycsb-c"), gap: gapPoint{"LR", 8}}
			// Threads of a client call the server's threads of the same number, so clients have as many: else some would idle.
			if scale == Quick { // with errors as large as these few requests end in a short time
				p.base.Set["duration_ns"] = 1_000_000
			}
			for k, v := range (experiment.Knobs{"clients": 2, "workload.keys": keys313, "workload.scale": 1.0, "workload.dataset": set,
				"xstore.submodels": subs313, "xstore.expand_at": 0}) {
				p.base.Set[k] = v
			}
			for _, name := range []string{"NN", "MLR", "LR", pieces} {
				if tops[name] == "" {
					continue
				}
				line := plannedSeries{name: name}
				for _, n := range []int{1, 2, 4, 8} {
					line.points = append(line.points, plannedPoint{x: float64(n), set: with(systems3[xstore], experiment.Knobs{"xstore.top": tops[name], "coroutines": n}), read: median3, along: ofServer})
				}
				p.series = append(p.series, line)
			}
			return p
		}}
}

func claims313c(f *Figure) []Claim { return f.higher("f3-13c", "NN") }
func claims314c(f *Figure) []Claim { return f.higher("f3-14c", "MLR") }

// higher says by how much the peak with a better top model is above that with a line.
func (f *Figure) higher(id, better string) []Claim {
	tput := f.throughputs()
	a, b := tput.series(better), tput.series("LR")
	if len(a.Points) == 0 || len(b.Points) == 0 {
		return nil
	}
	r := divide(pair{better, "LR"}, a.peak(), b.peak())
	c := tput.gains(id+"-order", better+" as the top model has a higher peak than LR", r)
	return []Claim{c, withheld(id+"-peak", "by how much the peak is higher with "+better, "%", 100*(r.value-1), tput.because(r))}
}
