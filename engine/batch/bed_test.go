package batch

import (
	"context"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// small is a cluster that runs in a fraction of a second.
func smallSpec(k experiment.Knobs) experiment.Spec {
	s := experiment.Spec{Name: "small", Set: experiment.Knobs{
		"nodes": 3, "threads": 2, "coroutines": 4, "workload.accounts": 500, "window_ns": "20us",
		"warmup_ns": "60us", "duration_ns": "240us", "cache.bytes": "1MB",
	}}
	s, err := s.With(k)
	if err != nil {
		panic(err)
	}
	return s
}

func runOf(t testing.TB, spec experiment.Spec) *result.Result {
	t.Helper()
	r, err := engine.Run(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
