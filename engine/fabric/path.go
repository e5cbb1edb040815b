package fabric

import (
	"encoding/binary"

	"drtmx/engine/sim"
)

// register adds the events of a verb's way. In order, for a READ:
//
//	fetch   request or payload are read from the host (lists, large payloads)
//	tx      the request enters the send pipeline
//	rx      it arrives at the responder's RNIC
//	memory  the responder's memory is read: here it happens
//	reply   the response enters the responder's send pipeline
//	answer  it arrives at the requester's RNIC
//	done    data and completion reach the requester's memory
//
// store is the second half of an atomic, line one line of an access that is
// executed line by line. Every station is called with the time of the event
// that reaches it, which keeps all queues exact.
func (f *Fabric) register() {
	f.kFetch = f.sim.Register("fabric.fetch", f.onFetch)
	f.kTx = f.sim.Register("fabric.tx", f.onTx)
	f.kRx = f.sim.Register("fabric.rx", f.onRx)
	f.kMem = f.sim.Register("fabric.memory", f.onMemory)
	f.kStore = f.sim.Register("fabric.store", f.onStore)
	f.kLine = f.sim.Register("fabric.line", f.onLine)
	f.kReply = f.sim.Register("fabric.reply", f.onReply)
	f.kAnswer = f.sim.Register("fabric.answer", f.onAnswer)
	f.kDone = f.sim.Register("fabric.done", f.onDone)
	f.kGiveUp = f.sim.Register("fabric.giveup", f.onGiveUp)
}

// pass says whether verb i may pass the lane now. If not, its event comes again.
func (f *Fabric) pass(l *lane, k sim.Kind, i uint32, v *verb, now sim.Time) bool {
	if v.flags&entered != 0 {
		if l.first == none || l.first == i {
			return true
		}
	} else {
		v.flags |= entered
		if now > l.until && l.first == none {
			return true
		}
	}
	f.sim.At(max(l.until, now), k, i)
	return false
}

// stall makes verb i, and all behind it, wait.
func (f *Fabric) stall(l *lane, k sim.Kind, i uint32, until sim.Time) {
	l.first, l.until = i, until
	f.sim.At(until, k, i)
}

func (l *lane) clear(i uint32) {
	if l.first == i {
		l.first = none
	}
}

// onTx: a request and its payload are in the RNIC, or the context that the head
// of the queue waited for.
func (f *Fabric) onTx(i uint32) {
	v := &f.verbs[i]
	if v.flags&orphan != 0 {
		f.give(i, v)
		return
	}
	v.flags = v.flags&^waiting | ready
	if q := f.qps[v.qp]; q.sqHead == i {
		f.pump(q)
	}
}

// pump sends from the head of the queue what may be sent.
func (f *Fabric) pump(q *QP) {
	now := f.sim.Now()
	for q.sqHead != none {
		i := q.sqHead
		v := &f.verbs[i]
		if v.flags&(ready|waiting) != ready || v.op.reads() && q.outstanding >= q.limit {
			return
		}
		if t := q.nic.use(q, now); t > now && v.flags&held == 0 {
			v.flags |= waiting | held
			f.sim.At(t, f.kTx, i)
			return
		}
		v.flags &^= held
		q.sqHead = v.next
		if v.op.reads() {
			q.outstanding++
		}
		f.send(q, i, v, now)
	}
}

// send puts one request on the wire.
func (f *Fabric) send(q *QP, i uint32, v *verb, now sim.Time) {
	n, c := q.nic, &f.cost
	svc := c.txRequest[v.op]
	if v.flags&inlined == 0 {
		perm := Perm(0)
		if v.op.reads() {
			perm = LocalWrite
		} else {
			svc += sim.Time(v.len) * c.gather >> 10
		}
		if v.len > 0 && !n.machine.Mem.allowed(v.lkey, v.local, v.len, perm) {
			f.fail(q, i, v, LocalProtection, now)
			return
		}
	}
	end := n.tx.Serve(now, svc) + c.txLatency
	v.stamp.add(atDoorbell, now-v.mark)
	v.stamp.add(atNICSend, end-now)
	if q.transport != RC && v.flags&signaled != 0 {
		f.sent(q, v, end)
		v = &f.verbs[i]
	}
	f.depart(n, f.qps[v.peer].nic, f.kRx, i, v, end, f.requestTime(q, v))
}

// sent completes a datagram or UC request: it is done when it is on the wire.
func (f *Fabric) sent(q *QP, v *verb, end sim.Time) {
	t := v.ticket(v.op, Success)
	t.stamp, t.mark = v.stamp, end
	f.complete(t, end+f.cost.oneWay)
}

func (f *Fabric) requestTime(q *QP, v *verb) sim.Time {
	head := f.cost.headRequest[v.op]
	if q.transport == UD {
		head += f.cost.headUD
	}
	if v.op > Write {
		return f.cost.serialize(0, head)
	}
	return f.cost.serialize(v.len, head)
}

func (f *Fabric) responseTime(v *verb) sim.Time {
	if v.op != Read || v.status != Success {
		return f.cost.serialize(0, f.cost.headResponse[v.op])
	}
	return f.cost.serialize(v.len, f.cost.headResponse[v.op])
}

// depart sends a packet that leaves the pipeline of n at end towards d. The
// event is its head's arrival at the switch's port towards d: the port takes
// its bytes in the order of arrival, and an empty path pays for them once.
func (f *Fabric) depart(n, d *NIC, k sim.Kind, i uint32, v *verb, end, bytes sim.Time) {
	v.flags &^= entered
	at := end + f.cost.loopback
	if v.flags&loop == 0 {
		at = n.link.Serve(end, bytes) - bytes + f.cost.hop
	}
	v.stamp.add(atWire, at-end)
	v.mark = at
	f.sim.At(at, k, i)
}

// enter is the way through the receiving port.
func (f *Fabric) enter(n *NIC, v *verb, now, bytes sim.Time) {
	if v.flags&loop != 0 {
		return
	}
	end := n.in.Serve(now, bytes)
	v.stamp.add(atWire, end-v.mark)
	v.mark = end
}

// onRx: a request arrives.
func (f *Fabric) onRx(i uint32) {
	now := f.sim.Now()
	v := &f.verbs[i]
	r := f.qps[v.peer]
	n := r.nic
	if v.flags&entered == 0 {
		f.enter(n, v, now, f.requestTime(r, v))
	}
	if !f.pass(&r.arriving, f.kRx, i, v, now) {
		return
	}
	if r.failed || n.off || (f.loss|f.rcLoss) != 0 && f.lost(r, n, v) {
		f.vanish(r, i, v, now)
		return
	}
	if t := n.use(r, now); t > now && v.flags&held == 0 {
		v.flags |= held
		f.stall(&r.arriving, f.kRx, i, max(t, v.mark))
		return
	}
	v.flags &^= held
	r.arriving.clear(i)
	t := max(n.rx.Serve(now, f.cost.rxRequest[v.op]), v.mark) + f.cost.rxLatency
	if v.op == Send {
		f.arriveSend(r, i, v, now, t)
	} else {
		f.arriveRemote(r, i, v, now, t)
	}
}

// arriveRemote: a one-sided request finds its memory.
func (f *Fabric) arriveRemote(r *QP, i uint32, v *verb, now, t sim.Time) {
	n, c := r.nic, &f.cost
	mem := n.machine.Mem
	perm, hold := RemoteRead, c.conflictHold
	switch v.op {
	case Write:
		perm = RemoteWrite
	case CompareSwap, FetchAdd:
		perm, hold = RemoteAtomic, c.atomicHold
		if v.remote&7 != 0 {
			f.refuse(r, i, v, RemoteInvalidRequest, t)
			return
		}
		t = max(t, n.atomic.Serve(now, c.atomicUnit))
	}
	if v.len > 0 {
		if !mem.allowed(v.rkey, v.remote, v.len, perm) {
			f.refuse(r, i, v, RemoteAccess, t)
			return
		}
		// The slot is taken for when the access really happens, behind those of
		// its queue pair: else two atomics could both read before either stores.
		t = n.hold(v.remote, max(t, r.executed-c.oneWay, n.translate(now, v.remote, v.len)), hold)
	}
	t = max(t, r.executed-c.oneWay)
	r.executed = t + c.oneWay
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags = v.flags&^entered | memory
	if f.torn {
		mem.register(v.remote, int(v.len), v.op != Read)
	}
	f.sim.At(t+c.oneWay, f.kMem, i)
	switch {
	case v.op.atomic():
		r.executed += 2*c.oneWay + 1 // behind its store
		r.unanswered++
	case v.op == Read:
		r.unanswered++
	case r.transport == RC && r.unanswered > 0:
		// Responses keep the order of requests: this one follows those whose data
		// is still on its way from memory.
		v.flags |= deferred | reply
		r.unanswered++
	case r.transport == RC:
		f.respond(r, i, v, t)
	}
}

// respond schedules the response, behind earlier ones of the queue pair.
func (f *Fabric) respond(r *QP, i uint32, v *verb, t sim.Time) {
	t = max(t, r.responded)
	r.responded = t
	v.flags |= reply
	f.sim.At(t, f.kReply, i)
}

// arriveSend: a message finds a receive buffer.
func (f *Fabric) arriveSend(r *QP, i uint32, v *verb, now, t sim.Time) {
	n, c := r.nic, &f.cost
	if r.rqHead == r.rqTail {
		f.notReady(r, i, v, now, t)
		return
	}
	w := r.rq[r.rqHead&uint32(len(r.rq)-1)]
	r.rqHead++
	if v.len > w.Len {
		f.tooLong(r, i, v, w.ID, t)
		return
	}
	t = max(t, n.translate(now, w.Local, v.len), r.executed-c.oneWay)
	r.executed = t + c.oneWay
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags &^= entered
	if r.transport == RC {
		// The ack leaves before the message is in memory: two halves from here on.
		j, d := f.take()
		v = &f.verbs[i]
		*d = *v
		d.flags = v.flags&loop | delivery
		v.data = none
		f.respond(r, i, v, t)
		i, v = j, d
	}
	v.remote, v.a = w.Local, w.ID
	v.flags |= memory
	if f.torn {
		n.machine.Mem.register(v.remote, int(v.len), true)
	}
	f.sim.At(t+c.oneWay, f.kMem, i)
}

// onMemory: the responder's memory is accessed.
func (f *Fabric) onMemory(i uint32) {
	now := f.sim.Now()
	v := &f.verbs[i]
	r := f.qps[v.peer]
	if r.transport != UD && !f.pass(&r.executing, f.kMem, i, v, now) {
		return
	}
	switch v.op {
	case Read:
		f.read(r, i, v, now)
	case Write, Send:
		f.write(r, i, v, now)
	default:
		f.atomicRead(r, i, v, now)
	}
}

func (f *Fabric) read(r *QP, i uint32, v *verb, now sim.Time) {
	n, c := r.nic, &f.cost
	n.up.Serve(now, c.pcieReq)
	end := n.down.Serve(now, c.words(v.remote, v.len))
	latency := n.machine.dmaRead(n, now, v.remote, v.len)
	if d := f.move(r, i, v, now); d > 0 {
		latency = max(latency, d)
	}
	t := max(end, now+latency) + c.oneWay
	v.stamp.add(atMemory, latency)
	v.stamp.add(atPCIe, t-v.mark-latency)
	v.mark = t
	v.flags &^= entered
	r.unanswered--
	f.respond(r, i, v, t)
}

func (f *Fabric) write(r *QP, i uint32, v *verb, now sim.Time) {
	n, c := r.nic, &f.cost
	svc := c.words(v.remote, v.len)
	if v.op == Send {
		svc += c.pcieTLP // the completion
	}
	end := n.up.Serve(now, svc)
	n.machine.dmaWrite(n, now, v.remote, v.len)
	d := f.move(r, i, v, now)
	if v.op == Send {
		v.stamp.add(atPCIe, now-v.mark)
		f.received(r, v, now, max(end, now+d))
	}
	if v.flags&deferred != 0 {
		v.flags &^= deferred | entered
		v.stamp.add(atMemory, now-v.mark)
		v.mark = now
		r.unanswered--
		f.respond(r, i, v, now)
	}
	f.settle(i, v)
}

// move moves the bytes of an access, now, or line by line when a conflicting
// one is under way. It returns how long the latter takes.
func (f *Fabric) move(r *QP, i uint32, v *verb, now sim.Time) sim.Time {
	mem := r.nic.machine.Mem
	v.flags &^= memory
	if v.len == 0 {
		return 0
	}
	writes := v.op != Read
	if f.torn {
		first, last := lines(v.remote, int(v.len))
		if first != last && mem.overlapped(v.remote, int(v.len), writes, true) {
			f.counts.Split++
			d := sim.Time(last-first) * f.cost.pcieTLP
			v.flags |= memory
			v.aux = 0
			if r.transport != UD {
				// Whatever comes next on this queue pair comes behind the last line.
				r.executing.until = now + d + 1
			}
			f.onLine(i)
			return d
		}
		mem.unregister(v.remote, int(v.len), writes)
	}
	f.copy(r, v, 0, v.len)
	return 0
}

// copy moves a part of the bytes of an access.
func (f *Fabric) copy(r *QP, v *verb, from, to uint32) {
	there := r.nic.machine.Mem.Bytes(v.remote+Addr(from), int(to-from))
	if v.op == Read {
		copy(f.qps[v.qp].nic.machine.Mem.Bytes(v.local+Addr(from), int(to-from)), there)
	} else {
		copy(there, f.payload.bytes(v.data, v.len)[from:])
	}
}

// onLine moves the next line of an access that is executed line by line.
func (f *Fabric) onLine(i uint32) {
	v := &f.verbs[i]
	r := f.qps[v.peer]
	from := v.aux
	to := min(v.len, uint32(lineBytes-(v.remote+Addr(from))%lineBytes)+from)
	f.copy(r, v, from, to)
	v.aux = to
	if to < v.len {
		f.sim.At(f.sim.Now()+f.cost.pcieTLP, f.kLine, i)
		return
	}
	r.nic.machine.Mem.unregister(v.remote, int(v.len), v.op != Read)
	v.flags &^= memory
	if from > 0 { // not called from move
		f.settle(i, v)
	}
}

// settle ends a verb whose accesses and response are through.
func (f *Fabric) settle(i uint32, v *verb) {
	if v.flags&(memory|reply) == 0 {
		f.give(i, v)
	}
}

// atomicRead is the first half of an atomic: the RNIC reads, and computes. The
// CPU, and the machine's other RNIC, may still come between it and the store.
func (f *Fabric) atomicRead(r *QP, i uint32, v *verb, now sim.Time) {
	n, c := r.nic, &f.cost
	mem := n.machine.Mem
	n.up.Serve(now, c.pcieReq)
	end := n.down.Serve(now, c.pcieTLP)
	latency := n.machine.dmaRead(n, now, v.remote, 8)
	old := binary.LittleEndian.Uint64(mem.Bytes(v.remote, 8))
	binary.LittleEndian.PutUint64(f.qps[v.qp].nic.machine.Mem.Bytes(v.local, 8), old)
	switch {
	case v.op == FetchAdd:
		v.b += old
		f.sim.At(now+2*c.oneWay, f.kStore, i)
	case old == v.a:
		f.sim.At(now+2*c.oneWay, f.kStore, i)
	default:
		v.flags &^= memory
		if f.torn {
			mem.unregister(v.remote, 8, true)
		}
	}
	t := max(end, now+latency) + c.oneWay
	v.stamp.add(atMemory, latency)
	v.stamp.add(atPCIe, t-v.mark-latency)
	v.mark = t
	v.flags &^= entered
	r.unanswered--
	f.respond(r, i, v, t)
}

// onStore is the second half of an atomic.
func (f *Fabric) onStore(i uint32) {
	now := f.sim.Now()
	v := &f.verbs[i]
	n := f.qps[v.peer].nic
	mem := n.machine.Mem
	n.up.Serve(now, f.cost.pcieTLP)
	n.machine.dmaWrite(n, now, v.remote, 8)
	binary.LittleEndian.PutUint64(mem.Bytes(v.remote, 8), v.b)
	if f.torn {
		mem.unregister(v.remote, 8, true)
	}
	v.flags &^= memory
	f.settle(i, v)
}

// onReply: the responder sends its response.
func (f *Fabric) onReply(i uint32) {
	now := f.sim.Now()
	v := &f.verbs[i]
	r := f.qps[v.peer]
	n, c := r.nic, &f.cost
	if !f.pass(&r.responding, f.kReply, i, v, now) {
		return
	}
	if t := n.use(r, now); t > now && v.flags&held == 0 {
		v.flags |= held
		f.stall(&r.responding, f.kReply, i, t)
		return
	}
	v.flags &^= held
	r.responding.clear(i)
	svc := c.txResponse[v.op]
	if v.status != Success {
		svc = c.txResponse[Write]
	} else if v.op == Read {
		svc += sim.Time(v.len) * c.gather >> 10
	}
	end := n.tx.Serve(now, svc) + c.txLatency
	v.stamp.add(atNICSend, end-v.mark)
	f.depart(n, f.qps[v.qp].nic, f.kAnswer, i, v, end, f.responseTime(v))
}

// onAnswer: a response arrives.
func (f *Fabric) onAnswer(i uint32) {
	now := f.sim.Now()
	v := &f.verbs[i]
	q := f.qps[v.qp]
	n, c := q.nic, &f.cost
	if v.flags&entered == 0 {
		f.enter(n, v, now, f.responseTime(v))
	}
	if !f.pass(&q.answering, f.kAnswer, i, v, now) {
		return
	}
	if t := n.use(q, now); t > now && v.flags&held == 0 {
		v.flags |= held
		f.stall(&q.answering, f.kAnswer, i, max(t, v.mark))
		return
	}
	v.flags &^= held
	q.answering.clear(i)
	t := max(n.rx.Serve(now, c.rxResponse[v.op]), v.mark) + c.rxLatency
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	if v.flags&orphan == 0 {
		if v.status != Success {
			f.fail(q, i, v, v.status, t)
			return
		}
		if v.op.reads() {
			q.outstanding--
		}
	}
	if v.flags&orphan == 0 && (v.op.reads() || v.flags&signaled != 0) {
		v.flags |= finished
		f.sim.At(t+c.oneWay, f.kDone, i)
	} else {
		v.flags &^= reply
		f.settle(i, v)
	}
	if q.sqHead != none {
		f.pump(q)
	}
}

// onDone: data and completion reach the requester's memory.
func (f *Fabric) onDone(i uint32) {
	now := f.sim.Now()
	v := &f.verbs[i]
	q := f.qps[v.qp]
	n, c := q.nic, &f.cost
	svc := sim.Time(0)
	if v.op.reads() && v.flags&ticket == 0 && v.status == Success {
		svc = c.words(v.local, v.len)
		n.machine.dmaWrite(n, now, v.local, v.len)
		v.stamp.add(atPCIe, now-v.mark)
		v.mark = now
	}
	if v.flags&signaled == 0 {
		n.up.Serve(now, svc)
	} else {
		end := n.up.Serve(now, svc+c.pcieTLP)
		v.stamp.add(atCompletion, end-v.mark)
		cq := q.sendCQ
		if v.op == Recv {
			cq = q.recvCQ
		}
		f.push(cq, q, v, end)
	}
	v.flags &^= reply
	f.settle(i, v)
}

// push puts a verb's completion into a queue.
func (f *Fabric) push(cq *CQ, q *QP, v *verb, at sim.Time) {
	f.counts.Completions++
	if v.status != Success {
		f.counts.Errors++
	}
	if cq == nil {
		if v.op != Recv {
			q.release(v.wqe)
		}
		return
	}
	e := cq.push(at)
	if e == nil {
		f.overrun(cq, q)
		return
	}
	e.id, e.stamp, e.bytes, e.qp, e.src = v.id, v.stamp, v.len, v.qp, AH{}
	e.op, e.status, e.wqe = v.op, v.status, v.wqe
}

// received completes a RECV at the receiver.
func (f *Fabric) received(r *QP, v *verb, now, at sim.Time) {
	f.counts.Posted[Recv]++
	f.counts.Completions++
	if r.recvCQ == nil {
		return
	}
	e := r.recvCQ.push(at)
	if e == nil {
		f.overrun(r.recvCQ, r)
		return
	}
	e.id, e.stamp, e.bytes, e.qp, e.src = v.a, v.stamp, v.len, r.index, f.qps[v.qp].Address()
	e.stamp.add(atCompletion, at-now)
	e.op, e.status, e.wqe = Recv, Success, 0
}
