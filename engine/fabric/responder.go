package fabric

import (
	"encoding/binary"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// onRx: a request arrives.
func (f *part) onRx(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	r := v.r
	n := r.nic
	if v.flags&entered == 0 {
		f.enter(n, v, now, f.requestTime(r.transport, v))
	} else if v.flags&orphan != 0 { // flushed while it was held up: it is not sent again
		r.clear(arriving, i)
		f.away(i, v)
		return
	}
	if r.state>>arriving&1 != 0 && r.broken {
		f.away(i, v)
		return
	}
	if !f.pass(r, arriving, f.kRx, i, v, now) {
		return
	}
	// A packet that waits for a context has arrived: it is not lost any more.
	if r.state&failed != 0 || n.off || (f.loss|f.rcLoss) != 0 && v.flags&held == 0 && f.lost(r.transport, n, v) {
		r.clear(arriving, i)
		f.vanish(n, r, i, v, now)
		return
	}
	if !f.arrive(n, r, arriving, f.kRx, i, v, now) {
		return
	}
	if v.op != Send && v.len > 0 && f.tooEarly(n, r, i, v, now) || n.Posted != nil && n.Posted.Closed(i) {
		return
	}
	f.receive(n, r, i, v, now)
}

// tooEarly keeps a one-sided request waiting, and all behind it on its queue pair, that
// would reserve an idle conflict slot for the time at which what is before it, the store
// of an atomic above all, is through: till then the slot is for others. A slot that is
// taken until then is taken in order at once.
func (f *part) tooEarly(n *NIC, r *QP, i uint32, v *verb, now sim.Time) bool {
	c := &f.cost
	turn := r.executed - c.oneWay // in the slot
	if n.slots[n.slot(v.remote)] >= turn {
		return false
	}
	turn -= c.rxLatency + n.slowed(c.received(v)) // in the receive pipeline
	if turn <= max(now, n.rx.Free, v.mark) {
		return false
	}
	v.flags |= held // it has arrived: it is not lost any more
	f.stall(r, arriving, f.kRx, i, turn)
	return true
}

// received is a request's time in the receive pipeline.
func (c *costs) received(v *verb) sim.Time {
	if v.op <= Write {
		return c.rxRequest[v.op] + c.scattered(v.len)
	}
	return c.rxRequest[v.op]
}

// receive takes a request through the receive pipeline.
func (f *part) receive(n *NIC, r *QP, i uint32, v *verb, now sim.Time) {
	t := max(n.rx.Serve(now, n.slowed(f.cost.received(v))), v.mark) + f.cost.rxLatency
	if v.op == Send {
		f.arriveSend(n, r, i, v, now, t)
	} else {
		f.arriveRemote(n, r, i, v, now, t)
	}
}

// arriveRemote: a one-sided request finds its memory.
func (f *part) arriveRemote(n *NIC, r *QP, i uint32, v *verb, now, t sim.Time) {
	c := &f.cost
	mem := n.machine.Mem
	perm, hold := host.RemoteRead, c.conflictHold
	switch v.op {
	case Write:
		perm = host.RemoteWrite
	case CompareSwap, FetchAdd:
		perm, hold = host.RemoteAtomic, c.atomicHold+n.machine.DMALatency(&n.Port, v.remote)
		if v.remote&7 != 0 {
			f.refuse(r, i, v, RemoteInvalidRequest, t)
			return
		}
		t = max(t, n.atomic.Serve(now, c.atomicUnit))
	}
	if v.len > 0 && !mem.Allowed(v.rkey, v.remote, v.len, perm) {
		f.refuse(r, i, v, RemoteAccess, t)
		return
	}
	svc := c.pcieHead
	if v.op == Write {
		svc = c.written(v.remote, v.len)
	}
	t = max(t, n.up.Serve(now, svc)+c.rxLatency, r.executed-c.oneWay)
	if v.len > 0 {
		// The slot is taken for when the access really happens, behind those of
		// its queue pair: else two atomics could both read before either stores.
		t = n.hold(v.remote, max(t, n.translate(now, v.remote, v.len)), hold)
	}
	r.executed = t + c.oneWay
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags = v.flags&^entered | memory
	if f.torn && v.len > 0 {
		mem.Enter(v.remote, int(v.len), v.op != Read)
	}
	j := i
	if v.op == Write {
		n.Claim(host.ByWrite, v.remote, v.len)
		if r.transport == RC { // the ack may be home before the bytes are in memory
			j, _ = f.split(i, v)
			v.flags &^= memory
			f.verb(j).flags |= memory
		}
	}
	f.sim.At(t+c.oneWay, f.kMem, j)
	switch {
	case v.op.atomic():
		r.executed += 2*c.oneWay + 1 // behind its store
		r.unanswered++
	case v.op == Read:
		r.unanswered++
	case r.transport == RC:
		f.acknowledge(r, i, v, t)
	}
}

// respond schedules the response, behind earlier ones of the queue pair.
func (f *part) respond(r *QP, i uint32, v *verb, t sim.Time) {
	t = max(t, r.responded)
	r.responded = t
	v.flags |= reply
	f.sim.At(t, f.kReply, i)
}

// acknowledge responds without any access to memory, but in order: behind the
// responses whose data is still on its way from there.
func (f *part) acknowledge(r *QP, i uint32, v *verb, t sim.Time) {
	if r.unanswered == 0 {
		f.respond(r, i, v, t)
		return
	}
	r.unanswered++
	r.executed = max(r.executed, t+f.cost.oneWay)
	v.flags |= deferred | reply
	f.sim.At(r.executed, f.kMem, i)
}

// late responds to what had to wait for its turn.
func (f *part) late(r *QP, i uint32, v *verb, now sim.Time) {
	v.flags &^= deferred | entered
	v.stamp.add(atMemory, now-v.mark)
	v.mark = now
	r.unanswered--
	f.respond(r, i, v, now)
}

// arriveSend: a message finds a receive buffer.
func (f *part) arriveSend(n *NIC, r *QP, i uint32, v *verb, now, t sim.Time) {
	c := &f.cost
	if r.rqHead == r.rqTail {
		f.notReady(r, i, v, t)
		return
	}
	w := r.rq[r.rqHead&uint16(len(r.rq)-1)]
	r.rqHead++
	f.fetchRecv(n, now, &w) // of a later one: they are fetched ahead
	if v.len > w.len {
		f.dropRecv(&w)
		f.tooLong(r, i, v, w.id, t)
		return
	}
	ready, svc := f.lands(n, now, v, &w)
	t = max(t, ready, r.executed-c.oneWay)
	r.executed = t + c.oneWay
	v.stamp.add(atNICReceive, t-v.mark)
	v.mark = t
	v.flags &^= entered
	end := max(t, n.up.Serve(now, svc+c.pcieCQE)+c.rxLatency) + c.oneWay + c.interrupt
	if r.transport == RC {
		// The ack leaves before the message is in memory: two halves from here on.
		j, d := f.split(i, v)
		f.acknowledge(r, i, v, t)
		i, v = j, d
	}
	home := f.nics[v.from]
	v.local = space.Addr(v.b) // what travels beside it: the sender's buffer is not needed any more
	v.b = AH{uint16(home.machine.ID), uint8(home.Index), v.qpn}.pack()
	v.id, v.remote, v.rkey, v.a = w.id, w.local, r.qpn, uint64(w.list)
	v.flags |= delivery
	v.stamp.add(atPCIe, c.oneWay)
	v.stamp.add(atCompletion, end-t-c.oneWay)
	if r.transport == TCP {
		f.land(n, v, now)
		f.sim.At(end, f.kSoftirq, i)
		return
	}
	if r.transport.connected() { // behind the WRITEs before it
		v.flags |= memory
		v.mark = end
		f.sim.At(r.executed, f.kMem, i)
		return
	}
	f.deliver(n, r, i, v, now, end)
}

// deliver puts a message into its buffer. No program looks there before the
// completion at time at, so the bytes may move now.
func (f *part) deliver(n *NIC, r *QP, i uint32, v *verb, now, at sim.Time) {
	f.land(n, v, now)
	f.notify(r, i, v, at)
}

// land moves a message's bytes.
func (f *part) land(n *NIC, v *verb, now sim.Time) {
	if v.gatherList() != 0 {
		f.landList(n, v, now)
		return
	}
	n.Claim(host.ByMessage, v.remote, v.len)
	n.completed()
	n.machine.DMABytes(&n.Port, now, v.remote, v.len, f.bytes(v))
	if v.len > 0 {
		f.copy(n.machine.Mem, v, 0, v.len)
	}
}

// notify tells the receiver, at time at, of a message that is in its buffer.
func (f *part) notify(r *QP, i uint32, v *verb, at sim.Time) {
	f.counts.Posted[Recv]++
	f.counts.Completions++
	if cq := r.recvCQ; cq != nil && !cq.push(i, v, at) {
		f.overrun(cq, r)
	}
	f.finishVerb(i, v)
}

// onMemory: the responder's memory is accessed.
func (f *part) onMemory(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	r := v.r
	if r.transport.connected() && !f.pass(r, executing, f.kMem, i, v, now) {
		return
	}
	n := r.nic
	if v.flags&memory == 0 {
		f.late(r, i, v, now)
		return
	}
	if n.Posted != nil && v.op.reads() && f.behindWrites(n, r, i, now) {
		return
	}
	switch v.op {
	case Read:
		f.read(n, r, i, v, now)
	case Write:
		f.write(n, r, i, v, now)
	case Send:
		v.flags &^= memory
		f.deliver(n, r, i, v, now, max(v.mark, now))
	default:
		f.atomicRead(n, r, i, v, now)
	}
}

func (f *part) read(n *NIC, r *QP, i uint32, v *verb, now sim.Time) {
	first, all := f.load(n, now, v.remote, v.len)
	if v.len > 0 {
		f.makeRoom(i, v)
	}
	if d := f.move(n, r, i, v, now); d > 0 { // the response has its bytes when the last is read
		all = max(all, d)
		first = all
	}
	f.answer(r, i, v, f.fetch(n, now, v.remote, v.len, first, all)+f.cost.oneWay, first)
}

// answer takes what a READ or an atomic found, and what memory took latency for,
// back to the RNIC, where it is at t.
func (f *part) answer(r *QP, i uint32, v *verb, t, latency sim.Time) {
	v.stamp.add(atMemory, latency)
	v.stamp.add(atPCIe, t-v.mark-latency)
	v.mark = t
	v.flags &^= entered
	r.unanswered--
	f.respond(r, i, v, t)
}

func (f *part) write(n *NIC, r *QP, i uint32, v *verb, now sim.Time) {
	n.machine.DMABytes(&n.Port, now, v.remote, v.len, f.bytes(v))
	f.move(n, r, i, v, now)
	f.finishVerb(i, v)
}

// move moves the bytes of an access, now, or line by line when a conflicting
// one is under way. It returns how long the latter takes.
func (f *part) move(n *NIC, r *QP, i uint32, v *verb, now sim.Time) sim.Time {
	mem := n.machine.Mem
	v.flags &^= memory
	if v.len == 0 {
		return 0
	}
	if f.torn {
		writes := v.op != Read
		first, last := space.Lines(v.remote, int(v.len))
		if first != last && mem.Overlapped(v.remote, int(v.len), writes, true) {
			f.counts.Split++
			d := sim.Time(last-first) * f.lineGap(v)
			v.flags |= memory
			v.aux = 0
			// Whatever comes next on this queue pair comes behind the last line.
			r.state |= 1 << executing
			r.lanes[executing].until = now + d + 1
			f.onLine(i)
			return d
		}
		mem.Leave(v.remote, int(v.len), writes)
	}
	f.copy(mem, v, 0, v.len)
	return 0
}

// copy moves a part of the bytes of an access to mem.
func (f *part) copy(mem *host.Memory, v *verb, from, to uint32) {
	mem.DeviceTouches(v.remote+space.Addr(from), int(to-from), v.op != Read)
	there := mem.Bytes(v.remote+space.Addr(from), int(to-from))
	if v.op == Read {
		copy(f.bytes(v)[from:], there)
	} else if !mem.Down {
		copy(there, f.bytes(v)[from:])
	}
	if x := f.explored; x != nil && v.op != Send {
		x.Accessed(mem, v.remote+space.Addr(from), int(to-from), v.op == Write, v.requester())
	}
}

// onLine moves the next line of an access that is executed line by line.
func (f *part) onLine(i uint32) {
	v := f.verb(i)
	mem := f.nics[v.to].machine.Mem
	from := v.aux
	to := min(v.len, uint32(space.LineBytes-(v.remote+space.Addr(from))%space.LineBytes)+from)
	f.copy(mem, v, from, to)
	v.aux = to
	if to < v.len {
		f.sim.At(f.sim.Now()+f.lineGap(v), f.kLine, i)
		return
	}
	mem.Leave(v.remote, int(v.len), v.op != Read)
	v.flags &^= memory
	f.finishVerb(i, v)
}

// lineGap is the time between two lines of one access: a read takes them as
// fast as the memory gives them, a write as they come over PCIe. So one can
// overtake the other.
func (f *part) lineGap(v *verb) sim.Time {
	if v.op == Read {
		return f.cost.LLCNext
	}
	return f.cost.pcieCQE
}

// finishVerb frees a verb whose accesses, response and completion are through.
func (f *part) finishVerb(i uint32, v *verb) {
	if v.flags&(memory|reply|listed) == 0 {
		f.freeVerb(i, v)
	}
}

// atomicRead is the first half of an atomic: the RNIC reads, and computes. The
// CPU, and the machine's other RNIC, may still come between it and the store.
func (f *part) atomicRead(n *NIC, r *QP, i uint32, v *verb, now sim.Time) {
	c, mem := &f.cost, n.machine.Mem
	owned := &n.owned[n.slot(v.remote)]
	if now <= *owned { // behind a store that was held up
		f.stall(r, executing, f.kMem, i, *owned+1)
		return
	}
	r.clear(executing, i)
	latency := n.machine.DMARead(&n.Port, now, v.remote, 8)
	end := f.crosses(n, now, latency, c.fetched(v.remote, 8))
	mem.DeviceTouches(v.remote, 8, false)
	old := binary.LittleEndian.Uint64(mem.Bytes(v.remote, 8))
	if x := f.explored; x != nil {
		x.Accessed(mem, v.remote, 8, false, v.requester())
	}
	if v.op == FetchAdd {
		v.b += old
	}
	there := end + c.oneWay
	v.flags &^= memory
	if v.op == FetchAdd || old == v.a {
		store := there + c.oneWay // the RNIC has to have what it read
		*owned = store
		j, d := f.split(i, v) // the old value may be home before the new one is in memory
		d.flags |= memory
		f.sim.At(store, f.kStore, j)
		r.state |= 1 << executing // what comes behind it may be there before
		r.lanes[executing].until = store
	} else if f.torn {
		mem.Leave(v.remote, 8, true)
	}
	v.a = old
	f.answer(r, i, v, there, latency)
}

// onStore is the second half of an atomic.
func (f *part) onStore(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	n := f.nics[v.to]
	mem := n.machine.Mem
	n.up.Serve(now, f.cost.written(v.remote, 8))
	n.Claim(host.ByAtomic, v.remote, 8)
	n.machine.DMABytes(&n.Port, now, v.remote, 8, binary.LittleEndian.AppendUint64(f.word[:0], v.b))
	if !mem.Down {
		mem.DeviceTouches(v.remote, 8, true)
		binary.LittleEndian.PutUint64(mem.Bytes(v.remote, 8), v.b)
	}
	if x := f.explored; x != nil {
		x.Accessed(mem, v.remote, 8, true, v.requester())
	}
	if f.torn {
		mem.Leave(v.remote, 8, true)
	}
	v.flags &^= memory
	f.finishVerb(i, v)
}

// onReply: the responder sends its response.
func (f *part) onReply(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	r := v.r
	n, c := r.nic, &f.cost
	if !f.pass(r, responding, f.kReply, i, v, now) || !f.arrive(n, r, responding, f.kReply, i, v, now) {
		return
	}
	svc, payload := c.txResponse[v.op], uint32(0)
	if v.status != Success {
		svc = c.txResponse[Write]
	} else if v.op == Read {
		payload = v.len
	}
	end := n.tx.Serve(now, n.slowed(svc+c.gathered(payload))) + c.txLatency
	leaves := end
	if payload > c.mtu {
		leaves = f.leaves(n, v, end, svc, payload)
	}
	v.stamp.add(atNICSend, leaves-v.mark)
	f.depart(n, v.from, f.kAnswer, i, v, leaves, f.responseTime(v))
}
