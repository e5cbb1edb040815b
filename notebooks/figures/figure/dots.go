package figure

import (
	"math"
	"slices"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/notebooks/figures/prediction"
)

// What the picture of predictions shows of ratios; what is beyond stands at its edge.
const (
	leastRatio = 0.4
	mostRatio  = 2.0
)

// The looks of columns: the first, others in their order, what is at paper scale, and the latest by its verdicts.
var (
	lookOfFirst     = charts.Dots{Colour: palette.Thesis, Marker: palette.Circle, Hollow: true}
	looksOfMore     = []charts.Dots{{Colour: palette.Mark, Marker: palette.Plus}, {Colour: palette.Mark, Marker: palette.Triangle, Hollow: true}, {Colour: palette.Mark, Marker: palette.Down, Hollow: true}}
	lookOfPaper     = charts.Dots{Colour: palette.LineInk, Marker: palette.Square, Hollow: true}
	looksOfVerdicts = []struct {
		status string
		look   charts.Dots
	}{
		{Holds, charts.Dots{Colour: palette.Good, Marker: palette.Circle}}, {Undecided, charts.Dots{Colour: palette.Unknown, Marker: palette.Square}}, {Contradicted, charts.Dots{Colour: palette.Bad, Marker: palette.Cross}},
	}
)

// DotRows is the picture: the published number is 1.
func (f *Figure) DotRows() charts.DotRows {
	d := charts.DotRows{X: charts.Axis{Label: f.Y.Label, Unit: f.Y.Unit, From: leastRatio, To: mostRatio}, At: 1, Zones: []float64{0.35, 0.2, 0.1}}
	at := map[float64]int{}
	var xs []float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			if _, has := at[p.X]; !has {
				at[p.X] = 0
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	for i, x := range xs {
		at[x] = i
	}
	d.Rows = make([]string, len(xs))
	all := func(string) bool { return true }
	latest := f.latest()
	for k, s := range f.Series {
		look := looksOfMore[max(k-1, 0)%len(looksOfMore)]
		switch {
		case k == latest:
			continue
		case s.Name == prediction.Column{Name: prediction.First}.String():
			look = lookOfFirst
		case k > latest:
			look = lookOfPaper
		}
		look.Name = s.Name
		d.Dots = append(d.Dots, s.dots(look, at, d.Rows, all))
	}
	for _, v := range looksOfVerdicts { // over the others
		if latest < 0 {
			break
		}
		look := v.look
		look.Name = f.Series[latest].Name + ": " + v.status
		dots := f.Series[latest].dots(look, at, d.Rows, func(row string) bool {
			return slices.ContainsFunc(f.Claims, func(c Claim) bool { return c.ID == row && c.Status == v.status })
		})
		if slices.ContainsFunc(dots.X, func(x float64) bool { return !math.IsNaN(x) }) {
			d.Dots = append(d.Dots, dots)
		}
	}
	return d
}

// latest is the line that the verdicts are about, the last that is not at paper scale; -1 if there is none.
func (f *Figure) latest() int {
	for k := len(f.Series) - 1; k >= 0; k-- {
		if !strings.HasSuffix(f.Series[k].Name, prediction.PaperScale) {
			return k
		}
	}
	return -1
}

// dots are those of a line whose rows are wanted.
func (s *Series) dots(look charts.Dots, at map[float64]int, names []string, wanted func(row string) bool) charts.Dots {
	look.X, look.Band = make([]float64, len(names)), make([][2]float64, len(names))
	for i := range names {
		look.X[i], look.Band[i] = math.NaN(), [2]float64{math.NaN(), math.NaN()}
	}
	for _, p := range s.Points {
		i := at[p.X]
		names[i] = p.Name
		if !wanted(p.Name) {
			continue
		}
		if look.X[i] = p.Y; p.Band != nil {
			look.Band[i] = [2]float64{p.Band.Fewer.Y, p.Band.More.Y}
		}
	}
	return look
}

// ratiosSketch has the latest predictions.
func (f *Figure) ratiosSketch() string {
	var out [][2]float64
	if k := f.latest(); k >= 0 {
		for _, p := range f.Series[k].Points {
			if p.Y < mostRatio {
				out = append(out, [2]float64{min(p.Y, 1), max(p.Y, 1)})
			}
		}
	}
	return charts.Sketch{Ratios: out}.SVG()
}
