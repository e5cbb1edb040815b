package experiment

import (
	"slices"
	"strings"

	"drtmx/engine/knob"
)

// Idle tells which of some knobs do nothing in a spec: a curve over one of them is flat, and looks
// like a finding. Over axes a knob may work at some points only, so it does nothing if it does so at
// none. Names, axes and points that are refused elsewhere are passed over.
func Idle(spec Spec, names []string, axes ...Axis) []string {
	sets, err := Product(axes)
	if err != nil {
		return nil
	}
	names = slices.Clone(names)
	for _, a := range axes {
		names = append(names, a.Knob)
	}
	var knobs []*knob.Row
	for _, name := range names {
		if e, err := lookup(name); err == nil && e.Inactive != nil && !slices.Contains(knobs, e) {
			knobs = append(knobs, e)
		}
	}
	slices.SortFunc(knobs, func(a, b *knob.Row) int { return strings.Compare(a.Name, b.Name) })
	why := map[*knob.Row]string{}
	for _, set := range sets {
		if len(knobs) == 0 {
			break
		}
		s, err := spec.With(set)
		if err != nil {
			continue
		}
		v, err := Resolve(s)
		if err != nil {
			continue
		}
		knobs = slices.DeleteFunc(knobs, func(e *knob.Row) bool {
			why[e] = e.Inactive(v)
			return why[e] == ""
		})
	}
	var out []string
	for _, e := range knobs {
		if why[e] != "" {
			out = append(out, knob.NoEffect(e.Name, why[e]))
		}
	}
	return out
}
