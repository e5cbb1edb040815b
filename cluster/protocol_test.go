package cluster

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine/explore"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// A spec of knobs alone changes those of the small system that is explored.
func TestExploreIsOfASmallSystem(t *testing.T) {
	r, err := ExploreWith(context.Background(), Spec{Set: Knobs{"cc": "nowait"}}, explore.Options{Bound: 1, Budget: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != 3 || r.Spec.Text("cc") != "nowait" || r.Spec.Text("workload") != "script" || r.Spec.Int("nodes") != 3 {
		t.Errorf("%d runs of %v", r.Runs, r.Spec)
	}
	if _, err := ExploreWith(context.Background(), Spec{Workload: "smallbank"}, explore.Options{}); err == nil || !strings.Contains(err.Error(), "duration_ns") {
		t.Errorf("a system of endless length: %v", err)
	}
}

func TestAddProtocolRefuses(t *testing.T) {
	config := func(knob.Values, *testbed.Load, txn.Seen) txn.Config { return nil }
	for want, kind := range map[string]txn.Kind{
		"cc=2pl is one of drtmx: give yours another name": {Name: "2pl", Claim: history.Serializable, Config: config},
		"protocol mine has no Claim":                      {Name: "mine", Config: config},
	} {
		if err := plug(kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
