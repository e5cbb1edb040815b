package engine

import (
	"reflect"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

// A change of the primitive moves the switches to its column, live too; what somebody switched off
// where it is allowed stays off; all of it survives a spec.
func TestSwitchesFollowThePrimitive(t *testing.T) {
	s := open(t, small(experiment.Knobs{"opt.logging.or": false}))
	expect := func(when, knob string, want bool) {
		t.Helper()
		if got := s.Values()[knob]; got != want {
			t.Errorf("%s: %s is %v", when, knob, got)
		}
		spec, err := experiment.SpecOf("", s.Values())
		if err != nil {
			t.Fatal(err)
		}
		v, err := experiment.Resolve(spec)
		if err != nil || !reflect.DeepEqual(v, s.Values()) {
			t.Errorf("%s: %v does not come back from its spec, %v", when, knob, err)
		}
		if whole, err := experiment.Resolve(experiment.Spec{Set: s.Values()}); err != nil || !reflect.DeepEqual(whole, s.Values()) {
			t.Errorf("%s: the resolved values are no spec: %v", when, err)
		}
	}
	set := func(k experiment.Knobs) {
		t.Helper()
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatal(err)
		}
	}
	expect("one-sided", "opt.logging.db", false)
	if _, err := s.Set(experiment.Knobs{"opt.logging.db": true}, "test"); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "Table 4-1") {
		t.Errorf("one-sided logging with doorbells: %v", err)
	}
	set(experiment.Knobs{"phase.logging": "two-sided"})
	expect("two-sided", "opt.logging.db", true)
	expect("two-sided", "opt.logging.or", false)
	expect("two-sided", "opt.db", true)
	set(experiment.Knobs{"opt.logging.db": false})
	expect("off", "opt.logging.db", false)
	expect("off", "opt.db", false)
	set(experiment.Knobs{"opt.db": true})
	expect("all on", "opt.logging.db", true)
	set(experiment.Knobs{"phase.logging": "one-sided"})
	expect("one-sided again", "opt.logging.db", false)
	expect("one-sided again", "opt.db", true)
	if d := s.Result().PresetDiff; len(d) != 1 || d["opt.logging.or"] != false {
		t.Errorf("the preset says otherwise in %v", d)
	}
	set(experiment.Knobs{"phase.logging": "two-sided", "opt.db": false})
	expect("group off", "opt.logging.db", false)

	on, err := experiment.Spec{Set: experiment.Knobs{"phase.logging": "two-sided", "opt.logging.db": true}}.With(experiment.Knobs{"phase.logging": "one-sided"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := experiment.Resolve(on); err != nil || v.Bool("opt.logging.db") {
		t.Errorf("a spec with another primitive: %v, %v", v["opt.logging.db"], err)
	}
}
