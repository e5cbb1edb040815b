package engine

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// arrivals is the open client model of one worker: requests arrive at random, wait in one queue, and
// the worker's coroutines take them in order. A coroutine claims the next arrival when it becomes
// free; if that lies in the future it sleeps until then. That is a queue with as many servers as
// coroutines, without a wake-up from outside.
type arrivals struct {
	mean    sim.Time // between two
	rand    *sim.Rand
	kind    sim.Kind
	arg     uint32
	clock   *sim.Sim
	drawn   sim.Time               // time of the last arrival drawn
	ahead   []sim.Time             // claimed before they arrived: not yet counted as in flight
	backlog []sim.Time             // arrived and not yet claimed
	known   []sim.Time             // drawn for coroutines that a crash has ended
	next    sim.Time               // the arrival whose event is scheduled
	arrived func(at sim.Time) bool // false: it was refused
}

// maxBacklog bounds the queue in front of a worker: an open system above its capacity fails with a
// message rather than filling the memory.
const maxBacklog = 1 << 16

// begin schedules the first arrival.
func (a *arrivals) begin() {
	a.next = a.draw()
	a.clock.At(a.next, a.kind, a.arg)
}

func (a *arrivals) draw() sim.Time {
	if len(a.known) > 0 {
		at := a.known[0]
		a.known = a.known[1:]
		return at
	}
	a.drawn += 1 + a.rand.Exp(a.mean)
	return a.drawn
}

// event is an arrival.
func (a *arrivals) event() {
	taken := a.arrived(a.next)
	if len(a.ahead) > 0 && a.ahead[0] == a.next {
		a.ahead = a.ahead[1:]
	} else if taken {
		a.backlog = append(a.backlog, a.next)
	}
	if len(a.backlog) > maxBacklog {
		a.clock.Fail(fmt.Errorf("clients.arrival: %d requests wait for one worker: the rate is above what the system can do; lower it", maxBacklog))
		return
	}
	if len(a.ahead) > 0 {
		a.next = a.ahead[0]
	} else {
		a.next = a.draw()
	}
	a.clock.At(a.next, a.kind, a.arg)
}

// crash forgets who waits: the requests are gone with them, those that arrive later
// come even so.
func (a *arrivals) crash() {
	if len(a.ahead) > 0 { // the first is the next
		a.known = append(slices.Clone(a.ahead[1:]), a.known...)
	}
	a.ahead, a.backlog = nil, nil
}

// claim is when the next request arrives or has arrived.
func (a *arrivals) claim() sim.Time {
	if len(a.backlog) > 0 {
		at := a.backlog[0]
		a.backlog = a.backlog[1:]
		return at
	}
	if len(a.ahead) == 0 {
		a.ahead = append(a.ahead, a.next)
		return a.next
	}
	at := a.draw()
	a.ahead = append(a.ahead, at)
	return at
}

// unclaim gives a request back to the queue, if its turn among the arrivals has come.
func (a *arrivals) unclaim(at sim.Time) bool {
	switch i := slices.Index(a.ahead, at); {
	case i > 0:
		return false
	case i == 0: // its event is still to come
		a.ahead = a.ahead[1:]
		return true
	}
	i, _ := slices.BinarySearch(a.backlog, at)
	a.backlog = slices.Insert(a.backlog, i, at)
	return true
}

// await claims a request and waits for it on c. It returns when the request arrived.
func (a *arrivals) await(c *r2.Co) (at sim.Time) {
	at = a.claim()
	if d := at - c.Now(); d > 0 {
		c.Sleep(d)
	}
	return at
}
