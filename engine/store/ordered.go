package store

import (
	"slices"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// Ordered are the ordered key-value stores of a list, and how resolved values name one of them. The list may be empty.
type Ordered []KVKind

// OrderedKnob is the knob that names the store.
const OrderedKnob = "store.ordered"

// noKind is the value of the knob where the list is empty.
const noKind = "none"

// Of is the store of resolved values, nil if there is none.
func (ks Ordered) Of(v knob.Values) *KVKind {
	for i := range ks {
		if ks[i].Name == v.Text(OrderedKnob) {
			return &ks[i]
		}
	}
	return nil
}

// Dated are those whose indexes snapshots can read.
func (ks Ordered) Dated() (names []string) {
	for i := range ks {
		if ks[i].Dated {
			names = append(names, ks[i].Name)
		}
	}
	return names
}

// Rows are the knob that names the store, and those that the stores bring. A knob of several stores is that of the first. indexed
// are the workloads whose transactions have ordered tables: they begin with the first store for that, others with the first one
// for requests.
func (ks Ordered) Rows(load testbed.LoadOf, indexed []string) []knob.Row {
	names, docs := []string{}, ""
	for i, k := range ks {
		if names = append(names, k.Name); i > 0 {
			docs += "; "
		}
		docs += k.Name + " = " + k.Doc
	}
	if len(names) == 0 {
		names, docs = []string{noKind}, "there is none"
	}
	first := func(serves func(k *KVKind) bool) string {
		for i := range ks {
			if serves(&ks[i]) {
				return ks[i].Name
			}
		}
		return names[0]
	}
	which := knob.Row{Knob: knob.Knob{Name: OrderedKnob, Kind: knob.Choice, Default: first(func(k *KVKind) bool { return k.Open != nil }), Choices: names, Label: "Ordered store", Section: "3.1", Group: knob.Store,
		Doc: "The ordered store that requests go to, or that the secondary indexes of transactions are in: " + docs + "."}, ByLoad: map[string]any{}, Inactive: func(v knob.Values) string { return unused(load(v)) }}
	for _, w := range indexed {
		which.ByLoad[w] = first(func(k *KVKind) bool { return k.Indexes != nil })
	}
	list := []knob.Row{which}
	users := map[string][]string{}
	for _, k := range ks {
		if k.Rows == nil {
			continue
		}
		for _, r := range k.Rows() {
			if users[r.Name] == nil {
				if d, ok := k.OfIndexes[r.Name]; ok {
					r.ByLoad = map[string]any{}
					for _, w := range indexed {
						r.ByLoad[w] = d
					}
				}
				list = append(list, r)
			}
			users[r.Name] = append(users[r.Name], k.Name)
		}
	}
	for i := range list[1:] {
		adopt(&list[1+i], users[list[1+i].Name], load)
	}
	return list
}

// adopt has a knob say where it has no effect.
func adopt(r *knob.Row, users []string, load testbed.LoadOf) {
	own := r.Inactive
	r.Inactive = func(v knob.Values) string {
		if why := unused(load(v)); why != "" {
			return why
		}
		if name := v.Text(OrderedKnob); !slices.Contains(users, name) {
			return "store.ordered=" + name + " does not use it"
		}
		if own == nil {
			return ""
		}
		return own(v)
	}
}

// unused says why a workload has no use for an ordered store; "" where it has.
func unused(l *testbed.Load) string {
	switch {
	case l.Ordered, l.Indexes:
		return ""
	case l.Transactions:
		return "transactions of workload " + l.Name + " have no ordered tables"
	}
	return "workload " + l.Name + " sends no requests to a key-value store"
}

// Valid reports the first rule of the store that is broken, where a workload uses it.
func (ks Ordered) Valid(v knob.Values, load *testbed.Load) error {
	if !load.Ordered && !load.Indexes {
		return nil
	}
	k := ks.Of(v)
	if k == nil {
		return knob.Invalid("workload", load.Name, "use another workload", "its requests go to an ordered key-value store, and none is there")
	}
	if load.Ordered && k.Open == nil {
		return knob.Invalid(OrderedKnob, k.Name, "use another store", "it is for the indexes of transactions alone")
	}
	if load.Indexes && k.Indexes == nil {
		return knob.Invalid(OrderedKnob, k.Name, "use another store, such as btree", "it does not serve the indexes of transactions")
	}
	if k.NoScan != "" && load.Scans != nil && load.Scans(v) {
		return knob.Invalid(OrderedKnob, k.Name, "use another store, or a workload without scans", "it has no SCAN: %s", k.NoScan)
	}
	if n := load.LongestKey(v); n > 0 && !k.RealKeys {
		return knob.Invalid(OrderedKnob, k.Name, "use store.ordered=xstore, or workload.key_bytes=0", "its keys have 8 bytes, and those of the workload have different lengths, up to %d", n)
	}
	for _, rule := range k.Rules {
		if err := rule(v); err != nil {
			return err
		}
	}
	return nil
}
