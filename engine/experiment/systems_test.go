package experiment

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const rivals = `name: rivals
workload: registers
set:
  phase.commit: two-sided
  phase.lock: two-sided
  workload.keys: 400
systems:
  - name: hybrid
    set:
      coroutines: 2
  - name: remote
    preset: drtm+r
  - name: "7"
    preset: fasst
    workload: cycle
`

// TestEachSystem: an entry changes what the spec says as With would, and gets its name.
func TestEachSystem(t *testing.T) {
	s, err := ParseSpec([]byte(rivals))
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Each()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Spec{
		{Name: "hybrid", Workload: "registers", Set: Knobs{"workload.keys": 400, "phase.lock": "two-sided", "phase.commit": "two-sided", "coroutines": 2}},
		{Name: "remote", Preset: "drtm+r", Workload: "registers", Set: Knobs{"workload.keys": 400}}, // the preset's own phases
		{Name: "7", Preset: "fasst", Workload: "cycle", Set: Knobs{"workload.keys": 400}},
	} {
		if !reflect.DeepEqual(list[i], want) {
			t.Errorf("system %d: %+v, want %+v", i, list[i], want)
		}
	}
	if s.YAML() != rivals {
		t.Errorf("written as\n%s", s.YAML())
	}
	if html := s.HTML(); !strings.Contains(html, "<td>system hybrid</td><td>coroutines = 2</td>") || !strings.Contains(html, "<td>preset = fasst, workload = cycle</td>") {
		t.Error(html)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Spec
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back, err = back.normalize(); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("as JSON it became %+v (%v)", back, err)
	}
	if html := (Spec{Systems: []Spec{{Name: "x", Preset: "farm"}, {Name: "y"}}}).HTML(); !strings.Contains(html, "<td>system y</td><td>as above</td>") {
		t.Error(html)
	}
	alone := Spec{Name: "x", Set: Knobs{"nodes": 3}}
	if list, err := alone.Each(); err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], alone) {
		t.Errorf("a spec without a list is %+v (%v)", list, err)
	}
}

// TestWithIsForAllSystems: what is set applies to every system, whatever its entry says.
func TestWithIsForAllSystems(t *testing.T) {
	s, err := ParseSpec([]byte(rivals))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Knobs{{"coroutines": 4}, {"workload.keys": 900, "seed": 5}, {"preset": "farm"}, {"workload": "cycle"}, {"preset": "fasst", "phase.logging": "one-sided"}, {"opt.or": false}, {"phase.logging": "two-sided"}} {
		with, err := s.With(k)
		if err != nil {
			t.Fatal(err)
		}
		list, err := with.Each()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			v, err := Resolve(x)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range k {
				if v[name] != want {
					t.Errorf("with %v %s = %v in %s", k, name, v[name], x.Name)
				}
			}
		}
		if back, err := ParseSpec([]byte(with.YAML())); err != nil || !reflect.DeepEqual(back, with) {
			t.Errorf("%v: %v\nbecame\n%v", err, with, back)
		}
	}
	if again, _ := ParseSpec([]byte(rivals)); !reflect.DeepEqual(s, again) {
		t.Error("With changed the spec that it was called on")
	}
}

// TestBadSystems: what is no list of systems is refused in one line, and so are several where one is needed.
func TestBadSystems(t *testing.T) {
	for text, want := range map[string]string{
		"systems: []":          "systems: is an empty list; list 2 to 4 systems, or leave it out",
		"systems: 4":           "systems: line 1 must be a list of systems",
		"systems: {name: a}":   "systems: line 1 must be a list of systems",
		"systems: [a, b]":      "systems: line 1 must be a mapping",
		"systems: [{name: a}]": "systems = a: a list has 2 to 4 systems, this one 1; write the knobs of a single one under set",
		"systems: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]": "systems = a, b, c, d, e: a list has 2 to 4 systems, this one 5",
		"systems: [{name: a}, {name: a}]":                                  "systems = a: two systems have this name; name them differently",
		"systems: [{name: a}, {name: ' a '}]":                              "systems = a: two systems have this name",
		"systems: [{name: a}, {preset: farm}]":                             "systems = a, : number 2 has no name",
		"systems: [{name: a}, {name: b, systems: []}]":                     "systems: line 1 lists systems within a system; a system has name, preset, workload, set",
		"systems: [{name: a}, {name: b, nodes: 4}]":                        "nodes: is a knob and belongs under set",
		"systems: [{name: a}, {name: b, sets: {}}]":                        "sets: unknown key, did you mean set? a system has name, preset, workload, set",
		"systems: [{name: a}, {name: b, set: {nodes: 99}}]":                "system b: nodes = 99: must be from 2 to 64",
		"systems: [{name: a}, {name: b, set: {replicas: 5}}]":              "system b: replicas = 5: more than the 4 machines",
		"systems: &a [{name: a}, {name: b}]":                               "systems: line 1 must be a list of systems",
		"sytems: []":                                                       "did you mean systems?",
		"systems: [{name: a}, {name: b}]":                                  "systems = a, b: one system is needed here, the spec lists 2; run and up take several",
	} {
		s, err := ParseSpec([]byte(text))
		if err == nil {
			_, err = s.Each()
		}
		if err == nil {
			_, err = Resolve(s)
		}
		if err == nil || !IsSpecError(err) || strings.ContainsAny(err.Error(), "\n\r") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
	two := Spec{Systems: []Spec{{Name: "a"}, {Name: "b"}}}
	nested := Spec{Systems: []Spec{{Name: "a"}, {Name: "b", Systems: two.Systems}}}
	if _, err := nested.Each(); !IsSpecError(err) || !strings.Contains(err.Error(), "system b: lists systems itself") {
		t.Errorf("nested: %v", err)
	}
	for name, f := range map[string]func() error{
		"EstimateOf": func() error { _, err := EstimateOf(two); return err },
		"Describe":   func() error { _, err := Describe(two); return err },
		"Resolve":    func() error { _, err := Resolve(two); return err },
	} {
		if err := f(); !IsSpecError(err) || !strings.HasPrefix(err.Error(), "systems = a, b: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
