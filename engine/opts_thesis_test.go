package engine

import (
	"reflect"
	"strings"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/occ"
)

// table41 is Table 4-1: the optimisations that are on, by phase, for one-sided (I) and two-sided
// (II) primitives.
var table41 = []struct {
	row            string
	phases         string
	or, db, co, pa [2]bool // I, II
}{
	{"RW E", "execution", [2]bool{false, false}, [2]bool{false, true}, [2]bool{true, true}, [2]bool{false, false}},
	{"RW V", "lock validation", [2]bool{true, true}, [2]bool{true, true}, [2]bool{true, true}, [2]bool{false, false}},
	{"RW L", "logging", [2]bool{true, true}, [2]bool{false, true}, [2]bool{true, true}, [2]bool{false, false}},
	{"RW C", "commit", [2]bool{true, true}, [2]bool{true, true}, [2]bool{true, true}, [2]bool{true, true}},
	{"RO R", "ro_read", [2]bool{false, false}, [2]bool{false, true}, [2]bool{true, true}, [2]bool{false, false}},
	{"RO V", "ro_validation", [2]bool{true, true}, [2]bool{false, true}, [2]bool{true, true}, [2]bool{false, false}},
}

// primitive is a setting in which a phase has one of the two primitives. Who locks and who commits
// go together (section 4.3.3).
func primitive(phase string, two int) Knobs {
	word := []string{"one-sided", "two-sided"}[two]
	set := Knobs{"phase." + phase: word}
	if phase == "lock" || phase == "commit" {
		set["phase.lock"], set["phase.commit"] = word, word
	}
	return set
}

// Each cell of Table 4-1 is the default of its switch, and a cell without a check mark cannot be
// switched on: the reason names the table.
func TestTable41Thesis(t *testing.T) {
	for _, row := range table41 {
		for _, phase := range strings.Fields(row.phases) {
			for two := range 2 {
				base := Spec{Preset: "drtm+h", Set: primitive(phase, two)}
				v, err := Resolve(base)
				if err != nil {
					t.Fatal(err)
				}
				if v.Bool("opt.co") != row.co[two] {
					t.Errorf("%s: coroutines are %v", row.row, v["opt.co"])
				}
				for name, want := range map[string]bool{"or": row.or[two], "db": row.db[two], "pa": row.pa[two]} {
					knob := "opt." + phase + "." + name
					if v.Bool(knob) != want {
						t.Errorf("%s, %s: %s is %v", row.row, base.Set["phase."+phase], knob, v[knob])
					}
					on, err := base.With(Knobs{knob: true})
					if err != nil {
						t.Fatal(err)
					}
					_, err = Resolve(on)
					if want && err != nil || !want && (!IsSpecError(err) || !strings.Contains(err.Error(), knob) || !strings.Contains(err.Error(), "Table 4-1") || strings.Contains(err.Error(), "\n")) {
						t.Errorf("%s, %s: %s=true: %v", row.row, base.Set["phase."+phase], knob, err)
					}
					off, err := base.With(Knobs{knob: false})
					if err != nil {
						t.Fatal(err)
					}
					if v, err = Resolve(off); err != nil || v.Bool(knob) {
						t.Errorf("%s: %s=false: %v, %v", row.row, knob, v[knob], err)
					}
					if v, err = Resolve(base); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// The number of check marks of each row, as the reference counts them: of eight.
func TestTable41CountsThesis(t *testing.T) {
	for i, want := range []int{3, 6, 5, 8, 3, 5} {
		row, n := table41[i], 0
		for two := range 2 {
			for _, on := range []bool{row.or[two], row.db[two], row.co[two], row.pa[two]} {
				if on {
					n++
				}
			}
		}
		if n != want {
			t.Errorf("%s has %d check marks, the reference %d", row.row, n, want)
		}
	}
}

// A change of the primitive moves the switches to its column, live too; what somebody switched off
// where it is allowed stays off; all of it survives a spec.
func TestSwitchesFollowThePrimitive(t *testing.T) {
	s := open(t, small(Knobs{"opt.logging.or": false}))
	expect := func(when, knob string, want bool) {
		t.Helper()
		if got := s.Values()[knob]; got != want {
			t.Errorf("%s: %s is %v", when, knob, got)
		}
		spec, err := SpecOf("", s.Values())
		if err != nil {
			t.Fatal(err)
		}
		v, err := Resolve(spec)
		if err != nil || !reflect.DeepEqual(v, s.Values()) {
			t.Errorf("%s: %v does not come back from its spec, %v", when, knob, err)
		}
		if whole, err := Resolve(Spec{Set: s.Values()}); err != nil || !reflect.DeepEqual(whole, s.Values()) {
			t.Errorf("%s: the resolved values are no spec: %v", when, err)
		}
	}
	set := func(k Knobs) {
		t.Helper()
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatal(err)
		}
	}
	expect("one-sided", "opt.logging.db", false)
	if _, err := s.Set(Knobs{"opt.logging.db": true}, "test"); !IsSpecError(err) || !strings.Contains(err.Error(), "Table 4-1") {
		t.Errorf("one-sided logging with doorbells: %v", err)
	}
	set(Knobs{"phase.logging": "two-sided"})
	expect("two-sided", "opt.logging.db", true)
	expect("two-sided", "opt.logging.or", false)
	expect("two-sided", "opt.db", true)
	set(Knobs{"opt.logging.db": false})
	expect("off", "opt.logging.db", false)
	expect("off", "opt.db", false)
	set(Knobs{"opt.db": true})
	expect("all on", "opt.logging.db", true)
	set(Knobs{"phase.logging": "one-sided"})
	expect("one-sided again", "opt.logging.db", false)
	expect("one-sided again", "opt.db", true)
	if d := s.Result().PresetDiff; len(d) != 1 || d["opt.logging.or"] != false {
		t.Errorf("the preset says otherwise in %v", d)
	}
	set(Knobs{"phase.logging": "two-sided", "opt.db": false})
	expect("group off", "opt.logging.db", false)

	on, err := Spec{Set: Knobs{"phase.logging": "two-sided", "opt.logging.db": true}}.With(Knobs{"phase.logging": "one-sided"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Resolve(on); err != nil || v.Bool("opt.logging.db") {
		t.Errorf("a spec with another primitive: %v, %v", v["opt.logging.db"], err)
	}
}

// What txn posts with is what the knobs say: nothing that is on is masked.
func TestSwitchesReachThePhases(t *testing.T) {
	for _, name := range PresetNames() {
		v, err := Resolve(Spec{Preset: name})
		if err != nil {
			t.Fatal(err)
		}
		c := occConfig(v).Resolved()
		for _, p := range phases {
			may := occ.Allowed(p.ID, *p.Field(&c))
			on := c.Opt[p.ID]
			if on.Outstanding && !may.Outstanding || on.Doorbell && !may.Doorbell || on.Passive && !may.Passive {
				t.Errorf("%s: %s has %+v on, the table allows %+v", name, p.Name, on, may)
			}
			if p.ID != metrics.Commit && on.Passive {
				t.Errorf("%s: %s is passive", name, p.Name)
			}
		}
	}
}
