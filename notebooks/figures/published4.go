package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"drtmx/notebooks/figures/prediction"
)

// SystemResult is a row of what the thesis measured of whole systems, which package prediction keeps. The simulator predicts
// these numbers; nothing is fitted to them.
type SystemResult struct {
	Published
	Figure   string // 4-2a; that of several panels without a letter
	Series   string // which line it is about
	Baseline string // which it is compared with, "" if with none
	// First is what this simulator said while the number was withheld, and FirstVerdict
	// how far that is off. Neither changes.
	First        string
	FirstVerdict string
}

// SystemResults are the open results, in the order of the thesis.
func SystemResults() []SystemResult { return systemResults() }

var systemResults = sync.OnceValue(func() (out []SystemResult) {
	for _, p := range prediction.Results() {
		out = append(out, SystemResult{Figure: p.Figure, Series: p.Series, Baseline: p.Baseline, First: p.First, FirstVerdict: p.FirstVerdict,
			Published: Published{ID: p.ID, Use: "predict", Unit: p.Unit, Section: p.Section, Config: p.Config, Claim: p.Claim, Bound: boundOf(p.Claim), From: p.From, To: p.To}})
	}
	return out
})

// boundOf says whether a claim is about a limit.
func boundOf(claim string) string {
	switch {
	case strings.HasSuffix(claim, "[lower bound]"):
		return atLeast
	case strings.HasSuffix(claim, "[upper bound]"):
		return atMost
	}
	return ""
}

// systemResult is the published result with this id, if it is a number.
func systemResult(id string) (SystemResult, bool) {
	all := SystemResults()
	i := slices.IndexFunc(all, func(s SystemResult) bool { return s.ID == id })
	if i < 0 || all[i].From == 0 {
		return SystemResult{}, false
	}
	return all[i], true
}

// text is the number as a claim's reference: 1.26..1.45.
func (s *SystemResult) text() string {
	if s.From == s.To {
		return fmt.Sprint(s.To)
	}
	return fmt.Sprintf("%g..%g", s.From, s.To)
}

// A quantity is how the thesis writes that one line is above another: of a quotient of
// the two, and back.
type quantity struct {
	unit    string
	of      func(ratio float64) float64
	back    func(v float64) float64
	ofBelow bool // the line below is compared with the one above, which is its baseline
	// What is said of a number, and of the same below 0.
	words, negative string
}

var (
	times   = quantity{unit: "x", of: func(r float64) float64 { return r }, back: func(v float64) float64 { return v }}
	moreBy  = quantity{unit: "%", of: func(r float64) float64 { return 100 * (r - 1) }, back: func(v float64) float64 { return 1 + v/100 }, words: " more", negative: " less"}
	lessBy  = quantity{unit: "%", of: func(r float64) float64 { return 100 * (1 - 1/r) }, back: func(v float64) float64 { return 1 / (1 - v/100) }, ofBelow: true, words: " less", negative: " more"}
	shareOf = quantity{unit: "%", of: func(r float64) float64 { return 100 / r }, back: func(v float64) float64 { return 100 / v }, ofBelow: true, words: " of it"}
)

// reading is a ratio in that quantity, with the half-width of its interval.
func (q quantity) reading(r ratio) (value, half float64) {
	return q.of(r.value), math.Abs(q.of(r.value+r.half)-q.of(r.value-r.half)) / 2
}

// in judges the ratios of a claim against its published number, which is in that
// quantity: a single number by the largest ratio, a range by both ends. A line that was
// ahead must also be ahead here.
func (c Claim) in(q quantity) Claim {
	p, ok := systemResult(c.ID)
	if !ok {
		panic("figures: nothing is published for " + c.ID)
	}
	c.Unit, c.Reference, c.First, c.as = q.unit, p.text(), p.First, q
	if c.most.value == 0 { // there are no points
		return c
	}
	c.expects(p, q)
	most, half := q.reading(c.most)
	least, leastHalf := q.reading(c.least)
	c.Largest, c.Smallest = ends(most, least)
	c.Measured = &most
	if c.Peak != nil {
		peak := q.of(*c.Peak)
		c.Peak = &peak
	}
	status := p.judge(most, half, p.far(most, least))
	if p.From != p.To {
		status = worse(status, p.judge(least, leastHalf, p.far(least, most)))
	}
	c.Status = worse(status, exceedsOne(c.most.value, c.most.half))
	if c.short {
		c.Status = Undecided
	}
	return c
}

func ends(a, b float64) (largest, smallest *float64) {
	if a < b {
		a, b = b, a
	}
	return &a, &b
}

// far is the end of the range that belongs to v: the upper one if v is the larger of
// two readings.
func (s *SystemResult) far(v, other float64) float64 {
	if v >= other {
		return s.To
	}
	return s.From
}

// judge compares a number with an interval to one end of what is published.
func (s *SystemResult) judge(value, half, reference float64) string {
	switch limit := tolerance * reference; {
	case s.Bound == "":
		return near(value, half, reference)
	case s.Bound == atMost: // as at least, from the other side
		return side(reference+limit-value, half)
	default:
		return side(value-(reference-limit), half)
	}
}

// side is the verdict that a number with an interval is not below 0.
func side(value, half float64) string {
	switch {
	case value-half >= 0:
		return Holds
	case value+half < 0:
		return Contradicted
	}
	return Undecided
}
