package observe

import (
	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
)

// Verbs are the one-sided requests that are on their way while there is an observer. Such a request is known by its queue pair and
// its place in the send queue.
type Verbs struct {
	open map[request]VerbEvent
}

type request struct{ qp, slot uint32 }

// Posted remembers a request that is posted.
func (x *Verbs) Posted(qp, slot uint32, v VerbEvent) {
	if x.open == nil {
		x.open = map[request]VerbEvent{}
	}
	x.open[request{qp, slot}] = v
}

// Completed reports a request that is complete at a time. cqe is its own completion; nil: it was confirmed by another's.
func (x *Verbs) Completed(o Observer, qp, slot uint32, now Time, cqe *fabric.CQE) {
	key := request{qp, slot}
	v, ok := x.open[key]
	if !ok {
		return
	}
	delete(x.open, key)
	v.Done = now
	if cqe != nil {
		// The RNIC's clock runs from the doorbell to the completion.
		v.Stamp = cqe.Stamp
		v.Stamp.Spend(metrics.Post, cqe.At-cqe.Stamp.Total()-v.Post)
		v.Stamp.Spend(metrics.Poll, v.Done-cqe.At)
	}
	o.Verb(&v)
}
