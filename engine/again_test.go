package engine_test

import (
	"context"
	"testing"

	"drtmx/engine"
)

// TestRunAgain: what is asked for takes the place of the run before it, for each spec that shares it,
// and counts as one.
func TestRunAgain(t *testing.T) {
	spec := engine.Spec{Workload: "micro-read", Set: engine.Knobs{"nodes": 2, "threads": 1, "coroutines": 1, "duration_ns": 20_000}}
	var asked []int
	told, steps := map[int]int{}, 0
	rs, err := engine.RunAll(context.Background(), []engine.Spec{spec, spec}, engine.SweepOptions{
		Again: func(times int, s engine.Spec, r *engine.Result) (engine.Spec, bool) {
			asked = append(asked, times)
			longer, err := s.With(engine.Knobs{"duration_ns": 2 * r.Spec["duration_ns"].(int)})
			return longer, err == nil && times < 2
		},
		Each:     func(at int, r *engine.Result) { told[at] = r.Spec["duration_ns"].(int) },
		Progress: func(done, total int) { steps += total },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 3 || steps != 1 || told[0] != 80_000 || told[1] != 80_000 || rs[0] != rs[1] || rs[0].Spec["duration_ns"] != 80_000 {
		t.Errorf("asked %v, %d steps, told %v, measured for %v", asked, steps, told, rs[0].Spec["duration_ns"])
	}
	_, err = engine.RunAll(context.Background(), []engine.Spec{spec}, engine.SweepOptions{
		Again: func(int, engine.Spec, *engine.Result) (engine.Spec, bool) {
			return engine.Spec{Workload: "no such"}, true
		}})
	if err == nil {
		t.Error("a spec that cannot be run is run")
	}
}
