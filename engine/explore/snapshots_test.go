package explore

import (
	"context"
	"maps"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/mvcc"
	"drtmx/engine/occ"
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
	{"2pl-tuple-of-read", skewed, nil, "G2"},
	{"occ-snapshots-no-wait", twoReaders, nil, "G-single"},
	{"occ-snapshots-slot-reused", skewed, nil, "lock-left"},
}

// Each is found with one delay at most.
func TestFindsFaultsOfSnapshots(t *testing.T) {
	for _, f := range snapshotFaults {
		t.Run(f.cc+" "+f.script, func(t *testing.T) {
			set := experiment.Knobs{"cc": f.cc, "workload.script": f.script}
			maps.Copy(set, f.set)
			r, err := Run(context.Background(), snapshotsOf(t, set), Options{Bound: 1, Steps: 4})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Found) != 1 || r.Found[0].Kind != f.kind {
				t.Fatalf("want %s:\n%s", f.kind, r)
			}
			shows(t, &r.Found[0])
		})
	}
}

// Nothing is wrong with the correct ones within the same bound.
func TestFindsNothingInSnapshots(t *testing.T) {
	for i, cc := range []string{"2pl", "occ", "2pl-snapshots-correct"} {
		for k, script := range []string{twoReaders, skewed, "w0 w1; w1 w0; r6 | r0 r1; r7 | r1 r0"} {
			if testing.Short() && (i > 0 || k > 0) {
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
