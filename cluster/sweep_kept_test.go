package cluster

import (
	"context"
	"strings"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine/batch"
)

// The points of a sweep are those of the cache, and a second sweep takes them and its row.
func TestSweepIsKept(t *testing.T) {
	store := runstest.Own(t)
	sweep := func(note string) *SweepResult {
		s, err := SweepWith(context.Background(), runstest.LittleSpec, SweepOptions{Seeds: 2, Note: note}, nil, Axis{"coroutines", []int{1, 2}}, Axis{"phase.commit", []string{"one-sided", "two-sided"}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := sweep("a note")
	k, err := keep.Load(store, "r1")
	if err != nil || k.Missing() != 0 || len(k.Results) != 8 || k.Note != "a note" {
		t.Fatalf("%+v, %v", k, err)
	}
	v, err := k.Value()
	if err != nil {
		t.Fatal(err)
	}
	again := &SweepResult{v.(*batch.SweepResult)}
	if a, b := again.String(), first.String(); a != b {
		t.Errorf("kept as\n%s\nit was\n%s", a, b)
	}
	sweep("")
	if list, err := store.List(runs.Filter{}); err != nil || len(list) != 1 || list[0].Note != "a note" || !strings.Contains(list[0].About, "coroutines and phase.commit, 4 points") {
		t.Errorf("%+v, %v", list, err)
	}
}
