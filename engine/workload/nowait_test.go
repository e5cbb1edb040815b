package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/history"
	"drtmx/engine/metrics"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/churn"
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

// optimiseLocker switches optimisations, cache and speculation on and off at random.
func optimiseLocker(c nowait.Config, r *sim.Rand) nowait.Config {
	flip := func() bool { return r.Uint64n(2) == 0 }
	for _, p := range nowait.Phases {
		c.Opt[p.ID] = r2.Mode{Outstanding: flip(), Doorbell: flip(), Passive: flip()}
	}
	c.CacheEnabled, c.Speculative, c.Reclaim = flip(), flip(), someReclaiming(flip)
	return c
}

func lockerName(c nowait.Config) string {
	return fmt.Sprintf("%v lock %v logging %v replicas %d opt %v cache %v speculative %v reclaim %v", c.Mode, c.Lock, c.Logging, c.Replicas, c.Opt, c.CacheEnabled, c.Speculative, c.Reclaim)
}

// TestNoWait: choices of primitive, mode, replication, optimisations and shape, each two of them together, pass
// the checker under contention, with torn reads and lost datagrams.
func TestNoWait(t *testing.T) {
	commits := uint64(400)
	if testing.Short() {
		commits = 100
	}
	total, before := uint64(0), seen
	for i, x := range lockerConfigs(21, 2) {
		for _, w := range []workload.Bench{bank(t), ring(t), cells(t), wide(t)} {
			n, bad := stress(t, x.cfg, shapes[x.shape], uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), lockerName(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed, seen %+v", total, seen)
	if seen.split == before.split || seen.lost == before.lost || seen.aborts == before.aborts || seen.rollbacks == before.rollbacks {
		t.Errorf("a path was never taken: %+v, before %+v", seen, before)
	}
}

// TestNoWaitOfTPC: likewise on the two large workloads. Their long transactions abort each other
// until they are further apart than one of them takes, so back-off has to reach that far.
func TestNoWaitOfTPC(t *testing.T) {
	commits := workloadtest.Effort(uint64(150), 60)
	if testing.Short() {
		commits = 40
	}
	total := uint64(0)
	for i, x := range lockerConfigs(22, 1) {
		x.cfg.BackoffMaxNS = 4_000_000
		for _, w := range []workload.Bench{company(t), house(t)} {
			n, bad := stress(t, x.cfg, shapes[x.shape], uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), lockerName(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed", total)
}

// turnover is records that come and go, on few keys.
func turnover(t testing.TB) workload.Bench {
	w, err := churn.New(churn.Options{Keys: 40})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestNoWaitInserts: records that come and go, of one line and of several, under every choice: nothing comes into being
// that a transaction has found missing, and no stale location is locked.
func TestNoWaitInserts(t *testing.T) {
	commits := workloadtest.Effort(uint64(1500), 600)
	if testing.Short() {
		commits = 150
	}
	total, before := uint64(0), seen
	for i, x := range lockerConfigs(23, 1) {
		long, err := churn.New(churn.Options{Keys: 16, ValueBytes: 104})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []workload.Bench{turnover(t), long, &queue{}} {
			shape := shapes[x.shape]
			if w.Name() == "queue" { // it has no clients without data
				shape = shapes[0]
			}
			n, bad := stress(t, x.cfg, shape, uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), lockerName(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed, seen %+v", total, seen)
	if seen.aborts == before.aborts {
		t.Errorf("no transaction aborted")
	}
}

// flippingLocker changes mode, primitives and optimisations at random while the system runs.
// barrier says whether it drains where it has to.
func flippingLocker(t *testing.T, w workload.Bench, seed uint64, flips int, barrier bool) (uint64, []string) {
	t.Helper()
	rand := stream(seed)
	var all []nowait.Config
	for _, c := range lockers() {
		if c.Replicas == 3 {
			all = append(all, c)
		}
	}
	pick := func() nowait.Config { return optimiseLocker(all[rand.Intn(len(all))], rand) }
	s := workloadtest.Small(pick())
	s.Seed = seed
	b := workloadtest.New(t, s, w)
	defer b.Close()
	return flipUntil(b, w.DB(), flips, func() (txn.Config, sim.Time, bool) {
		pause, next := sim.Time(5+rand.Intn(60))*sim.Microsecond, pick()
		return next, pause, barrier && w.DB().NeedsDrain(next)
	})
}

// TestNoWaitFlips: knobs at random during the run, with the drain barrier where needed and only
// there, lose and corrupt nothing.
func TestNoWaitFlips(t *testing.T) {
	seeds := workloadtest.Effort(uint64(8), 3)
	if testing.Short() {
		seeds = 1
	}
	total := uint64(0)
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, w := range []workload.Bench{bank(t), ring(t), cells(t), turnover(t)} {
			n, bad := flippingLocker(t, w, seed, 120, true)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s, seed %d:\n%s", w.Name(), seed, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed", total)
}

// narrow is registers that lie in one line each, with few of them: rows of 32 bytes.
func narrow(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 12, ValueBytes: 24, Reads: 2, Writes: 2})
}

// long is registers of 63 lines each, whose WRITE takes a while.
func long(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 6, ValueBytes: 4000, Reads: 1, Writes: 1})
}

// crowded is registers of two lines each that everybody wants.
func crowded(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 8, ValueBytes: 104, Reads: 1, Writes: 1})
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

// TestNoWaitFlipsWithoutBarrier: RNIC and CPU lockers mixed without the drain are caught.
func TestNoWaitFlipsWithoutBarrier(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		if _, bad := flippingLocker(t, narrow(t), seed, 200, false); len(bad) > 0 {
			t.Logf("seed %d: %s", seed, bad[0])
			return
		}
	}
	t.Fatal("mixed lockers were never caught")
}

// TestNoWaitMetamorphic: without contention every choice of primitive, mode and replication, with
// whatever optimisations and number of coroutines, leaves the same values as the optimistic
// protocol.
func TestNoWaitMetamorphic(t *testing.T) {
	rand := stream(6)
	optimistic, _ := occ.Preset("drtm+h")
	want := privateValues(t, optimistic, 1, 0)
	for i, x := range lockerConfigs(6, 1) {
		cfg := x.cfg
		loss := uint32(0)
		if i%2 == 1 {
			loss = 10_000
		}
		if got := privateValues(t, cfg, 1<<rand.Uint64n(4), loss); got != want {
			t.Fatalf("%s leaves %#x, the optimistic protocol %#x", lockerName(cfg), got, want)
		}
	}
}

// privateValues runs the workload without contention and returns a digest of all values.
func privateValues(t *testing.T, cfg txn.Config, coroutines int, loss uint32) uint64 {
	w := &private{coroutines: coroutines, source: sim.New(sim.Options{Seed: 9})}
	b := workloadtest.New(t, workloadtest.Setup{
		Machines: 3, Threads: 2, Coroutines: coroutines, Seed: uint64(coroutines), Txn: cfg, LossPPM: loss, Mode: history.Full, Requests: 8 * lanes / coroutines,
	}, w)
	defer b.Close()
	b.Check(t)
	if loss == 0 && b.Aborts > 0 {
		t.Errorf("%d aborts without contention", b.Aborts)
	}
	return w.values()
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
