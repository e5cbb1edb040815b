package coordinator

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
)

// Prim is the RDMA primitive of a phase.
type Prim uint8

const (
	// Auto picks by a rule of the protocol.
	Auto Prim = iota
	// OneSided uses READ, WRITE and ATOMIC: the remote CPU does nothing.
	OneSided
	// TwoSided sends one RPC per participant machine.
	TwoSided
	// Hybrid READs on a location cache hit and sends an RPC on a miss (§4.3.1).
	// Only for the phases that look records up.
	Hybrid
)

var primNames = [...]string{"auto", "one-sided", "two-sided", "hybrid"}

func (p Prim) String() string { return knob.NameOf(primNames[:], uint8(p)) }

// ParsePrim reads the words of the phase.* knobs.
func ParsePrim(s string) (Prim, error) {
	i, err := knob.ParseName("primitive", primNames[:], s)
	return Prim(i), err
}

// Phases of protocols that check again what they have read.
var (
	Validation   = metrics.NewPhase(metrics.PhaseInfo{Name: "validation", Label: "validation", Colour: "#DDCC77", Order: 30})
	ROValidation = metrics.NewPhase(metrics.PhaseInfo{Name: "ro_validation", Label: "read-only validation", Colour: "#44AA99", Order: 70})
)

// Primitives is how phases are done. A protocol uses those of the phases that it has.
type Primitives struct {
	// The primitive of each phase (§4.3). Lock is the write set's half of the
	// thesis's Validation, Validation the read set's.
	Execution    Prim
	Lock         Prim
	Validation   Prim
	Logging      Prim
	Commit       Prim
	RORead       Prim
	ROValidation Prim

	// Opt has the optimisations of §2.2.3 by phase. Those that Table 4-1 does
	// not allow with the phase's primitive are ignored.
	Opt [metrics.MostPhases]r2.Mode

	// NoRDMA says that the NICs have no one-sided verbs: Auto is two-sided in every
	// phase, and nothing else is possible.
	NoRDMA bool
}

// Phase binds a phase of Figure 4-1 to its knob phase.NAME and to its field in Primitives. The
// write set is locked, the read set validated: the thesis counts both as Validation.
type Phase struct {
	Name  string
	ID    metrics.Phase
	Field func(*Primitives) *Prim
}

// Phases are all of them.
var Phases = []Phase{
	{"execution", txn.Execution, func(c *Primitives) *Prim { return &c.Execution }},
	{"lock", txn.Lock, func(c *Primitives) *Prim { return &c.Lock }},
	{"validation", Validation, func(c *Primitives) *Prim { return &c.Validation }},
	{"logging", replication.Logging, func(c *Primitives) *Prim { return &c.Logging }},
	{"commit", txn.Commit, func(c *Primitives) *Prim { return &c.Commit }},
	{"ro_read", txn.RORead, func(c *Primitives) *Prim { return &c.RORead }},
	{"ro_validation", ROValidation, func(c *Primitives) *Prim { return &c.ROValidation }},
}

// LockingPhases are those of protocols that lock each record when it is first asked for.
var LockingPhases = []Phase{Phases[1], Phases[3], Phases[4]}

// Allowed is Table 4-1: the optimisations that make sense in a phase done with
// a primitive. The lock of the write set counts as Validation there. Of a hybrid
// phase it is what its RPCs may use; its READs are those of OneSided.
func Allowed(phase metrics.Phase, p Prim) r2.Mode {
	two := p == TwoSided || p == Hybrid
	switch phase {
	case txn.Execution, txn.RORead:
		return r2.Mode{Doorbell: two}
	case txn.Lock, Validation:
		return r2.Mode{Outstanding: true, Doorbell: true}
	case replication.Logging, ROValidation:
		return r2.Mode{Outstanding: true, Doorbell: two}
	case txn.Commit:
		return r2.Mode{Outstanding: true, Doorbell: true, Passive: true}
	}
	return r2.Mode{}
}

// Posts is what a phase posts with: what is on and Table 4-1 allows.
func (c *Primitives) Posts(phase metrics.Phase, p Prim) r2.Mode {
	on, may := c.Opt[phase], Allowed(phase, p)
	return r2.Mode{
		Outstanding: on.Outstanding && may.Outstanding,
		Doorbell:    on.Doorbell && may.Doorbell,
		Passive:     on.Passive && may.Passive,
	}
}

// AllowAll switches outstanding requests and doorbell batching on in all phases where Table 4-1 allows them with some primitive.
func (c *Primitives) AllowAll() {
	for _, p := range Phases {
		may := Allowed(p.ID, Hybrid)
		c.Opt[p.ID] = r2.Mode{Outstanding: may.Outstanding, Doorbell: may.Doorbell}
	}
}

// Check reports the first of the phases that cannot be done by its primitive. None is Auto any more.
func (c *Primitives) Check(phases []Phase) error {
	for _, p := range phases {
		switch prim := *p.Field(c); {
		case prim > Hybrid:
			return fmt.Errorf("%s %v: use one-sided, two-sided or auto", p.Knob(), prim)
		case c.NoRDMA && prim != TwoSided:
			return fmt.Errorf("%s %v: the NICs have no RDMA; use two-sided or auto", p.Knob(), prim)
		case prim == Hybrid && p.ID != txn.Execution && p.ID != txn.RORead:
			return fmt.Errorf("%s hybrid: only execution and ro_read look records up; use one-sided, two-sided or auto", p.Knob())
		}
	}
	return nil
}

// Reasons says, by phase, why one that was Auto is done as it is; empty where
// the primitive was given.
type Reasons [metrics.MostPhases]string

// Choose gives a phase that is Auto its primitive, and says why.
func (why *Reasons) Choose(phase metrics.Phase, p *Prim, to Prim, because string) {
	if *p == Auto {
		*p, why[phase] = to, because
	}
}

// Choices are the primitives that phases come to.
func (c *Primitives) Choices(phases []Phase, why *Reasons) []txn.Choice {
	list := make([]txn.Choice, len(phases))
	for i, p := range phases {
		list[i] = txn.Choice{Phase: p.Name, Knob: p.Knob(), Primitive: p.Field(c).String(), Because: why[p.ID]}
	}
	return list
}
