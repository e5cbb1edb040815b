package dashboard

import (
	"context"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs/runstest"
	"drtmx/dashboard/card"
	"drtmx/dashboard/runtable"
	"drtmx/engine"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// keptPair keeps a run and the same with one knob different in a store of the test's own.
func keptPair(t *testing.T) {
	t.Helper()
	s := runstest.Own(t)
	for _, set := range []experiment.Knobs{nil, {"phase.validation": "two-sided"}} {
		spec, err := experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "cache.bytes": "1MB", "warmup_ns": 50_000, "duration_ns": 300_000}}.With(set)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.RunWith(context.Background(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keep.Run(s, "", r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKeptRunOnThePage(t *testing.T) {
	keptPair(t)
	h := Handler(newFake(t))
	var k struct {
		ID, Ref, Note, Command, Notebook string
		One                              bool
		Knobs, Facts                     []runFact
	}
	getJSON(t, h, "/page/run?id=r1", &k)
	text := ""
	for _, f := range append(k.Facts, k.Knobs...) {
		text += f.Name + ": " + f.Text + "\n"
	}
	for _, want := range []string{"throughput: ", "/s", "p50: ", "checks: passed", "coroutines: 2\n", "digest: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !k.One || k.Ref != "r1" || !strings.Contains(k.Command, "coroutines=2") || !strings.Contains(k.Notebook, `"coroutines": 2`) {
		t.Errorf("%+v", k)
	}
	var c struct {
		Rows  []card.Row
		Knobs []knobDiff
		Limit [2]string
		Same  bool
	}
	getJSON(t, h, "/page/run/compare?a=r1&b=r2", &c)
	if len(c.Knobs) != 1 || c.Knobs[0].Name != "phase.validation" || len(c.Rows) < 4 || c.Rows[0].Name != "throughput" || c.Same || c.Limit[0] == "" {
		t.Errorf("%+v", c)
	}
	getJSON(t, h, "/page/run/compare?a=r1&b=r1", &c)
	if !c.Same || len(c.Knobs) != 0 || c.Rows[0].Verdict != "same" {
		t.Errorf("%+v", c)
	}
	for _, url := range []string{"/page/run/chart?a=r1&w=600&h=300", "/page/run/chart?a=r1&b=r2&w=600&h=300"} {
		if w := get(t, h, url); w.Code != 200 || !strings.Contains(w.Body.String(), "<svg") || strings.Contains(url, "b=") != strings.Contains(w.Body.String(), "B: r2") {
			t.Errorf("%s: %d %.100s", url, w.Code, w.Body)
		}
	}
	for url, code := range map[string]int{"/page/run?id=r7": 404, "/page/run?id=x": 400, "/page/run/compare?a=r1": 400, "/page/run/chart?a=r9": 404, "/page/run/chart": 204} {
		if w := get(t, h, url); w.Code != code {
			t.Errorf("%s: %d, want %d: %s", url, w.Code, code, w.Body)
		}
	}
}

// A row of several runs shows its table and its chart, and two of several seeds are compared by their means.
func TestKeptSeveralOnThePage(t *testing.T) {
	s := runstest.Own(t)
	little := experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "cache.bytes": "1MB", "warmup_ns": 50_000, "duration_ns": 300_000}}
	var first *result.Result
	for _, set := range []experiment.Knobs{nil, {"coroutines": 1}} {
		spec, err := little.With(set)
		if err != nil {
			t.Fatal(err)
		}
		r, err := batch.RunSeeds(context.Background(), spec, 3, batch.SweepOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keep.Seeds(s, "", r); err != nil {
			t.Fatal(err)
		}
		first = r.Runs[0]
	}
	if _, err := cluster.SweepWith(context.Background(), little, cluster.SweepOptions{}, nil, cluster.Axis{Knob: "coroutines", Values: []int{1, 2}}); err != nil {
		t.Fatal(err)
	}
	document := map[string]any{"id": "0-0", "x": map[string]any{"label": "Coroutines"}, "y": map[string]any{"label": "Rate", "unit": "/s"}, "runs": []any{}, "series": []any{map[string]any{"name": "READ", "points": []any{map[string]any{"x": 4, "y": 2.5e6, "ci95": 1e4, "run": 0}}}}}
	if _, err := keep.Figure(s, "", keep.FigureRecord{ID: "0-0", Scale: "quick", Document: document, Runs: []*result.Result{first}}); err != nil {
		t.Fatal(err)
	}
	h := Handler(newFake(t))
	for id, want := range map[string][]string{
		"r1": {"seed|throughput|±|p50 µs", "r1.1|1|", "r1.3|3|", "|mean|"}, "r3": {"coroutines|throughput", "r3.1|1|", "r3.2|2|"}, "r4": {"line|Coroutines|Rate (/s)|±", "|READ|4|2.5 M|10 k"},
	} {
		var k struct {
			One, Seeds bool
			Table      runtable.Table
		}
		getJSON(t, h, "/page/run?id="+id, &k)
		text := strings.Join(k.Table.Head, "|") + "\n"
		for _, r := range k.Table.Rows {
			text += r.Ref + "|" + strings.Join(r.Cells, "|") + r.Why + "\n"
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", id, w, text)
			}
		}
		if k.One || k.Seeds != (id == "r1") {
			t.Errorf("%s: %+v", id, k)
		}
	}
	for id, code := range map[string]int{"r1": 200, "r3": 200, "r4": 204} { // the fake reads no figures
		if w := get(t, h, "/page/run/chart?a="+id+"&w=600"); w.Code != code || code == 200 && !strings.Contains(w.Body.String(), "<svg") {
			t.Errorf("the chart of %s: %d %.100s", id, w.Code, w.Body)
		}
	}
	var c struct {
		Rows  []card.Row
		Knobs []knobDiff
		Same  bool
	}
	getJSON(t, h, "/page/run/compare?a=r1&b=r2", &c)
	if c.Same || len(c.Knobs) != 1 || c.Knobs[0].Name != "coroutines" || c.Rows[0].Name != "throughput" || c.Rows[0].Verdict != "worse" || c.Rows[0].Half95 <= 0 {
		t.Errorf("%+v", c)
	}
	if getJSON(t, h, "/page/run/compare?a=r1&b=r1", &c); !c.Same {
		t.Errorf("%+v", c)
	}
	if w := get(t, h, "/page/run/compare?a=r1&b=r3"); w.Code != 400 {
		t.Errorf("seeds against a sweep: %d %s", w.Code, w.Body)
	}
}

func TestVerdictsOnRuns(t *testing.T) {
	change := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		d      result.Diff
		moreIs string
		want   string
	}{
		{result.Diff{A: 10, B: 12, Change: change(0.2), Half95: 0.1}, "better", "better"},
		{result.Diff{A: 10, B: 12, Change: change(0.2), Half95: 0.1}, "worse", "worse"},
		{result.Diff{A: 10, B: 8, Change: change(-0.2), Half95: 0.1}, "worse", "better"},
		{result.Diff{A: 10, B: 11, Change: change(0.1), Half95: 0.1}, "better", "same"},
		{result.Diff{A: 10, B: 10, Change: change(0)}, "better", "same"},
		{result.Diff{A: 10, B: 12, Change: change(0.2), Why: "too short"}, "better", "undecided"},
		{result.Diff{A: 0, B: 12}, "better", "undecided"},
	} {
		row := diffRow(c.d, "x", "", 100, c.moreIs)
		if row.Verdict != c.want || row.Before != 100*c.d.A || row.Verdict == card.Undecided && row.Why == "" {
			t.Errorf("%+v: %+v", c.d, row)
		}
	}
}
