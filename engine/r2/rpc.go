package r2

import (
	"errors"
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2/beside"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/registered"
	"drtmx/engine/r2/sendq"
)

// job is the request a handler works on.
type job struct {
	ch      *channel
	seq     uint32
	head    datagram.Header
	from    Peer
	asker   uint32 // coroutine that asks, by its id
	req     []byte
	slot    int
	beside  beside.Answer
	running bool
	whole   []byte  // of a request that came in segments, to be given back
	ticket  *Ticket // not a request: one that another thread has answered
}

// noSlot is the RECV buffer of a message that came without one.
const noSlot = -1

// MaxPayload is what fits into one request, and into one reply, segments included.
func (cl *Cluster) MaxPayload() int { return cl.cfg.MaxRequest - datagram.HeaderBytes - cl.front }

// MaxReply is what fits into one reply: at least MaxPayload.
func (cl *Cluster) MaxReply() int { return cl.cfg.MaxReply - datagram.HeaderBytes }

// Call sends a request to the same thread of a machine. The reply is valid
// after Wait; a passive call has none and returns nil. Of a memory node Wait
// returns ErrNoThreads.
func (g *Group) Call(m int, rpc uint8, req []byte) *Reply {
	g.co.alone("Call")
	thread := 0
	if peer := g.co.w.peerWorker(m); peer != nil {
		thread = peer.thread
	}
	return g.CallThread(m, thread, rpc, req)
}

// ErrNoThreads is in the error of an RPC to a memory node.
var ErrNoThreads = errors.New("the machine has no threads, so it serves no RPCs; use one-sided requests")

// CallThread is Call of a certain thread.
func (g *Group) CallThread(m, thread int, rpc uint8, req []byte) *Reply {
	c, w := g.co, g.co.w
	c.alone("Call")
	core.Outside(&c.Program, "a request")
	if len(req) > w.cl.MaxPayload() {
		g.err = fmt.Errorf("r2: rpc %d with %d bytes, at most %d fit a message", rpc, len(req), w.cl.MaxPayload())
		return c.replies.Next()
	}
	if w.out[m] == nil {
		g.fail(fmt.Errorf("r2: rpc %s from machine %d to machine %d: %w", w.cl.rpc(rpc).Name, w.mc.id, m, ErrNoThreads))
		return c.replies.Next()
	}
	ch := w.towards(m, thread)
	if ch.peer == w {
		return g.callSelf(rpc, req)
	}
	message := w.framed(req) // before a wait: req may be the caller's for this moment only
	for ch.Full() {
		w.retryWindowHead(ch)
		ch.stall(c)
		c.park()
		ch = w.towards(m, thread) // another one, if the machine was started again meanwhile
	}
	if !c.mode.Doorbell {
		core.FenceStreams(&c.Program)
		ch = w.towards(m, thread) // as above
	}
	seq, k := ch.Begin()
	w.opened()
	k.group, k.message, k.rpc, k.passive, k.answered, k.phase, k.sentAt, k.tries, k.deferred = g, message, rpc, c.mode.Passive, false, c.InPhase(), w.Local, 0, 0
	k.posted, k.sent, k.granted, k.got = w.Local, 0, 0, 0
	var r *Reply
	if !k.passive {
		r = c.replies.Next()
		k.reply = r
		g.pending++
	} else {
		w.unconfirmed++
	}
	if w.cl.machines[m].state == running {
		w.request(ch, seq, k, c.mode.Doorbell, false)
	} else {
		w.tickDue = true // the loop ends it
	}
	if x := w.cl.watch; x != nil && k.passive {
		x.called(w, ch, seq, k, nil)
	}
	w.startTick()
	g.posted()
	return r
}

// callSelf is a call from a thread to itself: a procedure call.
func (g *Group) callSelf(rpc uint8, req []byte) *Reply {
	c, w, f := g.co, g.co.w, g.co.w.cl.rpc(rpc)
	w.Charge(w.CPU.Dispatch)
	message := w.messages.Take(len(req)) // the handler may wait, and req be used by others
	copy(message, req)
	defer w.messages.Give(message)
	from := Peer{w.mc.id, w.thread, c.index}
	if f.Defers {
		w.beginOwn(c, job{head: datagram.Header{RPC: rpc}, from: from, req: message})
	}
	outer := beside.Begin(&c.Pad)
	c.serves = true
	n := f.Serve(c, from, message, w.answer)
	c.Back(false)
	c.serves = false
	notes := beside.End(&c.Pad, outer)
	var t *Ticket
	if f.Defers {
		t = w.endOwn(notes)
	}
	if c.mode.Passive {
		if f.Receipt != nil {
			f.Receipt(w.mc.id, w.thread, w.mc.id, message)
		}
		return nil
	}
	r := c.replies.Next()
	if t != nil {
		t.group, t.reply = g, r
		g.pending++
		g.posted()
		return r
	}
	r.B = c.Buf(n).B
	copy(r.B, w.answer[:n])
	registered.Annotate(r, notes)
	return r
}

// request sends or repeats a request. Repetitions are always datagrams: what
// was written into a ring is there, and what got lost was none.
func (w *Worker) request(ch *channel, seq uint32, k *call, batched, again bool) {
	h := w.requestHeader(ch, seq, k)
	if again && k.got > 0 { // it is served: the rest of the reply is missing
		w.grant(ch, k.rpc, seq, k.got, datagram.GrantsReply|datagram.GrantsAgain)
		return
	}
	if n := w.cl.whole.Segments(len(k.message)); n > 0 {
		w.requestSegments(ch, h, k, n, batched, again)
		return
	}
	if ch.rings != nil && !again {
		if !k.passive {
			w.expect(ch, seq)
		}
		w.write(ch, ch.rings.Requests, h, k.message, k.asker(), batched)
		return
	}
	w.send(ch, h, k.message, k.asker(), batched)
}

func (w *Worker) requestHeader(ch *channel, seq uint32, k *call) datagram.Header {
	h := datagram.Header{Kind: datagram.Request, RPC: k.rpc, Coroutine: k.group.co.tag(), Seq: seq, Lag: seq - ch.Oldest}
	if k.passive {
		h.Kind = datagram.Passive
	}
	return h
}

// send posts a message, with the receipt that is owed on it and what goes beside it: of a request who asks, of a reply the number of what
// the server knows.
func (w *Worker) send(ch *channel, h datagram.Header, payload []byte, beside uint32, batched bool) {
	h.Size = len(payload)
	w.datagram(ch, h, 0, 0, payload, beside, batched)
}

// datagram posts a message, or a segment of one, whose number is in a head of its own.
func (w *Worker) datagram(ch *channel, h datagram.Header, head int, number uint16, payload []byte, beside uint32, batched bool) {
	n := datagram.HeaderBytes + head + len(payload)
	slot, a, b := w.buffers.Take(n)
	h.Ack = ch.Arrived
	h.Put(b)
	if head > 0 {
		datagram.PutSegment(b[datagram.HeaderBytes:], number, 0)
	}
	copy(b[datagram.HeaderBytes+head:], payload)
	w.paid(ch)
	w.Charge(w.CopyCost(n))
	if tcp := w.cl.tcp; tcp != nil { // a system call each, there is no doorbell to share
		w.Charge(tcp.Send(n))
		batched = false
	}
	inline := n <= w.ud.QP.Inline()
	w.stored(a, n, inline)
	w.append(w.ud, &fabric.SendWR{
		Op: fabric.Send, Inline: inline, Local: a, LKey: w.lkey, Len: uint32(n),
		Dest: ch.address, Beside: uint64(beside),
	}, sendq.Entry{Buffer: slot}, nil)
	w.pairs.Post(w.ud, batched)
}

// receive handles a message.
func (w *Worker) receive(cqe *fabric.CQE) {
	slot := int(cqe.ID &^ sendq.RecvFlag)
	if cqe.Status != fabric.Success {
		w.Clock.Fail(fmt.Errorf("r2: receive on machine %d thread %d: %v", w.mc.id, w.thread, cqe.Status))
		return
	}
	a := w.buffers.RecvBuffer(slot)
	b := w.mc.mem.Bytes(a, datagram.HeaderBytes+datagram.SegmentHead)
	h := datagram.Parse(b)
	n := w.cl.whole.Carried(h, b[datagram.HeaderBytes:])
	b = w.mc.mem.Bytes(a, datagram.HeaderBytes+n)
	w.TouchDMA(a, datagram.HeaderBytes+n)
	payload := b[datagram.HeaderBytes : datagram.HeaderBytes+n]
	if tcp := w.cl.tcp; tcp != nil {
		w.Charge(tcp.Receive(datagram.HeaderBytes + n))
	}
	ch := w.channel(cqe.Src)
	if ch == nil {
		w.repost(slot)
		return
	}
	ch.acknowledge(w, h.Ack)
	if w.dispatch(ch, h, payload, slot, cqe) {
		return // the handler gives the RECV back
	}
	w.repost(slot)
}

// dispatch does what a message is for. It reports whether a handler took over its RECV.
func (w *Worker) dispatch(ch *channel, h datagram.Header, payload []byte, slot int, cqe *fabric.CQE) bool {
	switch long := h.Size > int(w.cl.whole); {
	case h.Kind == datagram.Ack:
		if h.Size > 0 {
			w.granted(ch, h, payload)
		}
	case h.Kind == datagram.Reply && long:
		w.answeredInPart(ch, h, payload, cqe)
	case h.Kind == datagram.Reply:
		w.answered(ch, h, payload, cqe)
	case long:
		w.requestedInPart(ch, h, payload, slot, cqe)
	default:
		return w.requested(ch, h, payload, slot, cqe)
	}
	return false
}

// answered hands a reply to the coroutine that waits for it.
func (w *Worker) answered(ch *channel, h datagram.Header, payload []byte, cqe *fabric.CQE) {
	seq, k := ch.awaits(h.Seq)
	if k == nil {
		return
	}
	if h.Lag == notYet {
		w.askAgain(ch, seq, k)
		return
	}
	w.rtos.Heard(ch.rto, k.tries, h.Lag != answeredLate, w.Local-k.sentAt)
	if h.Lag == ofOldEpoch {
		k.group.fail(w.refused(ch, k, payload))
		w.finish(ch, seq, k, cqe)
		return
	}
	k.reply.B = k.group.co.Buf(len(payload)).B
	copy(k.reply.B, payload)
	w.Charge(w.CopyCost(len(payload)))
	w.finish(ch, seq, k, cqe)
}

// finish ends a call whose reply is complete, with the completion that brought it.
func (w *Worker) finish(ch *channel, seq uint32, k *call, cqe *fabric.CQE) {
	k.answered = true
	answer := ch.answers.Of(uint32(cqe.Beside))
	registered.Annotate(k.reply, answer.Notes)
	stamp := answer.Stamp
	stamp.Add(&cqe.Stamp)
	if x := w.cl.watch; x != nil {
		x.called(w, ch, seq, k, &stamp)
	}
	w.done(k.group, &stamp)
	ch.close(w)
}

// requested serves a request, or repeats the answer to one served before. It
// reports whether a handler took it over.
func (w *Worker) requested(ch *channel, h datagram.Header, payload []byte, slot int, cqe *fabric.CQE) bool {
	return w.serveRequest(ch, h, w.retireBefore(ch, h), payload, slot, cqe, nil)
}

// retireBefore takes what a request tells of those before it, and returns its sequence number.
func (w *Worker) retireBefore(ch *channel, h datagram.Header) uint32 {
	seq := datagram.Near(ch.Arrived, h.Seq)
	if int32(seq-h.Lag-ch.KeptFrom) > 0 {
		ch.Forget(&w.messages, &w.answers, seq-h.Lag)
	}
	if int32(seq-h.Lag-ch.Arrived) > 0 {
		ch.Skip(seq - h.Lag)
		if len(ch.parts) > 0 {
			ch.parts.Abandon(&w.messages, ch.Arrived)
		}
	}
	return seq
}

// serveRequest has a request served that is all here, unless it was before. whole is its
// memory if it came in segments.
func (w *Worker) serveRequest(ch *channel, h datagram.Header, seq uint32, payload []byte, slot int, cqe *fabric.CQE, whole []byte) bool {
	if h.Kind == datagram.Passive {
		w.countForReceipt(ch)
	}
	if !ch.Admit(seq) {
		w.repeat(ch, seq, h)
		return false
	}
	w.job = job{ch: ch, seq: seq, head: h, asker: uint32(cqe.Beside), req: payload, slot: slot, whole: whole,
		from: Peer{int(cqe.Src.Machine), ch.peer.thread, h.Coroutine}}
	if h.Kind == datagram.Request {
		w.job.beside.Stamp = cqe.Stamp
		w.job.beside.Stamp.Spend(metrics.HandlerQueue, max(w.Local-cqe.At, 0))
	}
	if w.cl.rpc(h.RPC).AtOnce {
		w.handle(&w.job)
	} else {
		core.Resume(&w.handler.Program)
	}
	return true
}

// repeat sends the reply to a request that was served before, if there is one.
func (w *Worker) repeat(ch *channel, seq uint32, h datagram.Header) {
	if k := ch.Kept(seq); k != nil {
		w.sendReply(ch, seq, h, k)
	} else if w.cl.rpc(h.RPC).Defers && h.Kind == datagram.Request {
		w.sayNotYet(ch, seq, h)
	}
}

// serve is the handler's program.
func (w *Worker) serve() {
	for {
		if j := &w.job; j.ticket != nil {
			j.ticket.deliver(w.handler)
		} else {
			w.handle(j)
		}
		core.Park(&w.handler.Program)
	}
}

func (w *Worker) handle(j *job) {
	h := w.handler
	start := w.Local
	w.Charge(w.CPU.Dispatch)
	if w.cl.front > 0 && !w.admits(j) {
		return
	}
	f := w.cl.rpc(j.head.RPC).Serve
	if f == nil {
		w.Clock.Fail(fmt.Errorf("r2: machine %d got a request for rpc %d, which has no handler", w.mc.id, j.head.RPC))
		return
	}
	outer := beside.Begin(&h.Pad)
	n := f(h, j.from, j.req, w.answer)
	h.Back(false)
	j.beside.Notes = beside.End(&h.Pad, outer)
	j.beside.Stamp.Spend(metrics.Handler, w.Local-start)
	if w.cl.rpc(j.head.RPC).Defers && w.holds(j) {
		w.messages.Give(j.whole)
		w.repost(j.slot)
		return
	}
	if x := w.cl.watch; x != nil {
		x.served(w, j, n, start)
	}
	if j.head.Kind == datagram.Request {
		m := w.messages.Take(n)
		copy(m, w.answer[:n])
		if w.cl.single {
			core.FenceStreams(&h.Program)
		}
		w.sendReply(j.ch, j.seq, j.head, j.ch.Keep(j.seq, m, w.answers.Keep(&j.beside)))
	}
	w.messages.Give(j.whole)
	w.repost(j.slot)
}

// sendReply posts a kept reply; unless configured otherwise replies share the
// flush's doorbell.
func (w *Worker) sendReply(ch *channel, seq uint32, h datagram.Header, k *datagram.Kept) {
	h = datagram.Header{Kind: datagram.Reply, RPC: h.RPC, Coroutine: h.Coroutine, Seq: seq, Lag: uint32(k.How)}
	if len(k.Message) > int(w.cl.whole) {
		k.Sent = 0
		w.replySegments(ch, h, k, 0)
		return
	}
	if ch.rings != nil && ch.rings.Replies.Base != 0 && !w.cl.rpc(h.RPC).Defers && k.How != ofOldEpoch {
		w.write(ch, ch.rings.Replies, h, k.Message, k.Beside, !w.cl.single)
		return
	}
	w.send(ch, h, k.Message, k.Beside, !w.cl.single)
}

// countForReceipt notes that the peer waits for a receipt: the next message to it carries
// one, and if none goes out for long, one is sent for that alone.
func (w *Worker) countForReceipt(ch *channel) {
	if ch.owed == 0 {
		ch.owedSince = w.Local
	}
	if ch.owed++; ch.owed == owedWaiting {
		w.owing++
	}
	if ch.owed >= owedMax {
		w.sendAck(ch)
	}
	w.startTick()
}

// paid notes that a message takes the receipts along that are owed on a channel.
func (w *Worker) paid(ch *channel) {
	if ch.owed >= owedWaiting {
		w.owing--
	}
	ch.owed = 0
}

// crowded says that passive posts have to wait. Buffers become scarce by a request that is
// signaled for that reason, so they come back without another post.
func (w *Worker) crowded() bool {
	return w.pairs.Full || w.buffers.Scarce() || w.unconfirmed > owedWaiting*(len(w.out)-1)
}

// release resumes the coroutines that wait for room.
func (w *Worker) release() {
	if w.crowded() {
		return
	}
	for _, c := range w.held {
		w.ready.Push(c)
	}
	w.held = w.held[:0]
}

// flushReceipts sends receipts that others may wait for, before this thread waits: for
// receipts itself, or for whatever comes. When a request is held, a peer owes it as
// many as that.
func (w *Worker) flushReceipts() {
	if w.owing == 0 || len(w.held) == 0 && (w.ready.Len() > 0 || w.pairs.CQ.Len() > 0) {
		return
	}
	for _, ch := range w.chans {
		if ch.owed >= owedWaiting {
			w.sendAck(ch)
		}
	}
}

func (w *Worker) sendAck(ch *channel) {
	w.send(ch, datagram.Header{Kind: datagram.Ack}, nil, 0, true)
}

// repost gives a RECV buffer back; they are posted in batches.
func (w *Worker) repost(slot int) {
	if slot == noSlot {
		return
	}
	a := w.buffers.RecvBuffer(slot)
	w.mc.mem.Reuse(a)
	w.refill = append(w.refill, fabric.RecvWR{ID: sendq.RecvFlag | uint64(slot), Local: a, LKey: w.lkey, Len: uint32(w.buffers.Size)})
	if len(w.refill) == cap(w.refill) {
		if err := w.postRecvs(); err != nil {
			w.Clock.Fail(err)
		}
	}
}

func (w *Worker) postRecvs() error {
	w.Charge(Time(len(w.refill)) * w.CPU.RecvRefill)
	err := w.ud.QP.PostRecv(max(w.Local, w.Clock.Now()), w.refill)
	w.refill = w.refill[:0]
	if err != nil {
		return fmt.Errorf("r2: recv on machine %d thread %d: %w", w.mc.id, w.thread, err)
	}
	return nil
}

// startTick keeps a slow timer going while anything is open.
func (w *Worker) startTick() {
	if !w.ticking {
		w.ticking, w.tickAt = true, max(w.Local, w.Clock.Now())+w.cl.cfg.ResendAfter/4
		w.Clock.At(w.tickAt, w.mc.kTick, uint32(w.id))
	}
}

// tick looks for what is overdue and has the loop deal with it.
func (w *Worker) tick() {
	now := w.Clock.Now()
	if !w.ticking || now != w.tickAt { // of before a crash
		return
	}
	w.ticking = false
	for _, ch := range w.chans {
		open := ch.Any()
		if !open && ch.owed == 0 {
			continue
		}
		w.startTick()
		if k := ch.At(ch.Oldest); open && now-k.sentAt >= w.cl.later(w.rtos.After(ch.rto), k) ||
			ch.owed > 0 && now-ch.owedSince >= w.cl.cfg.ResendAfter/4 {
			w.tickDue = true
		}
	}
	if w.tickDue {
		w.wake()
	}
}

// retransmit repeats overdue requests and sends overdue receipts. Requests that
// were repeated too often, or whose machine is down, end. While messages wait for room
// in the send queue nothing is repeated: the copy before may be among them, and the
// next would only lie behind it.
func (w *Worker) retransmit() {
	room := w.ud.Tail-w.ud.Head <= uint32(w.ud.Depth)
	for _, ch := range w.chans {
		if ch.peer.mc.state != running {
			w.lose(ch)
			continue
		}
		after := w.rtos.After(ch.rto)
		for s := ch.Oldest; s != ch.Next && room; s++ {
			k := ch.At(s)
			if k.answered || w.Local-k.sentAt < w.cl.later(after, k) {
				continue
			}
			if k.tries == resendMax {
				w.giveUp(ch, k)
				continue
			}
			ch.rto = w.rtos.Overdue(ch.rto, k.sentAt, w.Local)
			k.tries++
			k.sentAt = w.Local
			w.request(ch, s, k, true, true)
		}
		ch.close(w)
		if ch.owed > 0 && w.Local-ch.owedSince >= w.cl.cfg.ResendAfter/4 {
			w.sendAck(ch)
		}
	}
}
