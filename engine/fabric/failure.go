package fabric

import (
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
func (f *part) complete(t verb, at sim.Time) {
	i, v := f.allocVerb()
	*v = t
	f.sim.At(at, f.kDone, i)
}

// unlink takes a request out of those of its queue pair that are not complete. It is the oldest but for one that was given up.
func (f *part) unlink(h *QP, i uint32, v *verb) {
	if h.oldest == i {
		h.oldest = v.next
		return
	}
	for k := h.oldest; k != none; {
		w := f.verb(k)
		if w.next == i {
			if w.next = v.next; h.sqTail == i {
				h.sqTail = k
			}
			return
		}
		k = w.next
	}
}

// fail completes a verb with an error, signaled or not, and moves its queue
// pair into the error state.
func (f *part) fail(h *QP, i uint32, v *verb, s Status, t sim.Time) {
	v.status = s
	v.flags = v.flags&^reply | signaled | finished
	f.unlink(h, i, v)
	f.sim.At(f.behind(h, t+f.cost.oneWay), f.kDone, i)
	f.setError(h, t)
}

// behind is at, but not before the completions of the queue pair that are
// listed already and will be visible, and those of what UC and UD have sent.
func (f *part) behind(h *QP, at sim.Time) sim.Time {
	if c := h.sendCQ; c != nil {
		for k := c.head; k != c.tail; k++ {
			if v := f.verb(c.ring[k&uint32(len(c.ring)-1)].verb); v.q == h && v.flags&delivery == 0 {
				at = max(at, v.mark)
			}
		}
	}
	return max(at, h.sent)
}

// setError moves a queue pair into the error state and flushes everything that
// is posted and not completed, in order. What is under way belongs to others; it is found lost when it comes home.
func (f *part) setError(h *QP, t sim.Time) {
	if h.state&failed != 0 {
		return
	}
	h.state |= failed
	at := f.behind(h, t+f.cost.oneWay)
	h.flushed = at
	for i := h.oldest; i != none; {
		v := f.verb(i)
		tk := v.ticket(v.op, Flushed)
		tk.mark = t
		f.complete(tk, at)
		i = v.next
	}
	f.dropQueued(h)
	for ; h.rqHead != h.rqTail; h.rqHead++ {
		f.flushRecv(h, &h.rq[h.rqHead&uint16(len(h.rq)-1)])
	}
}

// dropQueued gives up the requests of a queue pair that are on its machine: that were not sent, and that came home without an answer.
func (f *part) dropQueued(h *QP) {
	for i := h.sqHead; i != none; {
		v := f.verb(i)
		next := v.next
		v.flags |= orphan
		if v.flags&(ready|waiting) == ready { // no event will come
			f.freeVerb(i, v)
		}
		i = next
	}
	for _, i := range h.lost {
		f.freeVerb(i, f.verb(i))
	}
	h.oldest, h.sqHead, h.sqTail, h.lost = none, none, none, nil
}

// flush completes a request that is posted to a failed queue pair, behind what was
// posted before.
func (f *part) flush(i uint32, v *verb, at sim.Time) {
	v.status = Flushed
	v.flags = signaled | finished | ticket
	v.q.flushed = max(v.q.flushed, at+2*f.cost.oneWay)
	f.sim.At(v.q.flushed, f.kDone, i)
}

func (f *part) flushRecv(q *QP, w *recv) {
	now := f.sim.Now()
	f.dropRecv(w)
	f.complete(q.recvTicket(w.id, 0, Flushed, now), now+f.cost.oneWay)
}

// refuse answers a request with an error. The responder's end of the
// connection fails as well.
func (f *part) refuse(r *QP, i uint32, v *verb, s Status, t sim.Time) {
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
func (f *part) tooLong(r *QP, i uint32, v *verb, recv uint64, t sim.Time) {
	f.refuse(r, i, v, RemoteInvalidRequest, t)
	f.complete(r.recvTicket(recv, 0, LocalLength, t), t+f.cost.oneWay)
	f.setError(r, t)
}

// notReady: no RECV is posted. RC and TCP try again later, the others drop.
func (f *part) notReady(r *QP, i uint32, v *verb, t sim.Time) {
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
	f.sendAgain(r, i, v, t+f.cost.rnrTimer)
}

// lost draws whether a packet is lost on the wire.
func (f *part) lost(t Transport, n *NIC, v *verb) bool {
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
func (f *part) vanish(n *NIC, r *QP, i uint32, v *verb, now sim.Time) {
	switch {
	case r.transport == TCP && r.state&failed == 0 && !n.off:
		f.again(i, now+f.cost.recovery)
		return
	case r.transport != RC:
		f.counts.Lost++
		f.freeVerb(i, v)
		return
	case v.flags&orphan != 0:
		f.away(i, v)
		return
	}
	delay := f.cost.recovery
	if r.state&failed != 0 || n.off {
		delay = f.cost.timeout
	}
	if v.tries < f.cost.retries {
		v.tries++
		f.sendAgain(r, i, v, now+delay)
		return
	}
	r.broken = true
	f.hold(r, i, now+delay)
	v.status = RetryExceeded
	f.post(v.from, now+max(delay, f.cost.latency), f.kHome, i)
}

// hold makes all behind verb i wait at the responder until it comes again.
func (f *part) hold(r *QP, i uint32, until sim.Time) {
	r.state |= 1 << arriving
	r.lanes[arriving] = lane{until, i}
}

// sendAgain has the requester send a packet again, so that it is here at a time. It goes there for that, for its queue pair may fail
// meanwhile. The picosecond brings it here before those that wait for it.
func (f *part) sendAgain(r *QP, i uint32, v *verb, at sim.Time) {
	f.counts.Retries++
	at = max(at, f.sim.Now()+2*f.cost.latency+1)
	f.hold(r, i, at)
	f.post(v.from, at-1-f.cost.latency, f.kResend, i)
}

// onResend: a packet is sent again. That of a queue pair that has failed only tells the responder.
func (f *part) onResend(i uint32) {
	v := f.verb(i)
	if v.q.state&failed != 0 {
		v.flags |= orphan
	}
	f.post(v.to, f.sim.Now()+f.cost.latency, f.kRx, i)
}

// again has a message of TCP come once more. It holds nothing up behind it.
func (f *part) again(i uint32, at sim.Time) {
	f.counts.Retries++
	f.sim.At(at, f.kRx, i)
}

// away takes a request back to its requester that the responder does not serve and does not answer.
func (f *part) away(i uint32, v *verb) {
	if v.q.transport != RC {
		f.freeVerb(i, v)
		return
	}
	f.post(v.from, f.sim.Now()+f.cost.latency, f.kHome, i)
}

// onHome: a request is given up, or the responder would not have it: then what fails the queue pair is on its way.
func (f *part) onHome(i uint32) {
	v := f.verb(i)
	switch h := v.q; {
	case h.state&failed != 0 || v.flags&orphan != 0:
		f.freeVerb(i, v)
	case v.status != Success: // the last retransmission stayed without an answer
		f.fail(h, i, v, v.status, f.sim.Now())
	default:
		h.lost = append(h.lost, i)
	}
}

// overrun: a completion queue was full. The completion is lost, and with it
// the queue pair.
func (f *part) overrun(cq *CQ, h *QP) {
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
