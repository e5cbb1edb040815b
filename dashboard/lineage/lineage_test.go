package lineage

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"drtmx/dashboard/lineage/lineagetest"
	"drtmx/engine/experiment"
)

// Whatever is set, setting its inverse leads back: presets and group knobs, which
// set many others, included.
func TestInverseLeadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for range 400 {
		before, err := experiment.Resolve(spec)
		if err != nil {
			t.Fatal(err)
		}
		set := lineagetest.RandomChange(r)
		next, err := spec.With(set)
		if err != nil {
			continue
		}
		if _, err := experiment.Resolve(next); err != nil {
			continue // a combination that is refused
		}
		changes++
		back, err := next.With(inverse(before, next))
		if err != nil {
			t.Fatalf("%v, then %v: %v", set, inverse(before, next), err)
		}
		got, err := experiment.Resolve(back)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, before) {
			t.Fatalf("%v was undone by %v, but not quite", set, inverse(before, next))
		}
		spec = next
	}
	if changes < 100 {
		t.Errorf("only %d changes were taken", changes)
	}
}

func TestInverseOfAPresetIsShort(t *testing.T) {
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	next, err := spec.With(experiment.Knobs{"preset": "fasst"})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := experiment.Resolve(spec)
	if got := inverse(before, next); !reflect.DeepEqual(got, experiment.Knobs{"preset": "drtm+h"}) {
		t.Errorf("the way back from fasst: %v", got)
	}
}

// Hint H3 turns DDIO off and gives it back; DDIO that was off before stays off.
func TestInverseOfAHintLeavesDDIO(t *testing.T) {
	spec, err := experiment.LoadSpec("nvm")
	if err != nil {
		t.Fatal(err)
	}
	for _, ddio := range []bool{true, false} {
		was, err := spec.With(experiment.Knobs{"ddio": ddio})
		if err != nil {
			t.Fatal(err)
		}
		before, _ := experiment.Resolve(was)
		next, err := was.With(experiment.Knobs{"nvm.h3": true})
		if err != nil {
			t.Fatal(err)
		}
		back, err := next.With(inverse(before, next))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := experiment.Resolve(back); err != nil || got["ddio"] != ddio || got["nvm.h3"] != false {
			t.Errorf("ddio=%v, then nvm.h3, undone by %v: ddio=%v, %v", ddio, inverse(before, next), got["ddio"], err)
		}
	}
}

// A script that turns knobs in a loop does not fill the memory, and the start
// stays known.
func TestLineageIsBounded(t *testing.T) {
	l := lineageOf(t)
	l.Start = l.At(1).Values
	for v := 2; v < versionsKept+100; v++ {
		if err := l.follow(v, experiment.Knobs{"coroutines": 1 + v%8}); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.states) != versionsKept || l.last() != versionsKept+99 || l.At(1).Values != nil || fmt.Sprint(l.Start["coroutines"]) != "8" {
		t.Errorf("%d versions kept, the last is %d", len(l.states), l.last())
	}
}
