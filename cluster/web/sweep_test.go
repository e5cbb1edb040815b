package web

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
)

// On the page: a sweep in the background, with progress, an answer and a cancel, and its points as
// systems.
func TestSweepInTheBackground(t *testing.T) {
	a, err := agent.New(smallSpec, agent.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := web(t, a, Options{})
	if x := into[job.SweepState](t, ask(t, s, "GET", "/api/sweep", "")); x.Running || x.Sweep != nil || x.Sys != "a" {
		t.Errorf("before: %+v", x)
	}
	for body, says := range map[string]string{
		`{}`: "axes: none given",
		`{"axes": [{"knob": "coroutine", "values": "1"}]}`:                                                  "coroutines",
		`{"axes": [{"knob": "coroutines", "values": "1, x"}]}`:                                              "coroutines",
		`{"axes": [{"knob": "coroutines", "values": [1]}], "seeds": 51}`:                                    "seeds",
		`{"axes": [{"knob": "coroutines", "values": [1]}, {"knob": "coroutines", "values": [2]}]}`:          "is an axis twice",
		`{"axes": [{"knob": "coroutines", "values": [1,2,3,4,5,6,7,8,9]}], "seeds": 45}`:                    "more than 400 runs",
		`{"axes": [{"knob": "coroutines", "values": []}, {"knob": "threads", "values": [1]}]}`:              "coroutines",
		`{"axes": [{"knob": "coroutines", "values": {"a": 1}}, {"knob": "threads", "values": [1]}]}`:        "coroutines",
		`{"axes": [{"knob": "coroutines", "values": [1]}, {"knob": "threads", "values": [1]}], "other": 1}`: "other",
	} {
		ask(t, s, "POST", "/api/sweep", body).want(t, 400, says)
	}
	ask(t, s, "POST", "/api/sweep?sys=z", `{}`).want(t, 404, "no such system")
	ask(t, s, "DELETE", "/api/sweep", "{}").want(t, 404, "no sweep of system a")
	ask(t, s, "POST", "/api/sweep/live", `{"point": 0}`).want(t, 400, "no such point")

	ask(t, s, "POST", "/api/causes", `{"seeds": 50}`).want(t, 202, "causes of a") // takes the turn of the sweep for long enough
	ask(t, s, "POST", "/api/sweep", `{"axes": [{"knob": "threads", "values": [1, 2]}, {"knob": "coroutines", "values": "1, 3"}]}`).want(t, 202, "sweep of a")
	ask(t, s, "POST", "/api/sweep", `{"axes": [{"knob": "threads", "values": [1]}]}`).want(t, 409, "running already")
	if tasks := ask(t, s, "GET", "/api/tasks", ""); !strings.Contains(tasks.body, "sweep of a") {
		t.Errorf("tasks %s", tasks.body)
	}
	ask(t, s, "DELETE", "/api/sweep", "{}").want(t, 200, "true")
	if x := untilSwept(t, s); !x.Cancelled || x.Failed != "" {
		t.Errorf("cancelled: %+v", x)
	}
	ask(t, s, "DELETE", "/api/causes", "{}").want(t, 200, "true")

	ask(t, s, "POST", "/api/sweep", `{"axes": [{"knob": "nodes", "values": [2, 3]}, {"knob": "coroutines", "values": "1, 3"}]}`).want(t, 202, "sweep of a")
	x := untilSwept(t, s)
	if x.Failed != "" || x.Sweep == nil || len(x.Sweep.Points) != 4 || x.KnobsVersion != 1 {
		t.Fatalf("%+v", x)
	}
	if r := x.Sweep.Points[3].Runs; len(r) != 1 || r[0].Throughput <= 0 || fmt.Sprint(r[0].Spec["coroutines"]) != "3" {
		t.Errorf("the last point: %+v", x.Sweep.Points[3])
	}
	if p := x.Sweep.Points[0]; p.Error == "" {
		t.Errorf("two nodes have no room for replicas: %+v", p)
	}
	ask(t, s, "POST", "/api/sweep/live", `{"point": 4}`).want(t, 400, "no such point")
	ask(t, s, "POST", "/api/sweep/live", `{"point": 3, "number": 1}`).want(t, 409, "another sweep")
	ask(t, s, "POST", "/api/sweep/live", `{"point": 3}`).want(t, 200, `"sys":"b"`)
	if spec := ask(t, s, "GET", "/api/spec?sys=b", ""); !strings.Contains(spec.body, `"coroutines":3`) {
		t.Errorf("the system of the point: %s", spec.body)
	}
}

func untilSwept(t *testing.T, s *httptest.Server) job.SweepState {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if x := into[job.SweepState](t, ask(t, s, "GET", "/api/sweep", "")); !x.Running {
			return x
		}
	}
	t.Fatal("the sweep does not end")
	return job.SweepState{}
}
