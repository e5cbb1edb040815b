package store

import (
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// Kinds are the stores of a list, and how resolved values name one of them.
type Kinds []Kind

// Of is the store of resolved values.
func (ks Kinds) Of(v knob.Values) Kind {
	for _, k := range ks {
		if k.Name() == v.Text("store") {
			return k
		}
	}
	panic("store: resolved spec with store " + v.Text("store"))
}

// Rows is the knob that names the store.
func (ks Kinds) Rows(load testbed.LoadOf) []knob.Row {
	names, docs := make([]string, len(ks)), ""
	for i, k := range ks {
		if names[i] = k.Name(); i > 0 {
			docs += "; "
		}
		docs += names[i] + " = " + k.Doc()
	}
	return []knob.Row{{Knob: knob.Knob{Name: "store", Kind: knob.Choice, Default: names[0], Choices: names, Label: "Store", Section: "4.3", Group: knob.Store,
		Doc: "What finds the records of a key: " + docs + "."}, Inactive: func(v knob.Values) string { return load(v).NoTransactions() }}}
}
