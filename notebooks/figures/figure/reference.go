package figure

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/published"
)

// Reference is a published number on the figure's own axes.
type Reference struct {
	ID      string `json:"id"`   // of its row in the calibration table, or of the claim
	Text    string `json:"text"` // what the thesis says
	Section string `json:"section"`
	Series  string `json:"series,omitempty"`
	// X is where it holds, null: everywhere. From and To are the number, or the ends
	// of a range, in the unit of Y; null: the number is X.
	X    *float64 `json:"x"`
	From *float64 `json:"from"`
	To   *float64 `json:"to"`
	// Bound is "at most" or "at least" where a limit is published.
	Bound string `json:"bound,omitempty"`
	// Relative is the line whose measured point the number is a ratio to; then X, From
	// and To are where it would put the other line.
	Relative string `json:"relative_to,omitempty"`

	Label string `json:"label,omitempty"` // what stands at the mark; "": the number
	Part  string `json:"part,omitempty"`  // of a stacked bar
}

// expected says that a claim is a number of Y: of a line at x, or, for NaN, of its
// highest point.
func (c *Claim) expected(series string, x, reference float64) {
	c.Place = &Reference{ID: c.ID, Text: c.Claim, Series: series, From: &reference, To: &reference}
	if !math.IsNaN(x) {
		c.Place.X = &x
	}
}

// references are the numbers that the claims expect on the axes, and the rows of the
// table about the figure that are in the unit of an axis.
func (f *Figure) references() []Reference {
	out := []Reference{}
	placed := map[string]bool{}
	for _, c := range f.Claims {
		out = append(out, f.relative(c)...)
		if c.Place == nil {
			continue
		}
		r := *c.Place
		r.Section = cmp.Or(r.Section, f.Section)
		if p, ok := published.Find(c.ID); ok {
			r.Section, r.Bound = p.Section, p.Bound
			if p.Also != 0 && p.Unit == f.Y.Unit {
				also := r
				also.From, also.To = &p.Also, &p.Also
				out = append(out, also)
			}
		}
		out, placed[c.ID] = append(out, r), true
	}
	for _, p := range published.Table() {
		if r, ok := f.reference(&p); ok && !placed[p.ID] {
			out = append(out, r)
		}
	}
	if p, ok := published.FindSystem(EmptyRPC); ok && f.ID == "2-2b" {
		out = append(out, Reference{ID: p.ID, Text: p.Claim, Section: p.Section, From: &p.From, To: &p.To})
	}
	return out
}

// EmptyRPC is a number of chapter 4 about what figure 2-2b measures.
const EmptyRPC = "f4-3-two-peak"

// relative are the places that the published ratios of a claim name, if they are on the
// axes.
func (f *Figure) relative(c Claim) (out []Reference) {
	for _, e := range c.relative {
		if r, ok := e.referencePoint(f); ok {
			r.ID, r.Text, r.Section = c.ID, c.Claim, f.Section
			out = append(out, r)
		}
	}
	return out
}

// ofOnePanel are rows whose ids name a figure, and that are of a line which only this
// panel of it has.
var ofOnePanel = map[string]string{"f2-4-atomic-peak": "2-4a"}

// reference is a row of the table about this figure, if it can be drawn. Ratios and
// shares have the unit of an axis only by chance; constants were given to the model.
func (f *Figure) reference(p *published.Row) (Reference, bool) {
	if panel, one := ofOnePanel[p.ID]; one && panel != f.ID {
		return Reference{}, false
	}
	about := strings.HasPrefix(p.ID, "f"+f.ID+"-") || strings.HasPrefix(p.ID, "f"+strings.TrimRight(f.ID, "abcd")+"-")
	if !about || p.From == 0 || p.Use == "constant" || p.Unit == "%" || p.Unit == "x" {
		return Reference{}, false
	}
	r := Reference{ID: p.ID, Text: p.Claim, Section: p.Section, Bound: p.Bound}
	switch p.Unit {
	case f.Y.Unit:
		r.From, r.To = &p.From, &p.To
	case f.X.Unit:
		r.X = &p.From
	default:
		return Reference{}, false
	}
	return r, true
}

// Mark is what stands at the mark: the number and its section.
func (r *Reference) Mark(x Axis) string {
	if r.Label != "" {
		return r.Label
	}
	number := ""
	switch {
	case r.From == nil && x.Unit == "bytes":
		number = charts.Bytes(*r.X)
	case r.From == nil:
		number = fmt.Sprintf("%g", *r.X)
	case *r.From != *r.To:
		number = fmt.Sprintf("%g–%g", *r.From, *r.To)
	default:
		number = fmt.Sprintf("%g", *r.To)
	}
	return strings.TrimSpace(map[string]string{published.AtMost: "≤", published.AtLeast: "≥"}[r.Bound]+number) + " §" + r.Section
}

// marks are the references as the chart builders take them.
func (f *Figure) marks() []charts.Reference {
	var out []charts.Reference
	or := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	for _, r := range f.References {
		out = append(out, charts.Reference{Text: r.Mark(f.X), X: or(r.X), From: or(r.From), To: or(r.To)})
	}
	return out
}
