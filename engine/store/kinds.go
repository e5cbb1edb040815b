package store

import (
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// UnorderedKnob names the store of unordered tables. Specs and records from before there were two kinds of stores call it store.
const UnorderedKnob = "store.unordered"

// Kinds are the stores of a list, and how resolved values name one of them.
type Kinds []Kind

// Of is the store of resolved values.
func (ks Kinds) Of(v knob.Values) Kind {
	for _, k := range ks {
		if k.Name() == v.Text(UnorderedKnob) {
			if x, ok := k.(Configured); ok {
				return x.With(v)
			}
			return k
		}
	}
	panic("store: resolved spec with " + UnorderedKnob + " " + v.Text(UnorderedKnob))
}

// Rows are the knob that names the store, and those that the stores bring.
func (ks Kinds) Rows(load testbed.LoadOf) []knob.Row {
	names, docs := make([]string, len(ks)), ""
	for i, k := range ks {
		if names[i] = k.Name(); i > 0 {
			docs += "; "
		}
		docs += names[i] + " = " + k.Doc() + "; records come and go " + k.Halves().String()
	}
	which := knob.Row{Knob: knob.Knob{Name: UnorderedKnob, Kind: knob.Choice, Default: names[0], Choices: names, Label: "Unordered store", Section: "4.3", Group: knob.Store,
		Doc: "What finds the records of a key: " + docs + "."}, Alias: "store", Inactive: func(v knob.Values) string { return load(v).NoTransactions() }}
	list := []knob.Row{which}
	for _, k := range ks {
		x, ok := k.(Configured)
		if !ok {
			continue
		}
		for _, r := range x.Rows() {
			own := r.Inactive
			r.Inactive = func(v knob.Values) string {
				why := load(v).NoTransactions()
				if name := v.Text(UnorderedKnob); why == "" && name != k.Name() {
					why = UnorderedKnob + "=" + name + " does not use it"
				}
				if why == "" && own != nil {
					why = own(v)
				}
				return why
			}
			list = append(list, r)
		}
	}
	return list
}
