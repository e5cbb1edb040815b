package fabric

import (
	"encoding/binary"

	"drtmx/engine/fabric/exploration"
	"drtmx/engine/fabric/host"
	"drtmx/engine/sim"
)

// register adds the events of a verb's way. In order, for a READ:
//
//	fetch   request or payload are read from the host (lists, large payloads)
//	tx      the request enters the send pipeline
//	rx      it arrives at the responder's RNIC
//	memory  the responder's memory is read: here it happens
//	reply   the response enters the responder's send pipeline
//	answer  it arrives at the requester's RNIC, and completes
//
// done is a completion without a response, store the second half of an atomic, line one line of an access that is
// executed line by line. Every station is called with the time of the event
// that reaches it, which keeps all queues exact.
func (f *part) register() {
	f.kFetch = f.sim.Register("fabric.fetch", f.onFetch)
	f.kTx = f.sim.Register("fabric.tx", f.onTx)
	f.kRx = f.sim.Register("fabric.rx", f.onRx)
	f.kMem = f.sim.Register("fabric.memory", f.onMemory)
	f.kStore = f.sim.Register("fabric.store", f.onStore)
	f.kLine = f.sim.Register("fabric.line", f.onLine)
	f.kReply = f.sim.Register("fabric.reply", f.onReply)
	f.kAnswer = f.sim.Register("fabric.answer", f.onAnswer)
	f.kDone = f.sim.Register("fabric.done", f.onDone)
	f.kHome = f.sim.Register("fabric.home", f.onHome)
	f.kResend = f.sim.Register("fabric.resend", f.onResend)
	f.kBack = f.sim.Register("fabric.back", f.onBack)
	f.kAdmit = f.sim.Register("fabric.admit", f.onAdmit)
	if f.profile.TCP != nil {
		f.kSoftirq = f.sim.Register("fabric.softirq", f.onSoftirq)
	}
}

// pass says whether verb i may pass a lane now. If not, its event comes again.
func (f *part) pass(h *QP, which uint8, k sim.Kind, i uint32, v *verb, now sim.Time) bool {
	seen := entered
	if which == executing {
		seen = lined // a WRITE's ack may be under way meanwhile
	}
	again := v.flags&seen != 0
	v.flags |= seen
	if h.state>>which&1 == 0 {
		return true
	}
	l := &h.lanes[which]
	switch {
	case again && now >= l.until && (l.first == none || l.first == i):
		return true
	case again:
		f.sim.At(max(l.until, now), k, i)
	case now > l.until && l.first == none:
		h.state &^= 1 << which
		return true
	default: // behind those that wait already and come again at this very time
		f.sim.At(now, k, i)
	}
	return false
}

// stall makes verb i, and all behind it, wait.
func (f *part) stall(h *QP, which uint8, k sim.Kind, i uint32, until sim.Time) {
	h.state |= 1 << which
	h.lanes[which] = lane{until, i}
	f.sim.At(until, k, i)
}

// clear lets those behind verb i go on.
func (h *QP) clear(which uint8, i uint32) {
	if h.state>>which&1 != 0 && h.lanes[which].first == i {
		h.lanes[which].first = none
	}
}

// arrive is pass, and the context that the RNIC needs to go on.
func (f *part) arrive(n *NIC, h *QP, which uint8, k sim.Kind, i uint32, v *verb, now sim.Time) bool {
	if t := n.use(h, now); t > now && v.flags&held == 0 {
		v.flags |= held
		f.stall(h, which, k, i, t)
		return false
	}
	v.flags &^= held
	h.clear(which, i)
	return true
}

// onTx: a request and its payload are in the RNIC, or the context that the head
// of the queue waited for.
func (f *part) onTx(i uint32) {
	v := f.verb(i)
	if v.flags&orphan != 0 {
		f.freeVerb(i, v)
		return
	}
	v.flags = v.flags&^waiting | ready
	if h := v.q; h.sqHead == i {
		f.pump(h)
	}
}

// pump sends from the head of the queue what may be sent.
func (f *part) pump(h *QP) {
	now := f.sim.Now()
	n := h.nic
	for h.sqHead != none {
		i := h.sqHead
		v := f.verb(i)
		if v.flags&(ready|waiting) != ready || v.op.reads() && h.outstanding >= h.limit {
			return
		}
		if v.status != Success && h.oldest != i && h.transport == RC {
			return // those before it complete first, and then onAnswer comes here
		}
		if n.fetch.Free > now && n.lacks(h) {
			v.flags |= waiting
			f.queue(n, i)
			return
		}
		if t := n.use(h, now); t > now && v.flags&held == 0 {
			v.flags |= waiting | held
			f.sim.At(t, f.kTx, i)
			return
		}
		v.flags &^= held
		if h.sqHead = v.next; h.sqHead != none {
			f.aheadHead(h.sqHead)
		}
		if h.transport != RC {
			h.oldest = h.sqHead
		}
		if v.op.reads() {
			h.outstanding++
		}
		f.send(n, h, i, v, now)
	}
}

// send puts one request on the wire.
func (f *part) send(n *NIC, h *QP, i uint32, v *verb, now sim.Time) {
	c := &f.cost
	if v.status != Success {
		f.fail(h, i, v, v.status, now)
		return
	}
	payload := uint32(0)
	if gathers(v) {
		payload = v.len
	}
	svc := c.txRequest[v.op]
	end := n.tx.Serve(now, n.slowed(svc+c.gathered(payload))) + c.txLatency
	leaves := end
	if payload > c.mtu {
		leaves = f.leaves(n, v, end, svc, payload)
	}
	v.stamp.add(atDoorbell, now-v.mark)
	v.stamp.add(atNICSend, leaves-now)
	if h.transport != RC && v.flags&signaled != 0 {
		f.sent(h, v, end, leaves)
	}
	f.depart(n, v.to, f.kRx, i, v, leaves, f.requestTime(h.transport, v))
}

// sent completes a datagram or UC request, of which the stamp knows until it leaves:
// it is done when all of it is through the send pipeline.
func (f *part) sent(h *QP, v *verb, end, leaves sim.Time) {
	t := v.ticket(v.op, Success)
	h.waits.sent = max(h.waits.sent, end+f.cost.oneWay)
	t.stamp, t.mark = v.stamp, end
	t.stamp.add(atNICSend, end-leaves)
	f.complete(t, end+f.cost.oneWay)
}

func (f *part) requestTime(t Transport, v *verb) sim.Time {
	head := f.cost.headRequest[v.op]
	if t == UD {
		head += f.cost.headUD
	}
	if v.op > Write {
		return f.cost.serialize(0, head)
	}
	return f.cost.serialize(v.len, head)
}

func (f *part) responseTime(v *verb) sim.Time {
	if v.op != Read || v.status != Success {
		return f.cost.serialize(0, f.cost.headResponse[v.op])
	}
	return f.cost.serialize(v.len, f.cost.headResponse[v.op])
}

// depart sends a message to an RNIC. It leaves the pipeline of n at end. The event is its
// head's arrival at the switch's port towards the other RNIC: the port takes its
// bytes in the order of arrival, and an empty path pays for them once.
func (f *part) depart(n *NIC, to uint16, k sim.Kind, i uint32, v *verb, end, bytes sim.Time) {
	v.flags &^= entered
	at := end + f.cost.loopback
	if v.flags&loop == 0 {
		at = n.link.Serve(f.sim.Now(), end, bytes) - bytes + f.cost.hop
	}
	if x := f.explored; x != nil {
		at = x.Leave(exploration.Flow{From: v.q, To: v.r, Reply: k == f.kAnswer}, at)
	}
	v.stamp.add(atWire, at-end)
	v.mark = at
	f.post(to, at, k, i)
}

// post hands verb i over to the machine of an RNIC, where an event of kind k happens to it. The verb is that machine's from now on.
func (f *part) post(to uint16, at sim.Time, k sim.Kind, i uint32) {
	f.sim.Post(f.nics[to].machine.fab.sim, at, k, i)
}

// enter is the way through the receiving port.
func (f *part) enter(n *NIC, v *verb, now, bytes sim.Time) {
	if v.flags&loop != 0 {
		return
	}
	end := n.in.Serve(now, bytes)
	v.stamp.add(atWire, end-v.mark)
	v.mark = end
}

// onAnswer: a response arrives.
func (f *part) onAnswer(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	h := v.q
	n, c := h.nic, &f.cost
	if h.sendCQ != nil {
		h.sendCQ.aheadPush()
	}
	if v.flags&entered == 0 {
		f.enter(n, v, now, f.responseTime(v))
	}
	if !f.pass(h, answering, f.kAnswer, i, v, now) || !f.arrive(n, h, answering, f.kAnswer, i, v, now) {
		return
	}
	svc := c.rxResponse[v.op]
	if v.op == Read && v.status == Success {
		svc += c.scattered(v.len)
	}
	if v.flags&signaled != 0 {
		svc += c.completion
	}
	t := max(n.rx.Serve(now, n.slowed(svc)), v.mark) + c.rxLatency
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags &^= reply
	switch {
	case v.flags&orphan != 0 || h.state&failed != 0: // its completion was given for it
		f.finishVerb(i, v)
		return
	case v.status != Success:
		f.fail(h, i, v, v.status, t)
		return
	}
	f.finish(n, h, i, v, now, t)
	if h.sqHead != none {
		f.pump(h)
	}
}

// bring stores what a READ or atomic brings.
func (f *part) bring(v *verb) {
	here := f.nics[v.from].machine.Mem
	switch {
	case here.Down || v.len == 0:
	case v.gatherList() != 0:
		f.scatter(here, v, 0, f.bytes(v))
	default:
		here.DeviceTouches(v.local, int(v.len), true)
		here.Change(v.local, int(v.len))
		if to := here.Bytes(v.local, int(v.len)); v.op == Read {
			copy(to, f.bytes(v))
		} else {
			binary.LittleEndian.PutUint64(to, v.a)
		}
	}
}

// finish takes data and completion of a response to the requester's memory.
// No program looks at either before the completion is visible, so what happens
// there needs no event of its own.
func (f *part) finish(n *NIC, h *QP, i uint32, v *verb, now, t sim.Time) {
	c := &f.cost
	svc := sim.Time(0)
	f.unlink(h, i, v)
	if v.op.reads() {
		h.outstanding--
		f.bring(v)
		if v.gatherList() != 0 {
			svc = f.fill(n, now, v)
		} else {
			svc = c.written(v.local, v.len)
			n.Claim(host.ByFill, v.local, v.len)
			n.machine.DMAWrite(&n.Port, now, v.local, v.len)
		}
		v.stamp.add(atPCIe, c.oneWay)
		v.mark += c.oneWay
	}
	if v.flags&signaled != 0 {
		svc += c.pcieCQE
	}
	v.flags |= finished // also while its bytes land: it is confirmed by what completes behind it
	if svc == 0 {
		f.finishVerb(i, v)
		return
	}
	end := max(t, n.up.Serve(now, svc)+c.rxLatency) + c.oneWay
	if v.flags&signaled == 0 {
		f.finishVerb(i, v)
		return
	}
	f.list(h, i, v, end)
}

// onDone: a completion without a response reaches the requester's memory: of an
// error, or of a datagram sent.
func (f *part) onDone(i uint32) {
	v := f.verb(i)
	h := v.q
	f.list(h, i, v, h.nic.up.Serve(f.sim.Now(), f.cost.pcieCQE))
}

// list puts a verb's completion into its queue, visible from at on.
func (f *part) list(h *QP, i uint32, v *verb, at sim.Time) {
	f.counts.Completions++
	h.nic.completed()
	if v.status != Success {
		f.counts.Errors++
	}
	v.stamp.add(atCompletion, at-v.mark)
	cq := h.sendCQ
	switch {
	case v.flags&delivery != 0: // a RECV that failed
		cq = h.recvCQ
	case cq == nil:
		h.release(v.wqe)
	}
	if cq != nil && !cq.push(i, v, at) {
		f.overrun(cq, h)
	}
	f.finishVerb(i, v)
}
