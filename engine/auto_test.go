package engine

import (
	"reflect"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/result"
	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
)

func company(workload string, k experiment.Knobs) experiment.Spec {
	spec, err := small(experiment.Knobs{"workload": workload, "workload.customers": 300, "workload.items": 2_000}).With(k)
	if err != nil {
		panic(err)
	}
	return spec
}

// What workloads foresee of their locks is what they do.
func TestLocalLocksForeseen(t *testing.T) {
	for name, spec := range map[string]experiment.Spec{
		"smallbank":         small(nil),
		"cycle":             small(experiment.Knobs{"workload": "cycle", "workload.keys": 3_000}),
		"asymmetric":        small(experiment.Knobs{"servers": 3, "clients": 1}),
		"tpcc":              company("tpcc", nil),
		"tpcc, remote":      company("tpcc", experiment.Knobs{"workload.remote.order_line": 900, "workload.mix.delivery": 0, "coroutines": 1}),
		"tpcc, payments":    company("tpcc", experiment.Knobs{"workload.remote.payment": 1000, "workload.mix.new-order": 0, "workload.mix.delivery": 0}),
		"tpcc, districts":   company("tpcc", experiment.Knobs{"workload.districts": 30, "workload.remote.order_line": 900, "coroutines": 1, "workload.items": 20_000}),
		"tpcc-no":           company("tpcc-no", nil),
		"tpcc-no, 2 x 4":    company("tpcc-no", experiment.Knobs{"nodes": 2, "threads": 4, "replicas": 2}),
		"tpcc-no, 1 thread": company("tpcc-no", experiment.Knobs{"threads": 1}),
	} {
		s := open(t, spec)
		advance(t, s, 8_000_000)
		n := s.load.db.Locks()
		got, want := 100*float64(n.Local)/float64(n.All), float64(s.load.db.Config().(occ.Config).LocalPercent)
		if n.All < 500 || got < want-8 || got > want+8 { // those that abort are tried again, new-orders more often than payments
			t.Errorf("%s: %.1f %% of %d locks are local, %g %% foreseen", name, got, n.All, want)
		}
	}
}

// A change of knobs applies the rule again; who locks changes at a barrier.
func TestAutoFollowsKnobs(t *testing.T) {
	s := open(t, company("tpcc", nil))
	if c := s.load.db.Config().(occ.Config); c.Lock != occ.TwoSided || c.Commit != occ.TwoSided {
		t.Fatalf("TPC-C, most of it local: lock %s, commit %s", c.Lock, c.Commit)
	}
	advance(t, s, 100_000)
	c, err := s.Set(experiment.Knobs{"workload.remote.order_line": 1000, "workload.mix.delivery": 0, "workload.mix.payment": 0}, "")
	if err != nil || !c.Pending {
		t.Fatalf("all lines from elsewhere: %+v, %v", c, err)
	}
	advance(t, s, 2_000_000)
	if c := s.load.db.Config().(occ.Config); c.Lock != occ.OneSided || c.Commit != occ.OneSided {
		t.Errorf("all lines from elsewhere: lock %s, commit %s", c.Lock, c.Commit)
	}
	for _, k := range s.Knobs() {
		if said := k.Auto != nil; said != (k.Name == "phase.lock" || k.Name == "phase.commit") {
			t.Errorf("%s: %+v", k.Name, k.Auto)
		}
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	if want := (experiment.AutoChoice{Primitive: "one-sided", Because: "most locks are on other machines, whose CPUs an RNIC's ATOMIC spares (4.3.2)"}); r.Auto["phase.lock"] != want || len(r.AutoChanges) > 0 {
		t.Errorf("result: %v, %v", r.Auto, r.AutoChanges)
	}
	if !r.Checks.Passed() || !strings.Contains(r.String(), "lock is one-sided: most locks") {
		t.Error(r)
	}
}

// Without the cache an overloaded server is spared, and only as long as knobs stay.
func TestAutoWhenOverloaded(t *testing.T) {
	busy := experiment.Knobs{"phase.execution": "auto", "cache.enabled": false, "opt.execution.db": false, "opt.ro_read.db": false, "coroutines": 24, "window_ns": "100us"}
	spec := small(busy)
	s := open(t, spec)
	if c := s.load.db.Config().(occ.Config); c.Execution != occ.TwoSided {
		t.Fatalf("execution begins %s", c.Execution)
	}
	advance(t, s, 300_000)
	want := []result.AutoChange{{VirtualNS: 200_000, Phase: "execution", From: "two-sided", To: "one-sided",
		Because: "servers are overloaded, and READs without the location cache spare them (4.3.1)"}}
	if got := s.AutoChanges(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, want %+v; %+v", got, want, s.Windows(0)[0].Bottleneck)
	}
	if _, err := s.Set(experiment.Knobs{"coroutines": 1}, ""); err != nil {
		t.Fatal(err)
	}
	if c := s.load.db.Config().(occ.Config); c.Execution != occ.TwoSided {
		t.Errorf("after a change of knobs: %s", c.Execution)
	}
	advance(t, s, 1_000_000)
	if n := len(s.AutoChanges()); n != 1 {
		t.Errorf("one coroutine overloads servers: %+v", s.AutoChanges())
	}
	deterministic(t, spec)
}

// What was measured before a primitive changed by itself belongs to the warm-up.
func TestAutoChangeIsNotMeasured(t *testing.T) {
	spec := small(experiment.Knobs{"phase.execution": "auto", "cache.enabled": false, "opt.execution.db": false, "opt.ro_read.db": false, "coroutines": 24, "window_ns": "1ms", "check": "off", "warmup_ns": 0, "duration_ns": 0})
	r, err := Run(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.AutoChanges) != 1 || r.AutoChanges[0].VirtualNS != 2_000_000 {
		t.Fatalf("%+v, want one change after two windows", r.AutoChanges)
	}
	if r.FromNS < 2_000_000 || strings.Contains(r.Unsteady, "by itself") {
		t.Errorf("measured from %d ns: %s", r.FromNS, r.Unsteady)
	}
	if spec, err = spec.With(experiment.Knobs{"warmup_ns": "1ms", "duration_ns": "3ms"}); err != nil {
		t.Fatal(err)
	}
	if r, err = Run(t.Context(), spec, nil); err != nil {
		t.Fatal(err)
	}
	if want := "phase.execution became one-sided by itself at 2 ms"; r.Steady || !strings.HasPrefix(r.Unsteady, want) || r.FromNS != 1_000_000 {
		t.Errorf("from %d ns as asked for, steady %v: %q, want %q", r.FromNS, r.Steady, r.Unsteady, want)
	}
}

// Whose records a user's transactions lock is measured.
func TestAutoOfAddedTransactions(t *testing.T) {
	s := open(t, small(nil))
	servers, customers := uint64(s.values.Int("nodes")), s.load.bench.(*smallbank.Bank).Customers()
	own := func(tx *txn.Tx) error {
		each := customers / servers // in blocks
		key := uint64(tx.Co().Machine())*each + tx.Rand().Uint64n(each)
		v, err := tx.GetInt(smallbank.Checking, key)
		if err != nil {
			return err
		}
		return tx.PutInt(smallbank.Checking, key, v)
	}
	if err := s.AddTransaction("own", 1000, own); err != nil {
		t.Fatal(err)
	}
	advance(t, s, 2_000_000)
	list := s.AutoChanges()
	if len(list) != 2 || list[0].Phase != "lock" || list[0].To != "two-sided" || list[1].Phase != "commit" {
		t.Fatalf("%+v", list)
	}
	if c := s.load.db.Config().(occ.Config); c.Lock != occ.TwoSided || s.State() != StateRunning {
		t.Errorf("lock %s in state %s", c.Lock, s.State())
	}
	if r := s.Result(); r.Steady || !strings.HasPrefix(r.Unsteady, "phase.lock became two-sided by itself") {
		t.Errorf("with the drain in it: steady %v: %q", r.Steady, r.Unsteady)
	}
	s.Mark()
	advance(t, s, 500_000)
	if r := s.Result(); strings.Contains(r.Unsteady, "by itself") {
		t.Errorf("after the drain: %q", r.Unsteady)
	}
	if c, err := s.Set(experiment.Knobs{"coroutines": 2}, ""); err != nil || c.Pending {
		t.Errorf("what was measured is forgotten: %+v, %v", c, err)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// With a transaction of the user's the rule counts on what was measured, from the next change of
// knobs on. Where that changes who locks, the change drains.
func TestAutoOfAddedTransactionsDrains(t *testing.T) {
	s := open(t, small(nil))
	advance(t, s, 1_000_000)
	if c := s.load.db.Config().(occ.Config); c.Lock != occ.OneSided || !s.auto.measured {
		t.Fatalf("lock begins %s, measured: %v", c.Lock, s.auto.measured)
	}
	s.auto.local = 90 // with two machines it may be 51, where 50 is foreseen
	if err := s.AddTransaction("nothing", 1, func(*txn.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Set(experiment.Knobs{"coroutines": 3}, ""); err != nil || !c.Pending || s.load.db.Config().(occ.Config).Lock != occ.OneSided {
		t.Errorf("who locks changed with %d transactions in flight: %+v, %v", s.load.db.InFlight(), c, err)
	}
	if err := s.Drain(); err != nil || !s.Result().Checks.Passed() {
		t.Error(err, s.Result().ChecksText())
	}
}
