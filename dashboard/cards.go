package dashboard

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sort"
	"strings"

	"drtmx/cluster"
	"drtmx/engine"
	"drtmx/engine/metrics"
)

// Card says what one knob change did: means of the windows before and after
// it, without the transient, and how sure one can be of the difference.
type Card struct {
	Sys       string       `json:"sys"`
	Version   int          `json:"version"`
	VirtualNS int64        `json:"virtual_ns"`
	By        string       `json:"by"`
	Set       engine.Knobs `json:"set"`
	Was       engine.Knobs `json:"was,omitempty"`
	Title     string       `json:"title"`
	Rows      []Row        `json:"rows,omitempty"`
	Before    Part         `json:"before"`
	After     Part         `json:"after"`
	Settling  string       `json:"settling,omitempty"` // why there are no rows yet
	Sentence  string       `json:"sentence"`
}

// Part is the windows that one side of a card is made of.
type Part struct {
	FromNS     int64  `json:"from_ns"`
	ToNS       int64  `json:"to_ns"`
	Windows    int    `json:"windows"`
	Skipped    int    `json:"skipped"` // the transient
	Bottleneck string `json:"bottleneck,omitempty"`
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
	// Verdict is "better", "worse", or "same" where the interval has zero in it.
	Verdict string `json:"verdict"`
}

// quantity is a row's column of numbers.
type quantity struct {
	name, unit string
	of         func(w *engine.Window) float64 // NaN: absent
	moreIs     string
}

func absentIfZero(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

var quantities = []quantity{
	{"throughput", "txn/s", func(w *engine.Window) float64 { return w.Throughput }, "better"},
	{"p50", "us", func(w *engine.Window) float64 { return absentIfZero(w.LatencyUS.P50) }, "worse"},
	{"p99", "us", func(w *engine.Window) float64 { return absentIfZero(w.LatencyUS.P99) }, "worse"},
	{"aborts", "%", func(w *engine.Window) float64 { return 100 * w.AbortRate }, "worse"},
	{"round trips", "per txn", func(w *engine.Window) float64 { return w.RoundTripsPerTxn }, "worse"},
}

const (
	cardWindows = 400 // at most this many windows on a side
	cardLeast   = 8   // fewer say nothing
	cardBatches = 16  // neighbouring windows are correlated
)

// Cards makes a card of every knob change among the windows of a system,
// latest first.
func Cards(sys string, windows []engine.Window, events []cluster.Event) []Card {
	var out []Card
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Version == 0 || len(e.Set) == 0 {
			continue
		}
		c := Card{Sys: sys, Version: e.Version, VirtualNS: e.VirtualNS, By: e.By, Set: e.Set, Was: e.Was, Title: title(e)}
		c.compare(side(windows, e.Version-1), side(windows, e.Version))
		out = append(out, c)
	}
	return out
}

// title writes a change as people say it.
func title(e cluster.Event) string {
	names := make([]string, 0, len(e.Set))
	for n := range e.Set {
		names = append(names, n)
	}
	sort.Strings(names)
	var parts []string
	for _, n := range names {
		if was, ok := e.Was[n]; ok {
			parts = append(parts, fmt.Sprintf("%s: %v → %v", n, was, e.Set[n]))
		} else {
			parts = append(parts, fmt.Sprintf("%s = %v", n, e.Set[n]))
		}
	}
	return strings.Join(parts, ", ")
}

// side is the windows that lie wholly under one version of the knobs. A window
// carries the version it began with; the one in which the next change fell is
// left out.
func side(windows []engine.Window, version int) []engine.Window {
	lo := sort.Search(len(windows), func(i int) bool { return windows[i].KnobsVersion >= version })
	hi := sort.Search(len(windows), func(i int) bool { return windows[i].KnobsVersion > version })
	if hi < len(windows) && hi > lo {
		hi--
	}
	return windows[lo:hi]
}

func (c *Card) compare(before, after []engine.Window) {
	before, c.Before = settled(before, len(before) > cardWindows)
	after, c.After = settled(after, false)
	if len(after) > cardWindows {
		after = after[:cardWindows]
	}
	if len(before) < cardLeast {
		c.Settling = "there was too little before it to compare with"
		return
	}
	if len(after) < cardLeast {
		c.Settling = "waiting for the transient to pass"
		return
	}
	c.Before.Bottleneck, c.After.Bottleneck = bottleneck(before), bottleneck(after)
	for _, q := range quantities {
		if r, ok := q.row(before, after); ok {
			c.Rows = append(c.Rows, r)
		}
	}
	c.Sentence = c.sentence()
}

// settled drops the transient: before a change that is only what the previous
// change left, so the latest windows are taken.
func settled(ws []engine.Window, latest bool) ([]engine.Window, Part) {
	if latest {
		ws = ws[len(ws)-cardWindows:]
	}
	if len(ws) == 0 {
		return nil, Part{}
	}
	throughput := make([]float64, len(ws))
	for i := range ws {
		throughput[i] = ws[i].Throughput
	}
	skip := metrics.Settled(throughput)
	kept := ws[skip:]
	p := Part{Windows: len(kept), Skipped: skip}
	if len(kept) > 0 {
		p.FromNS, p.ToNS = kept[0].T0NS, kept[len(kept)-1].T1NS
	}
	return kept, p
}

func (q *quantity) row(before, after []engine.Window) (Row, bool) {
	a, b := q.series(before), q.series(after)
	if len(a) < 2 || len(b) < 2 {
		return Row{}, false
	}
	r := Row{Name: q.name, Unit: q.unit, Before: mean(a), After: mean(b), Verdict: "same"}
	r.Diff, r.Half95 = metrics.DiffBatches(a, b, cardBatches)
	if r.Before != 0 {
		r.Percent = 100 * r.Diff / r.Before
	}
	if math.Abs(r.Diff) > r.Half95 {
		r.Verdict = q.moreIs
		if r.Diff < 0 {
			r.Verdict = map[string]string{"better": "worse", "worse": "better"}[q.moreIs]
		}
	}
	return r, true
}

func (q *quantity) series(ws []engine.Window) []float64 {
	var out []float64
	for i := range ws {
		if v := q.of(&ws[i]); !math.IsNaN(v) {
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

// bottleneck is the resource that was closest to saturation most often.
func bottleneck(ws []engine.Window) string {
	count := map[string]int{}
	use := map[string]float64{}
	for i := range ws {
		if b := ws[i].Bottleneck; b != nil {
			count[b.Resource]++
			use[b.Resource] += b.Utilization
		}
	}
	best := ""
	for r, n := range count {
		if best == "" || n > count[best] || n == count[best] && r < best {
			best = r
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("%s at %.0f %%", best, 100*use[best]/float64(count[best]))
}

// sentence says the card in words.
func (c *Card) sentence() string {
	var parts []string
	for _, r := range c.Rows {
		if r.Name == "round trips" || r.Name == "aborts" {
			continue
		}
		switch {
		case r.Verdict == "same":
			parts = append(parts, r.Name+" did not change measurably")
		case r.Diff > 0:
			parts = append(parts, fmt.Sprintf("%s rose by %.1f %%", r.Name, r.Percent))
		default:
			parts = append(parts, fmt.Sprintf("%s fell by %.1f %%", r.Name, -r.Percent))
		}
	}
	s := strings.Join(parts, ", ")
	if c.Before.Bottleneck != "" && c.After.Bottleneck != "" {
		a, _, _ := strings.Cut(c.Before.Bottleneck, " ")
		b, _, _ := strings.Cut(c.After.Bottleneck, " ")
		if a != b {
			s += fmt.Sprintf("; the bottleneck moved from %s to %s", c.Before.Bottleneck, c.After.Bottleneck)
		} else {
			s += fmt.Sprintf("; the busiest resource stayed %s, %s", b, strings.TrimPrefix(c.After.Bottleneck, b+" "))
		}
	}
	return s + "."
}

func (p *page) cards(w http.ResponseWriter, r *http.Request) {
	out := []Card{}
	for _, s := range p.source.Systems() {
		cards, err := p.cardsOf(r.Context(), s.Sys)
		if err != nil {
			continue // closed since
		}
		out = append(out, cards...)
	}
	answer(w, out)
}

func (p *page) cardsOf(ctx context.Context, sys string) ([]Card, error) {
	windows, err := p.source.Windows(ctx, sys, 0)
	if err != nil {
		return nil, err
	}
	events, err := p.source.Events(ctx, sys)
	if err != nil {
		return nil, err
	}
	return Cards(sys, windows, events), nil
}
