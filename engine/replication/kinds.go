package replication

import (
	"fmt"
	"slices"

	"drtmx/engine/knob"
)

// Kinds are the schemes of a list.
type Kinds []Kind

// Knob says which of them is in force, Own leaves it to the protocol.
const (
	Knob = "log.scheme"
	Own  = "own"
)

// Row is that knob.
func (ks Kinds) Row() knob.Row {
	names, docs := []string{Own}, Own+" = the one that the protocol prefers"
	for _, k := range ks {
		names, docs = append(names, k.Name), docs+"; "+k.Name+" = "+k.Doc
	}
	return knob.Row{Knob: knob.Knob{Name: Knob, Kind: knob.Choice, Default: Own, Choices: names, Label: "Log", Section: "4.3.4", Group: knob.Phases,
		Doc: "What keeps the copies of a record in step: " + docs + "."}}
}

// Of is the scheme that resolved values name for a protocol which allows some, the one that it prefers first. A protocol that allows none
// keeps one copy.
func (ks Kinds) Of(v knob.Values, allowed []string) Kind {
	name := v.Text(Knob)
	switch {
	case len(allowed) == 0:
		return None
	case name == Own:
		name = allowed[0]
	}
	if k := ks.Named(name); k != nil {
		return *k
	}
	panic(fmt.Sprintf("replication: resolved %s %s", Knob, name))
}

// Named is the scheme of a name, nil if there is none.
func (ks Kinds) Named(name string) *Kind {
	for i := range ks {
		if ks[i].Name == name {
			return &ks[i]
		}
	}
	return nil
}

// Allows says whether a protocol that names some schemes can have one: a named one, or another that writes the copies of records when one of
// those does.
func (ks Kinds) Allows(named []string, name string) bool {
	asked := ks.Named(name)
	return slices.Contains(named, name) || slices.ContainsFunc(named, func(n string) bool {
		k := ks.Named(n)
		return k != nil && !k.Single && !asked.Single && k.InPlace == asked.InPlace
	})
}
