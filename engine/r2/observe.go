package r2

import (
	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
)

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

// idOf is the id of a thread's call to a machine.
func idOf(w *Worker, to int, seq uint32) CallID {
	return CallID(w.id+1)<<40 | CallID(to)<<32 | CallID(seq)
}

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
	Passive bool // it is not waited for: Done is when it was posted, or when a later completion confirmed it
	Post    Time
	Done    Time
	// Stamp is where the time from Post to Done went. It is zero for a request that was confirmed by
	// another's completion or sent twice. What an RPC waits for doorbells, there and back, counts as Poll.
	Stamp metrics.Stamp
}

// Observe reports what begins from now on to o; nil ends that.
func (cl *Cluster) Observe(o Observer) {
	cl.watch = nil
	if o != nil {
		cl.watch = &watch{observer: o, open: map[watched]VerbEvent{}}
	}
}

// watch keeps the one-sided requests that are on their way while somebody observes.
type watch struct {
	observer Observer
	open     map[watched]VerbEvent
}

type watched struct {
	qp   uint32
	slot uint32
}

// posted remembers the requests of a list that is about to be appended.
func (x *watch) posted(l *List, n int) {
	c := l.co
	for i := range n {
		x.open[watched{l.q.id, l.q.tail + uint32(i)}] = VerbEvent{
			Co: c.ID(), Phase: c.phase, Op: l.wrs[i].Op, From: c.w.mc.id, To: l.to, Bytes: int(l.wrs[i].Len),
			FromNIC: l.q.qp.NIC().Index, ToNIC: l.q.qp.Peer().Index,
			Passive: l.es[n-1].co&waits == 0, Post: c.Now(),
		}
	}
}

// completed reports the request of a slot, confirmed by the completion of slot at.
func (x *watch) completed(w *Worker, q *queuePair, slot, at uint32, cqe *fabric.CQE) {
	key := watched{q.id, slot}
	v, ok := x.open[key]
	if !ok {
		return
	}
	delete(x.open, key)
	v.Done = w.Local
	if slot == at {
		// The RNIC's clock runs from the doorbell to the completion.
		v.Stamp = cqe.Stamp
		v.Stamp.Spend(metrics.Post, cqe.At-cqe.Stamp.Total()-v.Post)
		v.Stamp.Spend(metrics.Poll, v.Done-cqe.At)
	}
	x.observer.Verb(&v)
}

// called reports an RPC: with its answer, or if passive when it is sent.
func (x *watch) called(w *Worker, ch *channel, seq uint32, k *call) {
	to := ch.peer.mc.id
	v := VerbEvent{
		Co: k.co.ID(), Phase: k.phase, Op: fabric.Send, RPC: w.cl.rpcOf(k), Call: idOf(w, to, seq), From: w.mc.id, To: to, Bytes: len(k.message),
		FromNIC: w.home, ToNIC: ch.peer.home, Passive: k.passive, Post: k.posted, Done: w.Local,
	}
	if rest := v.Done - v.Post - k.stamp.Total(); !k.passive && k.tries == 0 && rest >= 0 {
		v.Stamp = k.stamp
		v.Stamp.Spend(metrics.Poll, rest)
	}
	x.observer.Verb(&v)
}

// served reports what a handler did from begin until now for a call that is still open, with a reply of so many bytes.
func (x *watch) served(w *Worker, j *job, reply int, begin Time) {
	o, ok := x.observer.(HandlerObserver)
	k := w.asking(j.ch, j.seq)
	if !ok || k == nil {
		return
	}
	o.Served(&ServiceEvent{
		Call: idOf(j.ch.peer, w.mc.id, j.seq), Co: k.co.ID(), Machine: w.mc.id, Thread: w.thread, RPC: j.head.rpc, Reply: reply, Begin: begin, End: w.Local,
	})
}
