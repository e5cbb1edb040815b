package engine

import (
	"errors"
	"testing"

	"drtmx/engine/experiment"
)

// TestSchemesChange: who gives stamps changes while a system runs, and what was written under one scheme is there under
// the next; a system without versions has to be reset.
func TestSchemesChange(t *testing.T) {
	schemes := []string{"truetime", "none", "dst", "none", "truetime", "dst"}
	for _, w := range []string{"registers", "churn", "smallbank", "tpcc"} {
		t.Run(w, func(t *testing.T) { changeSchemes(t, experiment.Knobs{"workload": w, "preset": "fasst"}, schemes) })
	}
	for _, w := range []string{"registers", "tpcc"} {
		t.Run("rococo "+w, func(t *testing.T) {
			changeSchemes(t, experiment.Knobs{"workload": w, "cc": "rococo", "replicas": 1}, []string{"none", "dst", "none", "dst"})
		})
	}
}

func changeSchemes(t *testing.T, with experiment.Knobs, schemes []string) {
	set := experiment.Knobs{"ts.scheme": "dst", "nodes": 3, "threads": 2, "coroutines": 4, "check": "full", "workload.scale": 0.02, "ts.staleness_ns": 50_000}
	for name, v := range with { // order-free: fills a map
		set[name] = v
	}
	if with["workload"] == "tpcc" {
		set["store.ordered"] = "btree"
	}
	s, err := Open(experiment.Spec{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	took := 0
	for _, scheme := range schemes {
		if err := s.Advance(400_000); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Set(experiment.Knobs{"ts.scheme": scheme}, "test"); err != nil {
			t.Fatal(err)
		}
		for range 100 { // until the drain has ended
			if err := s.Advance(50_000); err != nil {
				t.Fatal(err)
			}
			if s.State() == StateRunning && s.active.Text("ts.scheme") == scheme {
				took++
				break
			}
		}
	}
	if err := s.Advance(600_000); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() || r.Commits == 0 || r.StalenessNS == nil || took != len(schemes) {
		t.Errorf("%d commits, %d changes, staleness %+v, %s", r.Commits, took, r.StalenessNS, r.ChecksText())
	}
}

// TestOracleSchemesChange is the same with an oracle's machine, under both hosts of all schemes. Who shares a slot of the vector, and whether an oracle
// waits for what is stable, changes as a scheme does.
func TestOracleSchemesChange(t *testing.T) {
	for _, cc := range []string{"occ", "2pl"} {
		t.Run(cc, func(t *testing.T) {
			s, err := Open(experiment.Spec{Set: experiment.Knobs{"workload": "registers", "cc": cc, "ts.scheme": "gts", "oracle": true, "nodes": 3, "threads": 2, "coroutines": 4,
				"preset": "fasst", "check": "full", "2pl.deadlock": "wait-die"}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			changes := []experiment.Knobs{{"ts.scheme": "vts"}, {"ts.compression": true}, {"ts.batching": true}, {"ts.readers": true}, {"ts.readers": false, "ts.stable": false}, {"ts.scheme": "dst"}, {"ts.stable": true, "ts.scheme": "gts"}, {"ts.stable": false}, {"ts.scheme": "vts", "ts.fetch_thread": true}}
			for _, change := range changes {
				if err := s.Advance(400_000); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Set(change, "test"); err != nil {
					t.Fatalf("%v: %v", change, err)
				}
				if err := s.Advance(800_000); err != nil {
					t.Fatalf("after %v: %v", change, err)
				}
				for name := range change { // order-free: each is compared
					if s.State() != StateRunning || s.active[name] != s.values[name] {
						t.Errorf("%v is not in force", change)
					}
				}
			}
			if err := s.Drain(); err != nil {
				t.Fatal(err)
			}
			if r := s.Result(); !r.Checks.Passed() || r.Commits == 0 || r.StalenessNS == nil {
				t.Errorf("%d commits, staleness %+v, %s", r.Commits, r.StalenessNS, r.ChecksText())
			}
		})
	}
}

// A system without versions has to be reset.
func TestSchemeNeedsReset(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{"workload": "registers", "nodes": 3, "preset": "fasst"},
		{"workload": "registers", "nodes": 3, "cc": "rococo", "replicas": 1},
	} {
		s, err := Open(experiment.Spec{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, err = s.Set(experiment.Knobs{"ts.scheme": "dst"}, "test")
		if e := (*experiment.SpecError)(nil); !errors.As(err, &e) || !e.Reset || e.Field != "ts.scheme" {
			t.Errorf("%v: %v", set["cc"], err)
		}
	}
}

// What is set together with the scheme is in force with it: how far clocks drift, on which the bound depends. Under none they stay as
// they are, and the scheme that follows has what is set by then.
func TestClocksChangeWithTheScheme(t *testing.T) {
	s := open(t, experiment.Spec{Set: experiment.Knobs{"workload": "registers", "preset": "fasst", "ts.scheme": "dst", "ts.clock_drift_ns": 1_000, "nodes": 3, "threads": 1}})
	bound := func() int64 {
		ns, ok := s.load.db.StalenessBound()
		if !ok {
			t.Fatalf("no bound under %v", s.active["ts.scheme"])
		}
		return ns
	}
	for _, change := range []experiment.Knobs{
		{"ts.scheme": "truetime", "ts.clock_drift_ns": 30_000}, {"ts.scheme": "dst", "ts.clock_drift_ns": 5_000}, {"ts.scheme": "none"},
		{"ts.clock_drift_ns": 7_000}, {"ts.scheme": "truetime", "ts.clock_drift_ns": 9_000}, {"ts.clock_drift_ns": 2_000},
	} {
		if _, err := s.Set(change, "test"); err != nil {
			t.Fatal(err)
		}
		advance(t, s, 500_000)
		if s.State() != StateRunning || s.active["ts.scheme"] != s.values["ts.scheme"] {
			t.Fatalf("%v is not in force", change)
		}
		if s.active["ts.scheme"] == "none" {
			continue
		}
		drift := int64(s.active.Int("ts.clock_drift_ns"))
		if got := bound(); got < drift/2 || got > 3*drift+100 {
			t.Errorf("behind %v, with a drift of %d ns, the bound is %d ns", change, drift, got)
		}
	}
}

// The switches of an oracle that change no stamp are in force at once, without a drain: requests share messages, and the last thread
// of each machine fetches points for all of them.
func TestSwitchesOfOraclesAreLive(t *testing.T) {
	for _, scheme := range []string{"gts", "vts"} {
		s := open(t, hosts(experiment.Knobs{"oracle": true, "oracle.threads": 2, "ts.scheme": scheme, "duration_ns": 0, "coroutines": 32, "workload.keys": 4000})["occ"])
		now := func() (perMessage, points float64) { // in the last window
			w := s.Windows(0)
			g := w[len(w)-1].Gauges
			return (g["oracle.installs"] + g["oracle.points"]) / g["oracle.messages"], g["oracle.points"]
		}
		set := func(name string, x bool) (perMessage, points float64) {
			if _, err := s.Set(experiment.Knobs{name: x}, "test"); err != nil {
				t.Fatal(err)
			}
			if s.State() != StateRunning {
				t.Errorf("%s: %s waits for a drain", scheme, name)
			}
			advance(t, s, 1_000_000)
			return now()
		}
		advance(t, s, 1_000_000)
		before, _ := now()
		if batched, _ := set("ts.batching", true); batched < 1.2*before {
			t.Errorf("%s: with batching %.2f requests are in a message, without %.2f", scheme, batched, before)
		}
		after, asked := set("ts.batching", false)
		if after > 1.1*before {
			t.Errorf("%s: without batching %.2f requests are in a message, before it %.2f", scheme, after, before)
		}
		if _, fetched := set("ts.fetch_thread", true); fetched > 0.75*asked { // machines go on to ask what can be collected
			t.Errorf("%s: with fetch threads %.0f points are asked for in a second, without %.0f", scheme, fetched, asked)
		}
		if _, again := set("ts.fetch_thread", false); again < 0.8*asked {
			t.Errorf("%s: without fetch threads %.0f points are asked for in a second, before them %.0f", scheme, again, asked)
		}
	}
}

// Rows keep their versions when no scheme stamps them any more: whatever the primitives are then, handlers reserve the room of old versions and
// use it.
func TestVerbsBehindTheLastScheme(t *testing.T) {
	for _, preset := range []string{"farm", "drtm+h"} {
		s := open(t, small(experiment.Knobs{"preset": preset, "workload": "registers", "workload.keys": 100, "ts.scheme": "dst", "ts.gc_ns": "20us", "check": "full"}))
		advance(t, s, 100_000)
		for _, set := range []experiment.Knobs{{"ts.scheme": "none"}, {"phase.lock": "one-sided", "phase.validation": "one-sided", "phase.commit": "one-sided"}, {"phase.commit": "two-sided", "phase.lock": "two-sided"}} {
			if _, err := s.Set(set, "test"); err != nil {
				t.Fatal(err)
			}
			advance(t, s, 200_000)
		}
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		if r := s.Result(); !r.Checks.Passed() || r.Checks.Transactions < 100 {
			t.Errorf("%s: %s", preset, r.ChecksText())
		}
	}
}
