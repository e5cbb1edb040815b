package r2

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/space"
	"drtmx/engine/metrics"
)

// A request or reply that does not fit a datagram goes in segments: datagrams of its kind and
// sequence number, whose header has the size of the whole. The caller drives both directions, as
// in eRPC (Kalia et al., NSDI 2019, section 5): it sends the next segments of its request when the
// server grants them, asks for the next of the reply itself, and repeats when nothing gets on. So
// only callers have timers, as with small messages. Segments are taken in order; one that does not
// follow the last is dropped, and comes again.
const (
	// segmentHead is what a segment and a grant have behind their header: a number and flags.
	segmentHead = 8

	// segmentWindow is how many segments of a message may be under way, half of it how many
	// arrive for a grant. With RecvDepths for it, messages find RECVs however long they are.
	segmentWindow = 8

	// maxSize is the largest payload that a header can tell.
	maxSize = 1<<18 - 1
)

// Flags of a grant: which message it is of, and that what was sent beyond it is to be sent again.
const (
	grantsReply = 1 << iota
	grantsAgain
)

// segmentsOf is how many segments a payload of n bytes takes; 0: it fits a datagram.
func (cl *Cluster) segmentsOf(n int) uint16 {
	if n <= cl.whole {
		return 0
	}
	per := cl.whole - segmentHead
	return uint16((n + per - 1) / per)
}

// segment are the bytes of a payload that travel in its i-th segment.
func (cl *Cluster) segment(payload []byte, i uint16) []byte {
	per := cl.whole - segmentHead
	from := int(i) * per
	return payload[from:min(from+per, len(payload))]
}

// carried is how many bytes a datagram has behind its header.
func (cl *Cluster) carried(h header, b []byte) int {
	if h.size <= cl.whole {
		return h.size
	}
	per := cl.whole - segmentHead
	number, _ := parseSegment(b)
	return segmentHead + min(per, h.size-int(number)*per)
}

func putSegment(b []byte, number uint16, flags uint32) {
	binary.LittleEndian.PutUint32(b, uint32(number))
	binary.LittleEndian.PutUint32(b[4:], flags)
}

func parseSegment(b []byte) (number uint16, flags uint32) {
	return uint16(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
}

// follows is the rule by which segments are taken: the next one. Tests break it.
func follows(number, have uint16) bool { return number == have }

// sendSegment posts one segment of a message.
func (w *Worker) sendSegment(ch *channel, h header, payload []byte, i uint16, batched bool) {
	h.size = len(payload)
	w.datagram(ch, h, segmentHead, i, w.cl.segment(payload, i), batched)
}

// requestSegments sends those of a request that its window allows. Again: those that the server
// is not known to have, and if the reply has begun, the call for its next ones.
func (w *Worker) requestSegments(ch *channel, h header, k *call, n uint16, batched, again bool) {
	if again {
		k.sent = k.granted
	}
	if ch.rings != nil && !again && k.sent == 0 { // the ring has to have the request in its turn
		if !k.passive {
			w.expect(ch, h.seq)
		}
		w.writeSegment(ch, ch.rings.requests, h, k.message, batched)
		k.sent = 1
		return
	}
	for upto := min(n, k.granted+segmentWindow); k.sent < upto; k.sent++ {
		w.sendSegment(ch, h, k.message, k.sent, batched)
	}
}

// replySegments sends those of a reply that the caller has room for when it has got some.
func (w *Worker) replySegments(ch *channel, h header, k *kept, got uint16) {
	n := w.cl.segmentsOf(len(k.message))
	for upto := min(n, got+segmentWindow); k.sent < upto; k.sent++ {
		w.sendSegment(ch, h, k.message, k.sent, !w.cl.single)
	}
}

// grant tells the other side how many segments of a message are here.
func (w *Worker) grant(ch *channel, rpc uint8, seq uint32, have uint16, flags uint32) {
	var b [segmentHead]byte
	putSegment(b[:], have, flags)
	w.send(ch, header{kind: typeAck, rpc: rpc, seq: seq}, b[:], true)
}

// granted goes on with a message of which the other side has some segments.
func (w *Worker) granted(ch *channel, h header, payload []byte) {
	have, flags := parseSegment(payload)
	if flags&grantsReply != 0 {
		seq := near(ch.arrived, h.seq)
		k := ch.kept(seq)
		if k == nil {
			return
		}
		if flags&grantsAgain != 0 {
			k.sent = have
		}
		w.replySegments(ch, header{kind: typeReply, rpc: h.rpc, seq: seq, lag: uint32(k.how)}, k, have)
		return
	}
	seq, k := ch.awaits(h.seq)
	if k == nil || have <= k.granted {
		return
	}
	w.goesOn(ch, k, k.granted == 0)
	k.granted = have
	k.sent = max(k.sent, have)
	w.requestSegments(ch, w.requestHeader(ch, seq, k), k, w.cl.segmentsOf(len(k.message)), true, false)
}

// goesOn notes that a call is being served: what it waits for now began now. Only the first
// time tells how long an answer takes, for then segments follow each other.
func (w *Worker) goesOn(ch *channel, k *call, first bool) {
	w.heard(ch, k, first)
	k.sentAt, k.tries = w.Local, 0
}

// awaits is the open request that a message of the server is about; nil: there is none.
func (ch *channel) awaits(low uint32) (uint32, *call) {
	seq := near(ch.oldest, low)
	if int32(seq-ch.oldest) < 0 || int32(ch.next-seq) <= 0 {
		return seq, nil
	}
	k := ch.call(seq)
	if k.answered {
		return seq, nil
	}
	return seq, k
}

// answeredInPart takes a segment of a reply.
func (w *Worker) answeredInPart(ch *channel, h header, b []byte, back *metrics.Stamp) {
	number, _ := parseSegment(b)
	seq, k := ch.awaits(h.seq)
	if k == nil || !w.cl.follows(number, k.got) {
		return
	}
	w.goesOn(ch, k, k.got == 0 && h.lag != answeredLate)
	if k.got == 0 {
		k.reply.B = k.co.Buf(h.size).B
	}
	data := b[segmentHead:]
	copy(w.cl.segment(k.reply.B, k.got), data)
	w.Charge(w.CopyCost(len(data)))
	k.got++
	switch {
	case k.got == w.cl.segmentsOf(h.size):
		w.finish(ch, seq, k, back)
	case k.got%(segmentWindow/2) == 0:
		w.grant(ch, k.rpc, seq, k.got, grantsReply)
	}
}

// part is a request that is here in part.
type part struct {
	seq     uint32
	have    uint16
	message []byte
}

// part is what is here of a request, made if nothing is.
func (ch *channel) part(w *Worker, seq uint32, size int) *part {
	for i := range ch.parts {
		if p := &ch.parts[i]; p.seq == seq {
			return p
		}
	}
	ch.parts = append(ch.parts, part{seq: seq, message: w.messages.take(size)})
	return &ch.parts[len(ch.parts)-1]
}

// abandon drops what is here of requests that their caller has given up.
func (ch *channel) abandon(w *Worker) {
	kept := ch.parts[:0]
	for _, p := range ch.parts {
		if int32(p.seq-ch.arrived) < 0 {
			w.messages.give(p.message)
			continue
		}
		kept = append(kept, p)
	}
	clear(ch.parts[len(kept):])
	ch.parts = kept
}

// whole takes the message of a request that is complete.
func (ch *channel) whole(p *part) []byte {
	message, last := p.message, len(ch.parts)-1
	*p = ch.parts[last]
	ch.parts[last] = part{}
	ch.parts = ch.parts[:last]
	return message
}

// requestedInPart takes a segment of a request; the last one has it served.
func (w *Worker) requestedInPart(ch *channel, h header, b []byte, slot int, cqe *fabric.CQE) {
	number, _ := parseSegment(b)
	n := w.cl.segmentsOf(h.size)
	seq := w.settle(ch, h)
	if !ch.lacks(seq) {
		if number+1 == n {
			w.serveRequest(ch, h, seq, nil, noSlot, cqe, nil)
		}
		return
	}
	p := ch.part(w, seq, h.size)
	again := number+1 == p.have // the grant before may be lost
	if w.cl.follows(number, p.have) {
		data := b[segmentHead:]
		copy(w.cl.segment(p.message, p.have), data)
		w.Charge(w.CopyCost(len(data)))
		p.have++
	} else if !again {
		return
	}
	if p.have == n {
		message := ch.whole(p)
		if !w.serveRequest(ch, h, seq, message, noSlot, cqe, message) {
			w.messages.give(message)
		}
		return
	}
	if again || slot == noSlot || p.have%(segmentWindow/2) == 0 {
		w.grant(ch, h.rpc, seq, p.have, 0)
	}
}

// checkSizes refuses messages that a header cannot tell the size of.
func (c *Config) checkSizes() error {
	if most := max(c.MaxRequest, c.MaxReply) - headerBytes; most > maxSize {
		return fmt.Errorf("r2: messages of %d bytes, at most %d", most+headerBytes, maxSize+headerBytes)
	}
	if c.MaxMessage < max(c.MaxRequest, c.MaxReply) && c.MaxMessage < space.LineBytes {
		return fmt.Errorf("r2: segments of %d bytes, at least %d", c.MaxMessage, space.LineBytes)
	}
	return nil
}
