package fabric

import (
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// verb is a request on its way. It is found by its index, which is the argument
// of all its events. It is two lines of the host's memory; the pipelines need
// only the first.
type verb struct {
	mark   sim.Time // until when the stamp accounts for the time; then when it completed
	stamp  stamp
	len    uint32
	q      *QP    // requester, nil of a free verb
	r      *QP    // responder
	next   uint32 // of its queue pair, see QP.oldest; in the free list
	flags  uint16
	op     Opcode
	status Status

	id     uint64
	remote space.Addr // of a SEND the receiver's buffer
	local  space.Addr
	a, b   uint64 // operands of an atomic; else a is the number of its gather list, 0 for none, and b what travels beside a SEND; see delivery
	rkey   uint32
	from   uint16 // requester's RNIC, by its number in the fabric
	to     uint16 // responder's
	data   uint32 // its own number where it brings bytes, or none
	aux    uint32 // of a batch its length, of a split access the bytes done
	qpn    uint32 // requester's number
	wqe    uint16 // place in the send queue
	tries  uint8
	rnr    uint8
}

// Flags of a verb.
const (
	signaled uint16 = 1 << iota
	inlined         // payload came with the request
	batch           // first of a list that the RNIC fetches; aux is its length
	ready           // request and payload are in the RNIC
	waiting         // in the send queue, and an event for its context is scheduled
	held            // the context is there, whatever the cache says now
	entered         // seen before at this point of its way
	memory          // memory accesses are still to come
	reply           // the response is still to come
	finished        // its completion is decided and on its way
	orphan          // its queue pair, or a machine, has failed: it goes no further
	loop            // between two queue pairs of one RNIC
	ticket          // a completion alone: flushes, datagrams sent
	delivery        // a message that has its RECV: completes at the receiver; b is its sender, local what came beside it
	listed          // in a completion queue, not polled yet
	deferred        // a WRITE whose ack follows the response of a READ or atomic
)

// lined is entered at the point of execution. It takes the bit of batch, which
// a request that has left its RNIC no longer needs.
const lined = batch

// requester names the thread that has posted a verb. Queue pairs belong to threads.
func (v *verb) requester() uint64 { return 1<<63 | uint64(v.from)<<32 | uint64(v.qpn) }
