package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"

	"drtmx/engine/knob"

	"gopkg.in/yaml.v3"
)

// MaxSystems bounds the systems of a spec: an agent runs as many side by side.
const MaxSystems = 4

// Each is a spec for every system that s lists: what s says for all of them, changed by what the system's own entry says, as
// With would change it, and under its own name. A spec without a list is one system, itself.
func (s Spec) Each() ([]Spec, error) {
	all, err := s.normalize()
	if err != nil || len(all.Systems) == 0 {
		return []Spec{all}, err
	}
	list := all.Systems
	all.Systems = nil
	out := make([]Spec, len(list))
	for i, x := range list {
		out[i], err = all.With(x.all())
		if err == nil {
			out[i].Name = x.Name
			_, err = Resolve(out[i])
		}
		if err != nil {
			return nil, ofSystem(x.Name, err)
		}
	}
	return out, nil
}

// settings writes all that a spec sets.
func (s Spec) settings() string {
	all := s.all()
	var parts []string
	for _, name := range SortedNames(all) {
		parts = append(parts, name+" = "+knob.Format(name, all[name]))
	}
	return strings.Join(parts, ", ")
}

// all are the settings of a spec, preset and workload included.
func (s Spec) all() Knobs {
	own := Knobs{}
	maps.Copy(own, s.Set)
	if s.Preset != "" {
		own["preset"] = s.Preset
	}
	if s.Workload != "" {
		own["workload"] = s.Workload
	}
	return own
}

// ofSystem says which system an error is about.
func ofSystem(name string, err error) error {
	var bad *SpecError
	if !errors.As(err, &bad) {
		return fmt.Errorf("system %s: %w", knob.Clip(name), err)
	}
	of := *bad
	of.Field = strings.TrimSuffix("system "+knob.Clip(name)+": "+bad.Field, ": ")
	return &of
}

// normalSystems checks the entries of a list of systems, whose workload is the one of that name if they have none of their own.
func normalSystems(list []Spec, load string) ([]Spec, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if len(list) < 2 || len(list) > MaxSystems {
		return nil, &SpecError{Field: "systems", Value: namesOf(list), Rule: fmt.Sprintf("a list has 2 to %d systems, this one %d", MaxSystems, len(list)), Next: "write the knobs of a single one under set"}
	}
	out := make([]Spec, len(list))
	seen := map[string]bool{}
	for i, x := range list {
		name := strings.TrimSpace(x.Name)
		switch {
		case name == "":
			return nil, &SpecError{Field: "systems", Value: namesOf(list), Rule: fmt.Sprintf("number %d has no name", i+1), Next: "name it, as in {name: occ, set: {...}}"}
		case seen[name]:
			return nil, &SpecError{Field: "systems", Value: knob.Clip(name), Rule: "two systems have this name", Next: "name them differently"}
		case len(x.Systems) > 0:
			return nil, &SpecError{Field: "system " + knob.Clip(name), Rule: "lists systems itself", Next: "a system has name, preset, workload, set"}
		}
		seen[name] = true
		var err error
		if x.Set, err = withoutMix(x.Set, cmp.Or(x.Workload, load)); err == nil {
			out[i], err = x.normalize()
		}
		if err != nil {
			return nil, ofSystem(name, err)
		}
		out[i].Name = name
	}
	return out, nil
}

// one refuses a spec of several systems where one is needed.
func (s Spec) one() error {
	if len(s.Systems) == 0 {
		return nil
	}
	return &SpecError{Field: "systems", Value: namesOf(s.Systems), Rule: fmt.Sprintf("one system is needed here, the spec lists %d", len(s.Systems)), Next: "run and up take several; else write a spec of one of them"}
}

// eachWith puts settings into the entries of a list too, where an entry's own setting would win over them.
func eachWith(list []Spec, k Knobs) (out []Spec, err error) {
	for _, x := range list {
		y, err := x.With(k)
		if err != nil {
			return nil, ofSystem(x.Name, err)
		}
		out = append(out, y)
	}
	return out, nil
}

func namesOf(list []Spec) string {
	var names []string
	for _, x := range list {
		names = append(names, x.Name)
	}
	return knob.Clip(strings.Join(names, ", "))
}

// parseSystems reads a list of systems from YAML.
func parseSystems(n *yaml.Node) (list []Spec, err error) {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		return nil, &SpecError{Field: "systems", Rule: fmt.Sprintf("line %d must be a list of systems", n.Line), Next: "such as [{name: occ}, {name: nowait, set: {...}}]"}
	}
	if len(n.Content) == 0 {
		return nil, &SpecError{Field: "systems", Rule: "is an empty list", Next: fmt.Sprintf("list 2 to %d systems, or leave it out", MaxSystems)}
	}
	for _, x := range n.Content {
		s, err := parseSpec(x, "systems", systemKeys)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}
