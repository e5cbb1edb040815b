package txn

import (
	"slices"

	"drtmx/engine/knob"
	"drtmx/engine/replication"
	"drtmx/engine/testbed"
)

// Kinds are the protocols of a list, and how resolved values name one of them.
type Kinds []Kind

// Of is the protocol of resolved values.
func (ks Kinds) Of(v knob.Values) *Kind {
	k := ks.Named(v.Text("cc"))
	if k == nil {
		panic("txn: resolved spec with cc " + v.Text("cc"))
	}
	return k
}

// Named is the protocol of a name, nil if there is none.
func (ks Kinds) Named(name string) *Kind {
	for i := range ks {
		if ks[i].Name == name {
			return &ks[i]
		}
	}
	return nil
}

// Presets are those of all protocols.
func (ks Kinds) Presets() (names []string) {
	for i := range ks {
		names = append(names, ks[i].Presets...)
	}
	return names
}

// PresetOf is the protocol that a preset is one of, nil if there is no such preset.
func (ks Kinds) PresetOf(preset string) *Kind {
	for i := range ks {
		if slices.Contains(ks[i].Presets, preset) {
			return &ks[i]
		}
	}
	return nil
}

// Rows are the knobs of the protocols: which of them runs and how many copies there are, the store's, and each one's
// own. A knob says where it has no effect: without transactions, and under a protocol that does not use it.
func (ks Kinds) Rows(load testbed.LoadOf, log func(v knob.Values) replication.Kind) (cluster, store, own []knob.Row) {
	names, docs := make([]string, len(ks)), ""
	for i, k := range ks {
		names[i] = k.Name
		docs += map[bool]string{true: "; ", false: ""}[i > 0] + k.Name + " = " + k.Doc
	}
	cc := knob.Row{Knob: knob.Knob{Name: "cc", Kind: knob.Choice, Default: names[0], Choices: names, Label: "Concurrency control", Section: "4.1", Group: knob.Cluster,
		Doc: "Concurrency control of read-write transactions: " + docs + "."}, Alias: "protocol"}
	replicas, store := Knobs(load, func(v knob.Values) string { return ks.Of(v).LooksUp(v, load(v)) }, log)
	cluster = []knob.Row{cc, replicas}
	seen := map[string]bool{}
	users := map[string][]string{} // of a knob: the protocols whose own it is
	for i := range ks {
		for _, r := range ks[i].Rows(load) {
			users[r.Name] = append(users[r.Name], ks[i].Name)
			if !seen[r.Name] {
				own = append(own, r)
			}
			seen[r.Name] = true
		}
	}
	for _, list := range [][]knob.Row{cluster[1:], store, own} {
		for i := range list {
			ks.adopt(&list[i], load, append(users[list[i].Name], ks.having(list[i].Needs)...))
		}
	}
	cluster[0].Inactive = func(v knob.Values) string { return load(v).NoTransactions() }
	return cluster, store, own
}

// having are the protocols that have what a knob needs.
func (ks Kinds) having(feature string) (names []string) {
	for i := range ks {
		if ks[i].HasFeature(Feature(feature)) {
			names = append(names, ks[i].Name)
		}
	}
	return names
}

// adopt has a knob say where it has no effect.
func (ks Kinds) adopt(r *knob.Row, load testbed.LoadOf, users []string) {
	own := r.Inactive
	r.Inactive = func(v knob.Values) string {
		if why := load(v).NoTransactions(); why != "" && r.Group != knob.Store {
			return why
		}
		if cc := v.Text("cc"); load(v).Transactions && !slices.Contains(users, cc) {
			return "cc=" + cc + " does not use it"
		}
		if own == nil {
			return ""
		}
		return own(v)
	}
}

// Valid reports the first rule of the protocol that is broken, and first what the system needs and it lacks.
func (ks Kinds) Valid(v knob.Values, load *testbed.Load) error {
	k := ks.Of(v)
	if err := ks.fits(k, v, load); err != nil {
		return err
	}
	for _, rule := range k.Rules {
		if err := rule(v, load); err != nil {
			return err
		}
	}
	return nil
}
