package r2

import (
	"fmt"
	"unsafe"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/core"
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
	co     uint16 // who posted it, see Co.short; 0: a reply, an acknowledgement, a repetition
	buffer int16  // send buffer to give back, or -1
}

// Flags in entry.co: the coroutine waits for the request, or it is passive.
const (
	waits   = 1 << 15
	passive = 1 << 14
)

// queuePair is a queue pair with what the worker knows of its send queue: a
// ring of entries of which the first are in the RNIC's hands and the rest
// wait for the flush or for room. There are tens of thousands, used in no
// order, so each is one line of the host's memory.
type queuePair struct {
	qp         *fabric.QP
	pend       *pending // nil: nothing is
	more       uint32   // where sendRings has the ring once it is larger than first
	size       uint32   // of that ring
	id         uint32   // in the cluster
	head       uint32   // oldest not known to be complete
	posted     uint32   // next to post
	tail       uint32   // next free
	unsignaled uint16
	depth      uint16
	first      [4]entry
	dirty      bool
	buffer     fabric.MMIOBuffer // of a shared context
}

// pending are the work requests of a queue pair that wait for the doorbell.
type pending struct{ wrs []fabric.SendWR }

// at is the entry of a place in the send queue.
func (q *queuePair) at(cl *Cluster, place uint32) *entry {
	if q.size == 0 {
		return &q.first[place&uint32(len(q.first)-1)]
	}
	return cl.sendRings.at(q.more + place&(q.size-1))
}

// grow doubles the ring.
func (q *queuePair) grow(cl *Cluster) {
	size := 2 * q.room()
	ring := cl.sendRings.take(size)
	for i := q.head; i != q.tail; i++ {
		*cl.sendRings.at(ring + i&(size-1)) = *q.at(cl, i)
	}
	q.more, q.size = ring, size
}

// room is how many entries the ring holds.
func (q *queuePair) room() uint32 { return max(q.size, uint32(len(q.first))) }

// sendRings are the memory of rings that outgrew their queue pair, many at a time:
// thousands of queue pairs do, now and then for as long as a run takes.
type sendRings struct {
	blocks []*[sendRingsBlock]entry
	used   uint32 // entries, of all blocks
}

const sendRingsBlock = 1 << 12

func (s *sendRings) at(i uint32) *entry { return &s.blocks[i/sendRingsBlock][i%sendRingsBlock] }

// take gives a ring of n entries, a power of two.
func (s *sendRings) take(n uint32) uint32 {
	at := s.used
	for uint32(len(s.blocks))*sendRingsBlock < at+n {
		s.blocks = append(s.blocks, new([sendRingsBlock]entry))
	}
	s.used = at + n
	return at
}

// pairBlock queue pairs are allocated at a time; they never move. The runtime puts smaller
// blocks off the host's lines by a word.
const pairBlock = 512

func (w *Worker) addQP(qp *fabric.QP, depth int) *queuePair {
	cl := w.cl
	if cl.npairs%pairBlock == 0 {
		cl.pairs = append(cl.pairs, new([pairBlock]queuePair))
	}
	q := &cl.pairs[cl.npairs/pairBlock][cl.npairs%pairBlock]
	*q = queuePair{qp: qp, id: uint32(cl.npairs), depth: uint16(depth)}
	cl.npairs++
	return q
}

// waiter is the coroutine that waits for a work request, by its id; nil: nobody.
func (cl *Cluster) waiter(id uint64) *Co {
	if n, ok := waiterID(id); ok {
		return cl.hints[n].co
	}
	return nil
}

// waiterID is the number of that coroutine; false: nobody waits, or the id is a
// RECV's.
func waiterID(id uint64) (n uint32, ok bool) {
	n = uint32(id>>coShift) & (1<<(pairShift-coShift) - 1)
	return n - 1, n > 0 && id&recvFlag == 0
}

// pair is the queue pair of a work request's id.
func (cl *Cluster) pair(id uint64) *queuePair {
	n := uint32(id >> pairShift)
	return &cl.pairs[n/pairBlock][n%pairBlock]
}

// append adds a work request. It signals one when too many were not: unsignaled
// requests keep their places in the send queue, and pin their buffers, until a later
// completion. With a thousand queue pairs even a few buffers each exhaust the pool.
func (q *queuePair) append(w *Worker, wr *fabric.SendWR, e entry, c *Co) {
	if q.tail-q.head == q.room() {
		q.grow(w.cl)
	}
	q.unsignaled++
	if q.unsignaled >= q.depth/4 || w.buffers.scarce() {
		wr.Signaled = true
	}
	if wr.Signaled {
		q.unsignaled = 0
	}
	wr.ID = uint64(q.id)<<pairShift | uint64(q.tail&placeMask)
	if e.co&waits != 0 {
		wr.ID |= uint64(c.ID()+1) << coShift
	}
	*q.at(w.cl, q.tail) = e
	q.tail++
	if q.pend == nil {
		q.pend = w.cl.takePending()
		q.qp.AheadPost()
	}
	q.pend.wrs = append(q.pend.wrs, *wr)
	w.Charge(w.CPU.PostWQE)
}

func (cl *Cluster) takePending() *pending {
	n := len(cl.spare)
	if n == 0 {
		return &pending{wrs: make([]fabric.SendWR, 0, listMax)}
	}
	p := cl.spare[n-1]
	cl.spare = cl.spare[:n-1]
	return p
}

// ring rings the doorbell for what is pending, as far as the send queue has
// room; each: one doorbell per request.
func (w *Worker) ring(q *queuePair, each bool) {
	p := q.pend
	if p == nil {
		return
	}
	for len(p.wrs) > 0 {
		n := min(len(p.wrs), int(q.depth)-int(q.posted-q.head))
		if n <= 0 {
			break
		}
		if each {
			n = 1
		}
		w.doorbell(q)
		if err := q.qp.PostSend(w.Local, p.wrs[:n]); err != nil {
			w.cl.Fail(fmt.Errorf("r2: post on machine %d thread %d: %w", w.mc.id, w.thread, err))
			return
		}
		q.posted += uint32(n)
		p.wrs = p.wrs[:copy(p.wrs, p.wrs[n:])]
	}
	if len(p.wrs) > 0 {
		w.markDirty(q)
		return
	}
	// The next queue pair takes it while it is in the host's cache.
	w.cl.spare = append(w.cl.spare, p)
	q.pend = nil
}

// doorbell is the MMIO of a post. A thread with a context of its own has its
// buffers to itself: their lock, if there is one, is always free and its line in
// the core's cache, which is part of what an MMIO costs.
func (w *Worker) doorbell(q *queuePair) {
	w.Charge(max(0, w.HW.StoresBy(w.Number)-w.Local))
	if w.mc.contexts == nil {
		w.Charge(w.CPU.MMIO)
		return
	}
	x := w.mc.contexts[w.home]
	if q.buffer == 0 {
		q.buffer = x.AllocBuffer()
	}
	at := max(w.Local, w.cl.sim.Now())
	w.Charge(x.Ring(q.buffer, w.Number, at, w.CPU.MMIO) - w.Local)
}

func (w *Worker) markDirty(q *queuePair) {
	if !q.dirty {
		q.dirty = true
		w.dirty = append(w.dirty, q)
	}
}

// flush rings one doorbell per queue pair with pending posts.
func (w *Worker) flush() {
	w.flushReceipts()
	n := len(w.dirty)
	for _, q := range w.dirty[:n] {
		q.dirty = false
		w.ring(q, false)
	}
	// What had no room is dirty again, behind the first n.
	w.dirty = w.dirty[:copy(w.dirty, w.dirty[n:])]
	if w.full = len(w.dirty) > 0; len(w.held) > 0 {
		w.release()
	}
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
		e := q.at(w.cl, q.head)
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
		if e.co&waits != 0 {
			c := w.cl.waiter(cqe.ID)
			if q.head != at+1 { // it was lost with its completion queue
				c = w.co(e.co)
			}
			w.done(c, &cqe.Stamp)
		}
	}
	if q.pend != nil {
		w.markDirty(q)
	}
}

// failed reports an error completion: to the coroutine, or if nobody waits
// for the request, to the run.
func (q *queuePair) failed(w *Worker, e *entry, cqe *fabric.CQE) {
	if q.qp.Severed() {
		q.severed(w, e, cqe)
		return
	}
	c := w.co(e.co)
	err := fmt.Errorf("r2: %v on machine %d thread %d: %v", cqe.Op, w.mc.id, w.thread, cqe.Status)
	switch {
	case c == nil:
		w.cl.Fail(err)
	case c.err == nil:
		c.err = err
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
	c.alone("a one-sided request")
	l := &c.w.cl.list
	if l.n != 0 {
		panic("r2: a list is open; post it first")
	}
	l.co, l.q, l.to = c, c.w.to(at, atomic), at.Machine
	return l
}

func (l *List) add(wr fabric.SendWR, buffer int16) {
	if l.n == listMax {
		panic("r2: list too long")
	}
	l.wrs[l.n], l.es[l.n] = wr, entry{co: l.co.short(), buffer: buffer}
	l.n++
}

// Read adds a READ of n bytes.
func (l *List) Read(at Loc, n int) Buf {
	b := l.co.Buf(n)
	if n > 0 {
		l.co.w.cl.hints[l.co.ID()].data = unsafe.Pointer(&b.B[0])
	}
	l.add(fabric.SendWR{Op: fabric.Read, Local: b.Addr, LKey: l.co.w.lkey, Len: uint32(n), Remote: at.Addr, RKey: at.RKey}, -1)
	return b
}

// Write adds a WRITE of b, which is copied: inlined if small, else into a send
// buffer.
func (l *List) Write(at Loc, b []byte) {
	w := l.co.w
	slot, addr, buf := w.buffers.take(w, len(b))
	copy(buf, b)
	inline := len(b) <= w.HW.MaxInline
	w.stored(addr, len(b), inline)
	l.add(fabric.SendWR{Op: fabric.Write, Inline: inline, Local: addr, LKey: w.lkey, Len: uint32(len(b)), Remote: at.Addr, RKey: at.RKey}, slot)
}

// CAS adds a compare-and-swap; the previous value is in the buffer.
func (l *List) CAS(at Loc, old, new uint64) Buf {
	b := l.co.Buf(8)
	l.add(fabric.SendWR{Op: fabric.CompareSwap, Local: b.Addr, LKey: l.co.w.lkey, Len: 8, Remote: at.Addr, RKey: at.RKey, Compare: old, Swap: new}, -1)
	return b
}

// FAA adds a fetch-and-add; the previous value is in the buffer.
func (l *List) FAA(at Loc, delta uint64) Buf {
	b := l.co.Buf(8)
	l.add(fabric.SendWR{Op: fabric.FetchAdd, Local: b.Addr, LKey: l.co.w.lkey, Len: 8, Remote: at.Addr, RKey: at.RKey, Swap: delta}, -1)
	return b
}

// Post posts the chain in the coroutine's mode.
func (l *List) Post() {
	c, w, q := l.co, l.co.w, l.q
	core.Outside(&c.Program, "a request")
	n := l.n
	l.n = 0
	if q == nil {
		l.refuse(n)
		return
	}
	last := n - 1
	if c.mode.Passive {
		for i := range n {
			l.es[i].co |= passive
		}
	} else {
		l.wrs[last].Signaled = true
		l.es[last].co |= waits
		c.pending++
	}
	if x := w.cl.watch; x != nil {
		x.posted(l, n)
	}
	for i := range n {
		q.append(w, &l.wrs[i], l.es[i], c)
	}
	if c.mode.Doorbell {
		w.markDirty(q)
	} else {
		core.FenceStreams(&c.Program)
		w.ring(q, true)
	}
	c.posted()
}

// refuse is Post where the NICs have no RDMA: Wait returns the error.
func (l *List) refuse(n int) {
	c, w := l.co, l.co.w
	for i := range n {
		if e := &l.es[i]; e.buffer >= 0 {
			w.buffers.free(e.buffer)
		}
	}
	if c.err == nil {
		c.err = fmt.Errorf("r2: %v from machine %d to machine %d: the NICs of profile %s have no RDMA; use Call", l.wrs[0].Op, w.mc.id, l.to, w.cl.fab.Profile().Name)
	}
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
