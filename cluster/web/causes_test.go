package web

import (
	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/engine/experiment"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// smallSpec is so small that its causes take a second.
var smallSpec = experiment.Spec{Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "warmup_ns": "20us", "duration_ns": "60us"}}

// On the page: a task in the background, with progress, an answer and a cancel.
func TestCausesInTheBackground(t *testing.T) {
	a, err := agent.New(smallSpec, agent.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := web(t, a, Options{})
	if x := into[job.CausesState](t, ask(t, s, "GET", "/api/causes", "")); x.Running || x.Causes != nil || x.Sys != "a" {
		t.Errorf("before: %+v", x)
	}
	ask(t, s, "DELETE", "/api/causes", "{}").want(t, 404, "no measurement of causes of system a")
	ask(t, s, "POST", "/api/causes", `{"seeds": 51}`).want(t, 400, "seeds")
	ask(t, s, "POST", "/api/causes?sys=z", `{}`).want(t, 404, "no such system")

	ask(t, s, "POST", "/api/causes", `{"seeds": 50}`).want(t, 202, "causes of a")
	ask(t, s, "POST", "/api/causes", `{}`).want(t, 409, "already")
	if tasks := ask(t, s, "GET", "/api/tasks", ""); !strings.Contains(tasks.body, "causes of a") {
		t.Errorf("tasks %s", tasks.body)
	}
	ask(t, s, "DELETE", "/api/causes", "{}").want(t, 200, "true")
	if x := untilMeasured(t, s); x.Failed != "" {
		t.Errorf("cancelled: %+v", x)
	}

	ask(t, s, "POST", "/api/causes", `{"seeds": 2}`).want(t, 202, "causes of a")
	x := untilMeasured(t, s)
	if x.Causes == nil || x.Failed != "" || x.KnobsVersion != 1 || len(x.Causes.Causes) < 6 || x.Causes.Partial {
		t.Errorf("%+v", x)
	}
	ask(t, s, "POST", "/api/causes", `{"group": "nik"}`).want(t, 202, "causes of a")
	if x := untilMeasured(t, s); !strings.Contains(x.Failed, "group") || x.Causes != nil {
		t.Errorf("a group that is none: %+v", x)
	}
}

func untilMeasured(t *testing.T, s *httptest.Server) job.CausesState {
	t.Helper()
	for range 600 {
		if x := into[job.CausesState](t, ask(t, s, "GET", "/api/causes?sys=a", "")); !x.Running {
			return x
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the causes are still being measured")
	return job.CausesState{}
}
