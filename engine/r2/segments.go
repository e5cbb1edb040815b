package r2

import (
	"drtmx/engine/fabric"
	"drtmx/engine/r2/datagram"
)

// A request or reply that does not fit a datagram goes in segments: datagrams of its kind and
// sequence number, whose header has the size of the whole. The caller drives both directions, as
// in eRPC (Kalia et al., NSDI 2019, section 5): it sends the next segments of its request when the
// server grants them, asks for the next of the reply itself, and repeats when nothing gets on. So
// only callers have timers, as with small messages. Segments are taken in order; one that does not
// follow the last is dropped, and comes again.

// follows is the rule by which segments are taken: the next one. Tests break it.
func follows(number, have uint16) bool { return number == have }

// sendSegment posts one segment of a message.
func (w *Worker) sendSegment(ch *channel, h datagram.Header, payload []byte, i uint16, beside uint32, batched bool) {
	h.Size = len(payload)
	w.datagram(ch, h, datagram.SegmentHead, i, w.cl.whole.Segment(payload, i), beside, batched)
}

// requestSegments sends those of a request that its window allows. Again: those that the server
// is not known to have, and if the reply has begun, the call for its next ones.
func (w *Worker) requestSegments(ch *channel, h datagram.Header, k *call, n uint16, batched, again bool) {
	if again {
		k.sent = k.granted
	}
	if ch.rings != nil && !again && k.sent == 0 { // the ring has to have the request in its turn
		if !k.passive {
			w.expect(ch, h.Seq)
		}
		w.writeSegment(ch, ch.rings.Requests, h, k.message, k.asker(), batched)
		k.sent = 1
		return
	}
	for upto := min(n, k.granted+datagram.SegmentWindow); k.sent < upto; k.sent++ {
		w.sendSegment(ch, h, k.message, k.sent, k.asker(), batched)
	}
}

// replySegments sends those of a reply that the caller has room for when it has got some.
func (w *Worker) replySegments(ch *channel, h datagram.Header, k *datagram.Kept, got uint16) {
	n := w.cl.whole.Segments(len(k.Message))
	for upto := min(n, got+datagram.SegmentWindow); k.Sent < upto; k.Sent++ {
		w.sendSegment(ch, h, k.Message, k.Sent, k.Beside, !w.cl.single)
	}
}

// grant tells the other side how many segments of a message are here.
func (w *Worker) grant(ch *channel, rpc uint8, seq uint32, have uint16, flags uint32) {
	var b [datagram.SegmentHead]byte
	datagram.PutSegment(b[:], have, flags)
	w.send(ch, datagram.Header{Kind: datagram.Ack, RPC: rpc, Seq: seq}, b[:], 0, true)
}

// granted goes on with a message of which the other side has some segments.
func (w *Worker) granted(ch *channel, h datagram.Header, payload []byte) {
	have, flags := datagram.ParseSegment(payload)
	if flags&datagram.GrantsReply != 0 {
		seq := datagram.Near(ch.Arrived, h.Seq)
		k := ch.Kept(seq)
		if k == nil {
			return
		}
		if flags&datagram.GrantsAgain != 0 {
			k.Sent = have
		}
		w.replySegments(ch, datagram.Header{Kind: datagram.Reply, RPC: h.RPC, Seq: seq, Lag: uint32(k.How)}, k, have)
		return
	}
	seq, k := ch.awaits(h.Seq)
	if k == nil || have <= k.granted {
		return
	}
	w.goesOn(ch, k, k.granted == 0)
	k.granted = have
	k.sent = max(k.sent, have)
	w.requestSegments(ch, w.requestHeader(ch, seq, k), k, w.cl.whole.Segments(len(k.message)), true, false)
}

// goesOn notes that a call is being served: what it waits for now began now. Only the first
// time tells how long an answer takes, for then segments follow each other.
func (w *Worker) goesOn(ch *channel, k *call, first bool) {
	w.rtos.Heard(ch.rto, k.tries, first, w.Local-k.sentAt)
	k.sentAt, k.tries = w.Local, 0
}

// awaits is the open request that a message of the server is about; nil: there is none.
func (ch *channel) awaits(low uint32) (uint32, *call) {
	seq := datagram.Near(ch.Oldest, low)
	if ch.Has(seq) {
		if k := ch.At(seq); !k.answered {
			return seq, k
		}
	}
	return seq, nil
}

// answeredInPart takes a segment of a reply.
func (w *Worker) answeredInPart(ch *channel, h datagram.Header, b []byte, cqe *fabric.CQE) {
	number, _ := datagram.ParseSegment(b)
	seq, k := ch.awaits(h.Seq)
	if k == nil || !w.cl.follows(number, k.got) {
		return
	}
	w.goesOn(ch, k, k.got == 0 && h.Lag != answeredLate)
	if k.got == 0 {
		k.reply.B = k.group.co.Buf(h.Size).B
	}
	data := b[datagram.SegmentHead:]
	copy(w.cl.whole.Segment(k.reply.B, k.got), data)
	w.Charge(w.CopyCost(len(data)))
	k.got++
	switch {
	case k.got == w.cl.whole.Segments(h.Size):
		w.finish(ch, seq, k, cqe)
	case k.got%(datagram.SegmentWindow/2) == 0:
		w.grant(ch, k.rpc, seq, k.got, datagram.GrantsReply)
	}
}

// requestedInPart takes a segment of a request; the last one has it served.
func (w *Worker) requestedInPart(ch *channel, h datagram.Header, b []byte, slot int, cqe *fabric.CQE) {
	number, _ := datagram.ParseSegment(b)
	n := w.cl.whole.Segments(h.Size)
	seq := w.retireBefore(ch, h)
	if !ch.Lacks(seq) {
		if number+1 == n {
			w.serveRequest(ch, h, seq, nil, noSlot, cqe, nil)
		}
		return
	}
	p := ch.parts.Of(&w.messages, seq, h.Size)
	again := number+1 == p.Have // the grant before may be lost
	if w.cl.follows(number, p.Have) {
		data := b[datagram.SegmentHead:]
		copy(w.cl.whole.Segment(p.Message, p.Have), data)
		w.Charge(w.CopyCost(len(data)))
		p.Have++
	} else if !again {
		return
	}
	if p.Have == n {
		message := ch.parts.Complete(p)
		if !w.serveRequest(ch, h, seq, message, noSlot, cqe, message) {
			w.messages.Give(message)
		}
		return
	}
	if again || slot == noSlot || p.Have%(datagram.SegmentWindow/2) == 0 {
		w.grant(ch, h.RPC, seq, p.Have, 0)
	}
}
