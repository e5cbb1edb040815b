package figure

import (
	"context"
	"testing"

	"drtmx/engine"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// TestMeasuredAgain: a run that is not steady is measured for longer until it is, at most twice.
func TestMeasuredAgain(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "coroutines": 1, "warmup_ns": 2_000, "duration_ns": 4_000}}
	short, err := engine.Run(context.Background(), spec, nil)
	if err != nil || short.Steady {
		t.Fatalf("steady %v, %v", short.Steady, err)
	}
	rs, err := batch.RunAll(context.Background(), []experiment.Spec{spec}, batch.SweepOptions{Repeat: MeasureAgain})
	if err != nil {
		t.Fatal(err)
	}
	if got := rs[0].Spec["duration_ns"]; got != 8_000 && got != 16_000 || rs[0].Spec["warmup_ns"] != got.(int)/2 {
		t.Errorf("measured for %v ns after %v", got, rs[0].Spec["warmup_ns"])
	}
	if _, again := MeasureAgain(doublings, spec, short); again {
		t.Error("measured once more than is said")
	}
	short.Unsteady = ""
	if _, again := MeasureAgain(0, spec, short); again {
		t.Error("a steady run is measured again")
	}
}
