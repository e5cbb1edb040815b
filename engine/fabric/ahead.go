package fabric

import (
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// A loaded cluster's state is tens of megabytes, touched at random: most of a
// run's time would go into waiting for the host's memory. The queue knows which
// events come next, so their memory is asked for in time: first the verb, then
// the queue pair it leads to, then what both lead to. Nothing here has an effect
// on results.
func (f *part) lookAhead() {
	f.sim.Ahead(f.kFetch, f.aheadVerb, f.aheadLocal)
	f.sim.Ahead(f.kTx, f.aheadHead, f.aheadRequester, f.aheadSending)
	f.sim.Ahead(f.kRx, f.aheadVerb, f.aheadResponder, f.aheadRecv)
	f.sim.Ahead(f.kMem, f.aheadVerb, f.aheadMemory)
	f.sim.Ahead(f.kStore, f.aheadVerb, f.aheadMemory)
	f.sim.Ahead(f.kReply, f.aheadHead, f.aheadReplier, f.aheadReplying)
	f.sim.Ahead(f.kAnswer, f.aheadVerb, f.aheadAnswer, f.aheadCompletion)
}

func (f *part) aheadVerb(i uint32) { sim.PrefetchLines(unsafe.Pointer(f.verb(i)), 2) }

// AheadPost asks the host for what PostSend will need.
func (q *QP) AheadPost() { sim.PrefetchLines(unsafe.Pointer(q), 2) }

// aheadHead: the line of a verb that the pipelines need.
func (f *part) aheadHead(i uint32) { sim.Prefetch(unsafe.Pointer(f.verb(i))) }

// aheadReplier: the queue pair that answers.
func (f *part) aheadReplier(i uint32) {
	if v := f.verb(i); v.q != nil {
		sim.Prefetch(unsafe.Pointer(v.r))
	}
}

// aheadRequester: the queue pair that posted.
func (f *part) aheadRequester(i uint32) {
	if v := f.verb(i); v.q != nil {
		sim.Prefetch(unsafe.Pointer(v.q))
	}
}

// aheadSending: the latest use of the requester's context.
func (f *part) aheadSending(i uint32) {
	if q := f.verb(i).q; q != nil {
		q.nic.contexts.Ahead(q.qpn)
	}
}

// aheadReplying: that of the responder's.
func (f *part) aheadReplying(i uint32) {
	if v := f.verb(i); v.q != nil {
		v.r.nic.contexts.Ahead(v.r.qpn)
	}
}

// aheadResponder: the queue pair that is addressed, and what a one-sided request
// passes in its RNIC.
func (f *part) aheadResponder(i uint32) {
	v := f.verb(i)
	if v.q == nil {
		return
	}
	if v.op == Send {
		sim.PrefetchLines(unsafe.Pointer(v.r), 2)
		return
	}
	sim.Prefetch(unsafe.Pointer(v.r))
	n := f.nics[v.to]
	sim.Prefetch(unsafe.Pointer(&n.slots[n.slot(v.remote)]))
	f.aheadFlight(n, v)
}

// aheadFlight: where a one-sided access is registered while it is under way.
func (f *part) aheadFlight(n *NIC, v *verb) {
	if f.torn {
		n.machine.Mem.AheadFlight(v.remote)
	}
}

// aheadRecv: the RECV a message will take, or the latest use of the context of a one-sided request.
func (f *part) aheadRecv(i uint32) {
	v := f.verb(i)
	if v.q == nil {
		return
	}
	if v.op != Send {
		v.r.nic.contexts.Ahead(v.r.qpn)
		return
	}
	if r := v.r; r.rqHead != r.rqTail {
		sim.Prefetch(unsafe.Pointer(&r.rq[r.rqHead&uint16(len(r.rq)-1)]))
		f.aheadPayload(v)
	}
}

// aheadMemory: the bytes a one-sided request accesses.
func (f *part) aheadMemory(i uint32) {
	v := f.verb(i)
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.r))
	f.nics[v.to].machine.AheadBytes(v.remote, int(v.len))
	f.aheadFlight(f.nics[v.to], v)
	if v.op == Read {
		f.aheadRoom(i)
	} else {
		f.aheadPayload(v)
	}
}

// aheadRoom: where a READ takes its bytes along, if they are few.
func (f *part) aheadRoom(i uint32) {
	sim.Prefetch(unsafe.Pointer(&f.chunks[i>>placeBits].small[i%places]))
}

// aheadLocal: the bytes that the RNIC gathers.
func (f *part) aheadLocal(i uint32) {
	v := f.verb(i)
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.q))
	if v.flags&batch != 0 {
		for k, w := v.aux, v; k > 1 && w.next != none; k-- {
			f.aheadVerb(w.next)
			w = f.verb(w.next)
		}
		return
	}
	f.nics[v.from].machine.AheadBytes(v.local, int(v.len))
}

// aheadAnswer: the queue pair, and where the data goes.
func (f *part) aheadAnswer(i uint32) {
	v := f.verb(i)
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.q))
	f.nics[v.from].contexts.Ahead(v.qpn)
	if v.op.reads() {
		m := f.nics[v.from].machine
		sim.Prefetch(m.SetOf(v.local >> space.LineShift))
		if m.Mem.Has(v.local) {
			m.Mem.Ahead(v.local, 1)
		}
		f.aheadRoom(i)
	}
}

// aheadCompletion: the queue that the completion enters.
func (f *part) aheadCompletion(i uint32) {
	v := f.verb(i)
	if v.q == nil || v.flags&signaled == 0 {
		return
	}
	if cq := v.q.sendCQ; cq != nil {
		sim.PrefetchLines(unsafe.Pointer(cq), cqLines)
	}
}

// cqLines are the lines of a CQ whose ring is in itself.
const cqLines = int((unsafe.Sizeof(CQ{}) + space.LineBytes - 1) / space.LineBytes)

// aheadPush asks for the place of the next completion.
func (c *CQ) aheadPush() { sim.Prefetch(unsafe.Pointer(&c.ring[c.tail&uint32(len(c.ring)-1)])) }

func (f *part) aheadPayload(v *verb) {
	if v.data != none {
		b := f.bytes(v)
		sim.PrefetchLines(unsafe.Pointer(&b[0]), (len(b)+space.LineBytes-1)/space.LineBytes)
	}
}
