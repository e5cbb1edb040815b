package dashboard

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sort"
	"strings"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
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
	Limit   string `json:"limit,omitempty"` // saturated, latency-bound or contended, see limitOf
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

// undecided is the verdict on a row without an interval.
const undecided = "undecided"

// moved says that a row differs by more than chance.
func (r *Row) moved() bool { return r.Verdict != "same" && r.Verdict != undecided }

// quantity is a row's column of numbers.
type quantity struct {
	name, unit string
	of         func(m *moment) float64 // NaN: absent
	moreIs     string
	rare       bool // no row where there is none
}

var quantities = []quantity{
	{"throughput", "/s", func(m *moment) float64 { return m.throughput }, "better", false},
	{"p50", "µs", func(m *moment) float64 { return m.p50 }, "worse", false},
	{"p99", "µs", func(m *moment) float64 { return m.p99 }, "worse", false},
	{"aborts", "%", func(m *moment) float64 { return m.aborts }, "worse", false},
	{"failures", "%", func(m *moment) float64 { return m.failures }, "worse", true},
	{"round trips", "/txn", func(m *moment) float64 { return m.trips }, "worse", false},
}

const (
	cardWindows = 400                 // at most this many windows on a side
	cardLeast   = metrics.LeastValues // fewer say nothing

	cardTogether = 32 // changes that one card looks back over
)

// cards makes a card of each of the latest knob changes of a system, latest first.
func cards(sys, epoch string, ms []moment, events []session.Event) []Card {
	last := 0
	for _, e := range events {
		last = max(last, e.Version)
	}
	var out []Card
	next := int64(math.MaxInt64)
	for _, e := range slices.Backward(events) {
		if len(out) == cardsShown {
			break
		}
		if e.Version == 0 || len(e.Set) == 0 {
			continue
		}
		c := Card{Sys: sys, Number: e.Version - 1, Version: e.Version, VirtualNS: e.VirtualNS, By: e.By, Set: e.Set, Title: title(e)}
		base, before := settledBefore(ms, e.Version)
		after := trained(under(ms, e.Version))
		c.With = e.Version - 1 - base
		c.Before, c.After = Part{Sys: sys, Epoch: epoch, Version: base}, Part{Sys: sys, Epoch: epoch, Version: e.Version}
		c.Final = e.Version < last || len(after) >= 2*cardWindows
		c.training = len(after) == 0 && len(under(ms, e.Version)) > 0
		c.Failed, c.Lost = failures(ms, e.VirtualNS, next)
		next = e.VirtualNS
		c.compare(before, after[:min(len(after), 2*cardWindows)])
		out = append(out, c)
	}
	return out
}

// title writes a change as people say it.
func title(e session.Event) string {
	var parts []string
	for _, n := range sortedNames(e.Set) {
		if experiment.IsOrder(n) {
			if orders(e.Set[n]) {
				parts = append(parts, order(n, e.Set[n]))
			}
		} else if was, ok := e.Was[n]; ok && was != e.Set[n] {
			parts = append(parts, fmt.Sprintf("%s: %s → %s", n, shown(n, was), shown(n, e.Set[n])))
		} else if !ok {
			parts = append(parts, fmt.Sprintf("%s = %s", n, shown(n, e.Set[n])))
		}
	}
	if len(parts) == 0 { // a preset that is set again takes its knobs back
		for _, n := range sortedNames(e.Set) {
			parts = append(parts, fmt.Sprintf("%s %s again", n, shown(n, e.Set[n])))
		}
	}
	return strings.Join(parts, ", ")
}

// shown writes a value as a person would; switches are on or off.
func shown(knob string, v any) string {
	if b, ok := v.(bool); ok {
		return map[bool]string{true: "on", false: "off"}[b]
	}
	if knob == crashKnob {
		return map[bool]string{true: "none", false: "machine " + experiment.Format(knob, v)}[!orders(v)]
	}
	return experiment.Format(knob, v)
}

func sortedNames(k experiment.Knobs) []string {
	names := make([]string, 0, len(k))
	for n := range k {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// under is the windows that lie wholly under one version of the knobs. A window
// carries the version that it began with; the one in which the next change fell
// is left out.
func under(ms []moment, version int) []moment {
	lo := sort.Search(len(ms), func(i int) bool { return ms[i].version >= version })
	hi := sort.Search(len(ms), func(i int) bool { return ms[i].version > version })
	if hi < len(ms) && hi > lo {
		hi--
	}
	return ms[lo:hi]
}

// settledBefore is the latest version before another that has enough windows behind its transient
// to compare with, and its last windows: changes that follow each other quickly are measured together.
func settledBefore(ms []moment, version int) (base int, before []moment) {
	latest := func(v int) []moment {
		ws := under(ms, v)
		return ws[max(0, len(ws)-cardWindows):]
	}
	for v := version - 1; v > max(version-1-cardTogether, 0); v-- {
		if before = latest(v); len(new(Part).settle(before)) >= cardLeast {
			return v, before
		}
	}
	return version - 1, latest(version - 1)
}

// compare fills the card from the windows of both sides.
func (c *Card) compare(before, after []moment) {
	before, after = c.Before.settle(before), c.After.settle(after)
	if c.Number == 0 && min(len(before), len(after)) < cardLeast {
		c.Settling = fmt.Sprintf("waiting for windows that both systems have: %d of %d", min(len(before), len(after)), cardLeast)
		return
	}
	if len(before) < cardLeast {
		c.Settling = "there were too few windows before it to compare with"
		return
	}
	if c.training && !c.Final {
		c.Settling = "a new model is trained in the background; until it is there, clients use the old one"
		return
	}
	if len(after) < cardLeast && c.Final {
		c.Settling = "the next change came too soon to tell; the card of that one says what they did together"
		return
	}
	if len(after) < cardLeast {
		c.Settling = fmt.Sprintf("waiting for the transient to pass: %d of %d windows", len(after), cardLeast)
		return
	}
	c.rows(before, after)
}

// rows compares two sides that have settled.
func (c *Card) rows(before, after []moment) {
	c.Before.Limit, c.After.Limit = limitOf(before), limitOf(after)
	for _, q := range quantities {
		if r, ok := q.row(before, after); ok && (!q.rare || r.Before > 0 || r.After > 0) {
			c.Rows = append(c.Rows, r)
		}
	}
	for i, name := range phaseOrder {
		q := quantity{name, "µs", func(m *moment) float64 { return float64(m.phases[i]) }, "worse", false}
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
			rows[j].Verdict, rows[j].Why, rows[j].Drifts, rows[j].Half95 = undecided, why, true, 0
		}
	}
}

// settle drops the transient at the beginning of a side, and what is more than
// enough.
func (p *Part) settle(ms []moment) []moment {
	throughput := make([]float64, len(ms))
	for i := range ms {
		throughput[i] = ms[i].throughput
	}
	p.Skipped = transient(throughput)
	ms = ms[p.Skipped:]
	ms = ms[:min(len(ms), cardWindows)]
	p.Windows = len(ms)
	if len(ms) > 0 {
		p.FromNS, p.ToNS = ms[0].t0, ms[len(ms)-1].t1
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

func (q *quantity) row(before, after []moment) (Row, bool) {
	a, b := q.series(before), q.series(after)
	if len(a) < cardLeast || len(b) < cardLeast {
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
			r.Verdict, r.Why, r.Drifts = undecided, side.name+" it, "+side.Reason(q.name), side.Why == metrics.Drifting
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
func (q *quantity) series(ms []moment) []float64 {
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

// cards answers with the cards of all systems: changes, and each ghost against
// what it was forked from.
func (p *page) cards(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Changes []Card `json:"changes"`
		Ghosts  []Card `json:"ghosts"`
	}{[]Card{}, []Card{}}
	for _, s := range p.source.Systems() {
		changes, err := p.changes(r.Context(), s)
		if err != nil {
			continue // closed since
		}
		out.Changes = append(out.Changes, changes...)
		if c, ok := p.ghost(r.Context(), s); ok {
			out.Ghosts = append(out.Ghosts, c)
		}
	}
	answer(w, out)
}

func (p *page) changes(ctx context.Context, s system.Snapshot) ([]Card, error) {
	ms, epoch, err := p.keeper.moments(ctx, s.Sys)
	if err != nil {
		return nil, err
	}
	events, err := p.source.Events(ctx, s.Sys)
	if err != nil {
		return nil, err
	}
	out := cards(s.Sys, epoch, ms, events)
	if l, err := p.lines.get(ctx, s); err == nil && l.epoch == epoch {
		taken := undone(l)
		for i := range out {
			c := &out[i]
			c.Undo, c.Moved = inverseOf(l, c.Version), moved(l, c.Before.Version, c.Version, c.Set)
			if by, ok := taken[c.Version]; ok {
				c.Undone = by - 1
			}
		}
	}
	return out, nil
}

// cardsShown bounds what a reader is sent; the timeline has the marks of all.
const cardsShown = 50
