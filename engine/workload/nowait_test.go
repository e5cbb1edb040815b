package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/metrics"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/workloadtest"
)

// lockers lists every legal choice of no-wait locking, none of it automatic. Where many read a
// record and then write it, back-off has to keep them further apart than an attempt takes, or the
// upgrades of their shared locks abort each other for long.
func lockers() []nowait.Config {
	var out []nowait.Config
	for _, mode := range []nowait.Mode{nowait.Exclusive, nowait.Shared} {
		for _, prim := range []nowait.Prim{nowait.OneSided, nowait.TwoSided} {
			for _, logging := range []nowait.Prim{nowait.OneSided, nowait.TwoSided} {
				for _, replicas := range []int{1, 3} {
					c := nowait.Default()
					c.Mode, c.Lock, c.Commit, c.Logging, c.Replicas = mode, prim, prim, logging, replicas
					c.BackoffMaxNS = 1_000_000
					out = append(out, c)
				}
			}
		}
	}
	return out
}

func lockerName(c nowait.Config) string {
	return fmt.Sprintf("%v lock %v logging %v replicas %d opt %v cache %v speculative %v reclaim %v", c.Mode, c.Lock, c.Logging, c.Replicas, c.Opt, c.CacheEnabled, c.Speculative, c.Reclaim)
}

// narrow is registers that lie in one line each, with few of them: rows of 32 bytes.
func narrow(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 12, ValueBytes: 24, Reads: 2, Writes: 2})
}

// long is registers of 63 lines each, whose WRITE takes a while.
func long(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 6, ValueBytes: 4000, Reads: 1, Writes: 1})
}

// TestNoWaitAsPublished: the single WRITE of lock and row is torn where a row passes a line, and the
// checker sees it. An RNIC's CAS crosses PCIe twice before the READ behind it can follow, so who locks a
// row whose last lines are not there yet reads them only where they come more slowly than that:
// in long rows, on a narrow bus. A shared lock takes a round trip more, and is never that early.
func TestNoWaitAsPublished(t *testing.T) {
	narrowBus := func(s *workloadtest.Setup) {
		s.Hardware = func(p *profile.Profile) { p.PCIe.Bandwidth.Value = 3 }
	}
	cfg := nowait.Default()
	cfg.Lock, cfg.Replicas, cfg.AsPublished = nowait.OneSided, 1, true
	caughtOn(t, cfg, narrowBus, []string{"wrong-value", "registers.whole"}, long)
	cfg.AsPublished = false
	if _, bad := stress(t, cfg, narrowBus, 1, 1500, long(t)); len(bad) > 0 {
		t.Errorf("without the fault: %s", strings.Join(bad, "\n"))
	}
}

// TestNoWaitAsPublishedInALine: the single WRITE of lock and row is sound where no row passes a line.
func TestNoWaitAsPublishedInALine(t *testing.T) {
	seeds := workloadtest.Effort(uint64(6), 2)
	if testing.Short() {
		seeds = 1
	}
	for _, mode := range []nowait.Mode{nowait.Exclusive, nowait.Shared} {
		cfg := nowait.Default()
		cfg.Mode, cfg.Lock, cfg.AsPublished = mode, nowait.OneSided, true
		for seed := uint64(1); seed <= seeds; seed++ {
			if _, bad := stress(t, cfg, shapes[0], seed, 1500, narrow(t)); len(bad) > 0 {
				t.Fatalf("%v, seed %d: %s", mode, seed, strings.Join(bad, "\n"))
			}
		}
	}
}

// TestNoWaitOutcome: latency is what its parts add up to, and round trips are those of the
// protocol: one for an exclusive lock whose place is known, one to commit.
func TestNoWaitOutcome(t *testing.T) {
	for _, c := range lockers() {
		b := workloadtest.New(t, workloadtest.Small(c), bank(t))
		lone := 0
		b.OnDone = func(o *txn.Outcome) {
			if sum, latency := o.Breakdown.Total(), o.End-o.Begin; sum != latency {
				t.Errorf("%s: latency %d ps, its parts add up to %d", lockerName(c), latency, sum)
			}
			if o.Begin >= o.Decision || o.Decision > o.End {
				t.Errorf("%s: begin %d, decision %d, end %d", lockerName(c), o.Begin, o.Decision, o.End)
			}
			if !o.Committed || o.Attempts > 1 {
				return
			}
			lone++
			if n := o.RoundTrips[replication.Logging]; n > 1 || c.Replicas == 1 && n > 0 {
				t.Errorf("%s: %d round trips of logging", lockerName(c), n)
			}
			if n := o.RoundTrips[txn.Commit]; c.Mode == nowait.Exclusive && n > 1 {
				t.Errorf("%s: %d round trips to commit", lockerName(c), n)
			}
			if n := o.RoundTrips[metrics.Backoff] + o.RoundTrips[metrics.PhaseOther] + o.RoundTrips[replication.Reclaim] + o.RoundTrips[txn.Execution] + o.RoundTrips[txn.RORead]; n > 0 {
				t.Errorf("%s: round trips %v", lockerName(c), o.RoundTrips)
			}
		}
		if err := b.Run(sim.Millisecond / 2); err != nil {
			t.Fatal(err)
		}
		b.Check(t)
		if lone == 0 {
			t.Errorf("%s: no transaction at the first attempt", lockerName(c))
		}
		b.Close()
	}
}
