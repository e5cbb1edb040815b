package explore

import (
	"context"
	"maps"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/exploration"
	"drtmx/engine/store"
	learned "drtmx/xstore"
)

// The planted faults of XStore are stores of the tests, by the name of the fault.
func init() {
	var kinds store.Ordered
	for _, f := range learned.Faults {
		kinds = append(kinds, f.Kind())
	}
	experiment.Plug(nil, nil, kinds, nil, nil, nil)
}

// leaves is the spec of three leaves and two clients with some knobs.
func leaves(t testing.TB, set experiment.Knobs) experiment.Spec {
	t.Helper()
	spec, _ := Shipped("xstore")
	spec, err := spec.With(set)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// storeFaults are the planted faults of XStore; the shipped spec shows each.
var storeFaults = []struct {
	name   string
	set    experiment.Knobs
	kind   string
	delays bool // it needs some
}{
	{"no-incarnation-check", nil, "kvscript.answers", true},
	{"right-link-not-followed", nil, "kvscript.answers", true},
	{"not-found-after-mismatch", experiment.Knobs{"xstore.speculative": false}, "kvscript.answers", false},
	{"not-found-after-mismatch", experiment.Knobs{"xstore.cache": "model", "xstore.speculative": false}, "kvscript.answers", true},
	{"table-not-refreshed", nil, "kvscript.answers", true},
	{"old-model-with-new-table", nil, "kvscript.answers", true},
	{"one-sub-model-retrained", nil, "kvscript.store", false},
}

// Each planted fault of XStore is found with one delay at most, and the counterexample is a spec that shows the same again.
func TestFindsPlantedFaultsOfXStore(t *testing.T) {
	found := map[string]bool{}
	for _, f := range storeFaults {
		found[f.name] = true
		set := experiment.Knobs{"store.ordered": "xstore-" + f.name}
		maps.Copy(set, f.set)
		r := explored(t, leaves(t, set), Options{Bound: 1, Steps: 4})
		if len(r.Found) != 1 {
			t.Errorf("%v: found %d:\n%s", set, len(r.Found), r)
			continue
		}
		x := r.Found[0]
		if x.Kind != f.kind || (x.Delays != "none") != f.delays {
			t.Errorf("%v: found %s with delays %s, want %s, with delays: %v", set, x.Kind, x.Delays, f.kind, f.delays)
		}
		shows(t, &x)
	}
	if len(found) != len(learned.Faults) {
		t.Errorf("%d faults are looked for, there are %d", len(found), len(learned.Faults))
	}
}

// Nothing is wrong with XStore and its rivals within the same bound, whatever clients cache.
func TestFindsNothingInXStore(t *testing.T) {
	runs := 0
	for _, set := range []experiment.Knobs{
		{}, {"xstore.speculative": false}, {"xstore.position_hint": false}, {"xstore.retrain_merge": true}, {"xstore.trainers": 2},
		{"xstore.cache": "model"}, {"xstore.cache": "model", "xstore.speculative": false}, {"xstore.cache": "top"},
		{"xstore.cache": "tree"}, {"xstore.cache": "none"}, {"xstore.top": "nn"}, {"xstore.submodels": 5},
		{"workload.requests": "10 20 30 40 50 60: i15 i16 i17 i18 i19 i21 i22 i23; g20 g20 g30 g20 g30 g20"},
		{"workload.requests": "10 20 30 40 50 60: d30 d40 i35 i36; s10+5 g30 u40 s40+2; i31 i32 i33 i34", "clients": 3},
		{"store.ordered": "drtm-tree"}, {"store.ordered": "masstree"},
	} {
		r := explored(t, leaves(t, set), Options{Bound: 1, Steps: 4})
		if len(r.Found) > 0 || !r.Complete || r.Orders < 2 {
			t.Errorf("%v:\n%s", set, r)
		}
		runs += r.Runs
	}
	budget := 700
	if testing.Short() {
		budget = 300
	}
	for _, set := range []experiment.Knobs{{}, {"xstore.cache": "model"}} {
		r := explored(t, leaves(t, set), Options{Budget: budget})
		if len(r.Found) > 0 || !r.Complete && r.Runs != budget {
			t.Errorf("pairs, %v:\n%s", set, r)
		}
		runs += r.Runs
	}
	t.Logf("%d runs", runs)
}

// Runs of one order have one verdict, be the store right or wrong.
func TestOneOrderIsOneVerdictOfXStore(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{}, {"xstore.cache": "model"}, {"store.ordered": "xstore-right-link-not-followed"}, {"store.ordered": "xstore-table-not-refreshed"}, {"store.ordered": "xstore-not-found-after-mismatch", "xstore.speculative": false},
	} {
		sys, err := newSystem(leaves(t, set))
		if err != nil {
			t.Fatal(err)
		}
		orders, shared := map[uint64]string{}, 0
		for m := range 40 {
			for units := 1; units <= 4; units++ {
				o, err := sys.run(context.Background(), []exploration.Delay{{Message: m, Units: units}})
				if err != nil {
					t.Fatal(err)
				}
				if was, had := orders[o.order]; had {
					if shared++; was != o.kind {
						t.Errorf("%v, message %d by %d: order %x with %q, and before with %q", set, m, units, o.order, o.kind, was)
					}
				}
				orders[o.order] = o.kind
			}
		}
		if shared < 20 || len(orders) < 5 {
			t.Errorf("%v: %d orders, %d runs of one that was there", set, len(orders), shared)
		}
	}
}

// The start of the trainer is among what is held back: one delay keeps it from the models, and no client waits for that.
func TestTrainerIsHeldBack(t *testing.T) {
	times := func(delays ...exploration.Delay) (trained, answered int64) {
		sys, err := newSystem(leaves(t, experiment.Knobs{"explore.unit_ns": 50_000}))
		if err != nil {
			t.Fatal(err)
		}
		s, err := engine.OpenExplored(sys.with(delays))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for s.NowNS() < sys.span && (trained == 0 || answered == 0) {
			if err := s.Advance(500); err != nil {
				t.Fatal(err)
			}
			r := s.Result()
			if trained == 0 && r.Parts["xstore"]["retrained"] > 0 {
				trained = s.NowNS()
			}
			if answered == 0 && r.Commits == 10 { // requests of the script
				answered = s.NowNS()
			}
		}
		if trained == 0 || answered == 0 {
			t.Fatalf("%v: trained at %d, all is answered at %d", delays, trained, answered)
		}
		return trained, answered
	}
	trained, answered := times()
	alone := 0
	for m := range 40 {
		if x, y := times(exploration.Delay{Message: m, Units: 1}); x > trained+40_000 && y < answered+10_000 {
			alone++
		}
	}
	if alone != 1 {
		t.Errorf("%d delays hold the trainer back and no client", alone)
	}
}
