package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/store"
	"drtmx/engine/workload/workloadtest"
	"drtmx/xstore"
)

// The planted faults of XStore's recovery are stores of the tests.
func init() {
	var kinds store.Ordered
	for _, f := range xstore.CrashFaults {
		kinds = append(kinds, f.Kind())
	}
	experiment.Plug(nil, nil, kinds, nil, nil, nil)
}

// logged is a cluster whose servers log.
func logged(k experiment.Knobs) experiment.Spec {
	all := experiment.Knobs{"workload": "ycsb-a", "workload.keys": 300, "xstore.log": true, "xstore.leaf_slots": 8, "xstore.submodels": 12, "xstore.expand_at": 0, "threads": 2, "coroutines": 2}
	for name, x := range k { // order-free: fills a map
		all[name] = x
	}
	return asymmetric(all)
}

// crashAndBack crashes a machine, starts it again, and lets it run.
func crashAndBack(t *testing.T, s *System, machine int) {
	t.Helper()
	change(t, s, experiment.Knobs{"fault.crash": machine})
	advance(t, s, 50_000)
	change(t, s, experiment.Knobs{"fault.restart": machine})
	up(t, s, machine)
}

// up lets a machine start.
func up(t *testing.T, s *System, machine int) {
	t.Helper()
	for i := 0; !s.cl.Up(machine); i++ {
		if i == 1000 {
			t.Fatalf("machine %d is not up after 100 ms", machine)
		}
		advance(t, s, 100_000)
	}
}

// A server that logs comes back from its crashes with what was durable, whatever its clients cache, and no answer is wrong.
func TestXStoreRecovers(t *testing.T) {
	for i, mode := range []string{"full", "model", "top", "tree", "none"} {
		for j, k := range []experiment.Knobs{
			{}, {"workload": "ycsb-d", "workload.mix.insert": 40, "workload.mix.update": 30}, {"workload": "ycsb-e", "servers": 2, "workload.mix.insert": 50},
			{"workload": "ycsb-d", "servers": 2, "workload.mix.insert": 40, "workload.mix.update": 30, "workload.key_bytes": 40, "xstore.hash_bits": 8},
			{"workload": "ycsb-f", "servers": 0, "clients": 0, "nodes": 3, "xstore.cache_scope": "thread"}, // servers have clients
		} {
			if !workloadtest.Soak && (i+j)%5 > 1 { // two workloads for each mode, and two modes for each workload
				continue
			}
			k = k.Clone()
			k["xstore.cache"] = mode
			s := open(t, logged(k))
			advance(t, s, 2_500_000)
			for _, machine := range []int{0, 0, 2} { // the last is a client's
				crashAndBack(t, s, machine)
				advance(t, s, 2_300_000)
			}
			after := measured(t, s, 500_000)
			for range 20 { // a trainer may have the core, and a worker a lock
				if after.Commits == 0 {
					after = measured(t, s, 1_000_000)
				}
			}
			if after.Commits == 0 || after.Failed > 0 {
				t.Errorf("%v: %d commits, %d errors behind the recovery", k, after.Commits, after.Failed)
			}
			if err := s.Drain(); err != nil {
				t.Fatal(err)
			}
			if r := s.Result(); !r.Checks.Passed() {
				t.Errorf("%v: %s", k, r.ChecksText())
			}
		}
	}
}

// What is set while a server is down takes effect when it is back: a number of sub-models, another cache.
func TestXStoreIsSetWhileDown(t *testing.T) {
	s := open(t, logged(experiment.Knobs{"xstore.cache": "tree"}))
	advance(t, s, 1_000_000)
	change(t, s, experiment.Knobs{"fault.crash": 0})
	change(t, s, experiment.Knobs{"xstore.submodels": 30, "xstore.cache": "full"})
	advance(t, s, 100_000)
	change(t, s, experiment.Knobs{"fault.restart": 0})
	up(t, s, 0)
	advance(t, s, 20_000_000)
	if n := s.Result().Parts["xstore"]["submodels"]; n != 30 {
		t.Errorf("%g sub-models, 30 were asked for while the server was down", n)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// A spec may begin with a server down. It comes back with the initial keys.
func TestXStoreBeginsDown(t *testing.T) {
	s := open(t, logged(experiment.Knobs{"fault.crash": 0}))
	advance(t, s, 500_000)
	change(t, s, experiment.Knobs{"fault.restart": 0})
	up(t, s, 0)
	if r := measured(t, s, 2_000_000); r.Commits == 0 {
		t.Error("no commits behind the recovery")
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() {
		t.Error(r.ChecksText())
	}
}

// A recovery that loses or forgets is found: by what it comes to, or by clients that believe what they had cached.
func TestXStoreRecoveryFaults(t *testing.T) {
	for _, f := range xstore.CrashFaults {
		k, says := experiment.Knobs{}, "behind the recovery of machine 0"
		if f.Name == "incarnations-restarted" {
			k, says = experiment.Knobs{"workload": "ycsb-d", "workload.mix.insert": 40, "workload.mix.update": 30}, "did not find it"
		}
		k["store.ordered"] = f.Kind().Name
		found := ""
		for seed := 1; seed <= 8 && !strings.Contains(found, says); seed++ { // what clients had cached is not always used again
			k["seed"] = seed
			s := open(t, logged(k))
			advance(t, s, 4_000_000)
			crashAndBack(t, s, 0)
			advance(t, s, 500_000)
			if err := s.Drain(); err != nil {
				t.Fatal(err)
			}
			r := s.Result()
			if found = r.ChecksText(); strings.Contains(found, says) && !r.Checks.Failed() {
				t.Errorf("%s is found and passes: %s", f.Name, found)
			}
		}
		if !strings.Contains(found, says) {
			t.Errorf("%s: %s", f.Name, found)
		}
	}
}

// A drain that ends while a server is down, or recovers, judges what is there.
func TestDrainWithoutServer(t *testing.T) {
	for _, restart := range []bool{false, true} {
		s := open(t, logged(nil))
		advance(t, s, 2_000_000)
		change(t, s, experiment.Knobs{"fault.crash": 0})
		if restart {
			change(t, s, experiment.Knobs{"fault.restart": 0})
		}
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		if r := s.Result(); r.Checks.Failed() {
			t.Errorf("restart %v: %s", restart, r.ChecksText())
		}
	}
}

// Where a server would not come back with its keys, it does not crash, and the reason is told.
func TestXStoreCrashIsRefused(t *testing.T) {
	for says, k := range map[string]experiment.Knobs{
		"loses its keys in a crash unless it logs: reset with xstore.log=true": {"xstore.log": false},
		"no thread would train the models":                                     {"xstore.trainers": 0},
		"servers of store masstree have no logs":                               {"store.ordered": "masstree"},
	} {
		s := open(t, logged(k))
		if _, err := s.Set(experiment.Knobs{"fault.crash": 0}, ""); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", k, err, says)
		}
	}
}
