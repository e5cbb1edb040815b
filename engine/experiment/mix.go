package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/workload"
)

// mixName stands for the weights of all transaction types of a workload, as balance:15,send-payment:25. Types that it does not name have none.
const mixName = "workload.mix"

// withoutMix is what is set, with the knobs of the workload's transaction types in place of mixName. The workload is the one that is set, or
// else of that name.
func withoutMix(set Knobs, load string) (Knobs, error) {
	mix, ok := set[mixName]
	if !ok {
		return set, nil
	}
	if w, ok := set["workload"].(string); ok {
		load = w
	}
	kind := Workloads.Named(cmp.Or(load, defaultWorkload))
	if kind == nil {
		return set, nil // that is said elsewhere
	}
	bad := func(rule string) error {
		var types []string
		for _, t := range kind.Mix {
			types = append(types, t.Name)
		}
		next := fmt.Sprintf("the types of %s are %s", kind.Name, strings.Join(types, ", "))
		if len(types) == 0 {
			next = fmt.Sprintf("%s has no types", kind.Name)
		}
		return &SpecError{Field: mixName, Value: knob.Clip(mix), Rule: rule, Next: next}
	}
	if len(kind.Mix) == 0 {
		return nil, bad("is for workloads of several types")
	}
	out := maps.Clone(set)
	delete(out, mixName)
	for _, t := range kind.Mix {
		out[mixName+"."+t.Name] = 0
	}
	named := map[string]bool{}
	for _, part := range strings.FieldsFunc(fmt.Sprint(mix), func(r rune) bool { return r == ',' || r == ' ' }) {
		name, weight, ok := strings.Cut(part, ":")
		if !ok {
			return nil, bad("wants TYPE:WEIGHT for each type, such as " + kind.Mix[0].Name + ":100")
		}
		if !slices.ContainsFunc(kind.Mix, func(t workload.MixType) bool { return t.Name == name }) {
			return nil, bad("there is no type " + knob.Clip(name))
		}
		if named[name] {
			return nil, bad(name + " is there twice")
		}
		if _, twice := set[mixName+"."+name]; twice {
			return nil, bad(mixName + "." + name + " is set as well")
		}
		named[name] = true
		out[mixName+"."+name] = weight
	}
	return out, nil
}
