package oracle

import "drtmx/engine/timestamp"

// Variant is a known fault planted into a scheme. The checkers have to tell each from the correct one; that is how we know
// that they work.
type Variant uint8

const (
	// Correct are the schemes of the package's comment.
	Correct Variant = iota
	// EarlySlot publishes the largest number of a slot that is installed, whether those below it are or not.
	EarlySlot
	// LateNumber takes the number of GTS behind validation.
	LateNumber
	// VoidForgotten does not install the numbers of transactions that have failed.
	VoidForgotten
	// DepsForgotten installs a transaction without what it depends on.
	DepsForgotten
	numVariants
)

var variantNames = [numVariants]string{"correct", "early-slot", "late-number", "void-forgotten", "deps-forgotten"}

func (v Variant) String() string { return variantNames[v] }

// traits plants the fault into what a host is told.
func (v Variant) traits(t timestamp.Traits) timestamp.Traits {
	if v == LateNumber {
		t.Early = false
	}
	return t
}
