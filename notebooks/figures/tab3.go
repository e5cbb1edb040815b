package figures

import (
	"fmt"

	"drtmx/dashboard/charts"
	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
	"drtmx/xstore/model/compare"
)

// Table 3-2 names the data sets, without numbers. Here it says how they are learned, with one sub-model for 200 keys as in §3.7.1:
// the thesis's three sets, and the two of §3.5.2 at their size.

var table32 = definition{id: "t3-2", title: "Table 3-2: data sets, and how they are learned", chapter: 3, section: "3.7.1", scope: "server", form: formTable,
	x: Axis{Label: "Quantity"}, y: Axis{Label: "variance of the keys of a sub-model; errors in positions; leaves that a lookup fetches; % of keys asked of the server; bytes of XModel for a sub-model; cycles of a prediction"},
	compute: computeTable32, claims: claimsTable32}

// sets32 are the rows of the table: a set with its top models.
var sets32 = []struct {
	name, set string
	tops      []string
}{
	{"L", dataset.LinearName, []string{"lr", "pieces"}}, {"NL", dataset.NoisedName, []string{"lr", "pieces"}}, {"OSM", dataset.OSMName, []string{"lr", "pieces"}},
	{"Lognormal", dataset.LognormalName, []string{"lr", "nn", "pieces"}}, {"OrderLine", dataset.OrderLineName, []string{"lr", "mlr", "pieces"}},
}

func computeTable32(c *computing, f *Figure) error {
	keys := uint64(paperKeys3)
	if c.scale == Quick {
		keys /= 100
	}
	c.total = len(sets32)
	for _, x := range sets32 {
		o := compare.TopsOptions{Set: dataset.Options{Name: x.set, Keys: keys, Seed: 1}, SubModels: uint32(keys / keysPerSub)}
		for _, kind := range x.tops {
			o.Tops = append(o.Tops, model.TopSpec{Kind: kind})
		}
		d, err := step(c, "tops", o, compare.Tops)
		if err != nil {
			return err
		}
		for i := range d.Models {
			f.Series = append(f.Series, row32(x.name, &d.Models[i], keys))
		}
	}
	f.Computed = &Computed{By: comparing, Keys: keys, Seed: 1, Of: fmt.Sprintf("sets of %s keys; sigma %g, roughness %g", charts.Digits(float64(keys), 3), dataset.Sigma, dataset.Rough)}
	return nil
}

func row32(set string, m *compare.TopModel, keys uint64) Series {
	s := Series{Name: set + ", " + nameOf(m.Name)}
	for _, n := range topNumbers("", m, keys) {
		if n.Name == topBytes {
			n.Value /= float64(len(m.Keys))
		}
		p := Point{X: float64(len(s.Points)), Y: n.Value, Name: n.Name}
		if n.Name == topLeaves && n.Value == 0 {
			p.Text = "–" // nobody predicts
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func claimsTable32(f *Figure) []Claim {
	if f.Computed == nil {
		return nil
	}
	mean := func(series string) float64 { p, _ := f.cell(series, topMean); return p.Y }
	l, nl, osm := mean("L, LR"), mean("NL, LR"), mean("OSM, LR")
	return []Claim{
		holds("f3-23-error-order", "complex data are harder to learn: linear keys have smaller errors than noised ones, and these than OSM", l < nl && nl < osm, fmt.Sprintf("%.3g, %.3g and %.3g positions under LR", l, nl, osm)),
		withheld("f3-15-c-err", "mean prediction error of the default data", "positions", l, "both errors of a sub-model, by positions as in Figure 3-7; they cover absent keys too"),
	}
}
