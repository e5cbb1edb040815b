package dashboard

import (
	"slices"
	"strings"
	"testing"

	"drtmx/dashboard/card"
	"drtmx/engine/experiment"
	"drtmx/engine/metrics"
	"drtmx/engine/metrics/panel"
	"drtmx/engine/result"
)

// withCache gives the latest windows what a learned cache shows.
func (f *fakeSource) withCache(n int, more map[string]float64) {
	ws := f.windows["a"]
	for i := len(ws) - n; i < len(ws); i++ {
		ws[i].Gauges = map[string]float64{"xstore.client_bytes": 1.5e6, "xstore.clients_bytes": 6e6, "xstore.hits": 100, "xstore.leaves": 40, "xstore.mean_error": 12.3, "xstore.max_error": 68,
			"xstore.submodels": 5000, "xstore.training": 0, "xstore.to_go": 0, "xstore.pending": 0, "xstore.fallbacks": 0}
		for name, v := range more { // order-free: fills a map
			ws[i].Gauges[name] = v
		}
	}
}

// onlyPanel is the panel of a system that shows one.
func onlyPanel(t *testing.T, f *fakeSource) shownPanel {
	t.Helper()
	var all []shownPanel
	if getJSON(t, Handler(f), "/page/panels", &all); len(all) != 1 {
		t.Fatalf("panels %+v", all)
	}
	return all[0]
}

// The panel says what a client's cache holds and how far training has come; a system without such a cache has none.
func TestLearnedPanel(t *testing.T) {
	f := newFake(t)
	f.run(40, 8e6)
	if w := get(t, Handler(f), "/page/panels"); w.Code != 200 || strings.TrimSpace(w.Body.String()) != "[]" {
		t.Errorf("of nobody: %d %.100s", w.Code, w.Body)
	}
	for _, c := range []struct {
		gauges  map[string]float64
		text    string
		settled bool
		done    float64
	}{
		{nil, "settled: 5,000 sub-models, nothing waits for training", true, 1},
		{map[string]float64{"xstore.pending": 3}, "retraining: 5,000 sub-models in use; after splits 3 tasks wait", false, 1},
		{map[string]float64{"xstore.training": 5000, "xstore.to_go": 5000}, "training: the keys are read first, then 5,000 sub-models are trained", false, 0},
		{map[string]float64{"xstore.training": 5000, "xstore.to_go": 312}, "training: 312 of 5,000 sub-models to go", false, 1 - 312.0/5000},
	} {
		f := newFake(t)
		f.run(40, 8e6)
		f.withCache(40, c.gauges)
		s := onlyPanel(t, f)
		if s.Text != c.text || s.Settled != c.settled || s.Done != c.done {
			t.Errorf("%v: %+v", c.gauges, s)
		}
		value := func(name string) string {
			for _, x := range s.Facts {
				if x.Name == name {
					return x.Value + " " + x.Unit
				}
			}
			return ""
		}
		for name, want := range map[string]string{"cache hits": "100 %", "leaves READ": "1.4 a lookup", "prediction error": "12 slots, ≤ 68", "a client’s cache": "1.5 MB", "fallbacks": "0 %", "invalidations": ""} {
			if value(name) != want {
				t.Errorf("%s is %q, want %q", name, value(name), want)
			}
		}
	}
	f = newFake(t) // a task now and then is no backlog
	f.run(40, 8e6)
	f.withCache(40, nil)
	f.run(1, 8e6)
	f.withCache(1, map[string]float64{"xstore.pending": 2})
	if s := onlyPanel(t, f); !s.Settled || !strings.Contains(s.Text, "keep up") {
		t.Errorf("%+v", s)
	}
	f = newFake(t)
	f.run(40, 8e6)
	f.withCache(40, map[string]float64{"xstore.fallbacks": 2})
	var o struct{ YAxis []struct{ Name string } }
	getJSON(t, Handler(f), "/page/panels/chart?part=xstore&chart=0&format=option&last=0&w=600&h=0", &o)
	if len(o.YAxis) != 4 || !strings.HasPrefix(o.YAxis[2].Name, "fallbacks") { // what there is none of has no track
		t.Errorf("tracks: %+v", o)
	}
}

// All gauges that panels ask for are known: a name with a typing error would show nothing.
func TestPanelsAskForGauges(t *testing.T) {
	asked := 0
	for _, x := range panel.All() {
		w := x.In(func(key string) float64 {
			if asked++; metrics.Named(key) == nil {
				t.Errorf("the panel of part %s asks for %s, which is no gauge", x.Part, key)
			}
			return 1
		})
		x.Shows(&w)
		if x.Says != nil {
			x.Says([]panel.Window{w})
		}
		if x.Settling != nil {
			x.Settling(&w)
		}
		for _, f := range x.Facts {
			f.Of(&w)
		}
		for _, c := range x.Charts {
			for _, track := range c.Tracks {
				track.Of(&w)
			}
		}
	}
	if asked < 20 {
		t.Errorf("%d gauges are asked for", asked)
	}
}

// What the panel of snapshots says follows the windows under the present knobs.
func TestSnapshotsPanel(t *testing.T) {
	f := newFake(t)
	f.run(10, 8e6)
	bound := int64(2_010_000)
	for i := range f.windows["a"] {
		w := &f.windows["a"][i]
		w.StalenessNS = &result.StalenessStat{Max: 1_500_000, Bound: &bound}
		w.Gauges = map[string]float64{"snapshots.reads": 100, "snapshots.blocked": 25, "snapshots.wait": 12}
	}
	if s := onlyPanel(t, f); s.Text != "the oldest read was 1.5 ms old, and 2.01 ms is the bound; 25 % of the reads waited for a writer, 12 µs on average" || s.Settles {
		t.Errorf("%+v", s)
	}
	f.set(t, experiment.Knobs{"coroutines": 4})
	f.run(1, 8e6)
	w := &f.windows["a"][len(f.windows["a"])-1]
	w.StalenessNS, w.Gauges = &result.StalenessStat{Max: 400_000}, map[string]float64{"snapshots.reads": 0}
	if s := onlyPanel(t, f); s.Text != "the oldest read was 400 µs old, and no bound is promised" {
		t.Errorf("after a change: %q", s.Text)
	}
}

// A card does not judge the windows in which the model that it asked for is still being trained.
func TestCardWaitsForTraining(t *testing.T) {
	f := newFake(t)
	f.run(60, 8e6)
	f.withCache(60, nil)
	f.set(t, experiment.Knobs{"coroutines": 4}) // any change: what counts is that a model is trained after it
	f.run(50, 8e6)
	f.withCache(50, map[string]float64{"xstore.training": 5000, "xstore.to_go": 100})
	of := func() card.Card {
		var all struct{ Changes []card.Card }
		getJSON(t, Handler(f), "/page/cards", &all)
		if len(all.Changes) != 1 {
			t.Fatalf("%d cards", len(all.Changes))
		}
		return all.Changes[0]
	}
	if c := of(); len(c.Rows) > 0 || !strings.Contains(c.Settling, "trained in the background") {
		t.Errorf("while a model is trained: %q, %v", c.Settling, c.Rows)
	}
	f.run(50, 12e6)
	f.withCache(50, nil)
	if c := of(); len(c.Rows) == 0 || c.Rows[0].Percent < 45 {
		t.Errorf("when it is there: %q, %v", c.Settling, c.Rows)
	}
}

// The slider of the number of sub-models has round numbers around those that make sense, and the one that there is.
func TestLadder(t *testing.T) {
	states := []experiment.KnobState{{Name: "workload.keys", Value: 1_000_000}, {Name: "servers", Value: 1}}
	if got, want := ladder(states, 7000), []float64{500, 1000, 2000, 5000, 7000, 10000, 20000, 50000}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := ladder(nil, 5); got != nil {
		t.Errorf("without keys %v", got)
	}
}
