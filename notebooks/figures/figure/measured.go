package figure

import (
	"math"

	"drtmx/notebooks/figures/prediction"
	"drtmx/notebooks/figures/published"
)

// Numbers of whole systems beside those that the thesis has for them, and where these are on the axes.

// Measured is a claim about a published number: v is what it is here, half that of its 95 % interval. Both are compared as package
// prediction counts them: 13 % more is 1.13.
func Measured(id, text, unit string, v, half float64, why string) Claim {
	s := mustSystem(id)
	p, _ := prediction.Result(id) // a system is one
	c := Claim{ID: id, Claim: text, Reference: s.Text(), Measured: &v, Unit: unit, Why: why}
	c.Status = Judge(&s, p.Ratio(v), math.Abs(p.Ratio(v+half)-p.Ratio(v-half))/2, p.Ratio(s.To))
	return c
}

// mustSystem is the published result with this id, which the code of a figure knows to be there.
func mustSystem(id string) published.System {
	s, ok := published.FindSystem(id)
	if !ok {
		panic("figures: nothing is published for " + id)
	}
	return s
}

// Compared is a claim about ratios of lines, beside the published number in a quantity.
func (f *Figure) Compared(id, text string, q Quantity, rs ...Ratio) Claim {
	c := f.Gains(id, text, rs...)
	most, least := Extremes(rs)
	if c.Why = f.Because(most); least.Value != most.Value {
		c.Why += "; smallest: " + f.Because(least)
	}
	return f.Settled(c, most.A, most.B).As(q)
}

// At puts the published number on the axes: on a line at x, or, for NaN, across the figure.
func (c Claim) At(series string, x float64) Claim {
	s := mustSystem(c.ID)
	c.Place = &Reference{ID: c.ID, Text: c.Claim, Section: s.Section, Series: series, From: &s.From, To: &s.To, Bound: s.Bound}
	if !math.IsNaN(x) {
		c.Place.X = &x
	}
	return c
}

// AlongX puts the published number on the X axis.
func (c Claim) AlongX(series string) Claim {
	s := mustSystem(c.ID)
	c.Place = &Reference{ID: c.ID, Text: c.Claim, Section: s.Section, Series: series, X: &s.To}
	return c
}
