package fabric

import (
	"cmp"
	"slices"

	"drtmx/engine/sim"
)

// ticket is a completion to be given in a verb's name.
func (v *verb) ticket(op Opcode, s Status) verb {
	return verb{id: v.id, len: v.len, q: v.q, r: v.r, next: none, data: none, qpn: v.qpn, wqe: v.wqe,
		from: v.from, to: v.to, op: op, status: s, flags: signaled | finished | ticket}
}

// recvTicket is the completion of a RECV that got no message.
func (q *QP) recvTicket(id uint64, bytes uint32, s Status, t sim.Time) verb {
	return verb{id: id, len: bytes, q: q, r: q, next: none, data: none, rkey: q.qpn, mark: t,
		from: q.nic.Number, to: q.nic.Number, op: Recv, status: s, flags: signaled | finished | ticket | delivery}
}

// complete schedules a ticket's arrival in host memory.
func (f *Fabric) complete(t verb, at sim.Time) {
	i, v := f.allocVerb()
	*v = t
	f.sim.At(at, f.kDone, i)
}

// fail completes a verb with an error, signaled or not, and moves its queue
// pair into the error state.
func (f *Fabric) fail(h *QP, i uint32, v *verb, s Status, t sim.Time) {
	v.status = s
	v.flags = v.flags&^reply | signaled | finished
	at := f.behind(h, t+f.cost.oneWay)
	if v.flags&memory != 0 { // bytes are still under way: the completion goes alone
		tk := v.ticket(v.op, s)
		tk.stamp, tk.mark = v.stamp, v.mark
		f.complete(tk, at)
	} else {
		f.sim.At(at, f.kDone, i)
	}
	f.setError(h, t)
}

// behind is at, but not before the completions of the queue pair that are
// listed already and will be visible, and those of what UC and UD have sent.
func (f *Fabric) behind(h *QP, at sim.Time) sim.Time {
	if c := h.sendCQ; c != nil {
		for k := c.head; k != c.tail; k++ {
			if v := &f.verbs[c.ring[k&uint32(len(c.ring)-1)].verb]; v.q == h && v.flags&delivery == 0 {
				at = max(at, v.mark)
			}
		}
	}
	if h.transport != RC {
		for i := range f.verbs {
			if v := &f.verbs[i]; v.q == h && v.flags&(ticket|listed|delivery) == ticket && v.status == Success {
				at = max(at, v.mark+f.cost.oneWay)
			}
		}
	}
	return at
}

// setError moves a queue pair into the error state and flushes everything that
// is posted and not completed, in order. It is rare, so it looks for the verbs
// instead of having them kept in a list.
func (f *Fabric) setError(h *QP, t sim.Time) {
	if h.state&failed != 0 {
		return
	}
	h.state |= failed
	queued := f.queued(h)
	h.sqHead, h.sqTail = none, none
	var list []uint32
	for i := range f.verbs {
		v := &f.verbs[i]
		// What UC and UD have sent needs no completion any more.
		if v.q == h && v.flags&(finished|orphan|delivery) == 0 && (h.transport == RC || queued[uint32(i)]) {
			list = append(list, uint32(i))
		}
	}
	first, at := h.freed, f.behind(h, t+f.cost.oneWay)
	h.flushed = at
	slices.SortFunc(list, func(a, b uint32) int { return cmp.Compare(f.verbs[a].wqe-first, f.verbs[b].wqe-first) })
	for _, i := range list {
		tk := f.verbs[i].ticket(f.verbs[i].op, Flushed)
		tk.mark = t
		f.complete(tk, at)
		v := &f.verbs[i]
		v.flags |= orphan
		if queued[i] && v.flags&(ready|waiting) == ready { // no event will come
			f.freeVerb(i, v)
		}
	}
	for ; h.rqHead != h.rqTail; h.rqHead++ {
		h.flushRecv(&h.rq[h.rqHead&uint32(len(h.rq)-1)])
	}
}

// flush completes a request that is posted to a failed queue pair, behind what was
// posted before.
func (f *Fabric) flush(i uint32, v *verb, at sim.Time) {
	v.status = Flushed
	v.flags = signaled | finished | ticket
	v.q.flushed = max(v.q.flushed, at+2*f.cost.oneWay)
	f.sim.At(v.q.flushed, f.kDone, i)
}

// queued are the requests that the RNIC has not sent yet.
func (f *Fabric) queued(h *QP) map[uint32]bool {
	out := map[uint32]bool{}
	for i := h.sqHead; i != none; i = f.verbs[i].next {
		out[i] = true
	}
	return out
}

// underWay reports whether requests that the queue pair has sent are not complete.
func (f *Fabric) underWay(h *QP) bool {
	queued := f.queued(h)
	for i := range f.verbs {
		if v := &f.verbs[i]; v.q == h && v.flags&(finished|orphan|delivery) == 0 && !queued[uint32(i)] {
			return true
		}
	}
	return false
}

func (q *QP) flushRecv(w *recv) {
	now := q.fab.sim.Now()
	q.fab.dropRecv(w)
	q.fab.complete(q.recvTicket(w.id, 0, Flushed, now), now+q.fab.cost.oneWay)
}

// refuse answers a request with an error. The responder's end of the
// connection fails as well.
func (f *Fabric) refuse(r *QP, i uint32, v *verb, s Status, t sim.Time) {
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags &^= entered
	if r.transport != RC {
		f.freeVerb(i, v)
		return
	}
	v.status = s
	f.acknowledge(r, i, v, t)
	f.setError(r, t)
}

// tooLong: a message does not fit its buffer. Both ends hear of it.
func (f *Fabric) tooLong(r *QP, i uint32, v *verb, recv uint64, t sim.Time) {
	f.refuse(r, i, v, RemoteInvalidRequest, t)
	f.complete(r.recvTicket(recv, 0, LocalLength, t), t+f.cost.oneWay)
	f.setError(r, t)
}

// notReady: no RECV is posted. RC and TCP try again later, the others drop.
func (f *Fabric) notReady(r *QP, i uint32, v *verb, t sim.Time) {
	switch r.transport {
	case RC:
	case TCP: // its window is closed, and the message waits at the sender
		f.again(i, t+f.cost.rnrTimer)
		return
	default:
		f.counts.NoRecv++
		f.freeVerb(i, v)
		return
	}
	limit := f.cost.rnrRetries
	if v.rnr >= limit && limit < 7 { // 7 means for ever
		v.stamp.add(atNICReceive, t-v.mark)
		v.mark = t
		v.flags &^= entered
		v.status = RNRRetryExceeded
		f.acknowledge(r, i, v, t)
		return
	}
	v.rnr = min(v.rnr+1, limit)
	f.counts.Retries++
	f.stall(r, arriving, f.kRx, i, t+f.cost.rnrTimer)
}

// lost draws whether a packet is lost on the wire.
func (f *Fabric) lost(t Transport, n *NIC, v *verb) bool {
	if v.flags&loop != 0 {
		return false
	}
	if t == RC {
		return f.rcLoss > 0 && n.luck.PPM(f.rcLoss)
	}
	return f.loss > 0 && n.luck.PPM(f.loss)
}

// vanish: a packet got nowhere. RC sends it again, after the timeout or, if the
// next packet tells of the gap, sooner; in the end it gives up. TCP's messages of a
// living machine come late.
func (f *Fabric) vanish(n *NIC, r *QP, i uint32, v *verb, now sim.Time) {
	if r.transport == TCP && r.state&failed == 0 && !n.off {
		f.again(i, now+f.cost.recovery)
		return
	}
	if r.transport != RC {
		f.counts.Lost++
		f.freeVerb(i, v)
		return
	}
	if v.flags&orphan != 0 {
		f.freeVerb(i, v)
		return
	}
	delay := f.cost.recovery
	if r.state&failed != 0 || n.off {
		delay = f.cost.timeout
	}
	if v.tries >= f.cost.retries {
		f.stall(r, arriving, f.kGiveUp, i, now+delay)
		return
	}
	v.tries++
	f.counts.Retries++
	f.stall(r, arriving, f.kRx, i, now+delay)
}

// again has a message of TCP come once more. It holds nothing up behind it.
func (f *Fabric) again(i uint32, at sim.Time) {
	f.counts.Retries++
	f.sim.At(at, f.kRx, i)
}

// onGiveUp: the last retransmission stayed without an answer.
func (f *Fabric) onGiveUp(i uint32) {
	v := &f.verbs[i]
	v.r.clear(arriving, i)
	if v.flags&orphan != 0 {
		f.freeVerb(i, v)
		return
	}
	f.fail(v.q, i, v, RetryExceeded, f.sim.Now())
}

// overrun: a completion queue was full. The completion is lost, and with it
// the queue pair.
func (f *Fabric) overrun(cq *CQ, h *QP) {
	f.counts.CQOverruns++
	cq.overrun = true
	f.setError(h, f.sim.Now())
}

// CloseTo closes the machine's ends of its queue pairs with another one: they go to the error state, and what comes by them gets no answer.
func (m *Machine) CloseTo(other int) {
	for _, n := range m.NICs {
		for _, q := range n.qps[1:] {
			if q.peer != nil && q.peer.nic.machine.ID == other {
				m.fab.setError(q, m.fab.sim.Now())
			}
		}
	}
}
