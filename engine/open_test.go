package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// A population that the machines have no room for is the caller's to change.
func TestTablesThatDoNotFit(t *testing.T) {
	_, err := Open(experiment.Spec{Workload: "tpcc", Set: experiment.Knobs{"workload.warehouses": 1024}})
	if !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "workload = tpcc: its tables do not fit") {
		t.Errorf("%v", err)
	}
	// No smaller population helps against rows for new orders.
	_, err = Open(experiment.Spec{Workload: "tpcc", Set: experiment.Knobs{"workload.warehouses": 50, "workload.districts": 100, "workload.customers": 10, "workload.items": 20}})
	if !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "workload.orders smaller") {
		t.Errorf("%v", err)
	}
}

// Indexes have as many addresses as there are for them: many small warehouses open.
func TestManyWarehouses(t *testing.T) {
	few := experiment.Knobs{"nodes": 2, "replicas": 2, "threads": 1, "coroutines": 1, "workload.customers": 10, "workload.items": 20, "workload.orders": 20}
	for _, n := range [][2]int{{128, 10}, {1024, 10}, {128, 100}, {1024, 1}} {
		spec, err := experiment.Spec{Workload: "tpcc", Set: few}.With(experiment.Knobs{"workload.warehouses": n[0], "workload.districts": n[1]})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(spec)
		if err != nil {
			t.Fatalf("%d warehouses of %d districts: %v", n[0], n[1], err)
		}
		s.Close()
	}
}

// What the range of a knob allows opens, and a knob that a workload does not use is not
// looked at.
func TestEndsOfRangesOpen(t *testing.T) {
	for _, k := range []experiment.Knobs{
		{"workload": "tpcc", "workload.items": 20, "workload.customers": 10, "workload.scale": 0.0001},
		{"workload": "tpcc", "workload.items": 20, "workload.customers": 10, "workload.districts": 100},
		{"workload": "micro-read", "workload.pad": 17},
	} {
		open(t, small(k))
	}
}

// H3 is DDIO off. What a hint that changes says of DDIO counts, live and for a new system
// alike, and one that stays as it is says nothing.
func TestHintAndDDIO(t *testing.T) {
	base := experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "clients": 2, "servers": 1}}
	for _, c := range []struct {
		name         string
		first, later experiment.Knobs
		ddio         bool
	}{
		{"on", nil, experiment.Knobs{"nvm.h3": true}, false},
		{"on and off", experiment.Knobs{"nvm.h3": true}, experiment.Knobs{"nvm.h3": false}, true},
		{"off as it was", experiment.Knobs{"ddio": false}, experiment.Knobs{"nvm.h3": false}, false},
		{"off, and both were said", experiment.Knobs{"ddio": false, "nvm.h3": true}, experiment.Knobs{"nvm.h3": false}, true},
		{"both at once", nil, experiment.Knobs{"nvm.h3": false, "ddio": false}, false},
	} {
		first, err := base.With(c.first)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, first)
		if _, err := s.Set(c.later, "test"); err != nil {
			t.Fatal(c.name, err)
		}
		later, err := first.With(c.later)
		if err != nil {
			t.Fatal(err)
		}
		v, err := experiment.Resolve(later)
		if err != nil {
			t.Fatal(err)
		}
		if live := s.Values().Bool("ddio"); live != c.ddio || v.Bool("ddio") != c.ddio {
			t.Errorf("%s: ddio is %v live and %v in a new system, want %v", c.name, live, v.Bool("ddio"), c.ddio)
		}
	}
}

func TestRefusesWhatDoesNotFit(t *testing.T) {
	spec := experiment.Spec{Set: experiment.Knobs{"nodes": 64, "threads": 24, "workload.accounts": 10_000_000, "duration_ns": "1s"}}
	e, err := experiment.EstimateOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	if free := experiment.AvailableMemory(); free == 0 || free > e.MemoryBytes {
		t.Skipf("%s are available", experiment.BytesText(free))
	}
	_, err = Open(spec)
	if !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "memory") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
