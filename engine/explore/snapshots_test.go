package explore

import (
	"maps"
	"testing"

	"drtmx/engine/experiment"
)

// snapshotsOf is the shipped spec with some knobs.
func snapshotsOf(t testing.TB, set experiment.Knobs) experiment.Spec {
	t.Helper()
	spec, _ := Shipped("snapshots")
	spec, err := spec.With(set)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

const (
	twoReaders  = "w0 w1; r0 r1; r6 | r0 r1; r7 | r7 | r1 r0" // the second begins while the writer is at it
	skewed      = "r0 w1; w0; r6 | r0 r1; r7 | r7 | r1 r0"    // one writer reads what the other overwrites
	overwritten = "w0 w1; w0; r6 | r0 r1; r7 | r1 r0"
	behind      = "w0; w0 w1; r6 | r0 r1"           // the reader comes while the first writer is at it, and the second writes behind
	twoPoints   = "w0 w1; r6 | r0; r6 | r7 | r0 r1" // the second client reads at a later point than the third
	// What was deleted is taken out before it is there again; meanwhile one reader reads.
	again = "d4 | r6 | r6 | r6 | r6 | r6 | r6 | r6 | r6 | r6 | r6 | r6 | r6 | i4 w7; r6 | r6 | r6 | r4 r7"
)

// ahead puts the clock of one machine in front of all others, so that who reads there claims beyond the stamps of writers.
func ahead(machine int, set experiment.Knobs) experiment.Knobs {
	all := experiment.Knobs{"fault.clock_skew": "200us", "fault.clock_skew_node": machine, "ts.clock_drift_ns": "100us"}
	maps.Copy(all, set)
	return all
}

var (
	printedWait   = experiment.Knobs{"ts.variant": "as-published-wait"}
	printedCommit = experiment.Knobs{"ts.variant": "as-published-commit"}
	counted       = experiment.Knobs{"ts.scheme": "gts", "oracle": true, "ts.stable": false} // whose snapshots wait for writers
	alone         = experiment.Knobs{"replicas": 1}                                          // what Rococo needs
	slow          = experiment.Knobs{"fault.clock_skew": "500us", "ts.clock_drift_ns": 0, "ts.gc_ns": "30us", "explore.unit_ns": 60_000, "duration_ns": "400us"}
)

// printedForms are forms of DST as they are printed, and a script that shows what is wrong with each. Some take clocks that differ.
var printedForms = []struct {
	cc, script string
	set        experiment.Knobs
}{
	{"2pl", twoReaders, with(printedWait, experiment.Knobs{"ts.clock_drift_ns": 20_000, "seed": 3})},
	{"occ", twoPoints, ahead(1, printedWait)},
	{"2pl", twoPoints, ahead(1, printedWait)},
	{"rococo", twoPoints, ahead(1, with(printedWait, alone))},
	{"occ", behind, ahead(2, printedCommit)},
	{"2pl", behind, ahead(2, printedCommit)},
}

func with(a, b experiment.Knobs) experiment.Knobs {
	a = a.Clone()
	maps.Copy(a, b)
	return a
}

// Each is found with one delay at most, and nothing in the same system with the sound form.
func TestFindsPrintedForms(t *testing.T) {
	for _, f := range printedForms {
		t.Run(f.cc+" "+f.script, func(t *testing.T) {
			set := with(experiment.Knobs{"cc": f.cc, "workload.script": f.script}, f.set)
			bound := Options{Bound: 1, Steps: 4}
			r := explored(t, snapshotsOf(t, set), bound)
			if len(r.Found) != 1 || r.Found[0].Kind != "G-single" {
				t.Fatalf("want G-single:\n%s", r)
			}
			shows(t, &r.Found[0])
			if delete(set, "ts.variant"); testing.Short() {
				return
			}
			if r := explored(t, snapshotsOf(t, set), bound); len(r.Found) > 0 || !r.Complete {
				t.Errorf("the sound form:\n%s", r)
			}
		})
	}
}
