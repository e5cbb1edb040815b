package engine

import (
	"testing"

	"drtmx/engine/experiment"
)

// A snapshot reads at its point to its end, whatever staleness and drift become meanwhile; and where staleness is raised none
// begins below what its machine has announced, for versions from before are collected. Records are overwritten every few
// microseconds here, and collected as often.
func TestStalenessAndDriftChangeLive(t *testing.T) {
	steps := []experiment.Knobs{
		{"ts.staleness_ns": "500us"}, {"ts.clock_drift_ns": "200us"}, {"ts.staleness_ns": "50us"}, {"ts.clock_drift_ns": 0}, {"ts.staleness_ns": 0},
		{"ts.staleness_ns": "2ms", "ts.clock_drift_ns": "50us"}, {"ts.staleness_ns": "1us", "ts.clock_drift_ns": "1us"}, {"ts.staleness_ns": "300us"},
	}
	for cc, own := range map[string]experiment.Knobs{"occ": {}, "2pl": {"2pl.deadlock": "wait-die"}, "rococo": {"replicas": 1}} { // order-free: each is a system of its own
		t.Run(cc, func(t *testing.T) {
			k := experiment.Knobs{"cc": cc, "ts.clock_drift_ns": "20us", "ts.freshness": "mixed", "workload.mix.read-only": 60, "workload.scale": 0.05, "duration_ns": 0}
			for name, v := range own { // order-free: fills a map
				k[name] = v
			}
			s := open(t, versioned(k))
			advance(t, s, 400_000)
			for _, step := range steps {
				before := s.Result().StalenessNS.Reads
				change(t, s, step)
				advance(t, s, 400_000)
				if n := s.Result().StalenessNS.Reads - before; n < 100 || s.State() != StateRunning {
					t.Errorf("after %v %d reads of snapshots, %s", step, n, s.State())
				}
			}
			if err := s.Drain(); err != nil {
				t.Fatal(err)
			}
			if r := s.Result(); !r.Checks.Passed() || r.Commits < 500 || r.Parts["snapshots"]["collected"] <= 0 {
				t.Errorf("%d commits, %g versions collected/s, %s", r.Commits, r.Parts["snapshots"]["collected"], r.ChecksText())
			}
		})
	}
}
