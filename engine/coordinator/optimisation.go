package coordinator

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
)

// Knob is the name of the knob that sets its primitive.
func (p Phase) Knob() string { return "phase." + p.Name }

// Optimisation binds one of section 2.2.3 that is switched per phase to its field in r2.Mode.
// Coroutines are not among them, for they are per worker.
type Optimisation struct {
	Name  string
	Title string
	Doc   string
	Field func(*r2.Mode) *bool
}

// Optimisations are all of them.
var Optimisations = []Optimisation{
	{"or", "Outstanding requests", "Posts all requests of the phase before waiting for the first completion. Off: one request at a time.",
		func(m *r2.Mode) *bool { return &m.Outstanding }},
	{"db", "Doorbell batching", "Rings one doorbell for all requests of a queue pair and lets the RNIC fetch them. Off: one MMIO each.",
		func(m *r2.Mode) *bool { return &m.Doorbell }},
	{"pa", "Passive ACK", "Does not wait for the acknowledgement: unsignaled for one-sided, replies piggybacked for two-sided.",
		func(m *r2.Mode) *bool { return &m.Passive }},
}

// Group is the name of the knob that switches it in all phases.
func (o Optimisation) Group() string { return "opt." + o.Name }

// Knob is the name of the knob that switches it in a phase.
func (o Optimisation) Knob(p Phase) string { return "opt." + p.Name + "." + o.Name }

// Allowed is Table 4-1 for this optimisation in a phase that uses a primitive.
func (o Optimisation) Allowed(p Phase, with Prim) bool {
	m := Allowed(p.ID, with)
	return *o.Field(&m)
}

// Ever says whether Table 4-1 allows it with some primitive.
func (o Optimisation) Ever(p Phase) bool { return o.Allowed(p, OneSided) || o.Allowed(p, TwoSided) }

// never says why Table 4-1 has no check mark for either primitive.
func (o Optimisation) never(p Phase) string {
	if o.Name == "or" {
		return "Table 4-1: " + p.Name + " fetches record by record, for its read set is not known in advance; see txn.speculative"
	}
	return "Table 4-1: the completion of " + p.Name + " is on the critical path, so it cannot be acknowledged passively"
}

// Barred says why Table 4-1 has no check mark for a primitive of the phase; empty: it has one.
func (o Optimisation) Barred(p Phase, with Prim) string {
	switch {
	case o.Allowed(p, with):
		return ""
	case !o.Ever(p):
		return o.never(p)
	case p.ID == replication.Logging:
		return "Table 4-1: one-sided logging sends one WRITE on each backup's queue pair, so there is no doorbell to share"
	}
	return "Table 4-1: one-sided " + p.Name + " takes one READ for a record, and only requests that follow each other on a queue pair share a doorbell"
}

// Members are the knobs that the group knob sets.
func (o Optimisation) Members() []string {
	var names []string
	for _, p := range Phases {
		if o.Ever(p) {
			names = append(names, o.Knob(p))
		}
	}
	return names
}

// FollowTable makes the switches that a change did not name follow Table 4-1: where the phase's
// primitive does not allow one it is off, and where only the primitive of before did not, it is on
// as in the table. was has the primitives of before, now those that v resolves to. Passive ACK, which
// either primitive of Commit allows, stays as it is.
func FollowTable(v, set knob.Values, was, now Primitives) {
	for _, o := range Optimisations {
		_, grouped := set[o.Group()]
		for _, p := range Phases {
			if _, named := set[o.Knob(p)]; named {
				continue
			}
			switch {
			case !o.Allowed(p, *p.Field(&now)):
				v[o.Knob(p)] = false
			case !grouped && !o.Allowed(p, *p.Field(&was)):
				v[o.Knob(p)] = true
			}
		}
	}
}

// AllOn says whether it is on in all phases whose primitives in c allow it.
func (o Optimisation) AllOn(v knob.Values, c Primitives) bool {
	for _, p := range Phases {
		if !v.Bool(o.Knob(p)) && o.Allowed(p, *p.Field(&c)) {
			return false
		}
	}
	return true
}
