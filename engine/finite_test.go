package engine

import (
	"testing"

	"drtmx/engine/experiment"
)

// A workload with a list of requests is run to its end, and measured from its begin: no other span is asked for.
func TestScriptsRunToTheirEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workload string
		set      experiment.Knobs
		commits  uint64
		empty    uint64
	}{
		{"script", experiment.Knobs{"workload.script": "r0 w1; r1 w0; r0 r1"}, 3, 0},
		{"script", experiment.Knobs{"workload.script": "r0 w1 | r1 w0; r9", "nodes": 2, "replicas": 1}, 3, 1},
		{"script", experiment.Knobs{"workload.script": "r0 w1", "cc": "rococo"}, 1, 0},
		{"script", experiment.Knobs{"workload.script": "w0 w1; w1 w0", "cc": "nowait"}, 2, 0},
		{"kvscript", experiment.Knobs{"workload.requests": "10 20 30 40: i15 g15 d99; u20 s10+2", "xstore.trainers": 1}, 5, 1},
	} {
		spec := experiment.Spec{Workload: c.workload, Set: c.set}
		r, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Errorf("%v: %v", c.set, err)
			continue
		}
		if r.Commits != c.commits || r.Empty != c.empty || r.FromNS != 0 || r.VirtualNS <= 0 || r.VirtualNS > 1_000_000 || r.Checks.Failed() || r.Throughput <= 0 {
			t.Errorf("%v: %d committed, %d of them found nothing, from %d ns for %d ns, %g/s, %v", c.set, r.Commits, r.Empty, r.FromNS, r.VirtualNS, r.Throughput, r.Checks)
		}
	}
}

// A live system whose requests have all ended stands still, and that is no failure.
func TestScriptThatHasEnded(t *testing.T) {
	t.Parallel()
	s := open(t, experiment.Spec{Workload: "script", Set: experiment.Knobs{"workload.script": "w0"}})
	advance(t, s, 60_000_000)
	if r := s.Result(); r.Commits != 1 {
		t.Errorf("%d commits", r.Commits)
	}
}
