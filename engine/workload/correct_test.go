package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/cycle"
	"drtmx/engine/workload/smallbank"
	"drtmx/engine/workload/tpcc"
	"drtmx/engine/workload/tpce"
	"drtmx/engine/workload/workloadtest"
)

// bank is SmallBank with a handful of hot customers.
func bank(t testing.TB) workload.Bench {
	w, err := smallbank.New(smallbank.Options{Customers: 150, HotPermille: 60})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ring is Cycle with values of two lines, so that reads can be torn.
func ring(t testing.TB) workload.Bench {
	w, err := cycle.New(cycle.Options{Keys: 40, ValueBytes: 96})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// company is TPC-C with few customers and items.
func company(t testing.TB) workload.Bench {
	w, err := tpcc.New(tpcc.Options{Warehouses: 1, Customers: 30, Items: 400, Orders: 4_000, Remotes: true, RemoteLine: 300, RemotePayment: 400, Rollbacks: 20})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// house is TPC-E with few customers and securities.
func house(t testing.TB) workload.Bench {
	w, err := tpce.New(tpce.Options{Customers: 4, Securities: 20, Trades: 30, Orders: 4_000, SetRollbacks: true, Rollbacks: 30})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// shapes are small deployments: symmetric, asymmetric, more queue pairs.
var shapes = []func(*workloadtest.Setup){
	func(*workloadtest.Setup) {},
	func(s *workloadtest.Setup) { s.Machines, s.Servers, s.Threads, s.Coroutines = 4, 3, 2, 6 },
	func(s *workloadtest.Setup) { s.Machines, s.Threads, s.Coroutines, s.Emulated = 4, 1, 6, 12 },
	func(s *workloadtest.Setup) { s.Machines, s.Threads, s.Coroutines = 3, 1, 8 },
}

// stress runs a configuration until it has committed so many transactions and
// reports everything that the checkers find.
func stress(t testing.TB, cfg txn.Config, shape func(*workloadtest.Setup), seed, commits uint64, bench workload.Bench) (uint64, []string) {
	t.Helper()
	s := workloadtest.Small(cfg)
	s.Seed = seed
	shape(&s)
	b := workloadtest.New(t, s, bench)
	defer b.Close()
	defer probe(b)
	bad := b.Stress(commits)
	return b.Commits, bad
}

// seen counts how often the runs of a test took the paths that are rare.
var seen struct{ split, lost, aborts, rollbacks uint64 }

func probe(b *workloadtest.Bed) {
	n := b.Fabric.Counts()
	seen.split += n.Split
	seen.lost += n.Lost
	seen.aborts += b.Attempts - b.Commits - b.Rollbacks
	seen.rollbacks += b.Rollbacks
}

// TestCombinations: choices of primitives, optimisations and shapes, each two of them together, under contention, with
// torn reads and lost datagrams, pass the checker on all four workloads.
func TestCombinations(t *testing.T) {
	commits := uint64(250)
	if testing.Short() {
		commits = 60
	}
	total := uint64(0)
	for i, x := range occConfigs(11, 2) {
		for _, w := range []workload.Bench{bank(t), ring(t), slots(t), longSlots(t)} {
			n, bad := stress(t, x.cfg, shapes[x.shape], uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), name(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed, seen %+v", total, seen)
	if seen.split == 0 || seen.lost == 0 || seen.aborts == 0 || seen.rollbacks == 0 {
		t.Errorf("a path was never taken: %+v", seen)
	}
}

// TestCombinationsOfTPC: likewise on the two large workloads. Their indexes and inserted records take ways that SmallBank and
// Cycle do not have.
func TestCombinationsOfTPC(t *testing.T) {
	commits := uint64(80)
	if testing.Short() {
		commits = 20
	}
	total, before := uint64(0), seen
	for i, x := range occConfigs(12, 1) {
		for _, w := range []workload.Bench{company(t), house(t)} {
			n, bad := stress(t, x.cfg, shapes[x.shape], uint64(i+1), commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, shape %d, seed %d:\n%s", w.Name(), name(x.cfg), x.shape, i+1, strings.Join(bad, "\n"))
			}
		}
	}
	t.Logf("%d transactions committed, seen %+v", total, seen)
	if seen.split == before.split || seen.lost == before.lost || seen.aborts == before.aborts || seen.rollbacks == before.rollbacks {
		t.Errorf("a path was never taken: %+v, before %+v", seen, before)
	}
}

// TestPresets: the presets, longer, and in make soak each optimisation switched the other
// way alone, on two of the workloads.
func TestPresets(t *testing.T) {
	commits, each := workloadtest.Effort(uint64(4_000), 2_000), workloadtest.Effort(uint64(250), 0)
	if testing.Short() {
		commits, each = 500, 0
	}
	total := uint64(0)
	try := func(cfg occ.Config, seed, commits uint64) {
		t.Helper()
		for k, w := range []workload.Bench{bank(t), ring(t), slots(t), longSlots(t)} {
			if commits == each && (seed+uint64(k))%2 == 0 {
				continue
			}
			n, bad := stress(t, cfg, shapes[seed%uint64(len(shapes))], seed, commits, w)
			total += n
			if len(bad) > 0 {
				t.Fatalf("%s on %s, seed %d:\n%s", w.Name(), name(cfg), seed, strings.Join(bad, "\n"))
			}
		}
	}
	seed := uint64(0)
	for _, preset := range occ.PresetNames() {
		cfg, _ := occ.Preset(preset)
		try(cfg, 100, commits)
		if each == 0 {
			continue
		}
		for p := txn.Execution; p <= occ.ROValidation; p++ {
			for _, m := range []r2.Mode{{Outstanding: true}, {Doorbell: true}, {Passive: true}} {
				c := cfg
				on := &c.Opt[p]
				on.Outstanding = on.Outstanding != m.Outstanding
				on.Doorbell = on.Doorbell != m.Doorbell
				on.Passive = on.Passive != m.Passive
				seed++
				try(c, seed, each)
			}
		}
		c := cfg
		c.CacheEnabled, c.Speculative = !c.CacheEnabled, !c.Speculative
		try(c, seed, each)
	}
	t.Logf("%d transactions committed", total)
}

// TestSmallRings: logs that do not fit wait for reclaims and stay correct.
func TestSmallRings(t *testing.T) {
	for _, preset := range []string{"fasst", "drtm+h"} {
		cfg, _ := occ.Preset(preset)
		s := workloadtest.Small(cfg)
		s.RingBytes = 8192
		s.Coroutines = 12
		w, err := cycle.New(cycle.Options{Keys: 400, ValueBytes: 640})
		if err != nil {
			t.Fatal(err)
		}
		b := workloadtest.New(t, s, w)
		if err := b.Run(2 * sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		b.Check(t)
		if w.DB().Log().Full() == 0 {
			t.Errorf("%s: no ring was ever full", preset)
		}
		b.Close()
	}
}
