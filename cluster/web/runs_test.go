package web

import (
	"context"
	"path/filepath"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func TestRunsOverHTTP(t *testing.T) {
	store := runstest.Own(t)
	one, two := runstest.LittleRun(t, nil), runstest.LittleRun(t, experiment.Knobs{"phase.commit": "two-sided"})
	if _, err := keep.Run(store, "first", one); err != nil {
		t.Fatal(err)
	}
	if _, err := keep.Run(store, "second", two); err != nil {
		t.Fatal(err)
	}
	if _, err := keep.Seeds(store, "", &batch.SeedsResult{Runs: []*result.Result{one, two}, Means: map[string]batch.Mean{"throughput": {Mean: 2, Half95: 1, N: 2}}}); err != nil {
		t.Fatal(err)
	}
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{Access: Access{Control: controlToken, View: viewToken}})
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
	seeds := into[result.Comparison](t, get("/api/runs/compare?a=r1&b=r3").want(t, 200, "")) // by the means of the seeds
	if len(seeds.Metrics) != 1 || seeds.Metrics[0].Metric != "throughput" || seeds.Metrics[0].B != 2 {
		t.Errorf("%+v", seeds.Metrics)
	}
	if _, err := keep.Systems(store, "", result.CompareSystems([]*result.Result{one, two})); err != nil {
		t.Fatal(err)
	}
	get("/api/runs/compare?a=r1&b=r4").want(t, 400, "r4.1")
	get("/api/runs/compare?a=r1").want(t, 400, "such as r12")
	ask(t, s, "POST", "/api/runs/r1/live", "{}", "Authorization", "Bearer "+viewToken).want(t, 403, "")
	post := func(path, body string) reply {
		t.Helper()
		return ask(t, s, "POST", path, body, "Authorization", "Bearer "+controlToken)
	}
	post("/api/runs/r3/live", "{}").want(t, 400, "r3.1")
	sys := into[system.Snapshot](t, post("/api/runs/r2/live", "{}").want(t, 200, "")).Sys
	spec, err := a.Spec(context.Background(), sys)
	if err != nil || spec.Set["phase.commit"] != "two-sided" || spec.Set["coroutines"] != 2 {
		t.Errorf("%+v, %v", spec, err)
	}
	if sys := into[system.Snapshot](t, post("/api/runs/r1/live", `{"replace": "b"}`).want(t, 200, "")).Sys; sys != "b" {
		t.Errorf("in place of b there is %s", sys)
	}
}

func TestRunsOfARefusedStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain", "runs.db")
	runs.Use("/dev/null")
	defer runs.Use("")
	s := web(t, agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{}), Options{})
	ask(t, s, "GET", "/api/runs", "").want(t, 503, "is no regular file")
	runs.Use(file)
	ask(t, s, "GET", "/api/runs", "").want(t, 200, `"runs":[]`)
	runs.CloseDefault()
}
