package explore

import (
	"context"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/rococo"
	"drtmx/engine/txn"
)

func init() {
	var kinds txn.Kinds
	for _, v := range rococo.Variants {
		kinds = append(kinds, planted(rococo.Kind, v.Name, func(c txn.Config) txn.Config {
			x := c.(rococo.Config)
			x.Variant = v.Variant
			return x
		}))
	}
	experiment.Plug(kinds, nil, nil, nil, nil)
}

// Two transactions that write the same two records in either order make a cycle; a third reads both.
const crossing = "w0 w1; w1 w0; r0 r1"

// Each planted fault of Rococo is found with one delay at most, but for what takes more of them.
func TestFindsFaultsOfRococo(t *testing.T) {
	for _, v := range rococo.Variants {
		if v.Variant == rococo.Forgetful {
			continue // of two transactions both are executed together wherever they meet
		}
		set := experiment.Knobs{"cc": "rococo-" + v.Name, "workload.script": crossing}
		if v.Variant == rococo.OneRound { // a writer begins and ends between two reads
			set["workload.script"], set["explore.unit_ns"] = "r0 r1; w0 w1", 20_000
		}
		t.Run(v.Name, func(t *testing.T) {
			r, err := Run(context.Background(), tiny(t, set), Options{Bound: 1, Steps: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Found) != 1 {
				t.Fatalf("found %d:\n%s", len(r.Found), r)
			}
			t.Log(r.Found[0].Kind, r.Found[0].Text)
			shows(t, &r.Found[0])
		})
	}
}

// Nothing is wrong with the correct protocol in the same script and others.
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
