package cluster

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// littleRun is a run of a tiny cluster with some knobs.
func littleRun(t *testing.T, set experiment.Knobs) *result.Result {
	t.Helper()
	spec, err := littleSpec.With(set)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.RunWith(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var littleSpec = experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "cache.bytes": "1MB",
	"warmup_ns": 50_000, "duration_ns": 300_000, "window_ns": 20_000}}

func TestRunsOverHTTP(t *testing.T) {
	store := runstest.Own(t)
	one, two := littleRun(t, nil), littleRun(t, experiment.Knobs{"phase.commit": "two-sided"})
	if _, err := KeepRun(store, "first", one); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepRun(store, "second", two); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepSeeds(store, "", &batch.SeedsResult{Runs: []*result.Result{one, two}, Means: map[string]batch.Mean{"throughput": {Mean: 2, Half95: 1, N: 2}}}); err != nil {
		t.Fatal(err)
	}
	a := newFake(t, Options{Paused: true}, fakeOptions{})
	s := web(t, a, Web{Access: Access{Control: controlToken, View: viewToken}})
	get := func(path string) reply {
		t.Helper()
		return ask(t, s, "GET", path, "", "Authorization", "Bearer "+viewToken)
	}
	type listedRuns struct {
		Runs []struct{ ID, Note, Kind string }
		More bool
	}
	if l := into[listedRuns](t, get("/api/runs").want(t, 200, "")); len(l.Runs) != 3 || l.Runs[0].ID != "r3" || l.More {
		t.Errorf("%+v", l)
	}
	if l := into[listedRuns](t, get("/api/runs?limit=1&note=first").want(t, 200, "")); len(l.Runs) != 1 || l.Runs[0].ID != "r1" || l.More {
		t.Errorf("%+v", l)
	}
	if l := into[listedRuns](t, get("/api/runs?limit=2&workload=smallbank").want(t, 200, "")); len(l.Runs) != 2 || !l.More {
		t.Errorf("%+v", l)
	}
	get("/api/runs?workload=tpcc").want(t, 200, `"runs":[]`)
	get("/api/runs?limit=0").want(t, 400, "from 1 to 200")
	get("/api/runs?until_ms=x").want(t, 400, "milliseconds")
	type info struct {
		ID     string
		Knobs  map[string]any
		Result *result.Result
	}
	if i := into[info](t, get("/api/runs/r2").want(t, 200, "")); i.Result == nil || i.Result.Digest != two.Digest || i.Knobs["phase.commit"] != "two-sided" || i.Knobs["coroutines"] != 2. {
		t.Errorf("%+v", i)
	}
	if i := into[info](t, get("/api/runs/r3.1").want(t, 200, "")); i.Result == nil || i.Result.Digest != one.Digest {
		t.Errorf("%+v", i)
	}
	if i := into[info](t, get("/api/runs/r3").want(t, 200, "")); i.Result != nil {
		t.Errorf("%+v", i)
	}
	get("/api/runs/r9").want(t, 404, "no such run")
	get("/api/runs/nonsense").want(t, 400, "such as r12")
	c := into[result.Comparison](t, get("/api/runs/compare?a=r1&b=r2").want(t, 200, ""))
	if len(c.Spec) != 1 || c.Spec[0].Knob != "phase.commit" {
		t.Errorf("%+v", c.Spec)
	}
	get("/api/runs/compare?a=r1&b=r3").want(t, 400, "r3.1")
	get("/api/runs/compare?a=r1").want(t, 400, "such as r12")
	ask(t, s, "POST", "/api/runs/r1/live", "{}", "Authorization", "Bearer "+viewToken).want(t, 403, "")
	post := func(path, body string) reply {
		t.Helper()
		return ask(t, s, "POST", path, body, "Authorization", "Bearer "+controlToken)
	}
	post("/api/runs/r3/live", "{}").want(t, 400, "r3.1")
	sys := into[Snapshot](t, post("/api/runs/r2/live", "{}").want(t, 200, "")).Sys
	spec, err := a.Spec(context.Background(), sys)
	if err != nil || spec.Set["phase.commit"] != "two-sided" || spec.Set["coroutines"] != 2 {
		t.Errorf("%+v, %v", spec, err)
	}
	if sys := into[Snapshot](t, post("/api/runs/r1/live", `{"replace": "b"}`).want(t, 200, "")).Sys; sys != "b" {
		t.Errorf("in place of b there is %s", sys)
	}
}

func TestRunsOfARefusedStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain", "runs.db")
	runs.Use("/dev/null")
	defer runs.Use("")
	s := web(t, newFake(t, Options{Paused: true}, fakeOptions{}), Web{})
	ask(t, s, "GET", "/api/runs", "").want(t, 503, "is no regular file")
	runs.Use(file)
	ask(t, s, "GET", "/api/runs", "").want(t, 200, `"runs":[]`)
	runs.CloseDefault()
}

// What was kept by other code may have knobs that are no more and lack others: it is opened as far as it can be.
func TestSpecOfOlderCode(t *testing.T) {
	r := littleRun(t, nil)
	spec, err := SpecOfKept(r)
	if err != nil || spec.Set["nodes"] != 3 || spec.Workload != "smallbank" {
		t.Fatalf("%+v, %v", spec, err)
	}
	old := r.Spec.Clone()
	old["knob.of.old"] = 7.
	delete(old, "ddio")
	old["nodes"] = 5. // as JSON has it
	spec, err = SpecOfKept(&result.Result{Spec: old})
	if err != nil || spec.Set["nodes"] != 5 || spec.Set["knob.of.old"] != nil {
		t.Errorf("%+v, %v", spec, err)
	}
	if _, ok := spec.Set["ddio"]; ok {
		t.Error("a knob that it did not have is set")
	}
}

// The points of a sweep are those of the cache, and a second sweep takes them and its row.
func TestSweepIsKept(t *testing.T) {
	store := runstest.Own(t)
	sweep := func(note string) *SweepResult {
		s, err := SweepWith(context.Background(), littleSpec, SweepOptions{Seeds: 2, Note: note}, nil, Axis{"coroutines", []int{1, 2}}, Axis{"phase.commit", []string{"one-sided", "two-sided"}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := sweep("a note")
	k, err := LoadKept(store, "r1")
	if err != nil || k.Missing() != 0 || len(k.Results) != 8 || k.Note != "a note" {
		t.Fatalf("%+v, %v", k, err)
	}
	v, err := k.Value()
	if err != nil {
		t.Fatal(err)
	}
	again := &SweepResult{v.(*batch.SweepResult)}
	if a, b := again.String(), first.String(); a != b {
		t.Errorf("kept as\n%s\nit was\n%s", a, b)
	}
	sweep("")
	if list, err := store.List(runs.Filter{}); err != nil || len(list) != 1 || list[0].Note != "a note" || !strings.Contains(list[0].About, "coroutines and phase.commit, 4 points") {
		t.Errorf("%+v, %v", list, err)
	}
}

// A session says how long it was and what was changed in it, and hands its recording out again.
func TestSessionIsKept(t *testing.T) {
	store := runstest.Own(t)
	r := littleRun(t, nil)
	r.Changes = []result.Change{{Version: 2, VirtualNS: 5}}
	id, err := KeepSession(store, "live", r, []byte("{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := store.Find(id)
	if err != nil || k.Kind != runs.KindSession || !strings.HasSuffix(k.About, "µs, 1 change") || !strings.Contains(k.About, "coroutines=2") {
		t.Errorf("%+v, %v", k, err)
	}
	if b, ok := store.Recording(id); !ok || string(b) != "{}\n" {
		t.Errorf("%q, %v", b, ok)
	}
	if l, err := LoadKept(store, id.String()); err != nil || len(l.Results) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}
