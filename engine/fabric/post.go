package fabric

import (
	"errors"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/sim"
)

// ErrSendQueueFull says that a list does not fit into the send queue. Slots
// come back when completions are polled.
var ErrSendQueueFull = errors.New("fabric: the send queue is full")

// PostSend hands requests to the RNIC with one doorbell, which leaves the core
// at time at. One small request is pushed whole; a list, or a large one, is
// fetched by the RNIC. All or none are posted.
func (q *QP) PostSend(at sim.Time, list []SendWR) error {
	f := q.fab
	if at < f.sim.Now() {
		return fmt.Errorf("fabric: post at %d ps, which is before now", at)
	}
	if len(list) > q.Free() {
		return fmt.Errorf("%w: %d posted, %d of %d slots free", ErrSendQueueFull, len(list), q.Free(), q.depth)
	}
	for i := range list {
		if err := q.check(&list[i]); err != nil {
			return err
		}
	}
	var first, last uint32 = none, none
	for i := range list {
		last = q.enqueue(at, &list[i])
		if first == none {
			first = last
		}
	}
	if first == none || q.state&failed != 0 {
		return nil
	}
	f.counts.Doorbells++
	c := &f.cost
	v := f.verb(first)
	switch {
	case first != last || wqeBytes(q, v) > c.blueFlame:
		v.flags |= batch
		v.aux = uint32(len(list))
		f.sim.At(at+2*c.oneWay, f.kFetch, first)
	case gathers(v):
		f.sim.At(at+2*c.oneWay, f.kFetch, first)
	default:
		f.sim.At(at+c.oneWay, f.kTx, first)
	}
	return nil
}

// check refuses what a driver would.
func (q *QP) check(w *SendWR) error {
	if !q.transport.Allows(w.Op) {
		return fmt.Errorf("fabric: %v on a %v queue pair: the transport does not support it (thesis table 2-2)", w.Op, q.transport)
	}
	if w.Inline {
		if w.Op.reads() {
			return fmt.Errorf("fabric: inline %v: only SEND and WRITE carry a payload", w.Op)
		}
		if w.Bytes() > uint32(q.inline) {
			return fmt.Errorf("fabric: inline payload of %d bytes: at most %d", w.Bytes(), q.inline)
		}
	}
	if len(w.Further) > 0 {
		if err := q.checkSegments(w.Op, 1+len(w.Further)); err != nil {
			return err
		}
	}
	if q.transport.connected() {
		if q.peer == nil {
			return fmt.Errorf("fabric: %v on a queue pair that is not connected", w.Op)
		}
		return nil
	}
	f := q.fab
	if q.transport == UD && w.Bytes() > f.cost.mtu {
		return fmt.Errorf("fabric: datagram of %d bytes: at most %d, the path MTU", w.Bytes(), f.cost.mtu)
	}
	n := f.nic(w.Dest)
	if n == nil {
		return fmt.Errorf("fabric: datagram to machine %d NIC %d, which does not exist", w.Dest.Machine, w.Dest.NIC)
	}
	if w.Dest.QPN == 0 || w.Dest.QPN >= uint32(len(n.qps)) || !n.datagram[w.Dest.QPN] {
		return fmt.Errorf("fabric: datagram to queue pair %d of machine %d NIC %d, which is not a %v one", w.Dest.QPN, w.Dest.Machine, w.Dest.NIC, q.transport)
	}
	return nil
}

// nic finds the RNIC of an address.
func (f *part) nic(a AH) *NIC {
	if int(a.Machine) >= len(f.firstNIC)-1 {
		return nil
	}
	i := f.firstNIC[a.Machine] + uint16(a.NIC)
	if i >= f.firstNIC[a.Machine+1] {
		return nil
	}
	return f.nics[i]
}

// enqueue makes the verb of a request and appends it to the send queue.
func (q *QP) enqueue(at sim.Time, w *SendWR) uint32 {
	f := q.fab
	i, v := f.allocVerb()
	v.id, v.remote, v.local, v.a, v.b = w.ID, w.Remote, w.Local, 0, w.Swap
	v.mark, v.stamp = at, stamp{}
	v.len, v.q, v.r, v.rkey = w.Len, q, q.peer, w.RKey
	v.next, v.data, v.qpn, v.wqe = none, none, q.qpn, q.posted
	v.op, v.status, v.flags, v.tries, v.rnr = w.Op, Success, 0, 0, 0
	if w.Signaled {
		v.flags = signaled
	}
	v.from, v.to = q.nic.Number, q.peerNIC
	if !q.transport.connected() {
		n := f.nic(w.Dest)
		v.r, v.to = n.qps[w.Dest.QPN], n.Number
	}
	if v.from == v.to {
		v.flags |= loop
	}
	switch {
	case w.Op.atomic():
		v.a, v.len = w.Compare, 8
	case w.Op == Send:
		v.b = w.Beside
	}
	if len(w.Further) > 0 {
		f.gather(q, v, w)
	}
	if w.Inline {
		v.flags |= inlined
		f.capture(q, i, v)
	} else if v.len > 0 && v.gatherList() == 0 && !q.nic.machine.Mem.Allowed(w.LKey, v.local, v.len, localPerm(v.op)) {
		v.status = LocalProtection // told when it is its turn
	}
	q.posted++
	f.counts.Posted[w.Op]++
	if q.state&failed != 0 {
		f.flush(i, v, at)
		return i
	}
	if q.oldest == none {
		q.oldest = i
	} else { // the tail may be under way: this word of it is the requester's all the same
		f.verb(q.sqTail).next = i
	}
	if q.sqHead == none {
		q.sqHead = i
	}
	q.sqTail = i
	return i
}

// localPerm is what a verb needs of its local buffer.
func localPerm(op Opcode) host.Perm {
	if op.reads() {
		return host.LocalWrite
	}
	return 0
}

// capture copies the payload of a SEND or WRITE, as the core does when it is
// inline and the RNIC's DMA does otherwise.
func (f *part) capture(h *QP, i uint32, v *verb) {
	if v.len == 0 {
		return
	}
	b := f.makeRoom(i, v)
	mem := h.nic.machine.Mem
	if v.gatherList() != 0 {
		f.captureList(mem, v, b)
		return
	}
	if v.flags&inlined == 0 {
		mem.DeviceTouches(v.local, int(v.len), false)
	}
	copy(b, mem.Bytes(v.local, int(v.len)))
}

// gathers says that the RNIC fetches the payload by DMA.
func gathers(v *verb) bool { return v.op <= Write && v.flags&inlined == 0 && v.len > 0 }

// wqeBytes is the size of a request in the send queue: control segment, address
// segments, pointers or inline data, in blocks of 64 bytes.
func wqeBytes(q *QP, v *verb) uint32 {
	n := q.wqeHead(v.op)
	if v.op.atomic() {
		n += 16
	}
	if v.flags&inlined != 0 {
		n += 4 + v.len
	} else {
		n += 16 * q.fab.segmentsOf(v)
	}
	return q.fab.blocks(n)
}

// wqeHead is the size of a request's control and address segments.
func (q *QP) wqeHead(op Opcode) uint32 {
	n := uint32(16)
	if q.transport == UD {
		n += 48
	}
	if op != Send {
		n += 16
	}
	return n
}

// blocks rounds the size of a request up.
func (f *part) blocks(n uint32) uint32 {
	w := f.cost.wqe
	return (n + w - 1) / w * w
}

// inlineRoom is how much fits inside the largest request of a queue pair for which
// n bytes were asked.
func (q *QP) inlineRoom(n uint32) uint32 {
	if n == 0 {
		return 0
	}
	head := q.wqeHead(Send) + 4
	if q.transport != UD {
		head = q.wqeHead(Write) + 4
	}
	return q.fab.blocks(head+n) - head
}

// onFetch is the RNIC's read of the host's memory before sending, at the host:
// of a list of requests, or of one payload.
func (f *part) onFetch(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	h := v.q
	n := h.nic
	c := &f.cost
	if v.flags&batch != 0 {
		v.flags &^= batch
		read := uint32(0) // requests lie one behind the other and share packets
		for k := v.aux; k > 0; k-- {
			w := f.verb(i)
			bytes := wqeBytes(h, w)
			end := n.down.Serve(now, c.fetchedBehind(read, bytes))
			n.Traffic.Read(0, bytes)
			read += bytes
			t := max(end, now+c.LLCDMA+c.fetched(0, read)) // see crosses
			if gathers(w) {
				f.sim.At(t+2*c.oneWay, f.kFetch, i)
			} else {
				f.sim.At(t+c.oneWay, f.kTx, i)
			}
			i = w.next
		}
		return
	}
	t := now
	if v.status == Success {
		if v.gatherList() != 0 {
			t = f.fetchList(n, now, v)
		} else {
			first, all := f.load(n, now, v.local, v.len)
			t = f.fetch(n, now, v.local, v.len, first, all)
		}
		f.capture(h, i, v)
	}
	f.sim.At(t+c.oneWay, f.kTx, i)
}
