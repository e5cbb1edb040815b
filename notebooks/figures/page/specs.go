package page

import (
	"slices"

	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// specGroup is runs that one spec and a few settings for each of them tell apart.
type specGroup struct {
	Spec experiment.Spec // of the first of them
	Runs []specRun

	values experiment.Knobs // what Spec resolves to
}

// specRun is a run of a group: Spec.With(Set) is its spec.
type specRun struct {
	N   int // index into the runs
	Set experiment.Knobs
}

// grouped puts runs whose values are known into groups, in their order. Values that are nil are of runs still to come.
func grouped(runs []experiment.Knobs) (out []specGroup, err error) {
	for n, values := range runs {
		if values == nil {
			continue
		}
		values = figure.Typed(values)
		at := slices.IndexFunc(out, func(g specGroup) bool {
			return g.values["preset"] == values["preset"] && g.values["workload"] == values["workload"]
		})
		if at >= 0 {
			if set, ok := out[at].settings(values); ok {
				out[at].Runs = append(out[at].Runs, specRun{n, set})
				continue
			}
		}
		spec, err := experiment.SpecOf("", values)
		if err != nil {
			return nil, err
		}
		out = append(out, specGroup{spec, []specRun{{n, experiment.Knobs{}}}, values})
	}
	return out, nil
}

// settings are what makes a group's spec one with these values; false if nothing does.
func (g *specGroup) settings(values experiment.Knobs) (experiment.Knobs, bool) {
	set := experiment.Knobs{}
	for range 2 { // what is set may move knobs that follow others
		spec, err := g.Spec.With(set)
		if err != nil {
			return nil, false
		}
		have, err := experiment.Resolve(spec)
		if err != nil {
			return nil, false
		}
		have = figure.Typed(have)
		if agree(have, values) {
			return set, true
		}
		for name, v := range values { // order-free: fills a map
			if have[name] != v && !experiment.IsGroup(name) {
				set[name] = v
			}
		}
	}
	return set, g.makes(set, values)
}

// makes says that the group's spec with settings has these values.
func (g *specGroup) makes(set, values experiment.Knobs) bool {
	spec, err := g.Spec.With(set)
	if err != nil {
		return false
	}
	have, err := experiment.Resolve(spec)
	return err == nil && agree(figure.Typed(have), values)
}

// agree says that resolved knobs have these values. Those of a recorded run lack knobs that are newer.
func agree(have, values experiment.Knobs) bool {
	for name, v := range values { // order-free: all have to
		if x, ok := have[name]; !ok || x != v {
			return false
		}
	}
	return true
}
