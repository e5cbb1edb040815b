// Package ready is the queue of a worker's coroutines that may go on, in the order in which they became ready.
package ready

import (
	"unsafe"

	"drtmx/engine/sim"
)

// Queue is a ring that grows. Places are numbered from the first one ever entered.
type Queue[T any] struct {
	ring       []*T // a power of two
	Head, Tail int
}

// Init gives it room for n.
func (q *Queue[T]) Init(n int) {
	size := 8
	for size < n {
		size *= 2
	}
	q.ring = make([]*T, size)
}

// Len is how many are ready.
func (q *Queue[T]) Len() int { return q.Tail - q.Head }

// Push enters one behind the others.
func (q *Queue[T]) Push(x *T) {
	if q.Len() == len(q.ring) {
		old := q.ring
		q.ring = make([]*T, 2*len(old))
		for i := q.Head; i < q.Tail; i++ {
			q.ring[i&(len(q.ring)-1)] = old[i&(len(old)-1)]
		}
	}
	q.ring[q.Tail&(len(q.ring)-1)] = x
	q.Tail++
}

// Pop takes the one that is ready for the longest time. There is one.
func (q *Queue[T]) Pop() *T {
	x := q.ring[q.Head&(len(q.ring)-1)]
	q.Head++
	return x
}

// Clear takes all out, when their machine crashes.
func (q *Queue[T]) Clear() {
	clear(q.ring)
	q.Head, q.Tail = 0, 0
}

// Ahead asks the host for where the next one enters.
func (q *Queue[T]) Ahead() { sim.Prefetch(unsafe.Pointer(&q.ring[q.Tail&(len(q.ring)-1)])) }
