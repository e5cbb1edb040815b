// Package owned holds state of which each machine of a cluster has a part of its own: counters, buffers, scratch memory, and the
// sums that a workload keeps of what its clients did.
//
// A simulated machine changes its own part alone. What asks for all parts, an audit or a window's end, reads them in the order of the
// machines while none of them runs, so that what comes out depends neither on which machine was first nor on how many cores ran them.
//
// Left out: what a machine knows of another one. That travels in a message, or with one.
package owned

import "iter"

// apart keeps the parts of two machines on different lines of the host's caches, and its prefetcher takes two lines at once.
const apart = 128

// Each is a T for each machine. The zero value is for no machines.
type Each[T any] struct{ parts []part[T] }

type part[T any] struct {
	of T
	_  [apart]byte
}

// New makes the parts, of the given number of machines: zero values, or what first makes of each unless it is nil.
func New[T any](machines int, first func(machine int) T) Each[T] {
	e := Each[T]{make([]part[T], machines)}
	if first != nil {
		for m := range e.parts {
			e.parts[m].of = first(m)
		}
	}
	return e
}

// Of is a machine's part.
func (e *Each[T]) Of(machine int) *T { return &e.parts[machine].of }

// All are the parts in the order of the machines.
func (e *Each[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for m := range e.parts {
			if !yield(m, &e.parts[m].of) {
				return
			}
		}
	}
}

// Number is what can be added up without a rest, so that the order of the parts does not matter.
type Number interface {
	~int | ~int64 | ~uint64 | ~uint32
}

// Sum adds up all parts.
func Sum[T Number](e *Each[T]) (sum T) {
	for _, n := range e.All() {
		sum += *n
	}
	return sum
}
