package card

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster/session"
	"drtmx/dashboard/windows"
	"drtmx/engine/result"
)

// sloping lets the throughput of the windows under one version go up steadily, by a share of it over
// all of them.
func sloping(ms []windows.Moment, version int, share float64) []windows.Moment {
	ws := windows.Under(ms, version)
	for i := range ws {
		ws[i].Throughput *= 1 + share*float64(i)/float64(len(ws))
	}
	return ms
}

// A side that drifts slowly has another mean a minute later. The interval is as much wider: a step that is
// larger than the drift is still told, and said to drift; one that is not larger is not.
func TestCardOfADrift(t *testing.T) {
	after := before
	after.windows, after.throughput = 300, 9.6e6
	for version, name := range map[int]string{1: "before it, still drifting", 2: "after it, still drifting"} { // order-free: the cases are independent
		plain := sampled(1, before, after)
		still := row(t, OfChanges("a", "e", plain, []session.Event{change(plain, 2)})[0], "throughput")
		ms := sloping(sampled(1, before, after), version, 0.1)
		c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
		r := row(t, c, "throughput")
		if r.Verdict != "better" || !r.Drifts || !strings.HasPrefix(r.Why, name) || r.Half95 < still.Half95+0.01*r.Before {
			t.Errorf("%s: %+v, without a drift %+v", name, r, still)
		}
		if !strings.Contains(c.Sentence, "Throughput rose by") || !strings.Contains(c.Sentence, "; throughput still drifts;") {
			t.Error(c.Sentence)
		}
		small := level{windows: 300, throughput: map[int]float64{1: 8.7e6, 2: 7.5e6}[version], p50: 15, limit: "cpu", lock: 4}
		ms = sloping(sampled(1, before, small), version, 0.1)
		c = OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
		if r := row(t, c, "throughput"); r.Verdict != Undecided && r.Verdict != "same" || !r.Drifts {
			t.Errorf("%s, a step no larger than the drift: %+v", name, r)
		}
		if r := row(t, c, "p50"); r.Drifts || r.Verdict != "same" {
			t.Errorf("%s: p50 does not drift: %+v", name, r)
		}
	}
	ms := sampled(1, before, after)
	if r := row(t, OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0], "throughput"); r.Verdict != "better" || r.Why != "" || r.Drifts {
		t.Errorf("without a drift: %+v", r)
	}
}

// A card says one thing and not another a minute later: of cards of ever more windows of a system that
// ages, those with an interval agree with each other.
func TestCardsOfAnAgeingSystem(t *testing.T) {
	ages := before
	ages.windows, ages.throughput = 400, 9.6e6
	all := sloping(sampled(2, before, ages), 2, 0.1)
	event := change(all, 2)
	var first *Row
	shown := 0
	for n := before.windows + 2*Least; n <= len(all); n += 5 {
		r := row(t, OfChanges("a", "e", all[:n], []session.Event{event})[0], "throughput")
		if r.Verdict == Undecided {
			continue
		}
		shown++
		if first == nil {
			first = &r
		}
		if r.Diff-r.Half95 > first.Diff+first.Half95 || r.Diff+r.Half95 < first.Diff-first.Half95 {
			t.Errorf("after %d windows the difference is %.4g ± %.2g, and was %.4g ± %.2g", n, r.Diff, r.Half95, first.Diff, first.Half95)
		}
	}
	if shown == 0 {
		t.Error("no card has an interval")
	}
}

// A system that stopped needs no interval: every window before has commits and none after, however much
// the windows before depend on each other. What no attempt ended in has no abort rate.
func TestCardOfASystemThatStopped(t *testing.T) {
	ms := sampled(1, before, before)
	for i := range ms {
		if i < before.windows { // one state for some thirty windows, then another
			ms[i].Throughput *= 1 + float64(i/30%2)
		} else {
			ms[i] = windows.Of(&result.Window{Index: i, T0NS: ms[i].T0, T1NS: ms[i].T1, KnobsVersion: 2, Failed: 100})
		}
	}
	c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
	if r := row(t, c, "throughput"); r.Verdict != "worse" || !r.Ended || r.Why != "" {
		t.Errorf("%+v", r)
	}
	if !strings.HasPrefix(c.Sentence, "Throughput fell to 0") || strings.Contains(c.Sentence, "independent") {
		t.Error(c.Sentence)
	}
	for _, r := range c.Rows {
		if r.Name == "aborts" {
			t.Errorf("aborts of nothing: %+v", r)
		}
	}
	if c.Absent != "" { // the sentence says it
		t.Error(c.Absent)
	}
}

// TestCardSaysWhyThereIsNoPercentile: windows with too few requests have no p99, and the row does not vanish without a word.
func TestCardSaysWhyThereIsNoPercentile(t *testing.T) {
	ms := sampled(1, before, before)
	for i := range windows.Under(ms, 2) {
		ms[before.windows+i].P99, ms[before.windows+i].Commits = math.NaN(), 50
	}
	const why = "No p99 yet: it takes 1,000 requests in 8 stretches of windows, and those after it have fewer: about 180 windows do."
	if c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]; c.Absent != why || c.Needs == nil || !slices.Contains(c.Needs.Rows, "p99") || c.Needs.Windows < 180 {
		t.Errorf("%q, %+v", c.Absent, c.Needs)
	}
	both := slices.Clone(ms)
	for i := range both {
		both[i].P99 = math.NaN()
	}
	if c := OfChanges("a", "e", both, []session.Event{change(both, 2)})[0]; !strings.Contains(c.Absent, "those before it and after it have fewer") {
		t.Errorf("%q", c.Absent)
	}
	whole := sampled(1, before, before)
	if c := OfChanges("a", "e", whole, []session.Event{change(whole, 2)})[0]; c.Absent != "" {
		t.Errorf("%q", c.Absent)
	}
}

// Windows that remember each other for as long as there are windows say nothing: then the card says how
// many it takes, and offers them.
func TestCardOfALongMemory(t *testing.T) {
	ms := sampled(1, before, before)
	for i := range windows.Under(ms, 2) { // one state for some thirty windows, then another
		ms[before.windows+i].Trips = 3 + float64(i/30%2)
	}
	c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
	r := row(t, c, "round trips")
	if r.Verdict != Undecided || r.Why == "" || r.Half95 != 0 || r.Needs <= c.After.Windows || r.Says != fmt.Sprintf("takes about %d windows", r.Needs) {
		t.Errorf("%+v", r)
	}
	if n := c.Needs; n == nil || !slices.Contains(n.Rows, "round trips") || n.Windows < r.Needs || n.MoreNS < spanNS || !n.Ghost { // what is before it has too few too
		t.Errorf("%+v", n)
	}
}

// What cannot be told is a clause of its own, behind what can.
func TestSentenceKeepsApartWhatIsNotDecided(t *testing.T) {
	c := &Card{Number: 1, Rows: []Row{{Name: "throughput", Percent: -61, Diff: -61, Before: 4, After: 2, Verdict: "worse"}, {Name: "p50", Verdict: Undecided, Drifts: true}, {Name: "p99", Verdict: Undecided}, {Name: "aborts", Verdict: Undecided}}}
	if got, want := c.sentence(), "Throughput fell by 61 %; p50 still drifts; not enough windows yet to judge p99 and aborts."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
