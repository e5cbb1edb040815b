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

// VerbEvent is one request of a coroutine from its post to its completion.
type VerbEvent struct {
	Co      uint32
	Phase   metrics.Phase
	Op      fabric.Opcode
	RPC     uint8 // of a Call, whose Op is Send
	From    int   // machine
	To      int
	Bytes   int
	Passive bool // nobody waits for it: Done is when it was posted, or when a later completion confirmed it
	Post    Time
	Done    Time
	// Stamp is where the time went. It is zero for a request that was confirmed by another's completion.
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
			Co: c.id, Phase: c.phase, Op: l.wrs[i].Op, From: c.w.mc.id, To: l.to, Bytes: int(l.wrs[i].Len),
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
	v.Done = w.local
	if slot == at {
		v.Stamp = cqe.Stamp
	}
	x.observer.Verb(&v)
}

// called reports an RPC: with its answer, or if passive when it is sent.
func (x *watch) called(w *Worker, to int, k *call) {
	v := VerbEvent{
		Co: k.co.id, Phase: k.phase, Op: fabric.Send, RPC: k.rpc, From: w.mc.id, To: to, Bytes: len(k.message),
		Passive: k.passive, Post: k.sentAt, Done: w.local,
	}
	if !k.passive {
		v.Stamp = k.stamp
	}
	x.observer.Verb(&v)
}
