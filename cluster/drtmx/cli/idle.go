package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"drtmx/engine/experiment"
)

// WarnIdle says which of the knobs that a person turned do nothing, see experiment.Idle; of several systems, in none.
func WarnIdle(w io.Writer, spec experiment.Spec, names []string, axes ...experiment.Axis) {
	list, err := spec.Each()
	if err != nil {
		return // said elsewhere
	}
	idle := experiment.Idle(list[0], names, axes...)
	for _, s := range list[1:] {
		also := experiment.Idle(s, names, axes...)
		idle = slices.DeleteFunc(idle, func(text string) bool { return !slices.Contains(also, text) })
	}
	for _, text := range idle {
		fmt.Fprintln(w, text)
	}
}

// Turned are the knobs that the person set: those of the command line, and of a spec file of their own.
func (f *SpecFlags) Turned(spec experiment.Spec, args []string) []string {
	if len(args) > 0 && !slices.Contains(experiment.SpecNames(), args[0]) {
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
