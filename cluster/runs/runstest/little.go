package runstest

import (
	"context"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// LittleRun is a run of a tiny cluster with some knobs.
func LittleRun(t *testing.T, set experiment.Knobs) *result.Result {
	t.Helper()
	spec, err := LittleSpec.With(set)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.RunWith(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var LittleSpec = experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "cache.bytes": "1MB",
	"warmup_ns": 50_000, "duration_ns": 300_000, "window_ns": 20_000}}
