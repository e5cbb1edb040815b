package card

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"drtmx/cluster/session"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// level is a stretch of windows under one setting of the knobs.
type level struct {
	windows    int
	throughput float64
	p50        float64
	ramp       int // this many windows come from half the throughput up to it
	limit      string
	lock       float64 // mean us
}

const spanNS = 200_000

// sampled makes a history whose noise is correlated, as that of a real system
// is: what is in flight at the end of a window is finished in the next.
func sampled(seed uint64, levels ...level) []windows.Moment {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []windows.Moment
	noise := 0.0
	for v, l := range levels {
		for i := range l.windows {
			noise = 0.5*noise + 0.01*r.NormFloat64()
			x := l.throughput * (1 + noise)
			if i < l.ramp {
				x *= 0.5 + 0.5*float64(i)/float64(l.ramp)
			}
			n := len(out)
			w := result.Window{
				Index: n, T0NS: int64(n) * spanNS, T1NS: int64(n+1) * spanNS, KnobsVersion: v + 1, Throughput: x,
				Commits: uint64(x * spanNS / 1e9), AbortRate: 0.01 * (1 + 0.3*r.NormFloat64()), RoundTripsPerTxn: 3,
				LatencyUS:  result.Latency{P50: l.p50 * (1 - noise), P99: 30 * (1 + 0.03*r.NormFloat64())},
				Phases:     map[string]result.PhaseStat{"lock": {MeanUS: l.lock * (1 + 0.01*r.NormFloat64())}, "logging": {MeanUS: 4}},
				Bottleneck: &result.Bottleneck{Resource: l.limit, Utilization: 0.97}, Limit: &result.Verdict{Word: result.Saturated, Of: l.limit},
			}
			out = append(out, windows.Of(&w))
		}
	}
	return out
}

// change is the event between level v and the next.
func change(ms []windows.Moment, version int) session.Event {
	at := int64(0)
	for _, m := range ms {
		if m.Version < version {
			at = m.T1
		}
	}
	return session.Event{Kind: "knob", By: "page", VirtualNS: at, Version: version, Set: experiment.Knobs{"phase.lock": "two-sided"}, Was: experiment.Knobs{"phase.lock": "one-sided"}}
}

func row(t *testing.T, c Card, name string) Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no row %s in %+v", name, c)
	return Row{}
}

var before = level{windows: 120, throughput: 8e6, p50: 15, limit: "cpu", lock: 4}

func TestCardFindsAStep(t *testing.T) {
	after := before
	after.throughput, after.p50, after.lock = 7.2e6, 16.5, 5.5
	ms := sampled(1, before, after)
	c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
	r := row(t, c, "throughput")
	if r.Verdict != "worse" || math.Abs(r.Percent+10) > 2 || r.Half95 <= 0 || r.Half95 > 0.03*r.Before {
		t.Errorf("a step of -10 %%: %+v", r)
	}
	if math.Abs(r.After-r.Before-r.Diff) > 1 {
		t.Errorf("the difference %g is not that of the means shown, %g and %g", r.Diff, r.Before, r.After)
	}
	if r := row(t, c, "p50"); r.Verdict != "worse" || math.Abs(r.Percent-10) > 2 {
		t.Errorf("a step of +10 %%: %+v", r)
	}
	for _, name := range []string{"p99", "round trips"} {
		if r := row(t, c, name); r.Verdict != "same" {
			t.Errorf("nothing changed: %+v", r)
		}
	}
	for _, want := range []string{"Throughput fell by 9.8 %", "p50 rose by 9.8 %", "p99 did not change measurably", "lock moved most, 4.0 → 5.5 µs", "still saturated (CPU at 97 %)"} {
		if !strings.Contains(c.Sentence, want) {
			t.Errorf("sentence %q lacks %q", c.Sentence, want)
		}
	}
	if c.Number != 1 || c.Title != "phase.lock: one-sided → two-sided" {
		t.Errorf("number %d, title %q", c.Number, c.Title)
	}
}

// Where nothing changes a card must not claim that something did: at 95 % that
// happens now and then, more often only if the noise were taken for independent.
func TestCardSaysSame(t *testing.T) {
	wrong, none := 0, 0
	const tries = 200
	for seed := range uint64(tries) {
		ms := sampled(seed, before, before)
		switch r := row(t, OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0], "throughput"); {
		case r.moved():
			wrong++
		case r.Verdict == Undecided:
			none++
		}
	}
	if wrong > tries*8/100 || none > tries/5 {
		t.Errorf("%d of %d cards saw a change that was not there, %d were undecided", wrong, tries, none)
	}
}

func TestCardLeavesOutTheTransient(t *testing.T) {
	after := before
	after.ramp = 30
	ms := sampled(3, before, after)
	c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
	if c.After.Skipped < 20 || c.After.Skipped > 60 {
		t.Errorf("%d windows left out, the transient had 30", c.After.Skipped)
	}
	if r := row(t, c, "throughput"); math.Abs(r.Percent) > 2 {
		t.Errorf("the transient is in the card: %+v", r)
	}
}

func TestCardSeesTheLimitMove(t *testing.T) {
	after := before
	after.limit = "nic_tx"
	ms := sampled(4, before, after)
	c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
	if c.Before.Limit != "saturated (CPU at 97 %)" || c.After.Limit != "saturated (NIC send at 97 %)" {
		t.Errorf("limit %q, then %q", c.Before.Limit, c.After.Limit)
	}
	if !strings.Contains(c.Sentence, "it was saturated (CPU at 97 %) and is saturated (NIC send at 97 %)") {
		t.Error(c.Sentence)
	}
}

func TestCardWaits(t *testing.T) {
	short := before
	short.windows = Least - 1
	ms := sampled(5, before, short)
	c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]
	if len(c.Rows) > 0 || c.Settling == "" || c.Final {
		t.Errorf("a card of %d windows: %+v", short.windows, c)
	}
	ms = sampled(5, short, before)
	if c := OfChanges("a", "e", ms, []session.Event{change(ms, 2)})[0]; len(c.Rows) > 0 || !strings.Contains(c.Settling, "before") {
		t.Errorf("with too little before: %+v", c)
	}
	if c := OfChanges("a", "e", nil, []session.Event{change(nil, 2)})[0]; c.Settling == "" {
		t.Errorf("without windows: %+v", c)
	}
}

// The card of a change ends with the next change; then it is final.
func TestCardsOfSeveralChanges(t *testing.T) {
	second, third := before, before
	second.throughput, third.throughput = 6e6, 8e6
	ms := sampled(6, before, second, third)
	cs := OfChanges("a", "e", ms, []session.Event{{Kind: "fork"}, change(ms, 2), {Kind: "failed"}, change(ms, 3)})
	if len(cs) != 2 || cs[0].Number != 2 || cs[1].Number != 1 || cs[0].Final || !cs[1].Final {
		t.Fatalf("%d cards: %+v", len(cs), cs)
	}
	if r := row(t, cs[0], "throughput"); r.Verdict != "better" {
		t.Errorf("back up: %+v", r)
	}
	if r := row(t, cs[1], "throughput"); r.Verdict != "worse" {
		t.Errorf("down: %+v", r)
	}
}

// A window carries the version it began with: the one in which the change fell
// belongs to neither side.
func TestUnderLeavesOutTheWindowOfTheChange(t *testing.T) {
	ms := sampled(7, level{windows: 10}, level{windows: 5})
	if a, b := windows.Under(ms, 1), windows.Under(ms, 2); len(a) != 9 || len(b) != 5 {
		t.Errorf("%d before, %d after", len(a), len(b))
	}
	if x := windows.Under(ms, 9); len(x) != 0 {
		t.Errorf("%d windows of a version that is not there", len(x))
	}
}

func TestSentences(t *testing.T) {
	c := Card{Number: 1, Rows: []Row{
		{Name: "throughput", Percent: -12.3, Diff: -1, Verdict: "worse"}, {Name: "p50", Verdict: "same"}, {Name: "p99", Verdict: "same"},
		{Name: "aborts", Before: 0.12, After: 5.2, Diff: 5.08, Verdict: "worse"}}}
	if got, want := c.sentence(), "Throughput fell by 12 %, aborts went from 0.1 to 5.2 %, p50 and p99 did not change measurably."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Number = 0
	if got, want := c.sentence(), "Throughput is 12 % below the ghost's, aborts are 0.1 % in the ghost and 5.2 % here, p50 and p99 not measurably different."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTitles(t *testing.T) {
	for want, e := range map[string]session.Event{
		"ddio: on → off":      {Set: experiment.Knobs{"ddio": false}, Was: experiment.Knobs{"ddio": true}},
		"coroutines: 8 → 16":  {Set: experiment.Knobs{"coroutines": 16}, Was: experiment.Knobs{"coroutines": 8}},
		"preset = fasst":      {Set: experiment.Knobs{"preset": "fasst"}},
		"ddio: on → off, x=1": {Set: experiment.Knobs{"ddio": false, "x": 1}, Was: experiment.Knobs{"ddio": true}},
		// what a step sets to go back to its start may be so already
		"coroutines 1 again, preset fasst again": {Set: experiment.Knobs{"preset": "fasst", "coroutines": 1}, Was: experiment.Knobs{"preset": "fasst", "coroutines": 1}},
	} {
		want = strings.Replace(want, "x=1", "x = 1", 1)
		if got := Title(e); got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	}
}

// Changes that follow each other too quickly are measured together, by the card of the last.
func TestQuickChangesTogether(t *testing.T) {
	ms := sampled(3, level{windows: 100, throughput: 1e6, p50: 20}, level{windows: 5, throughput: 1e6, p50: 20}, level{windows: 100, throughput: 8e5, p50: 25})
	got := OfChanges("a", "e1", ms, []session.Event{change(ms, 2), change(ms, 3)})
	if len(got) != 2 {
		t.Fatalf("%d cards", len(got))
	}
	if last := got[0]; last.With != 1 || last.Before.Version != 1 || last.Settling != "" || last.Rows[0].Verdict != "worse" {
		t.Errorf("the last change: %+v", last)
	}
	if first := got[1]; !first.Final || len(first.Rows) > 0 || !strings.Contains(first.Settling, "the next change came too soon") {
		t.Errorf("the first change: %+v", first)
	}
}

// Two steps of one knob right after each other are one change on the card, from the value before the first.
func TestTwoPressesOfAnArrowKey(t *testing.T) {
	ms := sampled(3, level{windows: 100, throughput: 1e6, p50: 20}, level{windows: 5, throughput: 1e6, p50: 20}, level{windows: 100, throughput: 8e5, p50: 25})
	step := func(version, was, is int) session.Event {
		e := change(ms, version)
		e.Set, e.Was = experiment.Knobs{"coroutines": is}, experiment.Knobs{"coroutines": was}
		return e
	}
	last := OfChanges("a", "e1", ms, []session.Event{step(2, 8, 9), step(3, 9, 10)})[0]
	if last.Title != "coroutines: 8 → 10" || last.With != 1 || last.Set["coroutines"] != 10 || Base(ms, 3) != 1 {
		t.Errorf("%q, %+v", last.Title, last)
	}
	if back := OfChanges("a", "e1", ms, []session.Event{step(2, 8, 9), step(3, 9, 8)})[0]; back.Title != "coroutines: 9 → 8" {
		t.Errorf("what takes the step before it back: %q", back.Title)
	}
}
