// Package observe has what a run can show of itself while it goes on: phases of coroutines, requests and handlers, for traces.
package observe

import (
	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// Time is virtual time in picoseconds.
type Time = sim.Time

// Observer is told what coroutines do, for traces. It may not change anything: a run is the same with and
// without it.
type Observer interface {
	// Phase: coroutine co begins a phase at a time.
	Phase(co uint32, at Time, p metrics.Phase)
	// Verb: a request is complete. The event is valid during the call.
	Verb(v *VerbEvent)
}

// HandlerObserver is an Observer that is told of handlers too.
type HandlerObserver interface {
	Observer
	// Served: a handler has answered a call of another thread. The event is valid during the call.
	Served(s *ServiceEvent)
}

// CallID tells the calls of a cluster apart; 0 is none.
type CallID uint64

// ServiceEvent is a handler's part of a call.
type ServiceEvent struct {
	Call    CallID
	Co      uint32 // the coroutine that called
	Machine int    // where the handler ran
	Thread  int
	RPC     uint8
	Reply   int // bytes; none is sent for a passive call
	Begin   Time
	End     Time
}

// VerbEvent is one request of a coroutine from its post to its completion.
type VerbEvent struct {
	Co      uint32
	Phase   metrics.Phase
	Op      fabric.Opcode
	RPC     uint8 // of a Call, whose Op is Send
	Call    CallID
	From    int // machine
	To      int
	FromNIC int // of its machine
	ToNIC   int
	Bytes   int
	Passive bool // no coroutine waits for it: Done is when it was posted, or when a later completion confirmed it
	Post    Time
	Done    Time
	// Stamp is where the time from Post to Done went. It is zero for a request that was confirmed by
	// another's completion or sent twice. What an RPC waits for doorbells, there and back, counts as Poll.
	Stamp metrics.Stamp
}
