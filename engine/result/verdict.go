package result

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"drtmx/engine/metrics"
)

// Verdict is what limits a system, by a rule on one window's or result's own data:
//
//  1. contended: conflicts take at least half of the time that requests are in flight (attempts
//     that abort, their back-off, pauses before a locked record is read again). Of names the
//     hottest records.
//  2. saturated: else, if the busiest unit of a resource is busy at least metrics.Saturated of the time. Of is
//     the resource, Node its machine.
//  3. latency-bound: else. Requests wait for their round trips one after the other, and nothing
//     that they use is full. Of names the phases that make up half of the latency.
//
// The rule needs no further run and so says no more than that. What a tenth less of each time
// would change is measured by MeasureCauses.
type Verdict struct {
	Word string `json:"verdict"` // Contended, Saturated or LatencyBound
	Of   string `json:"of"`
	Node *int   `json:"node,omitempty"`
	Text string `json:"text"` // in a sentence
}

// The words of a Verdict.
const (
	Contended    = "contended"
	Saturated    = "saturated"
	LatencyBound = "latency-bound"
)

const (
	contendedShare = 0.5 // of the time in flight
	latencyShare   = 0.5 // of the latency that the named phases make up
	latencyPhases  = 3   // named at most
)

// Limits is what the rule looks at.
type limits struct {
	ended      bool // some requests did
	busiest    *Bottleneck
	contention *ContentionStat
	phases     map[string]PhaseStat
	latencyUS  float64
	trips      float64 // per request
}

// Verdict applies the rule; nil where nothing ended.
func (l limits) Verdict() *Verdict {
	switch c := l.contention; {
	case !l.ended && c == nil:
		return nil
	case c != nil && c.LostShare >= contendedShare:
		return l.contended()
	case l.busiest != nil && l.busiest.Utilization >= metrics.Saturated:
		b := l.busiest
		return &Verdict{Word: Saturated, Of: b.Resource, Node: &b.Node, Text: fmt.Sprintf("saturated: %s of node %d, %.0f %% busy", metrics.Label(b.Resource), b.Node, 100*b.Utilization)}
	}
	return l.latencyBound()
}

func (l limits) contended() *Verdict {
	hot := l.contention.Hot
	var names []string
	for i := range hot[:min(HotWindow, len(hot))] {
		names = append(names, hot[i].name())
	}
	of := strings.Join(names, ", ")
	return &Verdict{Word: Contended, Of: of, Text: fmt.Sprintf("contended: conflicts take %s of the time in flight, most at %s", lost(l.contention.LostShare), of)}
}

// trips is a number of round trips in words.
func trips(n float64) string {
	text := fmt.Sprintf("%.2g", n)
	if n >= 10 { // a session that asks again and again has hundreds
		text = fmt.Sprintf("%.0f", n)
	}
	if text == "1" {
		return "1 round trip"
	}
	return text + " round trips"
}

func (l limits) latencyBound() *Verdict {
	var names, parts []string
	share := 0.0
	for _, name := range l.byShare() {
		if p := l.phases[name]; share < latencyShare && len(names) < latencyPhases {
			share += p.Share
			names = append(names, name)
			parts = append(parts, fmt.Sprintf("%s takes %.0f %% (%s)", name, 100*p.Share, trips(p.RoundTrips)))
		}
	}
	v := &Verdict{Word: LatencyBound, Of: strings.Join(names, ", ")}
	if names == nil {
		v.Of = "round trips"
		parts = []string{"round trips take the most (" + trips(l.trips) + ")"}
	}
	v.Text = fmt.Sprintf("latency-bound: of %s µs %s", Digits(l.latencyUS), strings.Join(parts, ", "))
	if b := l.busiest; b != nil {
		v.Text += fmt.Sprintf("; nothing is saturated, the busiest is %s of node %d at %.0f %%", metrics.Label(b.Resource), b.Node, 100*b.Utilization)
	}
	return v
}

// byShare are the phases in which requests wait for round trips, those that take most first.
func (l limits) byShare() []string {
	var names []string
	for name, p := range l.phases { // order-free: sorted below
		if p.Share > 0 && name != metrics.PhaseOther.String() {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	sortBy(names, func(name string) float64 { return l.phases[name].Share })
	return names
}

// sortBy sorts names by falling value, and by name where values are equal.
func sortBy[T uint64 | float64](names []string, value func(string) T) {
	slices.Sort(names)
	sort.SliceStable(names, func(i, j int) bool { return value(names[i]) > value(names[j]) })
}

func (r *Result) Limits() limits {
	return limits{ended: r.Commits+r.Rollbacks > 0, busiest: r.Bottleneck, contention: r.Contention, phases: r.Phases, latencyUS: r.LatencyUS.Mean, trips: r.RoundTripsPerTxn}
}

func (w *Window) Limits() limits {
	return limits{ended: w.Commits+w.Rollbacks > 0, busiest: w.Bottleneck, contention: w.Contention, phases: w.Phases, latencyUS: w.LatencyUS.Mean, trips: w.RoundTripsPerTxn}
}

// lost words a share of the time in flight. An attempt counts when it ends: in a short window, what ends can have taken
// longer than the window.
func lost(share float64) string {
	if share >= 0.995 {
		return "nearly all"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
