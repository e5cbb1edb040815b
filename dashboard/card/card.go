package card

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"drtmx/cluster/session"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
	"drtmx/engine/metrics"
	"drtmx/engine/metrics/panel"
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
	Rival     bool             `json:"rival,omitempty"`  // two systems side by side, neither the other's ghost
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
	Needs     *Needs           `json:"needs,omitempty"`
	NextLook  int              `json:"next_look,omitempty"` // at so many windows it is judged anew; 0: it will not be
	Final     bool             `json:"final"`               // more windows will not change it

	settles string // all windows after it are of before it took hold: why
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
	Low     float64 `json:"low"` // the interval of Diff
	High    float64 `json:"high"`
	Half95  float64 `json:"half95"`  // half of its width
	Percent float64 `json:"percent"` // Diff of Before
	// Verdict is "better", "worse", "same" where the interval has zero in it, or "undecided" where there
	// is no interval or a drift is what puts zero in it.
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`    // there is no interval, or a wider one
	Says    string `json:"says,omitempty"`   // it in few words
	Needs   int    `json:"needs,omitempty"`  // so many windows of each side would tell; 0: these do, or none that are kept
	Drifts  bool   `json:"drifts,omitempty"` // on a side; the interval is wider by it
	// Ended says that every window before has some of it and none after has: that needs no interval.
	Ended bool `json:"ended,omitempty"`
}

// Undecided is the verdict on a row of which nothing can be said.
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
	Windows = 400                 // at most this many windows before a change
	longest = 2048                // and after it
	Least   = metrics.LeastValues // fewer say nothing

	cardTogether = 32 // changes that one card looks back over
)

// OfChanges makes a card of each of the latest knob changes of a system, latest first.
func OfChanges(sys, epoch string, ms []windows.Moment, events []session.Event) []Card {
	return new(Kept).OfChanges(sys, epoch, ms, events)
}

// Kept remembers the cards that no window changes any more: many pages ask for them each second. Its zero
// value is ready.
type Kept struct {
	mu    sync.Mutex
	cards map[keptKey]Card
}

type keptKey struct {
	sys, epoch string
	version    int
}

// keptCards is more than those of four systems.
const keptCards = 8 * Shown

// OfChanges is the function of that name.
func (k *Kept) OfChanges(sys, epoch string, ms []windows.Moment, events []session.Event) []Card {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cards == nil || len(k.cards) > keptCards {
		k.cards = map[keptKey]Card{}
	}
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
		key := keptKey{sys, epoch, e.Version}
		c, ok := k.cards[key]
		if !ok {
			c = cardOf(sys, epoch, ms, events, e, last, next)
			if len(ms) > 0 && ms[len(ms)-1].Version > e.Version { // all of its windows are there
				k.cards[key] = c
			}
		}
		next = e.VirtualNS
		out = append(out, c)
	}
	return out
}

// cardOf is the card of a change, and of those right before it that it is measured together with, before the next one.
func cardOf(sys, epoch string, ms []windows.Moment, events []session.Event, e session.Event, last int, next int64) Card {
	base, before := settledBefore(ms, e.Version)
	if set, was := together(events, base, e.Version); !reflect.DeepEqual(set, was) { // else the last of them took the others back
		e.Set, e.Was = set, was
	}
	c := Card{Sys: sys, Number: e.Version - 1, Version: e.Version, VirtualNS: e.VirtualNS, By: e.By, Set: e.Set, Title: Title(e)}
	after, settles := skipSettling(windows.Under(ms, e.Version))
	c.With = e.Version - 1 - base
	c.Before, c.After = Part{Sys: sys, Epoch: epoch, Version: base}, Part{Sys: sys, Epoch: epoch, Version: e.Version}
	c.Final = e.Version < last || len(after) >= longest
	if len(after) == 0 {
		c.settles = settles
	}
	c.Failed, c.Lost = failures(ms, e.VirtualNS, next)
	c.Compare(before, after[:min(len(after), longest)])
	return c
}

// together is what the changes behind one version up to another set, and what that was: two steps of one knob are one, from its
// value before the first.
func together(events []session.Event, base, version int) (set, was experiment.Knobs) {
	set, was = experiment.Knobs{}, experiment.Knobs{}
	for _, e := range events {
		if e.Version <= base || e.Version > version {
			continue
		}
		for n, v := range e.Set {
			_, again := set[n]
			set[n] = v
			if old, ok := e.Was[n]; ok && !again {
				was[n] = old
			}
		}
	}
	return set, was
}

// Base is the version whose windows a change is compared with: that before it or, where changes follow each other quickly, an
// earlier one.
func Base(ms []windows.Moment, version int) int {
	base, _ := settledBefore(ms, version)
	return base
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

// TrimTransient drops the transient at the beginning of a side, and takes note of what is left.
func (p *Part) TrimTransient(ms []windows.Moment) []windows.Moment {
	throughput := make([]float64, min(len(ms), longest)) // a transient ends before that
	for i := range throughput {
		throughput[i] = ms[i].Throughput
	}
	p.Skipped = transient(throughput)
	ms = ms[p.Skipped:]
	p.of(ms)
	return ms
}

// of takes note of the windows that a side is made of.
func (p *Part) of(ms []windows.Moment) {
	p.Windows = len(ms)
	if len(ms) > 0 {
		p.FromNS, p.ToNS = ms[0].T0, ms[len(ms)-1].T1
	}
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

// skipSettling leaves out the windows right after a change in which a part only prepares what it asked for, such as a model that is trained:
// it has no effect until then. It says why they are left out.
func skipSettling(after []windows.Moment) (rest []windows.Moment, why string) {
	for ; len(after) > 0; after = after[1:] {
		says := settling(&after[0])
		if says == "" {
			break
		}
		why = says
	}
	return after, why
}

func settling(m *windows.Moment) string {
	for _, p := range panel.All() {
		if w := p.In(m.Gauge); p.Settling != nil && p.Settling(&w) {
			return p.Settles
		}
	}
	return ""
}
