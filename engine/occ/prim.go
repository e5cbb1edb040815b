package occ

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
	// Auto picks by the rule of chapter 4's summaries, see Config.Decide.
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

func (p Prim) String() string {
	if int(p) < len(primNames) {
		return primNames[p]
	}
	return fmt.Sprintf("prim(%d)", p)
}

// ParsePrim reads the words of the phase.* knobs.
func ParsePrim(s string) (Prim, error) {
	i, err := knob.ParseName("primitive", primNames[:], s)
	return Prim(i), err
}

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
