// Package recency keeps the numbers that were used last, in their order: which queue-pair contexts a cache of an RNIC holds.
//
// The order is a queue of uses, of which the latest of each number counts: unlike a linked list it touches one entry of its own per
// use, and those of thousands of queue pairs are rarely in the host's cache.
package recency

import (
	"math"
	"unsafe"

	"drtmx/engine/sim"
)

// Order has numbers from 1. The zero value keeps no order.
type Order struct {
	Recent uint32   // most recently used
	latest []uint32 // by number: its last use, 0 if it is not kept
	uses   []uint32 // numbers, a ring, a power of two; oldest at head
	head   uint32   // uses are numbered by their place, from 1
	tail   uint32
}

// Begin keeps the order of numbers below n, of which at most limit are kept at a time.
func (o *Order) Begin(n, limit int) {
	size := 64
	for size < 2*limit {
		size *= 2
	}
	o.latest, o.uses = make([]uint32, n), make([]uint32, size)
}

// Begun says that an order is kept.
func (o *Order) Begun() bool { return o.latest != nil }

// Add makes room for one more number.
func (o *Order) Add() { o.latest = append(o.latest, 0) }

// Has says whether a number is kept.
func (o *Order) Has(k uint32) bool { return o.latest[k] != 0 }

// Use makes a number the most recently used, and keeps it.
func (o *Order) Use(k uint32) {
	if o.tail-o.head == uint32(len(o.uses)) || o.tail == math.MaxUint32 { // 0 is no use
		o.compact()
	}
	o.uses[o.tail&uint32(len(o.uses)-1)] = k
	o.tail++
	o.latest[k], o.Recent = o.tail, k
}

// Forget drops the least recently used number.
func (o *Order) Forget() {
	for {
		k := o.uses[o.head&uint32(len(o.uses)-1)]
		o.head++
		if o.latest[k] == o.head {
			o.latest[k] = 0
			return
		}
	}
}

// compact drops the uses that were not the last of their number, and numbers
// the others anew.
func (o *Order) compact() {
	mask := uint32(len(o.uses) - 1)
	from := o.head & mask
	to := from
	for i := o.head; i != o.tail; i++ {
		if k := o.uses[i&mask]; o.latest[k] == i+1 {
			o.uses[to&mask] = k
			to++
			o.latest[k] = to
		}
	}
	o.head, o.tail = from, to
}

// Ahead asks the host for the latest use of a number.
func (o *Order) Ahead(k uint32) {
	if k < uint32(len(o.latest)) {
		sim.Prefetch(unsafe.Pointer(&o.latest[k]))
	}
}
