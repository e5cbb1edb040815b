package engine

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
)

// Writers that hold the locks of what is read most of the time block snapshots, but not those that are older than the last write: "the
// tuples have been updated with larger commit timestamps" (§5.5.4). What these take longer is to pass the versions that they do not see.
func TestSnapshotsOfThePastAreNotBlocked(t *testing.T) {
	for _, cc := range []string{"occ", "2pl"} {
		mean := func(staleness string) float64 {
			r, err := Run(context.Background(), experiment.Spec{Preset: "fasst", Workload: "ts-block", Set: experiment.Knobs{
				"cc": cc, "profile": "vale", "nodes": 3, "threads": 2, "coroutines": 1, "ts.scheme": "dst", "ts.staleness_ns": staleness, "check": "full",
				"warmup_ns": "2ms", "duration_ns": "5ms",
			}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Checks.Passed() || r.ByType["read"].Commits < 100 || r.ByType["write"].Commits < 50 {
				t.Fatalf("%s, staleness %s: %d reads, %d writes, %s %v", cc, staleness, r.ByType["read"].Commits, r.ByType["write"].Commits, r.Checks.Why(), r.Checks.Findings())
			}
			return r.ByType["read"].LatencyUS.Mean
		}
		if now, past := mean("0s"), mean("500us"); past > 0.8*now {
			t.Errorf("%s: a snapshot of the present takes %.4g µs, of the past %.4g", cc, now, past)
		}
	}
}
