package workload_test

import (
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// TestOutcome: latency is what its parts add up to, its order is that of the
// protocol, and round trips are those of Figure 4-1.
func TestOutcome(t *testing.T) {
	for _, preset := range occ.PresetNames() {
		cfg, _ := occ.Preset(preset)
		b := workloadtest.New(t, workloadtest.Small(cfg), bank(t))
		lone := 0
		b.OnDone = func(o *txn.Outcome) {
			if sum, latency := o.Breakdown.Total(), o.End-o.Begin; sum != latency {
				t.Errorf("%s: latency %d ps, its parts add up to %d", preset, latency, sum)
			}
			passive := o.Committed && cfg.Opt[txn.Commit].Passive
			if o.Begin >= o.Decision || o.Decision > o.End || passive && o.End != o.Decision {
				t.Errorf("%s: begin %d, decision %d, end %d", preset, o.Begin, o.Decision, o.End)
			}
			if o.Committed && o.Attempts == 1 && !o.ReadOnly {
				lone++
				for _, p := range []metrics.Phase{txn.Lock, occ.Validation, replication.Logging, txn.Commit} {
					if o.RoundTrips[p] > 1 {
						t.Errorf("%s: %d round trips in %s", preset, o.RoundTrips[p], p)
					}
				}
				if o.RoundTrips[metrics.Backoff]+o.RoundTrips[metrics.PhaseOther]+o.RoundTrips[replication.Reclaim] > 0 {
					t.Errorf("%s: round trips %v", preset, o.RoundTrips)
				}
			}
		}
		if err := b.Run(sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		b.Check(t)
		if lone == 0 {
			t.Errorf("%s: no transaction at the first attempt", preset)
		}
		b.Close()
	}
}
