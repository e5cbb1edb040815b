package cli

import (
	"maps"
	"slices"
	"strings"

	"drtmx/engine/experiment"
)

// RefuseIdle is an error if one of the knobs that a person turned does nothing, see experiment.Idle; of several systems, in none. A result
// over it would look like a finding.
func RefuseIdle(spec experiment.Spec, names []string, axes ...experiment.Axis) error {
	idle := experiment.IdleInAll(spec, names, axes...)
	if len(idle) == 0 {
		return nil
	}
	first := idle[0]
	for _, a := range axes {
		if a.Knob == first.Name {
			var values []string
			for _, v := range a.Values {
				values = append(values, experiment.Format(a.Knob, v))
			}
			return first.Error(strings.Join(values, ","))
		}
	}
	for _, one := range append(slices.Clone(spec.Systems), spec) {
		if v, set := one.Set[first.Name]; set {
			return first.Error(experiment.Format(first.Name, v))
		}
	}
	return first.Error("")
}

// Turned are the knobs that the person set: those of the command line, and of a spec file of their own.
func (f *SpecFlags) Turned(spec experiment.Spec, args []string) []string {
	if len(args) > 0 && experiment.NamesFile(args[0]) {
		return slices.Collect(maps.Keys(spec.Set))
	}
	var names []string
	for _, s := range f.Set {
		if name, _, err := experiment.ParseSetting(s); err == nil {
			names = append(names, name)
		}
	}
	return names
}
