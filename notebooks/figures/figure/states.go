package figure

import (
	"fmt"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/prediction"
	"drtmx/notebooks/figures/published"
)

// The states of TPC-C/no; chapter4/curves.go says why there are two.
const (
	StateIgnored = "aborts ignored"
	StateCorrect = "correct protocol"
)

// AbortsIgnored is what names of the variant end with.
const AbortsIgnored = " (aborts ignored)"

// Twice measures claims of the variant that ignores aborts and of the correct protocol.
// name is that of a line in the state.
func (f *Figure) Twice(claims func(name func(string) string) []Claim) []Claim {
	out := claims(func(line string) string { return line + AbortsIgnored })
	for i, c := range claims(func(line string) string { return line }) {
		v := &out[i]
		v.States = []State{v.state(StateIgnored), c.state(StateCorrect)}
		v.Why = fmt.Sprintf("aborts ignored: %s. Correct protocol: %s, %s", v.Why, c.Status, c.Why)
	}
	return out
}

func (c *Claim) state(name string) State {
	return State{Name: name, Status: c.Status, Measured: c.Measured, Says: c.sentence(), Why: c.Why}
}

// undecided leaves a claim open in all of its states, for a reason.
func (c *Claim) undecided(why string) {
	c.Status = Undecided
	for i := range c.States {
		c.States[i].Status = Undecided
	}
	if why != "" {
		c.Why = why + "; " + c.Why
	}
}

// sentence is the thesis's number and the simulator's, "" where the thesis has none.
func (c *Claim) sentence() string {
	if c.Says != "" || c.Reference == "" {
		return c.Says
	}
	bound := ""
	if p, ok := published.Find(c.ID); ok {
		bound = p.Bound
	} else if p, ok := published.FindSystem(c.ID); ok {
		bound = p.Bound
	}
	says := strings.TrimSpace("the thesis says "+bound) + " " + prediction.UnitOf(strings.Replace(c.Reference, "..", " to ", 1), c.Unit) + c.Quantity.words
	if c.Measured == nil {
		return says
	}
	if strings.Contains(c.Reference, "..") && c.Smallest != nil && *c.Smallest != *c.Largest {
		return says + ", the simulator " + prediction.UnitOf(charts.Digits(*c.Smallest, 3)+" to "+charts.Digits(*c.Largest, 3), c.Unit) + c.Quantity.words
	}
	v, words := *c.Measured, c.Quantity.words
	if v < 0 && c.Quantity.negative != "" {
		v, words = -v, c.Quantity.negative
	}
	return says + ", the simulator " + prediction.UnitOf(charts.Digits(v, 3), c.Unit) + words
}

// expected is where a line would be by the thesis's ratio, given the line that it is
// compared with as it was measured.
type expected struct {
	Ratio
	Quantity
	published float64
}

// expects notes where the published ratios would put the points of the largest and, of
// a range, the smallest.
func (c *Claim) expects(p published.System, q Quantity) {
	most, _ := q.reading(c.most)
	least, _ := q.reading(c.least)
	c.relative = []expected{{c.most, q, p.Far(most, least)}}
	if p.From != p.To && c.least.X != c.most.X {
		c.relative = append(c.relative, expected{c.least, q, p.Far(least, most)})
	}
}

// referencePoint is the expected point on the axes of a figure: where the line's own point is,
// but for the axis of what is compared.
func (e *expected) referencePoint(f *Figure) (Reference, bool) {
	name, base, own, value := e.Above, e.Below, e.A, e.B.Y*e.back(e.published)
	if e.ofBelow {
		name, base, own, value = e.Below, e.Above, e.B, e.A.Y/e.back(e.published)
	}
	r := Reference{Series: name, Relative: base, Label: e.short(base)}
	for _, s := range f.Series {
		if s.Name != name {
			continue
		}
		for _, p := range s.Points {
			x := p.X
			switch {
			case p.Run != own.Run:
				continue
			case f.Form == FormCurves && p.X == own.Y:
				r.X, r.From, r.To = &value, &p.Y, &p.Y
			case p.Y == own.Y:
				r.X, r.From, r.To, r.Part = &x, &value, &value, p.Name
			default:
				continue
			}
			return r, true
		}
	}
	return Reference{}, false
}

// short is the published ratio as it stands at its mark.
func (e *expected) short(base string) string {
	base = strings.TrimSuffix(base, AbortsIgnored)
	v := fmt.Sprintf("%g", e.published)
	switch {
	case e.unit == "x":
		return v + "x " + base
	case e.ofBelow && e.back(e.published) == 100/e.published:
		return v + " % of " + base
	case e.ofBelow:
		return base + " - " + v + " %"
	}
	return base + " + " + v + " %"
}

// Crossing is a claim that one line gets above another beyond a place on the X axis.
// Points are few: what is measured lies between two of them.
func (f *Figure) Crossing(id, text, gets string, p Pair, beyond float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(beyond), Unit: f.X.Unit}
	rs := f.Ratios(p, Everywhere)
	if len(rs) == 0 {
		return NoRuns(c)
	}
	thesis := "; the thesis says beyond " + f.X.At(beyond)
	k := len(rs)
	for k > 0 && rs[k-1].Value > 1 {
		k--
	}
	last := rs[len(rs)-1]
	if k == len(rs) {
		c.Says, c.Why, c.Status = fmt.Sprintf("never %s, up to %s", gets, f.X.At(last.X))+thesis, f.Because(last), Undecided
		if last.X > beyond && last.Value+last.Half < 1 {
			c.Status = Contradicted
		}
		return f.Settled(c, last.A, last.B)
	}
	at, before := rs[k], 0.0
	c.Says = fmt.Sprintf("%s from %s on", gets, f.X.At(at.X))
	if k > 0 {
		before = rs[k-1].X
		c.Says += fmt.Sprintf(", not yet at %g", before)
	}
	c.Says += thesis
	c.Measured, c.Why, c.Status = &at.X, f.Because(at), Holds
	if before > (1+Tolerance)*beyond || at.X < (1-Tolerance)*beyond {
		c.Status = Contradicted
	}
	if at.Value-at.Half <= 1 || k > 0 && rs[k-1].Value+rs[k-1].Half > 1 { // it may be at the next point
		c.Status = Undecided
	}
	return f.Settled(c, at.A, at.B)
}
