package explore

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/mvcc"
	"drtmx/engine/occ"
	"drtmx/engine/rococo"
	"drtmx/engine/timestamp"
	"drtmx/engine/twopl"
	"drtmx/engine/txn"
)

// The planted faults of what keeps versions are protocols of the tests too: cc=2pl-snapshots-no-wait.
func init() {
	var kinds txn.Kinds
	for _, v := range append(mvcc.Variants(), mvcc.Correct) {
		kinds = append(kinds,
			planted(occ.Kind, "snapshots-"+v.String(), func(c txn.Config) txn.Config {
				x := c.(occ.Config)
				x.Versions = v
				return x
			}),
			planted(twopl.Kind, "snapshots-"+v.String(), func(c txn.Config) txn.Config {
				x := c.(twopl.Config)
				x.Versions = v
				return x
			}),
			planted(rococo.Kind, "snapshots-"+v.String(), func(c txn.Config) txn.Config {
				x := c.(rococo.Config)
				x.Versions = v
				return x
			}))
	}
	experiment.Plug(kinds, nil, nil, nil, nil)
}

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
	twoReaders = "w0 w1; r0 r1; r6 | r0 r1; r7 | r7 | r1 r0" // the second begins while the writer is at it
	skewed     = "r0 w1; w0; r6 | r0 r1; r7 | r7 | r1 r0"    // one writer reads what the other overwrites
	torn       = "w0 w1; w0; r6 | r0 r1; r7 | r1 r0"
	behind     = "w0; w0 w1; r6 | r0 r1"           // the reader comes while the first writer is at it, and the second writes behind
	twoPoints  = "w0 w1; r6 | r0; r6 | r7 | r0 r1" // the second client reads at a later point than the third
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

// snapshotFaults are planted faults and a script that shows each. Some take clocks that differ.
var snapshotFaults = []struct {
	cc, script string
	set        experiment.Knobs
	kind       string
}{
	{"2pl-snapshots-no-wait", twoReaders, nil, "G-single"},
	{"2pl-snapshots-no-wait", skewed, nil, "G2"},
	{"2pl-snapshots-as-published-wait", twoReaders, experiment.Knobs{"ts.clock_drift_ns": 20_000, "seed": 3}, "G-single"},
	{"2pl-snapshots-reads-not-raised", skewed, nil, "G2"},
	{"2pl-snapshots-slot-reused", skewed, nil, "lock-left"},
	{"occ-snapshots-no-wait", twoReaders, nil, "G-single"},
	{"occ-snapshots-slot-reused", skewed, nil, "lock-left"},
	{"occ-tuple-of-read", torn, ahead(2, nil), "G-single"},
	{"occ-unlock-before-write-back", torn, ahead(2, nil), "G-single"},
	{"occ-snapshots-tomb-forgotten", again, ahead(1, slow), "G-single"},
	{"occ-tuple-of-read", torn, ahead(2, experiment.Knobs{"ts.scheme": "truetime"}), "G-single"},
	{"2pl-snapshots-no-wait", twoReaders, counted, "G-single"},
	{"occ", twoPoints, ahead(1, printedWait), "G-single"},
	{"2pl", twoPoints, ahead(1, printedWait), "G-single"},
	{"rococo", twoPoints, ahead(1, with(printedWait, alone)), "G-single"},
	{"occ", behind, ahead(2, printedCommit), "G-single"},
	{"2pl", behind, ahead(2, printedCommit), "G-single"},
}

func with(a, b experiment.Knobs) experiment.Knobs {
	a = a.Clone()
	maps.Copy(a, b)
	return a
}

// Each is found with one delay at most, and nothing in the same system without the fault, for which see also the next test.
func TestFindsFaultsOfSnapshots(t *testing.T) {
	correct := map[string]bool{}
	for _, f := range snapshotFaults {
		t.Run(f.cc+" "+f.script, func(t *testing.T) {
			set := with(experiment.Knobs{"cc": f.cc, "workload.script": f.script}, f.set)
			bound := Options{Bound: 1, Steps: 4}
			if f.script == again {
				bound.Steps = 1 // whose units are long
			}
			r := explored(t, snapshotsOf(t, set), bound)
			if len(r.Found) != 1 || r.Found[0].Kind != f.kind {
				t.Fatalf("want %s:\n%s", f.kind, r)
			}
			shows(t, &r.Found[0])
			set["cc"], _, _ = strings.Cut(f.cc, "-")
			delete(set, "ts.variant")
			if name := fmt.Sprint(set); f.set != nil && !correct[name] && !testing.Short() {
				correct[name] = true
				if r := explored(t, snapshotsOf(t, set), bound); len(r.Found) > 0 || !r.Complete {
					t.Errorf("without the fault:\n%s", r)
				}
			}
		})
	}
}

// Nothing is wrong with the correct ones within the same bound.
func TestFindsNothingInSnapshots(t *testing.T) {
	for i, cc := range []string{"2pl", "occ", "2pl-snapshots-correct"} {
		for k, script := range []string{twoReaders, skewed, "w0 w1; w1 w0; r6 | r0 r1; r7 | r1 r0"} {
			if testing.Short() && (i > 0 || k > 0) || i == 2 && k > 0 { // the last shows that the plugging plants nothing
				continue
			}
			for _, seed := range []int{1, 3} {
				r, err := Run(context.Background(), snapshotsOf(t, experiment.Knobs{"cc": cc, "workload.script": script, "ts.clock_drift_ns": 20_000, "seed": seed}), Options{Bound: 1, Steps: 4})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Found) > 0 || !r.Complete {
					t.Errorf("%s, %s, seed %d:\n%s", cc, script, seed, r)
				}
			}
		}
	}
}

// Two writers and two readers of two records, as the shipped spec has them, come to nothing under each scheme of each host, and where snapshots
// under GTS wait for writers.
func TestFindsNothingUnderAnyScheme(t *testing.T) {
	defaults, err := experiment.Resolve(snapshotsOf(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []txn.Kind{occ.Kind, twopl.Kind, rococo.Kind} {
		var sets []experiment.Knobs
		for _, scheme := range timestamp.Names() {
			if !host.Hosts(scheme) {
				continue
			}
			sets = append(sets, experiment.Knobs{"ts.scheme": scheme, "ts.clock_drift_ns": 20_000, "oracle": timestamp.Named(scheme).Traits(defaults).Oracle})
			if scheme == counted["ts.scheme"] {
				sets = append(sets, counted)
			}
		}
		for i, set := range sets {
			if testing.Short() && i > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %v", host.Name, set), func(t *testing.T) {
				set := with(set, experiment.Knobs{"cc": host.Name})
				if host.Name == rococo.Kind.Name {
					maps.Copy(set, alone)
				}
				if r := explored(t, snapshotsOf(t, set), Options{Bound: 1}); len(r.Found) > 0 || !r.Complete {
					t.Error(r)
				}
			})
		}
	}
}
