package chapter3

import (
	"fmt"

	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/figure"
	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
	"drtmx/xstore/model/compare"
)

// Table 3-2 names the data sets, without numbers. Here it says how they are learned, with one sub-model for 200 keys as in §3.7.1:
// the thesis's three sets, and the two of §3.5.2 at their size.

var dataSetTable = figure.Definition{ID: "t3-2", Title: "Table 3-2: data sets, and how they are learned", Chapter: 3, Section: "3.7.1", Scope: "server", Form: figure.FormTable,
	X: figure.Axis{Label: "Quantity"}, Y: figure.Axis{Label: "variance of the keys of a sub-model; errors in positions; leaves that a lookup fetches; % of keys asked of the server; bytes of XModel for a sub-model; cycles of a prediction"},
	Compute: computeDataSets, Claims: claimsDataSets}

// dataSetRows are the rows of the table: a set with its top models.
var dataSetRows = []struct {
	name, set string
	tops      []string
}{
	{"L", dataset.LinearName, []string{"lr", "pieces"}}, {"NL", dataset.NoisedName, []string{"lr", "pieces"}}, {"OSM", dataset.OSMName, []string{"lr", "pieces"}},
	{"Lognormal", dataset.LognormalName, []string{"lr", "nn", "pieces"}}, {"OrderLine", dataset.OrderLineName, []string{"lr", "mlr", "pieces"}},
}

func computeDataSets(c *figure.Computing, f *figure.Figure) error {
	keys := uint64(paperKeys)
	if c.Scale == figure.Quick {
		keys /= 100
	}
	c.Total = len(dataSetRows)
	for _, x := range dataSetRows {
		o := compare.TopsOptions{Set: dataset.Options{Name: x.set, Keys: keys, Seed: 1}, SubModels: uint32(keys / keysPerSub)}
		for _, kind := range x.tops {
			o.Tops = append(o.Tops, model.TopSpec{Kind: kind})
		}
		d, err := figure.Step(c, "tops", o, compare.Tops)
		if err != nil {
			return err
		}
		for i := range d.Models {
			f.Series = append(f.Series, dataSetRow(x.name, &d.Models[i], keys))
		}
	}
	f.Computed = &figure.Computed{By: comparing, Keys: keys, Seed: 1, Of: fmt.Sprintf("sets of %s keys; sigma %g, roughness %g", charts.Digits(float64(keys), 3), dataset.Sigma, dataset.Rough)}
	return nil
}

func dataSetRow(set string, m *compare.TopModel, keys uint64) figure.Series {
	s := figure.Series{Name: set + ", " + nameOf(m.Name)}
	for _, n := range topNumbers("", m, keys) {
		if n.Name == topBytes {
			n.Value /= float64(len(m.Keys))
		}
		p := figure.Point{X: float64(len(s.Points)), Y: n.Value, Name: n.Name}
		if n.Name == topLeaves && n.Value == 0 {
			p.Text = "–" // there is no prediction
		}
		s.Points = append(s.Points, p)
	}
	return s
}

func claimsDataSets(f *figure.Figure) []figure.Claim {
	if f.Computed == nil {
		return nil
	}
	mean := func(series string) float64 { p, _ := modelPoint(f, series, topMean); return p.Y }
	l, nl, osm := mean("L, LR"), mean("NL, LR"), mean("OSM, LR")
	return []figure.Claim{
		holds("f3-23-error-order", "complex data are harder to learn: linear keys have smaller errors than noised ones, and these than OSM", l < nl && nl < osm, fmt.Sprintf("%.3g, %.3g and %.3g positions under LR", l, nl, osm)),
		figure.Measured("f3-15-c-err", "mean prediction error of the default data", "positions", l, 0, "both errors of a sub-model, by positions as in Figure 3-7; they cover absent keys too"),
	}
}
