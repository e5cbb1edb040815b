package dashboard

import (
	"net/http/httptest"
	"strings"
	"testing"

	"drtmx/cluster/job"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The values that a reader begins with are within what a knob allows.
func TestValuesToBeginWith(t *testing.T) {
	for want, k := range map[string]experiment.KnobState{
		"one-sided two-sided": {Value: "one-sided", Choices: []string{"one-sided", "two-sided"}},
		"false true":          {Value: true},
		"4 8 16":              {Value: 8, Min: 1, Max: 100},
		"4 8 10":              {Value: 8, Min: 1, Max: 10},
		"1 2":                 {Value: 1, Min: 1, Max: 10},
		"0 1":                 {Value: 0, Min: 0, Max: 10},
		"0 0.5":               {Value: 0.0, Min: 0.0, Max: 0.5},
		"0.495 0.99 1":        {Value: 0.99, Min: 0.0, Max: 1.0},
		"0":                   {Value: 0, Min: 0},
		"":                    {Value: "any text"},
	} {
		if got := strings.Join(around(k), " "); got != want {
			t.Errorf("%+v: %q, want %q", k, got, want)
		}
	}
}

func sweepOf(t *testing.T) *fakeSource {
	f := newFake(t)
	f.sweep = job.SweepState{Sys: "a", Number: 2, Spec: f.spec, Sweep: &batch.SweepResult{
		Axes: []experiment.Axis{{Knob: "threads", Values: []any{1, 2}}, {Knob: "coroutines", Values: []any{4, 1}}},
		Points: []batch.SweepPoint{
			{Set: experiment.Knobs{"threads": 1, "coroutines": 4}, Runs: []*result.Result{{Throughput: 4e6, Steady: true, VirtualNS: 2_000_000, FromNS: 1_000_000}}},
			{Set: experiment.Knobs{"threads": 1, "coroutines": 1}, Error: "no progress", Refused: true},
			{Set: experiment.Knobs{"threads": 2, "coroutines": 4}, Runs: []*result.Result{{Throughput: 8e6}}},
			{Set: experiment.Knobs{"threads": 2, "coroutines": 1}},
		},
	}}
	return f
}

func TestSweepOnThePageInParts(t *testing.T) {
	f := sweepOf(t)
	h := Handler(f)
	get := func(path string, code int, says ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != code {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		for _, s := range says {
			if !strings.Contains(w.Body.String(), s) {
				t.Errorf("%s lacks %q: %.1500s", path, s, w.Body)
			}
		}
	}
	get("/page/sweep", 200, `"x":{"title":"coroutines","names":["1","4"]}`, `{"point":1,"text":"no value: no progress"}`, `{"point":2,"text":"8 M/s, not steady"}`)
	get("/page/sweep?metric=nonsense", 200, `"failed":"metric = `, "no point of the sweep has such a number")
	get("/page/sweep/chart?w=600&format=option", 200, `"heatmap"`, "8 M")
	get("/page/sweep/chart?w=600", 200, "<svg")
	get("/page/sweep/chart?metric=nonsense", 400, "no point of the sweep")
	get("/page/sweep/cell?point=0", 200, `"set":"coroutines=4 threads=1"`, "drtmx run", "coroutines=4", `c.Run(1 * time.Millisecond) // warm-up`)
	get("/page/sweep/cell?point=1", 200, `"failed":"no progress"`)
	get("/page/sweep/cell?point=3", 200, "drtmx run")
	get("/page/sweep/cell?point=4", 400, "has no such point")
	get("/page/sweep/cell?point=x", 400, "must be a whole number")
	get("/page/sweep/knobs", 200, `{"name":"coroutines","values":"`, `"name":"phase.lock","values":"one-sided, two-sided`)
	f.sweep = job.SweepState{}
	get("/page/sweep/chart", 204)
	get("/page/sweep/cell?point=0", 400, "has no such point")
	get("/page/sweep", 200, `"cells":[]`)
}
