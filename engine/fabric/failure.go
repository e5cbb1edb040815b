package fabric

import (
	"cmp"
	"slices"

	"drtmx/engine/sim"
)

// ticket is a completion to be given in a verb's name.
func (v *verb) ticket(op Opcode, s Status) verb {
	return verb{id: v.id, len: v.len, qp: v.qp, peer: v.peer, next: none, data: none, wqe: v.wqe,
		op: op, status: s, flags: signaled | finished | ticket}
}

// complete schedules a ticket's arrival in host memory.
func (f *Fabric) complete(t verb, at sim.Time) {
	i, v := f.take()
	*v = t
	f.sim.At(at, f.kDone, i)
}

// fail completes a verb with an error, signaled or not, and moves its queue
// pair into the error state.
func (f *Fabric) fail(q *QP, i uint32, v *verb, s Status, t sim.Time) {
	v.status = s
	v.flags = v.flags&^reply | signaled | finished
	if v.flags&memory != 0 { // bytes are still under way: the completion goes alone
		v.flags |= orphan
		f.complete(v.ticket(v.op, s), t+f.cost.oneWay)
	} else {
		f.sim.At(t+f.cost.oneWay, f.kDone, i)
	}
	f.setError(q, t)
}

// setError moves a queue pair into the error state and flushes everything that
// is posted and not completed, in order. It is rare, so it looks for the verbs
// instead of having them kept in a list.
func (f *Fabric) setError(q *QP, t sim.Time) {
	if q.failed {
		return
	}
	q.failed = true
	var list []uint32
	for i := range f.verbs {
		if v := &f.verbs[i]; v.qp == q.index && v.flags&(finished|orphan|delivery) == 0 && (q.transport == RC || v.flags&ready == 0 || f.queued(q, uint32(i))) {
			list = append(list, uint32(i))
		}
	}
	base := uint16(q.freed)
	slices.SortFunc(list, func(a, b uint32) int { return cmp.Compare(f.verbs[a].wqe-base, f.verbs[b].wqe-base) })
	for _, i := range list {
		idle := f.queued(q, i) && f.verbs[i].flags&(ready|waiting) == ready
		tk := f.verbs[i].ticket(f.verbs[i].op, Flushed)
		tk.mark = t
		f.complete(tk, t+f.cost.oneWay)
		v := &f.verbs[i]
		v.flags |= orphan
		if idle { // no event of it is scheduled
			defer f.give(i, v)
		}
	}
	q.sqHead, q.sqTail = none, none
	for ; q.rqHead != q.rqTail; q.rqHead++ {
		q.flushRecv(&q.rq[q.rqHead&uint32(len(q.rq)-1)])
	}
}

// queued says whether a verb waits in the send queue.
func (f *Fabric) queued(q *QP, i uint32) bool {
	for j := q.sqHead; j != none; j = f.verbs[j].next {
		if j == i {
			return true
		}
	}
	return false
}

// flush completes a request that is posted to a failed queue pair.
func (f *Fabric) flush(q *QP, i uint32, v *verb, at sim.Time) {
	v.status = Flushed
	v.flags = signaled | finished | ticket
	v.mark = at
	f.sim.At(at+2*f.cost.oneWay, f.kDone, i)
}

func (q *QP) flushRecv(w *RecvWR) {
	f := q.nic.machine.fab
	now := f.sim.Now()
	f.complete(verb{id: w.ID, qp: q.index, peer: q.index, mark: now, next: none, data: none, op: Recv,
		status: Flushed, flags: signaled | finished | ticket}, now+f.cost.oneWay)
}

// refuse answers a request with an error. The responder's end of the
// connection fails as well.
func (f *Fabric) refuse(r *QP, i uint32, v *verb, s Status, t sim.Time) {
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags &^= entered
	if r.transport != RC {
		f.give(i, v)
		return
	}
	v.status = s
	f.respond(r, i, v, t)
	f.setError(r, t)
}

// tooLong: a message does not fit its buffer. Both ends hear of it.
func (f *Fabric) tooLong(r *QP, i uint32, v *verb, recv uint64, t sim.Time) {
	f.complete(verb{id: recv, qp: r.index, peer: r.index, mark: t, len: v.len, next: none, data: none, op: Recv,
		status: LocalLength, flags: signaled | finished | ticket}, t+f.cost.oneWay)
	f.refuse(r, i, &f.verbs[i], RemoteInvalidRequest, t)
	f.setError(r, t)
}

// notReady: no RECV is posted. RC tries again later, the others drop.
func (f *Fabric) notReady(r *QP, i uint32, v *verb, now, t sim.Time) {
	if r.transport != RC {
		f.counts.NoRecv++
		f.give(i, v)
		return
	}
	limit := f.cost.rnrRetries
	if v.rnr >= limit && limit < 7 { // 7 means for ever
		v.stamp.add(atNICReceive, t-v.mark)
		v.mark = t
		v.flags &^= entered
		v.status = RNRRetryExceeded
		f.respond(r, i, v, t)
		return
	}
	v.rnr = min(v.rnr+1, limit)
	f.counts.Retries++
	f.stall(&r.arriving, f.kRx, i, t+f.cost.rnrTimer)
}

// lost draws whether a packet is lost on the wire.
func (f *Fabric) lost(r *QP, n *NIC, v *verb) bool {
	if v.flags&loop != 0 {
		return false
	}
	if r.transport == RC {
		return f.rcLoss > 0 && n.luck.PPM(f.rcLoss)
	}
	return f.loss > 0 && n.luck.PPM(f.loss)
}

// vanish: a packet got nowhere. RC sends it again, after the timeout or, if the
// next packet tells of the gap, sooner; in the end it gives up.
func (f *Fabric) vanish(r *QP, i uint32, v *verb, now sim.Time) {
	if r.transport != RC || v.flags&orphan != 0 {
		if r.transport != RC {
			f.counts.Lost++
		}
		r.arriving.clear(i)
		f.give(i, v)
		return
	}
	delay := f.cost.recovery
	if r.failed || r.nic.off {
		delay = f.cost.timeout
	}
	if v.tries >= f.cost.retries {
		r.arriving.clear(i)
		f.sim.At(now+delay, f.kGiveUp, i)
		return
	}
	v.tries++
	f.counts.Retries++
	f.stall(&r.arriving, f.kRx, i, now+delay)
}

// onGiveUp: the last retransmission stayed without an answer.
func (f *Fabric) onGiveUp(i uint32) {
	v := &f.verbs[i]
	if v.flags&orphan != 0 {
		f.give(i, v)
		return
	}
	f.fail(f.qps[v.qp], i, v, RetryExceeded, f.sim.Now())
}

// overrun: a completion queue was full. The completion is lost, and with it
// the queue pair.
func (f *Fabric) overrun(cq *CQ, q *QP) {
	f.counts.CQOverruns++
	cq.overrun = true
	f.setError(q, f.sim.Now())
}
