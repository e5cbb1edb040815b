package figures

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/prediction"
)

// A chapter whose numbers are open has a figure of its predictions: how far each of them is off what is published, as they
// are recorded. It takes no run.

// recordedPackage is what keeps them.
const recordedPackage = "notebooks/figures/prediction"

// recordedOf is the figure of a chapter's predictions.
func recordedOf(chapter int) *figure.Definition {
	return &figure.Definition{ID: fmt.Sprintf("predictions-%d", chapter), Title: fmt.Sprintf("Predictions of chapter %d", chapter), Chapter: chapter, Section: fmt.Sprint(chapter), Scope: "cluster", Form: figure.FormDots,
		X: figure.Axis{Label: "Row"}, Y: figure.Axis{Label: "Predicted / published, as ratios"},
		Compute: func(c *figure.Computing, f *figure.Figure) error { recorded(f, chapter); return c.Ctx.Err() },
		Claims:  func(f *figure.Figure) []figure.Claim { return recordedClaims(chapter) },
		Text:    func() string { return recordedReport(chapter).String() },
	}
}

// withRecorded adds these figures behind those of their chapters.
func withRecorded(all []*figure.Definition) (out []*figure.Definition) {
	var open []int
	for _, p := range prediction.Results() {
		if !slices.Contains(open, p.Chapter) {
			open = append(open, p.Chapter)
		}
	}
	for i, d := range all {
		out = append(out, d)
		if last := i == len(all)-1 || all[i+1].Chapter != d.Chapter; last && slices.Contains(open, d.Chapter) {
			out = append(out, recordedOf(d.Chapter))
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
func recorded(f *figure.Figure, chapter int) {
	r := recordedReport(chapter)
	f.Computed = &figure.Computed{By: recordedPackage, Of: "the predictions that are recorded"}
	rows := numbersOf(r)
	for _, c := range r.Columns {
		s := figure.Series{Name: c.String(), Points: []figure.Point{}}
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
			at := figure.Point{X: float64(i), Y: share, Name: l.name, Text: prediction.UnitOf(v.Compared(), l.Unit)}
			if b := v.Band; b != nil {
				fewer, ok := p.Share(b.Fewer)
				more, also := p.Share(b.More)
				if ok && also {
					at.Band, f.BandFactor = &figure.PointBand{Fewer: figure.Place{X: at.X, Y: fewer}, More: figure.Place{X: at.X, Y: more}}, b.Factor
					f.BandCosts = []string{figure.CoordinatorCost.String()}
				}
			}
			s.Points = append(s.Points, at)
		}
		f.Series = append(f.Series, s)
		counts(f, &c)
	}
	for _, c := range r.Models {
		f.AddNote(fmt.Sprintf("of models alone, %s: %d, %d and %d of %d numbers", c.Column, c.Within10, c.Within20, c.Within35, c.Numbers))
	}
}

// counts notes how well a column predicts.
func counts(f *figure.Figure, c *prediction.Counted) {
	f.AddNote(fmt.Sprintf("%s: %d, %d and %d of %d numbers within 10, 20 and 35 %%, %d of %d orders hold, %d are contradicted, %d undecided",
		c.Column, c.Within10, c.Within20, c.Within35, c.Numbers, c.OrdersHold, c.Orders, c.OrdersContradicted, c.OrdersUndecided))
	for _, n := range []struct {
		name  string
		value int
	}{{"numbers", c.Numbers}, {"within 10 %", c.Within10}, {"within 20 %", c.Within20}, {"within 35 %", c.Within35},
		{"orders", c.Orders}, {"orders hold", c.OrdersHold}, {"contradicted", c.OrdersContradicted}, {"undecided", c.OrdersUndecided}} {
		f.Computed.Numbers = append(f.Computed.Numbers, figure.Number{Series: c.String(), Name: n.name, Value: float64(n.value)})
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
		if p, ok := prediction.Result(l.ID); ok && (p.Number() || p.OfModel()) {
			out = append(out, l)
		}
	}
	return out
}

// named are all rows that count, and those about models alone. A row that a second panel measures has the panel in its name.
func named(r *prediction.Report) (out []namedLine) {
	seen := map[string]bool{}
	for _, l := range r.Rows {
		if p, _ := prediction.Result(l.ID); !l.Counted && !p.OfModel() {
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
func recordedClaims(chapter int) (out []figure.Claim) {
	r := recordedReport(chapter)
	for _, l := range named(r) {
		c := figure.Claim{ID: l.name, Claim: l.Claim, Unit: l.Unit, Status: l.Verdict, Why: l.because()}
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
			made += ", not the code of this program"
		}
		parts = append(parts, made)
	}
	return strings.Join(parts, "; ")
}
