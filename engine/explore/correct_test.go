package explore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

// tiny is the default spec with some knobs.
func tiny(t testing.TB, set experiment.Knobs) experiment.Spec {
	t.Helper()
	spec, err := DefaultSpec().With(set)
	if err != nil {
		t.Fatal(err)
	}
	return spec
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
}

// Nothing is wrong with the correct protocols within the same bound, in scripts of other protocols and others that show faults of locks. The
// first preset of OCC has all of the latter here, and the former in TestScripts; the others share them out.
func TestFindsNothingInCorrectProtocols(t *testing.T) {
	var all []experiment.Knobs
	for _, script := range []string{
		"w0; r0; r1", "r0; r0; w0", "r0 w1; r1 w0; r0 r1", "w0 w1; r0 r1; r1 r0", // of locks
		pairOfReads, crossWrites, sameRecord, upgrade, "w0 w1; r0 r1", tearing, fillGaps, deleteTwice,
	} {
		set := experiment.Knobs{"workload.script": script}
		if script == tearing {
			maps.Copy(set, longRecords)
		}
		all = append(all, set)
	}
	runs := 0
	for i, protocol := range sound {
		for k, script := range all {
			if testing.Short() && (i+k)%len(all) != 0 || i >= 6 && k > 0 || !testing.Short() && (i == 0 && k >= 4 || 1 <= i && i <= 3 && k%3 != i-1) {
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
