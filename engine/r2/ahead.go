package r2

import (
	"unsafe"

	"drtmx/engine/sim"
)

// Thousands of coroutines and hundreds of workers take turns, so what a turn
// touches is rarely in the host's cache. The queue knows whose turn comes next:
// its memory is asked for in time. Nothing here has an effect on results.
func (cl *Cluster) lookAhead() { cl.sim.Ahead(cl.kWork, cl.far, cl.near) }

// far asks for the worker and its completion queue.
func (cl *Cluster) far(a uint32) {
	sim.Prefetch3(unsafe.Pointer(cl.workers[a&0xffff]))
	sim.Prefetch3(unsafe.Pointer(cl.queues[a&0xffff]))
}

// comingMax is how many completions of a turn are looked at.
const comingMax = 3

// near asks for what the worker's completions are about, or for the coroutine
// that goes on.
func (cl *Cluster) near(a uint32) {
	w := cl.workers[a&0xffff]
	if c := w.current; c != nil {
		c.proc.Ahead()
		return
	}
	for k := range comingMax {
		id, ok := w.cq.Coming(k)
		if !ok {
			return
		}
		if id&recvFlag != 0 {
			continue
		}
		sim.Prefetch3(unsafe.Pointer(cl.pair(id)))
		if n := id >> coShift & (1<<(pairShift-coShift) - 1); n > 0 {
			sim.Prefetch3(unsafe.Pointer(cl.cos[n-1]))
			sim.Prefetch3(unsafe.Pointer(cl.procs[n-1]))
		}
	}
}
