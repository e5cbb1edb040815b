package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// One slow RNIC is felt, named as the bottleneck's machine, and healed while the
// system runs.
func TestSlowNIC(t *testing.T) {
	s, err := Open(experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"nodes": 4, "threads": 4, "coroutines": 16, "check": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rate := func() float64 {
		t.Helper()
		if err := s.Advance(50_000); err != nil {
			t.Fatal(err)
		}
		s.Mark()
		if err := s.Advance(200_000); err != nil {
			t.Fatal(err)
		}
		return s.Result().Throughput
	}
	before := rate()
	if _, err := s.Set(experiment.Knobs{"fault.nic_slowdown": 20, "fault.nic_slowdown_node": 2}, ""); err != nil {
		t.Fatal(err)
	}
	slow := rate()
	if b := s.Result().Bottleneck; b == nil || b.Node != 2 {
		t.Errorf("bottleneck %+v, machine 2 is slow", b)
	}
	if _, err := s.Set(experiment.Knobs{"fault.nic_slowdown": 1}, ""); err != nil {
		t.Fatal(err)
	}
	after := rate()
	if slow > 0.7*before || after < 0.95*before {
		t.Errorf("%.3g requests/s before, %.3g with a slow RNIC, %.3g after", before, slow, after)
	}
	if _, err := s.Set(experiment.Knobs{"fault.nic_slowdown": 2, "fault.nic_slowdown_node": 4}, ""); err == nil || !strings.Contains(err.Error(), "4 machines") {
		t.Errorf("a machine that does not exist is slow: %v", err)
	}
	if _, err := Open(experiment.Spec{Set: experiment.Knobs{"fault.nic_slowdown": 0.5}}); err == nil {
		t.Error("an RNIC is faster than itself")
	}
}

// A machine that does not exist is refused where it is named, also while no RNIC is slow: a later
// change of the slowdown is not.
func TestSlowNICIsThere(t *testing.T) {
	s := open(t, experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"nodes": 4, "check": "off"}})
	if _, err := s.Set(experiment.Knobs{"fault.nic_slowdown_node": 4}, ""); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "fault.nic_slowdown_node = 4: there are 4 machines") {
		t.Errorf("got %v", err)
	}
	change(t, s, experiment.Knobs{"fault.nic_slowdown_node": 3})
	change(t, s, experiment.Knobs{"fault.nic_slowdown": 2})
	if _, err := Open(experiment.Spec{Set: experiment.Knobs{"nodes": 3, "fault.nic_slowdown_node": 3}}); !experiment.IsSpecError(err) {
		t.Errorf("a spec with it: %v", err)
	}
}
