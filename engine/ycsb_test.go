package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// TestYCSBRules: transactions that cannot be are refused by the knob that makes them so, before anything is
// opened, and what is just allowed runs with every primitive.
func TestYCSBRules(t *testing.T) {
	with := func(k experiment.Knobs) experiment.Spec {
		k["workload"] = "ycsb"
		return small(k)
	}
	for want, k := range map[string]experiment.Knobs{
		"workload.keys = 8: a transaction takes 10 different records, there are 8; set workload.keys=10 or more":                  {"workload.keys": 8},
		"workload.keys = 20: a transaction takes 10 different records of one machine, there are 20; set workload.keys=30 or more": {"workload.keys": 20, "workload.nodes_per_txn": 1},
		"workload.keys = 200000000: ":                                {"workload.keys": 200_000_000},
		"workload.nodes_per_txn = 4: more than the 3 machines":       {"workload.nodes_per_txn": 4},
		"workload.nodes_per_txn = 3: a transaction has 2 operations": {"workload.nodes_per_txn": 3, "workload.ops": 2},
		"set workload.ops=3 or fewer":                                {"workload.field_bytes": 1024},
		"workload.value_bytes = 20: ":                                {"workload.value_bytes": 20},
	} {
		if _, err := experiment.Resolve(with(k)); err == nil || !strings.Contains(err.Error(), want) || !experiment.IsSpecError(err) {
			t.Errorf("%v: %v, want %s", k, err, want)
		}
	}
	for _, preset := range experiment.PresetNames() {
		for _, k := range []experiment.Knobs{
			{"workload.keys": 500}, {"workload.field_bytes": 1024, "workload.ops": 3}, {"workload.ops": 31, "workload.keys": 2000}, {"workload.value_bytes": 8, "workload.nodes_per_txn": 3},
			{"workload.write_share": 0.0, "workload.ops": 32, "workload.field_bytes": 8},
		} {
			k["preset"] = preset
			if r := mustRun(t, with(k)); r.Commits == 0 || !r.Checks.Passed() {
				t.Errorf("%v: %d commits, %s", k, r.Commits, r.ChecksText())
			}
		}
	}
}

// TestLocalYCSB: the share of own records is what the rule for the lock's primitive is told.
func TestLocalYCSB(t *testing.T) {
	for _, x := range []struct {
		nodes       int
		distributed float64
		want        int
	}{{0, 1, 25}, {1, 1, 100}, {2, 1, 50}, {4, 0.4, 70}} {
		s := open(t, small(experiment.Knobs{"nodes": 4, "workload": "ycsb", "workload.nodes_per_txn": x.nodes, "workload.distributed": x.distributed, "workload.keys": 4000, "workload.theta": 0}))
		if got := experiment.Workloads.Load(s.values).LocalLocks(s.values); got != x.want {
			t.Errorf("%+v: %d %% local", x, got)
		}
		if err := s.Advance(300_000); err != nil {
			t.Fatal(err)
		}
		n := s.load.db.Locks()
		if got := int(100 * n.Local / n.All); got < x.want-8 || got > x.want+8 {
			t.Errorf("%+v: %d %% of %d locks are local", x, got, n.All)
		}
	}
}

// TestYCSBLive: what is set while it runs takes effect, and what may not be is refused as in a spec.
func TestYCSBLive(t *testing.T) {
	s := open(t, small(experiment.Knobs{"workload": "ycsb", "workload.keys": 2000, "workload.write_share": 0, "workload.theta": 0, "check": "full"}))
	set := func(k experiment.Knobs) {
		t.Helper()
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatal(err)
		}
		if err := s.Advance(200_000); err != nil {
			t.Fatal(err)
		}
	}
	set(experiment.Knobs{})
	if n := s.load.db.Locks(); n.All != 0 {
		t.Fatalf("%d locks by transactions that read", n.All)
	}
	set(experiment.Knobs{"workload.write_share": 0.5, "workload.theta": 0.5})
	before := s.load.db.Locks()
	set(experiment.Knobs{"workload.nodes_per_txn": 2, "workload.distributed": 0.1})
	set(experiment.Knobs{})
	n := s.load.db.Locks()
	if all, own := n.All-before.All, n.Local-before.Local; before.All == 0 || all == 0 || own*10 < all*7 {
		t.Errorf("%d locks before; with few distributed transactions %d of %d are local", before.All, own, all)
	}
	for _, k := range []experiment.Knobs{{"workload.nodes_per_txn": 9}, {"workload.write_share": 2.0}, {"workload.ops": 4}} {
		if _, err := s.Set(k, "test"); !experiment.IsSpecError(err) {
			t.Errorf("%v: %v", k, err)
		}
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// TestYCSBEstimate: every copy of a record and the count of it are in the estimate, and a short run is expected to
// touch a part of a large table.
func TestYCSBEstimate(t *testing.T) {
	of := func(k experiment.Knobs) experiment.Estimate {
		k["workload"], k["duration_ns"], k["warmup_ns"] = "ycsb", "5ms", "1ms"
		e, err := experiment.EstimateOf(experiment.Spec{Set: k})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	const keys = 4_000_000
	short := of(experiment.Knobs{"workload.keys": keys, "workload.value_bytes": 8})
	long := of(experiment.Knobs{"workload.keys": keys})
	if more := long.MaxMemoryBytes - short.MaxMemoryBytes; more != keys*3*(1024-8) {
		t.Errorf("records of 1,024 bytes need %d bytes more than those of 8", more)
	}
	if long.MemoryBytes > long.MaxMemoryBytes/4 {
		t.Errorf("a short run needs %d bytes of %d", long.MemoryBytes, long.MaxMemoryBytes)
	}
	half := of(experiment.Knobs{"workload.keys": keys / 2})
	if more := long.MaxMemoryBytes - half.MaxMemoryBytes; more < keys/2*3*1024 || more > keys/2*(3*1100+250) { // and 246 of the hash table
		t.Errorf("%d records more need %d bytes more", keys/2, more)
	}
}
