package explore

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
)

// Two transactions that write the same two records in either order make a cycle; a third reads both.
const crossing = "w0 w1; w1 w0; r0 r1"

// Nothing is wrong with it, in this script and others.
func TestFindsNothingInRococo(t *testing.T) {
	for _, script := range []string{crossing, "w0 r1; w1 r0; r0 r1", "w0 w1; w1 w2; w2 w0"} {
		r, err := Run(context.Background(), tiny(t, experiment.Knobs{"cc": "rococo", "workload.script": script}), Options{Bound: 1, Steps: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Found) > 0 || !r.Complete {
			t.Errorf("%s:\n%s", script, r)
		}
	}
}
