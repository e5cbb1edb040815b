package workload_test

import (
	"testing"

	"drtmx/engine/protocol/occ"
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
	bad := b.Stress(commits)
	return b.Commits, bad
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
