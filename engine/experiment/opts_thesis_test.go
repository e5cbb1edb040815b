package experiment

import (
	"strings"
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/txn"
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

// What txn posts with is what the knobs say: nothing that is on is masked.
func TestSwitchesReachThePhases(t *testing.T) {
	for _, name := range PresetNames() {
		v, err := Resolve(Spec{Preset: name})
		if err != nil {
			t.Fatal(err)
		}
		c := occConfig(v).Resolved()
		for _, p := range phases {
			may := coordinator.Allowed(p.ID, *p.Field(&c.Primitives))
			on := c.Opt[p.ID]
			if on.Outstanding && !may.Outstanding || on.Doorbell && !may.Doorbell || on.Passive && !may.Passive {
				t.Errorf("%s: %s has %+v on, the table allows %+v", name, p.Name, on, may)
			}
			if p.ID != txn.Commit && on.Passive {
				t.Errorf("%s: %s is passive", name, p.Name)
			}
		}
	}
}
