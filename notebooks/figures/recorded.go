package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/notebooks/figures/prediction"
)

// A chapter whose numbers are open has a figure of its predictions: how far each of them is off what is published, as they
// are recorded. It takes no run.

// recordedPackage is what keeps them.
const recordedPackage = "notebooks/figures/prediction"

// What the picture of predictions shows of ratios; what is beyond stands at its edge.
const (
	leastRatio = 0.4
	mostRatio  = 2.0
)

// recordedOf is the figure of a chapter's predictions.
func recordedOf(chapter int) *definition {
	return &definition{id: fmt.Sprintf("predictions-%d", chapter), title: fmt.Sprintf("Predictions of chapter %d", chapter), chapter: chapter, section: fmt.Sprint(chapter), scope: "cluster", form: formDots,
		x: Axis{Label: "Row"}, y: Axis{Label: "Predicted / published, as ratios"},
		compute: func(c *computing, f *Figure) error { f.recorded(chapter); return c.ctx.Err() },
		claims:  func(f *Figure) []Claim { return recordedClaims(chapter) },
	}
}

// withRecorded adds these figures behind those of their chapters.
func withRecorded(all []*definition) (out []*definition) {
	var open []int
	for _, p := range prediction.Results() {
		if !slices.Contains(open, p.Chapter) {
			open = append(open, p.Chapter)
		}
	}
	for i, d := range all {
		out = append(out, d)
		if last := i == len(all)-1 || all[i+1].chapter != d.chapter; last && slices.Contains(open, d.chapter) {
			out = append(out, recordedOf(d.chapter))
		}
	}
	return out
}

// reports are those of what is recorded, made once: recordedReport by chapter. They are read only.
var reports sync.Map

func recordedReport(chapter int) *prediction.Report {
	once, _ := reports.LoadOrStore(chapter, sync.OnceValue(func() *prediction.Report { return Report(Recorded(chapter), prediction.Now) }))
	return once.(func() *prediction.Report)()
}

// recorded fills in a line for each column, of a point for each published number.
func (f *Figure) recorded(chapter int) {
	r := recordedReport(chapter)
	f.Computed = &Computed{By: recordedPackage, Of: "the predictions that are recorded"}
	rows := numbersOf(r)
	for _, c := range r.Columns {
		s := Series{Name: c.String(), Points: []Point{}}
		for i, l := range rows {
			p, _ := prediction.Result(l.ID)
			v := c.Of(&l.Row)
			if v == nil {
				continue
			}
			share, ok := p.Share(v.Compared())
			if !ok {
				continue
			}
			at := Point{X: float64(i), Y: share, Name: l.name, Text: prediction.UnitOf(v.Compared(), l.Unit)}
			if b := v.Band; b != nil {
				fewer, ok := p.Share(b.Fewer)
				more, also := p.Share(b.More)
				if ok && also {
					at.Band, f.BandFactor = &PointBand{Fewer: Place{at.X, fewer}, More: Place{at.X, more}}, b.Factor
					f.BandCosts = []string{coordinatorCost.String()}
				}
			}
			s.Points = append(s.Points, at)
		}
		f.Series = append(f.Series, s)
		f.counts(&c)
	}
}

// counts notes how well a column predicts.
func (f *Figure) counts(c *prediction.Counted) {
	f.addNote(fmt.Sprintf("%s: %d, %d and %d of %d numbers within 10, 20 and 35 %%, %d of %d orders hold, %d are contradicted, %d undecided",
		c.Column, c.Within10, c.Within20, c.Within35, c.Numbers, c.OrdersHold, c.Orders, c.OrdersContradicted, c.OrdersUndecided))
	for _, n := range []struct {
		name  string
		value int
	}{{"numbers", c.Numbers}, {"within 10 %", c.Within10}, {"within 20 %", c.Within20}, {"within 35 %", c.Within35},
		{"orders", c.Orders}, {"orders hold", c.OrdersHold}, {"contradicted", c.OrdersContradicted}, {"undecided", c.OrdersUndecided}} {
		f.Computed.Numbers = append(f.Computed.Numbers, Number{Series: c.String(), Name: n.name, Value: float64(n.value)})
	}
}

// namedLine is a row with a name that no other has.
type namedLine struct {
	prediction.Line
	name string
}

// numbersOf are the rows of published numbers.
func numbersOf(r *prediction.Report) (out []namedLine) {
	for _, l := range named(r) {
		if p, ok := prediction.Result(l.ID); ok && p.Number() {
			out = append(out, l)
		}
	}
	return out
}

// named are all rows that count. A row that a second panel measures has the panel in its name.
func named(r *prediction.Report) (out []namedLine) {
	seen := map[string]bool{}
	for _, l := range r.Rows {
		if !l.Counted {
			continue
		}
		name := l.ID
		if seen[name] {
			name += " " + l.Figure
		}
		seen[l.ID] = true
		out = append(out, namedLine{l, name})
	}
	return out
}

// recordedClaims are the rows as claims, with the verdicts of the latest column.
func recordedClaims(chapter int) (out []Claim) {
	r := recordedReport(chapter)
	for _, l := range named(r) {
		c := Claim{ID: l.name, Claim: l.Claim, Unit: l.Unit, Status: l.Verdict, Why: l.because()}
		if l.Figure != "-" {
			c.Claim = l.Figure + ": " + c.Claim
		}
		if l.Published != nil {
			c.Reference = *l.Published
		}
		c.Says = l.says(r)
		out = append(out, c)
	}
	return out
}

// says is what is published and what each column predicts.
func (l *namedLine) says(r *prediction.Report) string {
	var parts []string
	if l.Published != nil {
		parts = append(parts, "the thesis says "+prediction.UnitOf(*l.Published, l.Unit))
	}
	for _, c := range r.Columns {
		v := c.Of(&l.Row)
		if v == nil {
			continue
		}
		text := c.String() + " " + v.Text()
		if v.Error != nil {
			text += " (" + v.Off() + ")"
		}
		if b := v.Band; b != nil {
			text += fmt.Sprintf(", with 1/%g and %g of %s %s and %s", b.Factor, b.Factor, b.What(), b.Fewer, b.More)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// because is what made the latest prediction, and what cannot be explained.
func (l *namedLine) because() string {
	var parts []string
	if l.Note != "" {
		parts = append(parts, l.Note)
	}
	if v := &l.Predictions[len(l.Predictions)-1]; v.Command != "" {
		made := v.Command + ", code " + v.Code
		if v.Stale {
			made += ", which is stale"
		}
		parts = append(parts, made)
	}
	return strings.Join(parts, "; ")
}

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

// dotRows is the picture: the published number is 1.
func (f *Figure) dotRows() charts.DotRows {
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
		case s.Name == prediction.First:
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
