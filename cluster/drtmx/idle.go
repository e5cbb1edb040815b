package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"drtmx/engine"
)

// tellIdle says which of the knobs that a person turned do nothing, see engine.Idle.
func tellIdle(w io.Writer, spec engine.Spec, names []string, axes ...engine.Axis) {
	for _, text := range engine.Idle(spec, names, axes...) {
		fmt.Fprintln(w, text)
	}
}

// turned are the knobs that the person set: those of the command line, and of a spec file of their own.
func (f *specFlags) turned(spec engine.Spec, args []string) []string {
	if len(args) > 0 && !slices.Contains(engine.SpecNames(), args[0]) {
		return slices.Collect(maps.Keys(spec.Set))
	}
	var names []string
	for _, s := range f.set {
		if name, _, err := engine.ParseSetting(s); err == nil {
			names = append(names, name)
		}
	}
	return names
}
