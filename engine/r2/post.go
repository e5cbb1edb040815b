package r2

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/sendq"
)

// queuePair is a queue pair with its send queue.
type queuePair = sendq.Pair

// append adds a work request, for a coroutine if it waits.
func (w *Worker) append(q *queuePair, wr *fabric.SendWR, e sendq.Entry, c *Co) {
	co := uint32(0)
	if c != nil {
		co = c.ID()
	}
	w.pairs.Append(q, wr, e, co, w.buffers.Scarce())
}

// flush rings one doorbell per queue pair with pending posts.
func (w *Worker) flush() {
	w.flushReceipts()
	if w.pairs.Flush(); len(w.held) > 0 {
		w.release()
	}
}

// confirm handles a completion of a queue pair: it confirms everything
// posted before it too.
func (w *Worker) confirm(q *queuePair, cqe *fabric.CQE) {
	at := q.Head + (uint32(cqe.ID)-q.Head)&sendq.PlaceMask
	if at-q.Head >= q.Posted-q.Head {
		panic(fmt.Sprintf("r2: completion of request %d (%v, %v) on queue pair %d of machine %d thread %d, outstanding are [%d, %d)",
			at, cqe.Op, cqe.Status, q.ID, w.mc.id, w.thread, q.Head, q.Posted))
	}
	for q.Head != at+1 {
		e := w.pairs.All().At(q, q.Head)
		q.Head++
		if e.Buffer >= 0 {
			w.buffers.Free(e.Buffer)
		}
		if cqe.Status != fabric.Success && q.Head == at+1 {
			w.failed(q, e, cqe)
		}
		if x := w.cl.watch; x != nil {
			own := cqe
			if q.Head != at+1 {
				own = nil
			}
			x.verbs.Completed(x.observer, q.ID, q.Head-1, w.Local, own)
		}
		if e.Co&sendq.Waits != 0 {
			w.done(w.waiter(e, cqe.ID, q.Head == at+1), &cqe.Stamp)
		}
	}
	if q.Pend != nil {
		w.pairs.MarkDirty(q)
	}
}

// failed reports an error completion: to the coroutine, or if none waits
// for the request, to the run.
func (w *Worker) failed(q *queuePair, e *sendq.Entry, cqe *fabric.CQE) {
	if q.QP.Severed() || w.cl.cfg.Epochs && (cqe.Status == fabric.RetryExceeded || cqe.Status == fabric.Flushed) { // one end was closed
		w.severed(e, cqe)
		return
	}
	err := fmt.Errorf("r2: %v on machine %d thread %d: %v", cqe.Op, w.mc.id, w.thread, cqe.Status)
	if cqe.Segment > 0 {
		err = fmt.Errorf("%w in segment %d of its gather list", err, cqe.Segment)
	}
	if g := w.group(e.Co); g != nil {
		g.fail(err)
	} else {
		w.Clock.Fail(err)
	}
}

// List is a chain of work requests for one queue pair. They execute in order
// and only the last is waited for.
type List struct {
	co    *Co
	g     *Group
	q     *queuePair
	chain sendq.Chain
	to    int
}

// List starts a chain towards the machine of at. atomic says that it has
// atomics in it, which go through the home RNIC of their address.
func (g *Group) List(at Loc, atomic bool) *List {
	c := g.co
	c.alone("a one-sided request")
	l := &c.w.mc.list
	if l.chain.Len != 0 {
		panic("r2: a list is open; post it first")
	}
	l.co, l.g, l.q, l.to = c, g, c.w.to(at, atomic), at.Machine
	return l
}

func (l *List) add(wr fabric.SendWR, buffer int16) {
	l.chain.Add(wr, sendq.Entry{Co: l.g.short(), Buffer: buffer})
}

// Read adds a READ of n bytes.
func (l *List) Read(at Loc, n int) Buf {
	b := l.co.Buf(n)
	l.co.w.cl.hints[l.co.ID()].Data(b.B)
	l.add(fabric.SendWR{Op: fabric.Read, Local: b.Addr, LKey: l.co.w.lkey, Len: uint32(n), Remote: at.Addr, RKey: at.RKey}, -1)
	return b
}

// Write adds a WRITE of b, which is copied: inlined if small, else into a send
// buffer.
func (l *List) Write(at Loc, b []byte) {
	w := l.co.w
	slot, addr, buf := w.buffers.Take(len(b))
	copy(buf, b)
	inline := len(b) <= w.HW.MaxInline
	w.stored(addr, len(b), inline)
	l.add(fabric.SendWR{Op: fabric.Write, Inline: inline, Local: addr, LKey: w.lkey, Len: uint32(len(b)), Remote: at.Addr, RKey: at.RKey}, slot)
}

// WriteFrom adds a WRITE of parts, one behind the other, which the RNIC gathers where they are: they belong to it until the request
// is complete. A part of the coroutine's scratch memory is Co.Part's; of other memory, the segment has that region's local key.
func (l *List) WriteFrom(at Loc, parts []fabric.Segment) { l.gather(fabric.Write, at, parts) }

// ReadInto adds a READ of as many bytes as the parts have, into them.
func (l *List) ReadInto(at Loc, parts []fabric.Segment) { l.gather(fabric.Read, at, parts) }

func (l *List) gather(op fabric.Opcode, at Loc, parts []fabric.Segment) {
	l.chain.Gather(fabric.SendWR{Op: op, Remote: at.Addr, RKey: at.RKey}, parts, sendq.Entry{Co: l.g.short(), Buffer: -1})
}

// Part is a buffer as a part of a WriteFrom or ReadInto.
func (c *Co) Part(b Buf) fabric.Segment {
	return fabric.Segment{Local: b.Addr, LKey: c.w.lkey, Len: uint32(len(b.B))}
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
	n, x := l.chain.Take(), &l.chain
	if q == nil {
		l.refuse(n)
		return
	}
	last := n - 1
	if c.mode.Passive {
		for i := range n {
			x.Entries[i].Co |= sendq.Passive
		}
	} else {
		x.WRs[last].Signaled = true
		x.Entries[last].Co |= sendq.Waits
		l.g.pending++
	}
	if o := w.cl.watch; o != nil {
		o.posted(l, n)
	}
	for i := range n {
		w.append(q, &x.WRs[i], x.Entries[i], c)
	}
	if !c.mode.Doorbell {
		core.FenceStreams(&c.Program)
	}
	w.pairs.Post(q, c.mode.Doorbell)
	l.g.posted()
}

// refuse is Post where the NICs have no RDMA: Wait returns the error.
func (l *List) refuse(n int) {
	w := l.co.w
	for i := range n {
		if e := &l.chain.Entries[i]; e.Buffer >= 0 {
			w.buffers.Free(e.Buffer)
		}
	}
	l.g.fail(fmt.Errorf("r2: %v from machine %d to machine %d: the NICs of profile %s have no RDMA; use Call", l.chain.WRs[0].Op, w.mc.id, l.to, w.cl.fab.Profile().Name))
}

// Read posts a READ of n bytes, valid in the buffer after Wait.
func (g *Group) Read(at Loc, n int) Buf {
	l := g.List(at, false)
	b := l.Read(at, n)
	l.Post()
	return b
}

// Write posts a WRITE of b.
func (g *Group) Write(at Loc, b []byte) {
	l := g.List(at, false)
	l.Write(at, b)
	l.Post()
}

// CAS posts a compare-and-swap of the 8 bytes at at.
func (g *Group) CAS(at Loc, old, new uint64) Buf {
	l := g.List(at, true)
	b := l.CAS(at, old, new)
	l.Post()
	return b
}

// FAA posts a fetch-and-add on the 8 bytes at at.
func (g *Group) FAA(at Loc, delta uint64) Buf {
	l := g.List(at, true)
	b := l.FAA(at, delta)
	l.Post()
	return b
}
