package explore

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
)

// readersOf is the shipped spec of snapshots with vectors of which writers depend on readers.
func readersOf(t testing.TB, cc, script string) experiment.Spec {
	return snapshotsOf(t, experiment.Knobs{"cc": cc, "workload.script": script, "ts.scheme": "vts", "ts.readers": true, "oracle": true, "explore.unit_ns": "10us"})
}

// Two writers, of which one reads what the other overwrites, and two readers, on two tuples: nothing is wrong, and without the readers that
// records remember a snapshot has the later one alone. With one delay at most.
func TestReadersOfVectors(t *testing.T) {
	// The one who overwrites comes when the other has let go of what it has read.
	const late = "r0 w1; r7 | r7 | w0; r7 | r7 | r7 | r7 | r0 r1; r7 | r7 | r7 | r7 | r7 | r7 | r7 | r1 r0"
	for _, x := range []struct {
		cc, script string
		kind       string // "": none
	}{
		{"2pl-snapshots-reads-not-raised", late, "G2"}, {"occ-snapshots-reads-not-raised", late, "G2"}, {"2pl", late, ""}, {"occ", late, ""},
	} {
		if testing.Short() && x.kind == "" {
			continue
		}
		r, err := Run(context.Background(), readersOf(t, x.cc, x.script), Options{Bound: 1, Steps: 4})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case x.kind == "" && (len(r.Found) > 0 || !r.Complete):
			t.Errorf("%s, %s:\n%s", x.cc, x.script, r)
		case x.kind != "" && (len(r.Found) != 1 || r.Found[0].Kind != x.kind):
			t.Errorf("%s, %s, want %s:\n%s", x.cc, x.script, x.kind, r)
		}
	}
}
