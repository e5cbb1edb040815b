package dashboard

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/lineage"
	"drtmx/engine/experiment"
)

// crashed is a system of which machine 1 crashes at window 60, machine 0 at 80, and
// which restart at 100 and 120.
func crashed(t *testing.T) *fakeSource {
	t.Helper()
	f := newFake(t)
	f.spec = experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{}}
	f.start = f.spec
	order := func(set experiment.Knobs) {
		f.systems[0].KnobsVersion++
		f.events["a"] = append(f.events["a"], session.Event{Kind: "fault", Version: f.systems[0].KnobsVersion, Set: set, VirtualNS: f.systems[0].VirtualNS})
	}
	f.run(60, 8e6)
	for i, set := range []experiment.Knobs{{"fault.crash": 1}, {"fault.crash": 0}, {"fault.restart": 1}, {"fault.restart": 0}} {
		order(set)
		f.run(20, 4e6)
		ws := f.windows["a"]
		for k := range ws[len(ws)-20:] {
			if w := &ws[len(ws)-20+k]; i < 3 {
				w.Failed, w.Lost = 500, uint64(1-min(k, 1))
			}
		}
	}
	return f
}

// The knobs behind crashes and restarts are known, and what takes them back.
func TestLineageOfCrashes(t *testing.T) {
	f := crashed(t)
	var k struct {
		Version int
		Undo    experiment.Knobs
	}
	getJSON(t, Handler(f), "/page/knobs", &k)
	if k.Version != 5 || fmt.Sprint(k.Undo) != fmt.Sprint(experiment.Knobs{"fault.crash": 0}) {
		t.Errorf("version %d, undone by %v", k.Version, k.Undo)
	}
	l, err := lineage.New(f).Get(t.Context(), f.systems[0])
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[int]struct {
		reads int
		down  []int
		undo  experiment.Knobs
	}{
		1: {-1, nil, nil},
		2: {1, []int{1}, experiment.Knobs{"fault.restart": 1}},
		3: {0, []int{1, 0}, experiment.Knobs{"fault.restart": 0}},
		4: {0, []int{0}, experiment.Knobs{"fault.crash": 1}},
		5: {-1, []int{}, experiment.Knobs{"fault.crash": 0}},
	} {
		x := l.At(version)
		if x.Values["fault.crash"] != want.reads || x.Values["fault.restart"] != -1 || fmt.Sprint(x.Down) != fmt.Sprint(want.down) || !reflect.DeepEqual(l.Inverse(version), want.undo) {
			t.Errorf("version %d: fault.crash reads %v, down are %v, undone by %v", version, x.Values["fault.crash"], x.Down, l.Inverse(version))
		}
	}
}

// What failed is on the time axis and on the cards; a crash is said in words.
func TestCrashesAreShown(t *testing.T) {
	f := crashed(t)
	h := Handler(f)
	var o struct {
		Series []struct {
			MarkLine struct{ Data []struct{ Name string } }
			Data     []struct{ Value []float64 }
		}
	}
	getJSON(t, h, "/page/timeline?format=option&last=0&w=1600&h=500", &o)
	if len(o.Series) != len(tracks) {
		t.Fatalf("%d series, want one of what failed", len(o.Series))
	}
	if y := o.Series[len(tracks)-1].Data; y[10].Value[1] != 0 || y[70].Value[1] != 2.5 { // million per second
		t.Errorf("failed: %v before, %v while a machine is down", y[10], y[70])
	}
	var names []string
	for _, m := range o.Series[0].MarkLine.Data {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, ","); got != "1 ✕,2 ✕,3 ↻,4 ↻" {
		t.Errorf("marks %s", got)
	}
	var c struct{ Changes []card.Card }
	getJSON(t, h, "/page/cards", &c)
	for i, want := range []struct {
		title        string
		failed, lost uint64
	}{{"machine 0 restarts", 0, 0}, {"machine 1 restarts", 10_000, 1}, {"machine 0 crashes", 10_000, 1}, {"machine 1 crashes", 10_000, 1}} {
		if x := c.Changes[i]; x.Title != want.title || x.Failed != want.failed || x.Lost != want.lost {
			t.Errorf("card %q with %d failed and %d lost, want %+v", x.Title, x.Failed, x.Lost, want)
		}
	}
	if last := c.Changes[0]; !strings.Contains(last.Sentence, "ailures went from 33 to 0.0 %") {
		t.Error(last.Sentence)
	}
	first := c.Changes[3]
	if r := rowOf(t, first, "failures"); r.Before != 0 || r.After < 30 || r.Verdict != "worse" || !strings.Contains(first.Sentence, "failures went from 0.0 to 33 %") {
		t.Errorf("%+v: %s", r, first.Sentence)
	}
}

// A breakdown of nothing is no chart, also beside a ghost that has not lived yet: the page has a
// sentence in its place.
func TestNoBreakdownOfNothing(t *testing.T) {
	f := newFake(t)
	f.run(1, 8e6)
	ws := f.windows["a"]
	ws[0].Commits, ws[0].Phases = 0, nil
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2", ForkedFrom: "a", ForkEpoch: "e1", ForkNS: windowNS, CatchingUp: true})
	h := Handler(f)
	for _, format := range []string{"", "&format=option"} {
		if r := get(t, h, "/page/phases?w=600"+format); r.Code != 204 || r.Body.Len() > 0 {
			t.Errorf("%s: %d %.80s", format, r.Code, r.Body)
		}
	}
	f.run(1, 8e6)
	if r := get(t, h, "/page/phases?w=600"); r.Code != 200 || r.Body.Len() == 0 {
		t.Errorf("with a phase: %d", r.Code)
	}
}

// Labels that would overlap become one, as wide as it then is.
func TestLabelsDoNotOverlap(t *testing.T) {
	size := charts.Size{Width: 382, Height: 400}
	lines := []charts.Track{{Series: []charts.Series{{X: []float64{0, 300}, Y: []float64{1, 1}}}}} // a pixel each
	var marks []charts.Mark
	for i, x := range []float64{10, 20, 50, 58, 110, 200, 210} {
		marks = append(marks, charts.Mark{X: x, Label: fmt.Sprint(i + 1)})
	}
	marks[4].Label = "5 ✕"
	var got []string
	for _, m := range legible(marks, lines, size) {
		if m.Label != " " {
			got = append(got, fmt.Sprintf("%g:%s", m.X, m.Label))
		}
	}
	if s := strings.Join(got, " "); s != "10:1–2 50:3–4 110:5 ✕ 200:6–7" {
		t.Error(s)
	}
	marks = []charts.Mark{{X: 0, Label: "8"}, {X: 20, Label: "9"}, {X: 28, Label: "10 ↻"}}
	if m := legible(marks, lines, size); m[0].Label != "8–10 ↻" || m[2].Label != " " {
		t.Errorf("%+v", m)
	}
}
