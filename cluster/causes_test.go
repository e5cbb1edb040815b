package cluster

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drtmx/engine/result"
	"drtmx/engine/txn"
)

// causesSpec is so small that its causes take a second.
var causesSpec = Spec{Workload: "smallbank", Set: Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "warmup_ns": "20us", "duration_ns": "60us"}}

func TestCausesOfAResult(t *testing.T) {
	c := Up(causesSpec)
	defer c.Close()
	r := c.Run(100 * time.Microsecond)
	x := r.Causes()
	if x.Raw.Throughput <= 0 || x.Raw.Everything == nil || len(x.Raw.Causes) < 6 || x.Raw.Spec["coroutines"] != 2 {
		t.Errorf("%+v", x.Raw)
	}
	for _, want := range []string{"<svg", "CPU: transaction code", "must give 1"} {
		if !strings.Contains(x.HTML(), want) {
			t.Errorf("HTML lacks %q", want)
		}
	}
	if !strings.Contains(x.String(), "everything at once") {
		t.Error(x)
	}
	fails(t, "group", func() { r.Causes("nik") })
}

// A new system could not repeat these, so their causes would be another's.
func TestCausesRefused(t *testing.T) {
	c := Up(causesSpec)
	defer c.Close()
	changed := c.Run(50 * time.Microsecond)
	changed.Raw.Changes = []result.Change{{VirtualNS: changed.Raw.FromNS + 10_000, Set: Knobs{"coroutines": 4}}}
	fails(t, "changed within the result", func() { changed.Causes() })

	c.Set("coroutines", 1)
	c.Run(50 * time.Microsecond)
	if r := c.Run(50 * time.Microsecond); r.Causes().Raw.Spec["coroutines"] != 1 {
		t.Error("a change before the result is in its spec")
	}
	c.AddTransaction("nothing", 1, func(*txn.Tx) error { return nil })
	own := c.Run(50 * time.Microsecond)
	fails(t, "transactions of your own", func() { own.Causes() })
}

// On the page: a task in the background, with progress, an answer and a cancel.
func TestCausesInTheBackground(t *testing.T) {
	a, err := NewAgent(causesSpec, Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := web(t, a, Web{})
	if x := into[CausesState](t, ask(t, s, "GET", "/api/causes", "")); x.Running || x.Causes != nil || x.Sys != "a" {
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

func untilMeasured(t *testing.T, s *httptest.Server) CausesState {
	t.Helper()
	for range 600 {
		if x := into[CausesState](t, ask(t, s, "GET", "/api/causes?sys=a", "")); !x.Running {
			return x
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the causes are still being measured")
	return CausesState{}
}
