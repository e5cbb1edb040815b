package r2

import (
	"fmt"

	"drtmx/engine/fabric"
)

// A work request's id is a RECV's slot with recvFlag; else the number of its
// queue pair, the coroutine that waits for it (only lookAhead wants to know) and
// the low bits of its place in the send queue.
const (
	recvFlag  = 1 << 63
	pairShift = 32
	coShift   = 12
	placeMask = 1<<coShift - 1
)

// entry is a work request in a send queue, in posting order.
type entry struct {
	co     *Co   // who posted it; nil: a reply, an acknowledgement, a repetition
	buffer int32 // send buffer to give back, or -1
	wait   bool  // co waits for it
}

// queuePair is a queue pair with what the worker knows of its send queue: a
// ring of entries of which the first are in the RNIC's hands and the rest
// wait for the flush or for room.
type queuePair struct {
	ring       []entry // first, until it is too small
	head       uint32  // oldest not known to be complete
	posted     uint32  // next to post
	tail       uint32  // next free
	unsignaled uint16
	depth      uint16
	pend       []fabric.SendWR
	first      [4]entry
	qp         *fabric.QP
	id         uint32 // in the cluster
	dirty      bool
}

// pairBlock queue pairs are allocated at a time; they never move.
const pairBlock = 256

func (w *Worker) addQP(qp *fabric.QP, depth int) *queuePair {
	cl := w.cl
	if cl.npairs%pairBlock == 0 {
		cl.pairs = append(cl.pairs, new([pairBlock]queuePair))
	}
	q := &cl.pairs[cl.npairs/pairBlock][cl.npairs%pairBlock]
	*q = queuePair{qp: qp, id: uint32(cl.npairs), depth: uint16(depth)}
	q.ring = q.first[:]
	cl.npairs++
	return q
}

// pair is the queue pair of a work request's id.
func (cl *Cluster) pair(id uint64) *queuePair {
	n := uint32(id >> pairShift)
	return &cl.pairs[n/pairBlock][n%pairBlock]
}

// append adds a work request. It signals one when too many were not: their
// places in the send queue come back only with a later completion.
func (q *queuePair) append(w *Worker, wr *fabric.SendWR, e entry) {
	if q.tail-q.head == uint32(len(q.ring)) {
		old := q.ring
		q.ring = make([]entry, 2*len(old))
		for i := q.head; i != q.tail; i++ {
			q.ring[i&uint32(len(q.ring)-1)] = old[i&uint32(len(old)-1)]
		}
	}
	q.unsignaled++
	if q.unsignaled >= q.depth/4 {
		wr.Signaled = true
	}
	if wr.Signaled {
		q.unsignaled = 0
	}
	wr.ID = uint64(q.id)<<pairShift | uint64(q.tail&placeMask)
	if e.wait {
		wr.ID |= uint64(e.co.id+1) << coShift
	}
	q.ring[q.tail&uint32(len(q.ring)-1)] = e
	q.tail++
	if cl := w.cl; q.pend == nil && len(cl.spare) > 0 {
		n := len(cl.spare) - 1
		q.pend, cl.spare = cl.spare[n], cl.spare[:n]
	}
	q.pend = append(q.pend, *wr)
	w.charge(w.cpu.PostWQE)
}

// ring rings the doorbell for what is pending, as far as the send queue has
// room; each: one doorbell per request.
func (w *Worker) ring(q *queuePair, each bool) {
	for len(q.pend) > 0 {
		n := min(len(q.pend), int(q.depth)-int(q.posted-q.head))
		if n <= 0 {
			break
		}
		if each {
			n = 1
		}
		w.charge(w.cpu.MMIO)
		if err := q.qp.PostSend(w.local, q.pend[:n]); err != nil {
			w.cl.Fail(fmt.Errorf("r2: post on machine %d thread %d: %w", w.mc.id, w.thread, err))
			return
		}
		q.posted += uint32(n)
		q.pend = q.pend[:copy(q.pend, q.pend[n:])]
	}
	if len(q.pend) > 0 {
		w.markDirty(q)
	} else if q.pend != nil {
		// The next queue pair takes the slice while it is in the host's cache.
		w.cl.spare = append(w.cl.spare, q.pend)
		q.pend = nil
	}
}

func (w *Worker) markDirty(q *queuePair) {
	if !q.dirty {
		q.dirty = true
		w.dirty = append(w.dirty, q)
	}
}

// flush rings one doorbell per queue pair with pending posts.
func (w *Worker) flush() {
	n := len(w.dirty)
	for _, q := range w.dirty[:n] {
		q.dirty = false
		w.ring(q, false)
	}
	// What had no room is dirty again, behind the first n.
	w.dirty = w.dirty[:copy(w.dirty, w.dirty[n:])]
}

// complete handles a completion of this queue pair: it confirms everything
// posted before it too.
func (q *queuePair) complete(w *Worker, cqe *fabric.CQE) {
	at := q.head + (uint32(cqe.ID)-q.head)&placeMask
	if at-q.head >= q.posted-q.head {
		panic(fmt.Sprintf("r2: completion of request %d (%v, %v) on queue pair %d of machine %d thread %d, outstanding are [%d, %d)",
			at, cqe.Op, cqe.Status, q.id, w.mc.id, w.thread, q.head, q.posted))
	}
	for q.head != at+1 {
		e := &q.ring[q.head&uint32(len(q.ring)-1)]
		q.head++
		if e.buffer >= 0 {
			w.buffers.free(e.buffer)
		}
		if cqe.Status != fabric.Success && q.head == at+1 {
			q.failed(w, e, cqe)
		}
		if x := w.cl.watch; x != nil {
			x.completed(w, q, q.head-1, at, cqe)
		}
		if e.co != nil && e.wait {
			w.done(e.co, &cqe.Stamp)
		}
		e.co = nil
	}
	if len(q.pend) > 0 {
		w.markDirty(q)
	}
}

// failed reports an error completion: to the coroutine, or if nobody waits
// for the request, to the run.
func (q *queuePair) failed(w *Worker, e *entry, cqe *fabric.CQE) {
	err := fmt.Errorf("r2: %v on machine %d thread %d: %v", cqe.Op, w.mc.id, w.thread, cqe.Status)
	switch {
	case e.co == nil:
		w.cl.Fail(err)
	case e.co.err == nil:
		e.co.err = err
	}
}

// List is a chain of work requests for one queue pair. They execute in order
// and only the last is waited for.
type List struct {
	co  *Co
	q   *queuePair
	wrs [listMax]fabric.SendWR
	es  [listMax]entry
	n   int
	to  int
}

const listMax = 8

// List starts a chain towards the machine of at. atomic says that it has
// atomics in it, which go through the home RNIC of their address.
func (c *Co) List(at Loc, atomic bool) *List {
	l := &c.w.cl.list
	if l.n != 0 {
		panic("r2: a list is open; post it first")
	}
	l.co, l.q, l.to = c, c.w.to(at, atomic), at.Machine
	return l
}

func (l *List) add(wr fabric.SendWR, buffer int32) {
	if l.n == listMax {
		panic("r2: list too long")
	}
	l.wrs[l.n], l.es[l.n] = wr, entry{co: l.co, buffer: buffer}
	l.n++
}

// Read adds a READ of n bytes.
func (l *List) Read(at Loc, n int) Buf {
	b := l.co.Buf(n)
	l.add(fabric.SendWR{Op: fabric.Read, Local: b.Addr, LKey: l.co.w.buffers.key, Len: uint32(n), Remote: at.Addr, RKey: at.RKey}, -1)
	return b
}

// Write adds a WRITE of b, which is copied: inlined if small, else into a send
// buffer.
func (l *List) Write(at Loc, b []byte) {
	w := l.co.w
	slot, addr, buf := w.buffers.take(w, len(b))
	copy(buf, b)
	l.add(fabric.SendWR{Op: fabric.Write, Inline: len(b) <= w.hw.MaxInline, Local: addr, LKey: w.buffers.key, Len: uint32(len(b)), Remote: at.Addr, RKey: at.RKey}, slot)
}

// CAS adds a compare-and-swap; the previous value is in the buffer.
func (l *List) CAS(at Loc, old, new uint64) Buf {
	b := l.co.Buf(8)
	l.add(fabric.SendWR{Op: fabric.CompareSwap, Local: b.Addr, LKey: l.co.w.buffers.key, Len: 8, Remote: at.Addr, RKey: at.RKey, Compare: old, Swap: new}, -1)
	return b
}

// FAA adds a fetch-and-add; the previous value is in the buffer.
func (l *List) FAA(at Loc, delta uint64) Buf {
	b := l.co.Buf(8)
	l.add(fabric.SendWR{Op: fabric.FetchAdd, Local: b.Addr, LKey: l.co.w.buffers.key, Len: 8, Remote: at.Addr, RKey: at.RKey, Swap: delta}, -1)
	return b
}

// Post posts the chain in the coroutine's mode.
func (l *List) Post() {
	c, w, q := l.co, l.co.w, l.q
	n := l.n
	l.n = 0
	last := n - 1
	if !c.mode.Passive {
		l.wrs[last].Signaled = true
		l.es[last].wait = true
		c.pending++
	}
	if x := w.cl.watch; x != nil {
		x.posted(l, n)
	}
	for i := range n {
		q.append(w, &l.wrs[i], l.es[i])
	}
	if c.mode.Doorbell {
		w.markDirty(q)
	} else {
		w.ring(q, true)
	}
	c.posted()
}

// Read posts a READ of n bytes, valid in the buffer after Wait.
func (c *Co) Read(at Loc, n int) Buf {
	l := c.List(at, false)
	b := l.Read(at, n)
	l.Post()
	return b
}

// Write posts a WRITE of b.
func (c *Co) Write(at Loc, b []byte) {
	l := c.List(at, false)
	l.Write(at, b)
	l.Post()
}

// CAS posts a compare-and-swap of the 8 bytes at at.
func (c *Co) CAS(at Loc, old, new uint64) Buf {
	l := c.List(at, true)
	b := l.CAS(at, old, new)
	l.Post()
	return b
}

// FAA posts a fetch-and-add on the 8 bytes at at.
func (c *Co) FAA(at Loc, delta uint64) Buf {
	l := c.List(at, true)
	b := l.FAA(at, delta)
	l.Post()
	return b
}
