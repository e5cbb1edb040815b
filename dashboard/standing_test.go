package dashboard

import (
	"strings"
	"testing"

	"drtmx/cluster/job"
	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/dashboard/card"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// beside is a source with system a, and another of its own beside it that is slower.
func beside(t *testing.T) *fakeSource {
	f := newFake(t)
	f.run(80, 8e6)
	other := newFake(t)
	other.run(80, 6e6)
	f.systems[0].Name = "occ"
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Name: "nowait", Epoch: "e2", KnobsVersion: 1, VirtualNS: 80 * windowNS})
	f.windows["b"] = other.windows["a"]
	return f
}

type allCards struct{ Changes, Ghosts, Rivals []card.Card }

// Two systems side by side have a card as a ghost has, without that anybody turns a knob, by their names; it begins anew with a change
// of either, and one system alone has none.
func TestSystemsSideBySideHaveACard(t *testing.T) {
	f := beside(t)
	h := Handler(f)
	var c allCards
	getJSON(t, h, "/page/cards", &c)
	if len(c.Rivals) != 1 || len(c.Ghosts) != 0 {
		t.Fatalf("%+v", c)
	}
	r := c.Rivals[0]
	if x := rowOf(t, r, "throughput"); x.Before < 7.9e6 || x.After > 6.1e6 || x.Verdict != "worse" {
		t.Errorf("%+v", x)
	}
	if r.Title != "b: nowait against a: occ" || !strings.HasPrefix(r.Sentence, "nowait against occ: throughput is 25 % lower") || r.Before.Title != "occ" || r.After.Windows != 64 || r.NextLook != 128 {
		t.Errorf("%q, %q, %+v", r.Title, r.Sentence, r)
	}
	f.set(t, experiment.Knobs{"coroutines": 4})
	f.run(3, 9e6)
	c = allCards{}
	getJSON(t, h, "/page/cards", &c)
	if r := c.Rivals[0]; len(r.Rows) > 0 || !strings.HasPrefix(r.Settling, "waiting for windows that both systems have: 0 of 8") {
		t.Errorf("right after a change of one: %+v", r)
	}
	f.systems = f.systems[:1]
	c = allCards{}
	getJSON(t, h, "/page/cards", &c)
	if len(c.Rivals) != 0 {
		t.Errorf("alone: %+v", c.Rivals)
	}
	f = beside(t)
	f.each = map[string]experiment.Knobs{"b": {}}
	f.systems[1].Name = "occ" // names that do not tell them apart
	c = allCards{}
	getJSON(t, Handler(f), "/page/cards", &c)
	if len(c.Rivals) != 1 || !strings.HasPrefix(c.Rivals[0].Sentence, "system b against system a: throughput") {
		t.Errorf("%+v", c.Rivals)
	}
}

// A ghost has the changes of its parent in its past: their cards are the parent's, and are there once.
func TestCardsOfAGhostAreThereOnce(t *testing.T) {
	f := changed(t)
	f.set(t, experiment.Knobs{"coroutines": 4})
	f.run(60, 7e6)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e1", ForkNS: f.events["a"][1].VirtualNS, Without: 3, KnobsVersion: 2})
	f.windows["b"] = f.windows["a"][:120]
	f.events["b"] = append([]session.Event{}, f.events["a"][0])
	var c allCards
	getJSON(t, Handler(f), "/page/cards", &c)
	if len(c.Changes) != 2 || c.Changes[0].Sys != "a" || c.Changes[1].Sys != "a" {
		t.Errorf("%+v", c.Changes)
	}
	own := f.events["a"][1]
	own.Set = experiment.Knobs{"coroutines": 2}
	f.events["b"] = append(f.events["b"], own) // at the same time as the parent's, and another
	c = allCards{}
	getJSON(t, Handler(f), "/page/cards", &c)
	if len(c.Changes) != 3 {
		t.Errorf("the ghost's own change has no card: %+v", c.Changes)
	}
}

// Why tells which of two systems has no causes under its present knobs, and with both, the difference by their names.
func TestWhyOfTwoSystems(t *testing.T) {
	f := beside(t)
	causes := func(version int, cpu float64) job.CausesState {
		return job.CausesState{KnobsVersion: version, Epoch: "e1", Causes: &batch.Causes{Sum: &batch.Elasticity{}, Causes: []batch.Elasticity{{What: "CPU", Name: "cpu", Throughput: cpu}}}}
	}
	a, b := causes(1, 0.7), causes(1, 0.2)
	b.Epoch = "e2"
	f.causes = map[string]job.CausesState{"a": a}
	var w why
	ask := func() why {
		w = why{}
		getJSON(t, Handler(f), "/page/why?a=a&b=b", &w)
		return w
	}
	if w := ask(); w.Diff != nil || len(w.Measure) != 1 || w.Measure[0] != "b" {
		t.Errorf("%+v", w)
	}
	f.causes["b"] = job.CausesState{Running: true, Done: 400}
	if w := ask(); !w.Running || w.Done != 700 || len(w.Measure) != 0 || w.Diff != nil {
		t.Errorf("%+v", w)
	}
	f.causes["b"] = b
	if w := ask(); w.Diff == nil || !strings.Contains(w.Diff.Text, "CPU matters more to occ (0.70 and 0.20)") || w.Diff.B != "nowait" {
		t.Errorf("%+v", w)
	}
	f.causes["b"] = causes(0, 0.2) // before a change
	if w := ask(); w.Diff != nil || len(w.Measure) != 1 {
		t.Errorf("%+v", w)
	}
	if w := get(t, Handler(f), "/page/why?a=a&b=x"); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}
