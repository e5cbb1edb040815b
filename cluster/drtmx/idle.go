package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"drtmx/engine"
)

// mostPoints bounds the points that are looked at; a sweep refuses more.
const mostPoints = 10_000

// tellIdle says which of the knobs that a person turned do nothing: a curve over one of them is
// flat, and looks like a finding. In a sweep a knob may work at some points only, so it does
// nothing if it does so at none. Specs that are refused say so themselves.
func tellIdle(w io.Writer, spec engine.Spec, names []string, axes ...engine.Axis) {
	points := 1
	for _, a := range axes {
		names = append(names, a.Knob)
		if points *= len(a.Values); points > mostPoints {
			return
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	why := map[string]string{}
	for i := 0; i < points && len(names) > 0; i++ {
		at, n := engine.Knobs{}, i
		for _, a := range axes {
			at[a.Knob] = a.Values[n%len(a.Values)]
			n /= len(a.Values)
		}
		s, err := spec.With(at)
		if err != nil {
			continue
		}
		ks, err := engine.Describe(s)
		if err != nil {
			continue
		}
		for _, k := range ks {
			if k.Active {
				names = slices.DeleteFunc(names, func(n string) bool { return n == k.Name })
			}
			why[k.Name] = k.InactiveBecause
		}
	}
	for _, n := range names {
		if why[n] != "" {
			fmt.Fprintf(w, "%s has no effect here: %s\n", n, why[n])
		}
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
