package explore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/occ"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// The planted faults of the protocols are protocols of the tests, by the name of the variant: a counterexample of
// cc=occ-unlock-not-won is a spec that engine.Run opens here, and `drtmx run` does not.
func init() {
	var kinds txn.Kinds
	for v := occ.Correct; v <= occ.CheckBeforeRaise; v++ {
		kinds = append(kinds, planted(occ.Kind, v.String(), func(c txn.Config) txn.Config {
			x := c.(occ.Config)
			x.Variant = v
			return x
		}))
	}
	experiment.Plug(kinds, nil, nil, nil, nil)
}

// planted is a protocol with a fault.
func planted(k txn.Kind, variant string, plant func(txn.Config) txn.Config) txn.Kind {
	config := k.Config
	k.Name += "-" + variant
	k.Presets, k.Follower = nil, nil
	k.Config = func(v knob.Values, load *testbed.Load, seen txn.Seen) txn.Config { return plant(config(v, load, seen)) }
	return k
}

// tiny is the default spec with some knobs.
func tiny(t testing.TB, set experiment.Knobs) experiment.Spec {
	t.Helper()
	spec, err := DefaultSpec().With(set)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// faults are the planted faults and a script that shows each: three transactions on two records or fewer.
var faults = []struct {
	cc, script string
	set        experiment.Knobs
	kind       string
	delays     bool // it needs some
}{
	{"occ-skip-version-check", "w0 r1; w1 r0; r0 r1", nil, "G2", false},
	{"occ-unlock-before-write-back", "w0 r1; w1 r0; r0 r1", nil, "G2", true},
	{"occ-sequence-not-advanced", "w0 r1; w1 r0; r0 r1", nil, "duplicate-version", false},
	{"occ-commit-before-log", "w0 r1; w1 r0; r0 r1", nil, "log-missing", false},
	{"occ-cas-ignores-expected", "r0 w1; w0 r1; w0 w1", nil, "duplicate-version", true},
	{"occ-unlock-not-won", "w0; w0; w0", nil, "duplicate-version", true},
	{"occ-unlock-not-won", "r0; w0; w0", nil, "duplicate-version", true},
	{"occ-as-published", "w0 r1; w1 r0; r0 r1", nil, "duplicate-version", false},
	{"occ-ignore-aborts", "w0 w1; r0 r1", nil, "G-single", true},
	{"occ-validate-before-lock", "w0 r1; w1 r0; r0 r1", nil, "G2", false},
	{"occ-ignore-lock-word", "w0 r1; w1 r0; r0 r1", nil, "G2", false},
	{"occ-read-torn", "w0; r2 | r2 | r2 | r0; r1", experiment.Knobs{"workload.value_bytes": 488, "explore.unit_ns": 2000}, "real-time", true},
	{"occ-cut-log", "w0 r1; w1 r0; r0 r1", nil, "log-missing", false},
	{"occ-insert-unchecked", "r8 i9; r9 i8; r8 r9", nil, "G2", false},
	{"occ-stale-location", "d0; d0; w0", nil, "rest", false},
	{"occ-incarnation-kept", "d0; d0; w0", nil, "rest", false},
	{"occ-freed-twice", "d0; d0; w0", nil, "rows-broken", false},
	{"occ-absence-unchecked", "r8 i9; r9 i8; r8 r9", nil, "G2", false},
}

// Each planted fault is found with one delay at most, and the counterexample is a spec that shows the same again.
func TestFindsPlantedFaults(t *testing.T) {
	for _, f := range faults {
		t.Run(f.cc+" "+f.script, func(t *testing.T) {
			set := experiment.Knobs{"cc": f.cc, "workload.script": f.script}
			maps.Copy(set, f.set)
			r, err := Run(context.Background(), tiny(t, set), Options{Bound: 1, Steps: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Found) != 1 {
				t.Fatalf("found %d:\n%s", len(r.Found), r)
			}
			x := r.Found[0]
			if x.Kind != f.kind || (x.Delays != "none") != f.delays {
				t.Errorf("found %s with delays %s, want %s, with delays: %v", x.Kind, x.Delays, f.kind, f.delays)
			}
			shows(t, &x)
		})
	}
}

// shows runs a counterexample as a person would who has it in a file.
func shows(t *testing.T, x *Counterexample) {
	t.Helper()
	spec, err := experiment.ParseSpec([]byte(x.Spec.YAML()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Checks
	said := append(c.Findings(), c.Why())
	for _, a := range c.Anomalies {
		said = append(said, a.Text)
	}
	if c.Passed() || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, x.Text) }) {
		t.Errorf("the spec does not show %q but %q:\n%s", x.Text, said, x.Spec.YAML())
	}
}

// sound are the protocols, and what there is of each.
var sound = []experiment.Knobs{
	{"preset": "drtm+h"}, {"preset": "farm"}, {"preset": "fasst"}, {"preset": "drtm+r"},
	{"cc": "nowait", "nowait.mode": "E"}, {"cc": "nowait", "nowait.mode": "E/S"},
	{"cc": "2pl", "2pl.timeout_ns": "500us"}, {"cc": "2pl", "2pl.deadlock": "wait-die"},
	{"cc": "occ-correct"}, // the plugging plants nothing
}

// Nothing is wrong with the correct protocols within the same bound, in the same scripts. Of the presets of OCC the one that the
// faults are planted in has all of the scripts, and the others share them out.
func TestFindsNothingInCorrectProtocols(t *testing.T) {
	var scripts []experiment.Knobs
	for _, script := range []string{"w0; r0; r1", "r0; r0; w0", "r0 w1; r1 w0; r0 r1", "w0 w1; r0 r1; r1 r0"} { // which show faults of locks
		scripts = append(scripts, experiment.Knobs{"workload.script": script})
	}
	seen := map[string]bool{}
	for _, f := range faults {
		if !seen[f.script] {
			set := experiment.Knobs{"workload.script": f.script}
			maps.Copy(set, f.set)
			delete(set, "nowait.mode")
			delete(set, "2pl.timeout_ns")
			scripts = append(scripts, set)
		}
		seen[f.script] = true
	}
	runs := 0
	for i, protocol := range sound {
		for k, script := range scripts {
			if testing.Short() && (i+k)%len(scripts) != 0 || i >= 6 && k > 0 || !testing.Short() && 1 <= i && i <= 3 && k%3 != i-1 {
				continue
			}
			set := protocol.Clone()
			maps.Copy(set, script)
			r, err := Run(context.Background(), tiny(t, set), Options{Bound: 1, Steps: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Found) > 0 || !r.Complete {
				t.Errorf("%v:\n%s", set, r)
			}
			runs += r.Runs
		}
	}
	t.Logf("%d runs", runs)
}

// Two delays find nothing either: some of the pairs in the default spec.
func TestFindsNothingWithPairs(t *testing.T) {
	budget := 600
	if testing.Short() {
		budget = 300
	}
	for _, set := range sound[:6] {
		r, err := Run(context.Background(), tiny(t, set), Options{Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Found) > 0 || r.Runs != budget {
			t.Errorf("%v:\n%s", set, r)
		}
	}
}
