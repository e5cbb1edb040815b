package experiment

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
)

func TestRegistryRows(t *testing.T) {
	for _, e := range knob.Rows() {
		if got, err := e.Parse(e.Default); err != nil || got != e.Default {
			t.Errorf("%s: its default %v is read as %v (%v)", e.Name, e.Default, got, err)
		}
		if e.Label == "" || e.Doc == "" || e.Group == "" || !strings.HasSuffix(e.Doc, ".") {
			t.Errorf("%s needs a label, a group and sentences of documentation", e.Name)
		}
		if (e.Kind == knob.Choice) != (len(e.Choices) > 0) {
			t.Errorf("%s: kind %s with choices %v", e.Name, e.Kind, e.Choices)
		}
	}
}

// The contract's list of what changes live, as far as it is there.
func TestLiveKnobs(t *testing.T) {
	for _, want := range []string{"preset", "phase.", "opt.", "cache.", "txn.", "coroutines", "workload.theta", "workload.payload", "workload.mix.", "ddio", "fault."} {
		found := false
		for _, e := range knob.Rows() {
			if e.Name == want || strings.HasSuffix(want, ".") && strings.HasPrefix(e.Name, want) {
				found = true
				if !e.Live {
					t.Errorf("%s is not live", e.Name)
				}
			}
		}
		if !found {
			t.Errorf("no knob %s", want)
		}
	}
}

// A knob that a workload does not look at says so.
func TestPayloadOfAtomics(t *testing.T) {
	for w, want := range map[string]string{"micro-atomic": "an atomic has 8 bytes", "micro-read": "", "smallbank": "workload smallbank does not use it"} {
		list, err := Describe(Spec{Workload: w})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			if k.Name == "workload.payload" && (k.InactiveBecause != want || k.Active != (want == "")) {
				t.Errorf("%s: active %v, %q", w, k.Active, k.InactiveBecause)
			}
		}
	}
}

// Table 4-1, copied from the thesis: columns OR I, OR II, DB I, DB II, PA I, PA II.
func TestTable41(t *testing.T) {
	for phase, want := range map[string][6]bool{
		"execution":     {false, false, false, true, false, false},
		"lock":          {true, true, true, true, false, false},
		"validation":    {true, true, true, true, false, false},
		"logging":       {true, true, false, true, false, false},
		"commit":        {true, true, true, true, true, true},
		"ro_read":       {false, false, false, true, false, false},
		"ro_validation": {true, true, false, true, false, false},
	} {
		for i, prim := range []string{"one-sided", "two-sided"} {
			set := Knobs{"phase." + phase: prim}
			if phase == "lock" && prim == "one-sided" {
				set["phase.commit"] = "one-sided"
			}
			list, err := Describe(Spec{Set: set})
			if err != nil {
				t.Fatal(err)
			}
			for j, o := range opts {
				s := find(t, list, "opt."+phase+"."+o.Name)
				if s.Active != want[2*j+i] {
					t.Errorf("%s, %s: active is %v (%s), Table 4-1 says %v", s.Name, prim, s.Active, s.InactiveBecause, want[2*j+i])
				}
				if !s.Active && !strings.Contains(s.InactiveBecause, "Table 4-1") {
					t.Errorf("%s is inactive because %q", s.Name, s.InactiveBecause)
				}
			}
		}
	}
}

func find(t *testing.T, list []KnobState, name string) KnobState {
	t.Helper()
	for _, s := range list {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no knob %s", name)
	return KnobState{}
}

// Table 4-3: the rows' primitives by phase E, V (lock and validation), L, C, R, V.
func TestTable43(t *testing.T) {
	for name, want := range map[string]string{
		"farm":   "one-sided two-sided one-sided one-sided two-sided one-sided one-sided",
		"drtm+r": "one-sided one-sided one-sided one-sided one-sided one-sided one-sided",
		"fasst":  "two-sided two-sided two-sided two-sided two-sided two-sided two-sided",
		"drtm+h": "hybrid auto one-sided one-sided auto hybrid one-sided",
	} {
		k, err := PresetKnobs(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range phases {
			got = append(got, k[p.Knob()].(string))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s is %s, want %s", name, s, want)
		}
	}
}

// A preset read from txn and written as knobs means the same configuration again.
func TestPresetsAreKnobs(t *testing.T) {
	for _, name := range PresetNames() {
		v, err := Resolve(Spec{Preset: name})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := occ.Preset(name)
		got := occConfig(v)
		want.CacheBytes, want.Replicas, want.LocalPercent = got.CacheBytes, got.Replicas, got.LocalPercent
		for p := range want.Opt { // what Table 4-1 does not allow is off as a knob
			if mask(p, got) == mask(p, want) {
				got.Opt[p] = want.Opt[p]
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: knobs say\n%+v\ntxn says\n%+v", name, got, want)
		}
		if len(PresetDiff(v)) != 0 {
			t.Errorf("%s differs from itself: %v", name, PresetDiff(v))
		}
	}
}

func TestGroupsAndPresetsInOrder(t *testing.T) {
	s := Spec{Preset: "farm", Set: Knobs{"opt.or": false, "opt.lock.or": true, "phase.logging": "two-sided"}}
	v, err := Resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	if v.Bool("opt.commit.or") || !v.Bool("opt.lock.or") || v.Bool("opt.or") {
		t.Error("a group knob sets its members, a single knob wins over it")
	}
	if diff := PresetDiff(v); diff["phase.logging"] != "two-sided" || diff["opt.commit.or"] != false || len(diff) != 1+len(opts[0].Members())-1 {
		t.Errorf("preset_diff = %v", diff)
	}
	all, err := s.With(Knobs{"opt.or": true})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ = Resolve(all); !v.Bool("opt.or") {
		t.Error("a later group setting replaces earlier ones of its members")
	}
	fresh, err := s.With(Knobs{"preset": "fasst"})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ = Resolve(fresh); len(PresetDiff(v)) != 0 || v.Text("preset") != "fasst" {
		t.Errorf("a later preset replaces earlier settings of what it governs: %v", PresetDiff(v))
	}
}

// mask keeps of a phase's mode what Table 4-1 allows with either primitive.
func mask(p int, c occ.Config) (m [3]bool) {
	for _, ph := range phases {
		if int(ph.ID) == p {
			for i, o := range opts {
				r := c.Resolved()
				m[i] = o.Allowed(ph, *ph.Field(&r.Primitives)) && *o.Field(&c.Opt[p])
			}
		}
	}
	return m
}

// A knob whose value may be a file says which file that is: its content is part of what a run is known by.
func TestKnobsThatNameFilesSaySo(t *testing.T) {
	for _, row := range knob.Rows() {
		if names := row.File != nil; names != strings.Contains(row.Unit, "FILE") {
			t.Errorf("%s: its unit is %q, and it names a file: %v", row.Name, row.Unit, names)
		}
	}
}

// What is left to the system says what it came to: a knob of a phase that reads auto, and has an effect, comes with a choice and its reason,
// under each protocol and each workload. What training measures, as for xstore.top, only a run can tell.
func TestAutoComesWithAChoice(t *testing.T) {
	var autos []Knob
	for _, r := range Registry() {
		if r.Group == knob.Phases && slices.Contains(r.Choices, "auto") {
			autos = append(autos, r)
		}
	}
	seen := map[string]bool{}
	for _, w := range Workloads {
		for _, p := range Protocols {
			for _, r := range autos {
				spec, err := Spec{Workload: w.Name}.With(Knobs{"cc": p.Name, r.Name: "auto"})
				if err != nil {
					continue
				}
				v, err := Resolve(spec)
				if err != nil {
					continue
				}
				for _, s := range States(v, txn.Seen{}) {
					if s.Name != r.Name || !s.Active || s.Value != "auto" {
						continue
					}
					seen[r.Name] = true
					if s.Auto == nil || s.Auto.Primitive == "" || s.Auto.Primitive == "auto" || s.Auto.Because == "" {
						t.Errorf("workload %s, cc=%s: %s is auto, and its choice is %+v", w.Name, p.Name, r.Name, s.Auto)
					}
				}
			}
		}
	}
	for _, r := range autos {
		if !seen[r.Name] {
			t.Errorf("%s is auto and has an effect in no system", r.Name)
		}
	}
}
