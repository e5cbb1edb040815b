package protocoltest

import (
	"maps"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// choice is something that a system decides. Each of its values sets knobs; of a knob's choice it is the one of its name.
type choice struct {
	name   string
	knob   *knob.Row // nil: what is chosen is no knob
	values []experiment.Knobs
}

// deployments are symmetric, asymmetric, with more queue pairs, and with more coroutines.
var deployments = choice{name: "deployment", values: []experiment.Knobs{
	{"nodes": 3, "threads": 2, "coroutines": 4},
	{"servers": 3, "clients": 1, "threads": 2, "coroutines": 6},
	{"nodes": 4, "threads": 1, "coroutines": 6, "emulated_nodes": 12},
	{"nodes": 3, "threads": 1, "coroutines": 8},
}}

// profiles are of RDMA and of kernel TCP, where the protocol runs over that.
var profiles = choice{name: "profile", values: []experiment.Knobs{{"profile": "val"}, {"profile": "vale"}, {"profile": "aws"}}}

// numbers are values of knobs that protocols share, beside their defaults.
var numbers = map[string][]any{
	"replicas": {1, 2, 3}, "ts.staleness_ns": {0, 200_000}, "ts.clock_drift_ns": {0, 20_000, 1_000_000},
}

// choices are what to vary: where it runs, the timestamps, and the knobs that it has a use for.
func (s *suite) choices(loads []load) []choice {
	over := profiles
	if !s.kind.HasFeature(txn.HasTwoSided) {
		over.values = over.values[:1]
	}
	all := []choice{{name: "load"}, deployments, over}
	for _, l := range loads {
		all[0].values = append(all[0].values, l.set)
	}
	if s.kind.Snapshots {
		all = append(all, s.schemes())
	}
	own := map[string]bool{}
	for _, r := range s.kind.Rows(experiment.Workloads.Load) {
		own[r.Name] = true
	}
	for _, r := range knob.Rows() {
		own := own[r.Name] && r.Needs == ""
		switch {
		case !own && !s.kind.HasFeature(txn.Feature(r.Needs)) && !(s.kind.Snapshots && r.Group == knob.Timestamps), r.IsGroup(), r.Name == "ts.scheme", s.base[r.Name] != nil:
			continue
		}
		if values := valuesOf(r, own); len(values) > 1 {
			all = append(all, choice{r.Name, r, values})
		}
	}
	return all
}

// schemes are those of timestamps that the protocol hosts, with none the first.
func (s *suite) schemes() choice {
	c := choice{name: "timestamps", values: []experiment.Knobs{{"ts.scheme": "none"}}}
	for i := range experiment.Schemes {
		k := &experiment.Schemes[i]
		if v, ok := s.legal(experiment.Knobs{"ts.scheme": k.Name, "oracle": true}); ok {
			c.values = append(c.values, experiment.Knobs{"ts.scheme": k.Name, "oracle": k.Traits(v).Oracle})
		}
	}
	return c
}

// valuesOf are what a knob can be: faults of the released code and what follows by itself apart. Of a number of its own that is another one
// than its default: the least, or, where that is the default, one on the way to the most.
func valuesOf(r *knob.Row, own bool) (list []experiment.Knobs) {
	var values []any
	switch r.Kind {
	case knob.Bool:
		values = []any{false, true}
	case knob.Choice:
		for _, c := range r.Choices {
			if !strings.HasPrefix(c, "as-published") && c != "auto" {
				values = append(values, c)
			}
		}
	default:
		values = numbers[r.Name]
		if least, ok := r.Min.(int); ok && own {
			if values = []any{r.Default, least}; r.Default == least {
				values[1] = least + (r.Max.(int)-least)/3
			}
		}
	}
	for _, v := range values {
		list = append(list, experiment.Knobs{r.Name: v})
	}
	return list
}

// legal says whether the protocol runs with these knobs, and resolves them.
func (s *suite) legal(set experiment.Knobs) (experiment.Knobs, bool) {
	spec, err := s.spec(set)
	if err != nil {
		return nil, false
	}
	v, err := experiment.Resolve(spec)
	return v, err == nil
}

// spec is a system of the protocol.
func (s *suite) spec(set experiment.Knobs) (experiment.Spec, error) {
	return experiment.Spec{Name: "conform"}.With(merged(s.base, set))
}

// chosen are the knobs of a row of values; -1 leaves a choice to its default.
func chosen(all []choice, row []int) experiment.Knobs {
	set := experiment.Knobs{}
	for i, v := range row {
		if v >= 0 {
			maps.Copy(set, all[i].values[v])
		}
	}
	return set
}

// allowed says whether a row can be, and each of its knobs has an effect.
func (s *suite) allowed(all []choice, row []int) bool {
	v, ok := s.legal(chosen(all, row))
	for i := range row {
		if r := all[i].knob; ok && row[i] >= 0 && r != nil && r.Inactive != nil {
			ok = r.Inactive(v) == ""
		}
	}
	return ok
}

// pairs are rows in which each two values of choices meet that can.
func (s *suite) pairs(all []choice) (rows [][]int) {
	if len(all) < 2 {
		rows = append(rows, make([]int, len(all)))
		for v := 1; len(all) == 1 && v < len(all[0].values); v++ {
			rows = append(rows, []int{v})
		}
		return rows
	}
	levels := make([]int, len(all))
	for i, c := range all {
		levels[i] = len(c.values)
	}
	return workloadtest.PairsWhere(levels, func(row []int) bool { return s.allowed(all, row) })
}

// merged are the knobs of both, those of b first.
func merged(a, b experiment.Knobs) experiment.Knobs {
	a = a.Clone()
	maps.Copy(a, b)
	return a
}
