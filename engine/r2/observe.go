package r2

import (
	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2/observe"
	"drtmx/engine/r2/sendq"
)

// What a run shows of itself.
type (
	Observer        = observe.Observer
	HandlerObserver = observe.HandlerObserver
	CallID          = observe.CallID
	VerbEvent       = observe.VerbEvent
	ServiceEvent    = observe.ServiceEvent
)

// idOf is the id of a thread's call to a machine.
func idOf(w *Worker, to int, seq uint32) CallID {
	return CallID(w.id+1)<<40 | CallID(to)<<32 | CallID(seq)
}

// Observe reports what begins from now on to o; nil ends that.
func (cl *Cluster) Observe(o Observer) {
	cl.watch = nil
	if o != nil {
		cl.watch = &watch{observer: o}
	}
}

// watch is what an observer is told.
type watch struct {
	observer Observer
	verbs    observe.Verbs
}

// posted remembers the requests of a list that is about to be appended.
func (x *watch) posted(l *List, n int) {
	c := l.co
	for i := range n {
		x.verbs.Posted(l.q.ID, l.q.Tail+uint32(i), VerbEvent{
			Co: c.ID(), Phase: c.InPhase(), Op: l.chain.WRs[i].Op, From: c.w.mc.id, To: l.to, Bytes: int(l.chain.WRs[i].Bytes()),
			FromNIC: l.q.QP.NIC().Index, ToNIC: l.q.QP.Peer().Index,
			Passive: l.chain.Entries[n-1].Co&sendq.Waits == 0, Post: c.Now(),
		})
	}
}

// called reports an RPC: with its answer and where its time went, or if passive when it is sent.
func (x *watch) called(w *Worker, ch *channel, seq uint32, k *call, stamp *metrics.Stamp) {
	to := ch.peer.mc.id
	v := VerbEvent{
		Co: k.group.co.ID(), Phase: k.phase, Op: fabric.Send, RPC: w.cl.rpcOf(k), Call: idOf(w, to, seq), From: w.mc.id, To: to, Bytes: len(k.message),
		FromNIC: w.home, ToNIC: ch.peer.home, Passive: k.passive, Post: k.posted, Done: w.Local,
	}
	if !k.passive && k.tries == 0 && v.Done-v.Post >= stamp.Total() {
		v.Stamp = *stamp
		v.Stamp.Spend(metrics.Poll, v.Done-v.Post-stamp.Total())
	}
	x.observer.Verb(&v)
}

// served reports what a handler did from begin until now for a call, with a reply of so many bytes.
func (x *watch) served(w *Worker, j *job, reply int, begin Time) {
	o, ok := x.observer.(HandlerObserver)
	if !ok {
		return
	}
	o.Served(&ServiceEvent{
		Call: idOf(j.ch.peer, w.mc.id, j.seq), Co: j.asker, Machine: w.mc.id, Thread: w.thread, RPC: j.head.RPC, Reply: reply, Begin: begin, End: w.Local,
	})
}
