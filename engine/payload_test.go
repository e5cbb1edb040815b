package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// A payload that the receive buffers cannot take is refused, before a run and in it,
// and the run goes on.
func TestPayloadMax(t *testing.T) {
	set := experiment.Knobs{"workload": "micro-write", "workload.primitive": "two-sided", "nodes": 2, "threads": 1, "coroutines": 2,
		"workload.payload": 512, "workload.payload_max": 256, "check": "off"}
	if _, err := Open(experiment.Spec{Set: set}); err == nil || !strings.Contains(err.Error(), "payload_max") {
		t.Errorf("more than the buffers take: %v", err)
	}
	set["workload.payload"] = 16
	s, err := Open(experiment.Spec{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Set(experiment.Knobs{"workload.payload": 256}, ""); err != nil {
		t.Error(err)
	}
	if _, err := s.Set(experiment.Knobs{"workload.payload": 257}, ""); err == nil || !strings.Contains(err.Error(), "reset") {
		t.Errorf("raised beyond the buffers: %v", err)
	}
	if err := s.Advance(20_000); err != nil {
		t.Error(err)
	}
}
