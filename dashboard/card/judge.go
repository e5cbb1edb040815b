package card

import (
	"fmt"
	"math"
	"slices"

	"drtmx/dashboard/windows"
	"drtmx/engine/metrics"
)

// Compare fills the card from the windows of both sides.
func (c *Card) Compare(before, after []windows.Moment) {
	var looks []look
	if c.Number == 0 {
		looks = c.pairs(before, after)
		if looks == nil {
			c.Settling = fmt.Sprintf("waiting for windows that both systems have: %d of %d", min(c.Before.Windows, c.After.Windows), Least)
			return
		}
		c.judge(looks)
		return
	}
	before = c.Before.TrimTransient(before)
	looks = c.growing(before, after)
	switch {
	case len(before) < Least:
		c.Settling = "there were too few windows before it to compare with"
	case c.settles != "" && !c.Final:
		c.Settling = c.settles
	case looks == nil && c.Final:
		c.Settling = "the next change came too soon to tell; the card of that one says what they did together"
	case looks == nil:
		c.Settling = fmt.Sprintf("waiting for the transient to pass: %d of %d windows", c.After.Windows, Least)
	default:
		c.judge(looks)
	}
}

// look is the windows that one look at a comparison takes. Looks are at each doubling of the windows since
// it began, so that a reader who asks later, with more windows, finds the same ones: between them nothing of a
// card moves. The verdict is that of all looks together, see metrics.ContrastOf.
type look struct{ before, after []windows.Moment }

// growing is the looks at a change, whose windows before it do not become more.
func (c *Card) growing(before, after []windows.Moment) (out []look) {
	add := func(n int) {
		if trimmed := c.After.TrimTransient(after[:n]); len(trimmed) >= Least {
			out = append(out, look{before, trimmed})
		}
	}
	n := Least
	for ; n <= len(after); n *= 2 {
		add(n)
	}
	if c.Final && len(after) > n/2 { // the last look
		add(len(after))
	} else if out != nil && !c.Final {
		c.NextLook = n
	}
	if out == nil {
		c.After.TrimTransient(after)
	}
	return out
}

// pairs is the looks at two systems that run on side by side.
func (c *Card) pairs(before, after []windows.Moment) (out []look) {
	both := min(len(before), len(after))
	n := Least
	for ; n <= both; n *= 2 {
		l := look{c.Before.TrimTransient(before[:n]), c.After.TrimTransient(after[:n])}
		if min(len(l.before), len(l.after)) >= Least {
			out = append(out, l)
		}
	}
	if out == nil {
		c.Before.TrimTransient(before[:both])
		c.After.TrimTransient(after[:both])
	}
	c.NextLook = n
	return out
}

// Judge compares two sides that do not grow.
func (c *Card) Judge(before, after []windows.Moment) { c.judge([]look{{before, after}}) }

func (c *Card) judge(looks []look) {
	last := looks[len(looks)-1]
	c.Before.of(last.before)
	c.After.of(last.after)
	c.Before.Limit, c.After.Limit = windows.LimitOf(last.before), windows.LimitOf(last.after)
	for _, q := range quantities {
		if r, ok := q.row(looks); ok && (!q.rare || r.Before > 0 || r.After > 0) {
			c.Rows = append(c.Rows, r)
		}
	}
	for i, name := range windows.Phases {
		q := quantity{name, "µs", func(m *windows.Moment) float64 { return float64(m.Phases[i]) }, "worse", false}
		if r, ok := q.row(looks); ok && (r.Before > 0 || r.After > 0) {
			c.Phases = append(c.Phases, r)
		}
	}
	says, none := c.absent(last.before, last.after)
	c.Absent, c.Needs = says, c.needs(append(none, c.Rows...))
	c.Sentence = c.sentence()
}

// smallDrift is the share of a mean below which a drift is not spoken of.
const smallDrift = 0.01

// row judges a quantity by all looks. The intervals of all of them are right together, so a difference that
// was told from chance once stays told while the latest look does not contradict: the bound that kept zero
// out keeps it out.
func (q *quantity) row(looks []look) (r Row, ok bool) {
	var before metrics.LongRun
	told := 0.0 // the bound next to zero of the looks so far; 0: none kept it out
	for i, l := range looks {
		a, b := q.series(l.before), q.series(l.after)
		if len(a) < Least || len(b) < Least {
			continue
		}
		if !ok || len(l.before) != len(looks[i-1].before) {
			before = metrics.LongRunOf(a)
		}
		after := metrics.LongRunOf(b)
		x := metrics.ContrastOf(&before, &after)
		r, ok = Row{Name: q.name, Unit: q.unit, Before: before.Mean, After: after.Mean, Diff: x.Diff, Verdict: "same"}, true
		if r.Before != 0 {
			r.Percent = 100 * r.Diff / r.Before
		}
		if i == len(looks)-1 && !slices.Contains(a, 0) && !slices.ContainsFunc(b, func(v float64) bool { return v != 0 }) {
			r.Ended, r.Verdict = true, q.lessIs()
			return r, true
		}
		if x.Short > 0 {
			r.short(&x, l, len(a), len(b))
			continue
		}
		r.Drifts, r.Why = drift(q.name, &before, &after)
		r.Low, r.High = x.Diff-x.Half, x.Diff+x.Half
		told = r.keep(told)
		q.verdict(&r, (math.Abs(before.Drift)+math.Abs(after.Drift))/2)
		r.wish(min(len(l.before), len(l.after)))
	}
	return r, ok
}

// keep takes over the bound that kept zero out of the interval of an earlier look, unless the difference
// has passed it since, and hands on the sharpest.
func (r *Row) keep(told float64) float64 {
	switch {
	case told > 0 && r.Diff > told && r.Low < told && r.Low <= 0:
		r.Low = told
	case told < 0 && r.Diff < told && r.High > told && r.High >= 0:
		r.High = told
	}
	switch {
	case r.Low > 0:
		return r.Low
	case r.High < 0:
		return r.High
	}
	return 0
}

// short says what length would do where the windows are too few to say anything.
func (r *Row) short(x *metrics.Contrast, l look, before, after int) {
	each := max(len(l.before)/before, len(l.after)/after) // windows that a value is of
	r.Verdict, r.Needs = Undecided, x.Short*each
	r.Says = fmt.Sprintf("takes about %d windows", r.Needs)
	r.Why = fmt.Sprintf("neighbouring windows are much alike: it takes about %d on each side to tell, and there are %d and %d", r.Needs, len(l.before), len(l.after))
}

// verdict judges the interval, of which so much is a drift.
func (q *quantity) verdict(r *Row, drift float64) {
	r.Half95 = (r.High - r.Low) / 2
	switch {
	case r.Low > 0:
		r.Verdict = q.moreIs
	case r.High < 0:
		r.Verdict = q.lessIs()
	case r.Drifts && math.Abs(r.Diff) > r.Half95-drift:
		r.Verdict = Undecided
	}
}

// wish says how many windows would tell a difference that the eye sees from chance: the interval narrows
// with the root of their number.
func (r *Row) wish(have int) {
	seen := math.Abs(r.Percent) >= 1
	if r.Name == "aborts" || r.Name == "failures" {
		seen = math.Abs(r.Diff) >= abortsWorth
	}
	if r.Verdict != "same" || !seen || r.Diff == 0 {
		return
	}
	const spare, much = 1.2, 16 // beyond so many times the windows a difference is hardly one
	ratio := r.Half95 / math.Abs(r.Diff)
	if n := spare * ratio * ratio; n <= much {
		r.Needs = int(math.Ceil(n * float64(have)))
	}
}

// drift says which side drifts.
func drift(name string, before, after *metrics.LongRun) (drifts bool, why string) {
	for i, l := range []*metrics.LongRun{before, after} {
		if l.Mean != 0 && math.Abs(l.Drift) > smallDrift*math.Abs(l.Mean) {
			return true, fmt.Sprintf("%s it, still drifting: %s changes by %+.1f %% from its begin to its end", [2]string{"before", "after"}[i], name, 100*l.Drift/l.Mean)
		}
	}
	return false, ""
}

// Needs is what length would tell the rows that are not decided.
type Needs struct {
	Rows    []string `json:"rows"`
	Windows int      `json:"windows"` // of each side
	MoreNS  int64    `json:"more_ns"` // so much longer the system has to run, or both
	// Ghost says that running on does not do: what is before a change, or has ended, does not become longer.
	// A ghost does: it goes on without the change, beside the system.
	Ghost bool `json:"ghost,omitempty"`
}

func (c *Card) needs(rows []Row) *Needs {
	n := &Needs{}
	for i := range rows {
		if r := &rows[i]; r.Needs > 0 && r.Needs <= windows.MomentsKept {
			n.Rows, n.Windows = append(n.Rows, r.Name), max(n.Windows, r.Needs)
		}
	}
	if n.Rows == nil {
		return nil
	}
	window := (c.After.ToNS - c.After.FromNS) / int64(c.After.Windows)
	if n.Ghost = c.Number > 0 && (c.Final || n.Windows > longest || n.Windows > c.Before.Windows); n.Ghost {
		n.MoreNS = int64(n.Windows) * window
	} else {
		n.MoreNS = int64(max(n.Windows-c.After.Windows, 1)) * window
	}
	return n
}
