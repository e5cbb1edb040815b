package batch_test

import (
	"context"
	"testing"

	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// TestRunAgain: what is asked for takes the place of the run before it, for each spec that shares it,
// and counts as one.
func TestRunAgain(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "coroutines": 1, "duration_ns": 20_000}}
	var asked []int
	told, steps := map[int]int{}, 0
	rs, err := batch.RunAll(context.Background(), []experiment.Spec{spec, spec}, batch.SweepOptions{
		Repeat: func(times int, s experiment.Spec, r *result.Result) (experiment.Spec, bool) {
			asked = append(asked, times)
			longer, err := s.With(experiment.Knobs{"duration_ns": 2 * r.Spec["duration_ns"].(int)})
			return longer, err == nil && times < 2
		},
		Each:     func(at int, r *result.Result) { told[at] = r.Spec["duration_ns"].(int) },
		Progress: func(done, total int) { steps += total },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 3 || steps != 1 || told[0] != 80_000 || told[1] != 80_000 || rs[0] != rs[1] || rs[0].Spec["duration_ns"] != 80_000 {
		t.Errorf("asked %v, %d steps, told %v, measured for %v", asked, steps, told, rs[0].Spec["duration_ns"])
	}
	_, err = batch.RunAll(context.Background(), []experiment.Spec{spec}, batch.SweepOptions{
		Repeat: func(int, experiment.Spec, *result.Result) (experiment.Spec, bool) {
			return experiment.Spec{Workload: "no such"}, true
		}})
	if err == nil {
		t.Error("a spec that cannot be run is run")
	}
}
