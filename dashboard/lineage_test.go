package dashboard

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
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
		set := randomChange(r)
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

func randomChange(r *rand.Rand) experiment.Knobs {
	set := experiment.Knobs{}
	all := experiment.Registry()
	for range 1 + r.IntN(3) {
		k := all[r.IntN(len(all))]
		if !k.Live {
			continue
		}
		switch {
		case k.Kind == knob.Bool:
			set[k.Name] = r.IntN(2) == 0
		case len(k.Choices) > 0:
			set[k.Name] = k.Choices[r.IntN(len(k.Choices))]
		case k.Kind == knob.Int:
			set[k.Name] = 1 + r.IntN(16)
		case k.Kind == knob.Float:
			set[k.Name] = float64(r.IntN(10)) / 100
		}
	}
	return set
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

// A page that comes late learns of earlier changes from the session; one that is
// there follows the events.
func TestLineageFollows(t *testing.T) {
	f := newFake(t)
	f.set(t, experiment.Knobs{"ddio": false})
	ls := newLineages(f)
	l, err := ls.get(t.Context(), f.systems[0])
	if err != nil {
		t.Fatal(err)
	}
	if l.start["ddio"] != true || l.at(2).values["ddio"] != false || l.at(3).values != nil {
		t.Errorf("after one change: %v", l.states)
	}
	f.set(t, experiment.Knobs{"coroutines": 4})
	if l, err = ls.get(t.Context(), f.systems[0]); err != nil {
		t.Fatal(err)
	}
	if got := inverseOf(l, 3); !reflect.DeepEqual(got, experiment.Knobs{"coroutines": 8}) {
		t.Errorf("undo of the latest: %v", got)
	}
	f.systems[0].Epoch, f.systems[0].KnobsVersion, f.events = "e2", 1, nil
	if l, err = ls.get(t.Context(), f.systems[0]); err != nil || l.epoch != "e2" || l.last() != 1 || l.start["ddio"] != true {
		t.Errorf("after a reset: %+v, %v", l, err)
	}
}

// A script that turns knobs in a loop does not fill the memory, and the start
// stays known.
func TestLineageIsBounded(t *testing.T) {
	f := newFake(t)
	l, err := newLineages(f).read(t.Context(), f.systems[0])
	if err != nil {
		t.Fatal(err)
	}
	for v := 2; v < versionsKept+100; v++ {
		if err := l.follow(v, experiment.Knobs{"coroutines": 1 + v%8}); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.states) != versionsKept || l.last() != versionsKept+99 || l.at(1).values != nil || fmt.Sprint(l.start["coroutines"]) != "8" {
		t.Errorf("%d versions kept, the last is %d", len(l.states), l.last())
	}
}

// On every profile the page can ask for all numbers of the hardware; none is there twice, and each can be set.
func TestNumbersOfTheHardware(t *testing.T) {
	for _, profile := range profile.Names() {
		spec := experiment.Spec{Workload: "micro-rpc", Set: experiment.Knobs{"profile": profile, "hardware.cpu.dispatch": 11}}
		states, err := experiment.Describe(spec)
		if err != nil {
			t.Fatal(err)
		}
		n := len(states)
		if states, err = withNumbers(states, spec); err != nil {
			t.Fatalf("%s: %v", profile, err)
		}
		seen := map[string]bool{}
		for _, k := range states {
			if seen[k.Name] {
				t.Errorf("%s: %s is there twice", profile, k.Name)
			}
			seen[k.Name] = true
		}
		if len(states) < n+20 || !seen["hardware.cpu.dispatch"] {
			t.Errorf("%s: %d knobs, and %d numbers of the hardware", profile, n, len(states)-n)
		}
		for _, k := range states[n:] {
			next, err := spec.With(experiment.Knobs{k.Name: k.Value})
			if err == nil {
				_, err = experiment.Resolve(next)
			}
			if err != nil {
				t.Errorf("%s: %s cannot be set: %v", profile, k.Name, err)
			}
		}
	}
}
