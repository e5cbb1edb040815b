package card

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/cluster/session"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
	"drtmx/engine/metrics"
)

// Card says what one knob change did: means of the windows before and after
// it, without the transient, and how sure one can be of the difference.
type Card struct {
	Sys       string           `json:"sys"`
	Number    int              `json:"number"` // of the change; 0: the system against its ghost
	Version   int              `json:"version"`
	VirtualNS int64            `json:"virtual_ns"`
	By        string           `json:"by,omitempty"`
	Set       experiment.Knobs `json:"set,omitempty"`
	Undo      experiment.Knobs `json:"undo,omitempty"` // takes it back
	Title     string           `json:"title"`
	Moved     []string         `json:"moved,omitempty"`  // every other knob that moved, from → to
	Undone    int              `json:"undone,omitempty"` // number of the change that took it back
	With      int              `json:"with,omitempty"`   // changes right before it that it is measured together with
	Before    Part             `json:"before"`
	After     Part             `json:"after"`
	Rows      []Row            `json:"rows,omitempty"`
	Absent    string           `json:"absent,omitempty"` // which percentile has no row, and why
	Phases    []Row            `json:"phases,omitempty"`
	Settling  string           `json:"settling,omitempty"` // why there are no rows yet
	Failed    uint64           `json:"failed,omitempty"`   // requests from the change to the next one
	Lost      uint64           `json:"lost,omitempty"`     // passive ones
	Sentence  string           `json:"sentence,omitempty"`
	Final     bool             `json:"final"` // more windows will not change it

	training bool // all windows after it are of before the model that it asked for
}

// Part is the windows that one side of a comparison is made of.
type Part struct {
	Title   string `json:"title,omitempty"`
	Sys     string `json:"sys"`
	Epoch   string `json:"epoch"`
	Version int    `json:"version"` // of the knobs
	FromNS  int64  `json:"from_ns"`
	ToNS    int64  `json:"to_ns"`
	Windows int    `json:"windows"`
	Skipped int    `json:"skipped"`         // the transient
	Limit   string `json:"limit,omitempty"` // saturated, latency-bound or contended, see windows.LimitOf
}

// Row compares one quantity.
type Row struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit,omitempty"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	Diff    float64 `json:"diff"`
	Half95  float64 `json:"half95"`
	Percent float64 `json:"percent"` // Diff of Before
	// Verdict is "better", "worse", "same" where the interval has zero in it, or "undecided" where there
	// is no interval, for a reason.
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	Says    string `json:"says,omitempty"`   // it in two words, if it is no lack of windows
	Drifts  bool   `json:"drifts,omitempty"` // is the reason
	// Ended says that every window before has some of it and none after has: that needs no interval.
	Ended bool `json:"ended,omitempty"`
}

// Undecided is the verdict on a row without an interval.
const Undecided = "undecided"

// moved says that a row differs by more than chance.
func (r *Row) moved() bool { return r.Verdict != "same" && r.Verdict != Undecided }

// quantity is a row's column of numbers.
type quantity struct {
	name, unit string
	of         func(m *windows.Moment) float64 // NaN: absent
	moreIs     string
	rare       bool // no row where there is none
}

var quantities = []quantity{
	{"throughput", "/s", func(m *windows.Moment) float64 { return m.Throughput }, "better", false},
	{"p50", "µs", func(m *windows.Moment) float64 { return m.P50 }, "worse", false},
	{"p99", "µs", func(m *windows.Moment) float64 { return m.P99 }, "worse", false},
	{"aborts", "%", func(m *windows.Moment) float64 { return m.Aborts }, "worse", false},
	{"failures", "%", func(m *windows.Moment) float64 { return m.Failures }, "worse", true},
	{"round trips", "/txn", func(m *windows.Moment) float64 { return m.Trips }, "worse", false},
}

const (
	Windows = 400                 // at most this many windows on a side
	Least   = metrics.LeastValues // fewer say nothing

	cardTogether = 32 // changes that one card looks back over
)

// OfChanges makes a card of each of the latest knob changes of a system, latest first.
func OfChanges(sys, epoch string, ms []windows.Moment, events []session.Event) []Card {
	last := 0
	for _, e := range events {
		last = max(last, e.Version)
	}
	var out []Card
	next := int64(math.MaxInt64)
	for _, e := range slices.Backward(events) {
		if len(out) == Shown {
			break
		}
		if e.Version == 0 || len(e.Set) == 0 {
			continue
		}
		c := Card{Sys: sys, Number: e.Version - 1, Version: e.Version, VirtualNS: e.VirtualNS, By: e.By, Set: e.Set, Title: Title(e)}
		base, before := settledBefore(ms, e.Version)
		after := trained(windows.Under(ms, e.Version))
		c.With = e.Version - 1 - base
		c.Before, c.After = Part{Sys: sys, Epoch: epoch, Version: base}, Part{Sys: sys, Epoch: epoch, Version: e.Version}
		c.Final = e.Version < last || len(after) >= 2*Windows
		c.training = len(after) == 0 && len(windows.Under(ms, e.Version)) > 0
		c.Failed, c.Lost = failures(ms, e.VirtualNS, next)
		next = e.VirtualNS
		c.Compare(before, after[:min(len(after), 2*Windows)])
		out = append(out, c)
	}
	return out
}

// Title writes a change as people say it.
func Title(e session.Event) string {
	var parts []string
	for _, n := range experiment.SortedNames(e.Set) {
		if experiment.IsOrder(n) {
			if lineage.NamesMachine(e.Set[n]) {
				parts = append(parts, lineage.Order(n, e.Set[n]))
			}
		} else if was, ok := e.Was[n]; ok && was != e.Set[n] {
			parts = append(parts, fmt.Sprintf("%s: %s → %s", n, lineage.Shown(n, was), lineage.Shown(n, e.Set[n])))
		} else if !ok {
			parts = append(parts, fmt.Sprintf("%s = %s", n, lineage.Shown(n, e.Set[n])))
		}
	}
	if len(parts) == 0 { // a preset that is set again takes its knobs back
		for _, n := range experiment.SortedNames(e.Set) {
			parts = append(parts, fmt.Sprintf("%s %s again", n, lineage.Shown(n, e.Set[n])))
		}
	}
	return strings.Join(parts, ", ")
}

// settledBefore is the latest version before another that has enough windows behind its transient
// to compare with, and its last windows: changes that follow each other quickly are measured together.
func settledBefore(ms []windows.Moment, version int) (base int, before []windows.Moment) {
	latest := func(v int) []windows.Moment {
		ws := windows.Under(ms, v)
		return ws[max(0, len(ws)-Windows):]
	}
	for v := version - 1; v > max(version-1-cardTogether, 0); v-- {
		if before = latest(v); len(new(Part).TrimTransient(before)) >= Least {
			return v, before
		}
	}
	return version - 1, latest(version - 1)
}

// Compare fills the card from the windows of both sides.
func (c *Card) Compare(before, after []windows.Moment) {
	before, after = c.Before.TrimTransient(before), c.After.TrimTransient(after)
	if c.Number == 0 && min(len(before), len(after)) < Least {
		c.Settling = fmt.Sprintf("waiting for windows that both systems have: %d of %d", min(len(before), len(after)), Least)
		return
	}
	if len(before) < Least {
		c.Settling = "there were too few windows before it to compare with"
		return
	}
	if c.training && !c.Final {
		c.Settling = "a new model is trained in the background; until it is there, clients use the old one"
		return
	}
	if len(after) < Least && c.Final {
		c.Settling = "the next change came too soon to tell; the card of that one says what they did together"
		return
	}
	if len(after) < Least {
		c.Settling = fmt.Sprintf("waiting for the transient to pass: %d of %d windows", len(after), Least)
		return
	}
	c.Judge(before, after)
}

// Judge compares two sides that have settled.
func (c *Card) Judge(before, after []windows.Moment) {
	c.Before.Limit, c.After.Limit = windows.LimitOf(before), windows.LimitOf(after)
	for _, q := range quantities {
		if r, ok := q.row(before, after); ok && (!q.rare || r.Before > 0 || r.After > 0) {
			c.Rows = append(c.Rows, r)
		}
	}
	for i, name := range windows.Phases {
		q := quantity{name, "µs", func(m *windows.Moment) float64 { return float64(m.Phases[i]) }, "worse", false}
		if r, ok := q.row(before, after); ok && (r.Before > 0 || r.After > 0) {
			c.Phases = append(c.Phases, r)
		}
	}
	c.drift()
	c.Absent = c.absent(before, after)
	c.Sentence = c.sentence()
}

// drift leaves all rows undecided where the throughput still drifts: what they measure is a state that
// does not last.
func (c *Card) drift() {
	i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Name == "throughput" && r.Drifts })
	if i < 0 {
		return
	}
	why := c.Rows[i].Why
	for _, rows := range [][]Row{c.Rows, c.Phases} {
		for j := range rows {
			rows[j].Verdict, rows[j].Why, rows[j].Drifts, rows[j].Half95 = Undecided, why, true, 0
		}
	}
}

// TrimTransient drops the transient at the beginning of a side, and what is more than
// enough.
func (p *Part) TrimTransient(ms []windows.Moment) []windows.Moment {
	throughput := make([]float64, len(ms))
	for i := range ms {
		throughput[i] = ms[i].Throughput
	}
	p.Skipped = transient(throughput)
	ms = ms[p.Skipped:]
	ms = ms[:min(len(ms), Windows)]
	p.Windows = len(ms)
	if len(ms) > 0 {
		p.FromNS, p.ToNS = ms[0].T0, ms[len(ms)-1].T1
	}
	return ms
}

// transient is how many values at the beginning are not yet like the others. The
// rule that finds the end of a transient also finds one where there is only
// noise, and cutting there would make the interval too narrow: what is cut has
// to differ from the rest.
func transient(series []float64) int {
	n := metrics.Settled(series)
	if n == 0 {
		return 0
	}
	head, tail := mean(series[:n]), mean(series[n:])
	variance := 0.0
	for _, v := range series[n:] {
		variance += (v - tail) * (v - tail)
	}
	variance /= float64(len(series) - n)
	if math.Abs(head-tail) < 4*math.Sqrt(variance/float64(n)) {
		return 0
	}
	return n
}

func (q *quantity) row(before, after []windows.Moment) (Row, bool) {
	a, b := q.series(before), q.series(after)
	if len(a) < Least || len(b) < Least {
		return Row{}, false
	}
	r := Row{Name: q.name, Unit: q.unit, Before: mean(a), After: mean(b), Verdict: "same"}
	r.Diff = r.After - r.Before
	if r.Before != 0 {
		r.Percent = 100 * r.Diff / r.Before
	}
	if !slices.Contains(a, 0) && !slices.ContainsFunc(b, func(v float64) bool { return v != 0 }) {
		r.Ended, r.Verdict = true, q.lessIs()
		return r, true
	}
	was, is := metrics.EstimateMean(a), metrics.EstimateMean(b)
	for _, side := range []struct {
		name string
		metrics.Estimate
	}{{"before", was}, {"after", is}} {
		if side.Why != metrics.None && !r.Drifts {
			r.Verdict, r.Why, r.Drifts = Undecided, side.name+" it, "+side.Reason(q.name), side.Why == metrics.Drifting
		}
	}
	if r.Why != "" {
		return r, true
	}
	r.Half95 = math.Hypot(was.Half95, is.Half95)
	if math.Abs(r.Diff) > r.Half95 {
		r.Verdict = q.moreIs
		if r.Diff < 0 {
			r.Verdict = q.lessIs()
		}
	}
	return r, true
}

// lessIs is the verdict on a quantity that fell.
func (q *quantity) lessIs() string {
	return map[string]string{"better": "worse", "worse": "better"}[q.moreIs]
}

// series is the quantity in the windows that have it.
func (q *quantity) series(ms []windows.Moment) []float64 {
	var out []float64
	for i := range ms {
		if v := q.of(&ms[i]); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// Shown bounds what a reader is sent; the timeline has the marks of all.
const Shown = 50

// failures are the requests of a card's time that brought no result: those that
// ended with an error, and passive ones that counted as done and may not have been.
func failures(ms []windows.Moment, from, to int64) (failed, lost uint64) {
	for _, m := range ms {
		if m.T1 > from && m.T1 <= to {
			failed, lost = failed+m.Failed, lost+m.Lost
		}
	}
	return failed, lost
}

// trained leaves out the windows right after a change in which the model that it asked for is trained: it has no effect until then.
func trained(after []windows.Moment) []windows.Moment {
	for len(after) > 0 && after[0].Gauge("xstore.training") > 0 {
		after = after[1:]
	}
	return after
}
