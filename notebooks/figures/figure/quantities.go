package figure

import (
	"math"

	"drtmx/notebooks/figures/published"
)

// A Quantity is how the thesis writes that one line is above another: of a quotient of
// the two, and back.
type Quantity struct {
	unit    string
	Of      func(ratio float64) float64
	back    func(v float64) float64
	ofBelow bool // the line below is compared with the one above, which is its baseline
	// What is said of a number, and of the same below 0.
	words, negative string
}

var (
	Times   = Quantity{unit: "x", Of: func(r float64) float64 { return r }, back: func(v float64) float64 { return v }}
	MoreBy  = Quantity{unit: "%", Of: func(r float64) float64 { return 100 * (r - 1) }, back: func(v float64) float64 { return 1 + v/100 }, words: " more", negative: " less"}
	LessBy  = Quantity{unit: "%", Of: func(r float64) float64 { return 100 * (1 - 1/r) }, back: func(v float64) float64 { return 1 / (1 - v/100) }, ofBelow: true, words: " less", negative: " more"}
	ShareOf = Quantity{unit: "%", Of: func(r float64) float64 { return 100 / r }, back: func(v float64) float64 { return 100 / v }, ofBelow: true, words: " of it"}
)

// reading is a ratio in that quantity, with the half-width of its interval.
func (q Quantity) reading(r Ratio) (value, half float64) {
	return q.Of(r.Value), math.Abs(q.Of(r.Value+r.Half)-q.Of(r.Value-r.Half)) / 2
}

// As judges the ratios of a claim against its published number, which is in that
// quantity: a single number by the largest ratio, a range by both ends. A line that was
// ahead must also be ahead here.
func (c Claim) As(q Quantity) Claim {
	p, ok := published.FindSystem(c.ID)
	if !ok {
		panic("figures: nothing is published for " + c.ID)
	}
	c.Unit, c.Reference, c.Quantity = q.unit, p.Text(), q
	if c.most.Value == 0 { // there are no points
		return c
	}
	c.expects(p, q)
	most, half := q.reading(c.most)
	least, leastHalf := q.reading(c.least)
	c.Largest, c.Smallest = Ends(most, least)
	c.Measured = &most
	if c.Peak != nil {
		peak := q.Of(*c.Peak)
		c.Peak = &peak
	}
	status := Judge(&p, most, half, p.Far(most, least))
	if p.From != p.To {
		status = Worse(status, Judge(&p, least, leastHalf, p.Far(least, most)))
	}
	c.Status = Worse(status, ExceedsOne(c.most.Value, c.most.Half))
	if c.short {
		c.Status = Undecided
	}
	return c
}

// Ends are two numbers, the larger first.
func Ends(a, b float64) (largest, smallest *float64) {
	if a < b {
		a, b = b, a
	}
	return &a, &b
}

// Judge compares a number with an interval to one end of what is published.
func Judge(s *published.System, value, half, reference float64) string {
	switch limit := Tolerance * reference; {
	case s.Bound == "":
		return Near(value, half, reference)
	case s.Bound == published.AtMost: // as at least, from the other side
		return NotBelowZero(reference+limit-value, half)
	default:
		return NotBelowZero(value-(reference-limit), half)
	}
}

// NotBelowZero is the verdict that a number with an interval is not below 0.
func NotBelowZero(value, half float64) string {
	switch {
	case value-half >= 0:
		return Holds
	case value+half < 0:
		return Contradicted
	}
	return Undecided
}
