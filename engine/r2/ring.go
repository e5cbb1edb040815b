package r2

import (
	"drtmx/engine/fabric"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/rings"
	"drtmx/engine/r2/sendq"
)

// openRings gives each pair of threads its rings.
func (cl *Cluster) openRings() error {
	t := cl.cfg.Transport
	if t == Datagrams {
		return nil
	}
	for _, w := range cl.workers {
		for _, ch := range w.out {
			if ch != nil && ch.peer.mc != w.mc {
				ch.peer.channel(w.ud.QP.Address()) // a thread that hears of w has one
			}
		}
	}
	for _, w := range cl.workers {
		var err error
		if w.rings, err = rings.New[*channel](w.mc.mem, w.mc.id, w.thread, w.home, len(w.chans), cl.cfg.MaxMessage); err != nil {
			return err
		}
	}
	for _, w := range cl.workers {
		for _, ch := range w.chans {
			if r := ch.peer.rings; ch.peer.mc != w.mc {
				ch.rings = &rings.Remote{Key: r.Key}
			}
		}
	}
	for _, w := range cl.workers {
		for _, ch := range w.chans {
			if ch.rings == nil {
				continue
			}
			back := ch.peer.channel(w.ud.QP.Address())
			ch.rings.Requests = ch.peer.rings.Give(back, false)
			if t == Writes {
				ch.rings.Replies = ch.peer.rings.Give(back, true)
				back.rings.Answers = ch.rings.Replies
			}
		}
	}
	return nil
}

// expect empties the slot of a reply before its request goes out: a store that the core
// does not wait for, to a line it is about to poll. Passive requests leave their slots
// alone, so a reply may lie there that is a multiple of 2^12 requests old.
func (w *Worker) expect(ch *channel, seq uint32) {
	if a := ch.rings.Answers; a.Base != 0 {
		w.rings.Empty(a, seq)
	}
}

// write sends a message into the peer's ring.
func (w *Worker) write(ch *channel, ring datagram.Slots, h datagram.Header, payload []byte, beside uint32, batched bool) {
	h.Size = len(payload)
	w.intoRing(ch, ring, h, 0, payload, beside, batched)
}

// writeSegment sends the first segment of a message into the peer's ring; the others are
// datagrams.
func (w *Worker) writeSegment(ch *channel, ring datagram.Slots, h datagram.Header, payload []byte, beside uint32, batched bool) {
	h.Size = len(payload)
	w.intoRing(ch, ring, h, datagram.SegmentHead, w.cl.whole.Segment(payload, 0), beside, batched)
}

func (w *Worker) intoRing(ch *channel, ring datagram.Slots, h datagram.Header, head int, payload []byte, beside uint32, batched bool) {
	n := head + len(payload) + datagram.HeaderBytes
	slot, a, b := w.buffers.Take(n)
	h.Ack = ch.Arrived
	if head > 0 {
		datagram.PutSegment(b, 0, 0)
	}
	copy(b[head:], payload)
	h.PutLast(b[n-datagram.HeaderBytes:])
	ring.Beside.Put(h.Seq, beside)
	w.paid(ch)
	w.Charge(w.CopyCost(n))
	q := w.to(Loc{Machine: ch.peer.mc.id}, false)
	inline := n <= q.QP.Inline()
	w.stored(a, n, inline)
	w.append(q, &fabric.SendWR{
		Op: fabric.Write, Inline: inline, Local: a, LKey: w.lkey, Len: uint32(n),
		Remote: ring.End(h.Seq) - Addr(n), RKey: ch.rings.Key,
	}, sendq.Entry{Buffer: slot}, nil)
	w.pairs.Post(q, batched)
}

// lookAtRings takes the messages that are there. It returns early when a
// handler has to wait for local time.
func (w *Worker) lookAtRings() {
	r := w.rings
	for ; r.At < len(r.List); r.At++ {
		for range w.cl.cfg.PollBatch {
			if !w.look(&r.List[r.At]) {
				break
			}
			if w.Current != nil {
				return
			}
		}
	}
	if r.Found || len(w.batch) > 0 {
		w.Busy += r.Looked
	} else { // it spins, which is no work, nor was the poll before
		w.Busy -= w.CPU.PollEmpty
		w.Begun = w.Local
	}
	r.Looked = 0
}

// look takes the next message of a ring, if it is there.
func (w *Worker) look(g *rings.Ring[*channel]) bool {
	seq := g.Next
	if g.Replies {
		var open bool
		if seq, open = w.cl.awaited(g.Channel); !open {
			return false
		}
	}
	r := w.rings
	w.Local += w.CPU.PollEmpty
	r.Looked += w.CPU.PollEmpty
	end := g.End(seq)
	h := r.Header(g.Slots, seq)
	late := int32(datagram.Near(seq, h.Seq) - seq)
	if h.Kind == datagram.Ack || late < 0 {
		return false
	}
	if !g.Replies {
		g.Next++
	}
	w.Busy += r.Looked // not in vain
	r.Looked, r.Found = 0, true
	if late > 0 { // it was repeated as a datagram, and its slot is another's already
		return true
	}
	n := datagram.HeaderBytes + min(h.Size, int(w.cl.whole)) // of a long message it is the first segment, a full one
	w.handler.Touch(end-Addr(n), n)
	w.message(g, h, w.mc.mem.Bytes(end-Addr(n), n-datagram.HeaderBytes))
	return true
}

// message handles what came by WRITE. Of its way here nothing is known, for no
// completion tells.
func (w *Worker) message(g *rings.Ring[*channel], h datagram.Header, payload []byte) {
	ch := g.Channel
	cqe := fabric.CQE{Src: ch.address, At: w.Local, Beside: uint64(g.Beside.Of(h.Seq))}
	ch.acknowledge(w, h.Ack)
	w.dispatch(ch, h, payload, noSlot, &cqe)
}

// awaited is the oldest request whose reply has not come, of those whose replies come in turn: the ones
// that may be deferred are answered by datagrams.
func (cl *Cluster) awaited(ch *channel) (seq uint32, open bool) {
	for seq = ch.Oldest; seq != ch.Next; seq++ {
		if k := ch.At(seq); !k.answered && !k.passive && !cl.rpc(k.rpc).Defers {
			return seq, true
		}
	}
	return 0, false
}

// opened counts an open request. While there are any, everybody's threads look
// at their rings; no completion would wake them.
func (w *Worker) opened() {
	if w.rings == nil {
		return
	}
	if w.cl.open++; w.cl.open == 1 {
		for _, other := range w.cl.workers {
			other.wake()
		}
	}
}

// closed counts requests that are open no longer.
func (w *Worker) closed(n int) {
	if w.rings != nil {
		w.cl.open -= n
	}
}

// spins says that the worker must look again although nothing is ready.
func (w *Worker) spins() bool { return w.rings != nil && w.cl.open > 0 }
