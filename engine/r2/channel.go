package r2

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
)

// Messages are of four types; the header is the original's first word and one
// for reliability.
const (
	typeRequest = iota
	typeReply
	typePassive
	typeAck

	headerBytes = 8
	seqBits     = 12
	seqMask     = 1<<seqBits - 1
	owedMax     = 32 // receipts owed before they get a message of their own
	owedWaiting = 8  // the same of a thread that waits, and has nothing to send them with
)

// header is the first eight bytes of a message.
type header struct {
	kind      int    // 2 bits
	rpc       uint8  // 5 bits
	size      int    // 18 bits: payload
	coroutine int    // 7 bits
	seq       uint32 // 12 bits: of the request, also in its reply
	ack       uint32 // 12 bits: all requests of the other side below it have arrived
	lag       uint32 // 8 bits: seq minus the oldest request without an answer; in a reply, answeredLate or notYet
}

func (h header) put(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(h.kind)|uint32(h.rpc)<<2|uint32(h.size)<<7|uint32(h.coroutine&127)<<25)
	binary.LittleEndian.PutUint32(b[4:], h.seq&seqMask|(h.ack&seqMask)<<12|h.lag<<24)
}

func parseHeader(b []byte) header {
	x, y := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	return header{
		kind: int(x & 3), rpc: uint8(x >> 2 & 31), size: int(x >> 7 & (1<<18 - 1)), coroutine: int(x >> 25),
		seq: y & seqMask, ack: y >> 12 & seqMask, lag: y >> 24,
	}
}

// near is the full sequence number whose low bits are low and which is
// closest to ref.
func near(ref, low uint32) uint32 {
	d := (low - ref) & seqMask
	if d >= 1<<(seqBits-1) {
		d -= 1 << seqBits
	}
	return ref + d
}

// call is a request that is not answered or, passive, not acknowledged.
type call struct {
	co       *Co
	message  []byte // kept for repetition
	sentAt   Time
	reply    *Reply
	rpc      uint8
	passive  bool
	answered bool
	phase    metrics.Phase
	tries    uint8         // repetitions
	deferred uint8         // how often the server has said that its answer takes long
	posted   Time          // the first time
	sent     uint16        // segments of the request that went out
	granted  uint16        // that are there
	got      uint16        // segments of the reply that are here
	stamp    metrics.Stamp // of the way there and the handler, kept by the simulator; not of a passive one
}

// kept is a reply that the requester may ask for again.
type kept struct {
	message []byte
	ok      bool
	how     uint8  // see header.lag
	sent    uint16 // segments, of a long one
}

// channel is one thread's side of the conversation with a thread of another
// machine.
type channel struct {
	// Requests from here.
	calls        []call // by sequence number
	next, oldest uint32 // requests [oldest, next) are open
	acked        uint32
	address      fabric.AH    // of the peer
	stalled      *[]*Co       // nil: nobody ever was
	patience     *patience    // nil: nothing was ever repeated
	rings        *remoteRings // nil: all messages are datagrams

	// Requests from there.
	arrived   uint32 // all of the peer's requests below it are here
	keptFrom  uint32
	beyond    [RequestWindow / 64]uint64 // bit i: arrived+i is here too
	replies   []kept                     // by sequence number; grows from nothing
	parts     []part                     // requests whose first segments are here
	owedSince Time
	owed      int

	peer  *Worker
	other *channel // with another thread of that machine
}

func newChannel(peer *Worker) *channel {
	ch := &channel{peer: peer, calls: make([]call, 2)}
	if peer.ud != nil {
		ch.address = peer.ud.qp.Address()
	}
	return ch
}

// towards is the conversation with a thread of a machine, most often our mate.
func (w *Worker) towards(m, thread int) *channel {
	for ch := w.out[m]; ch != nil; ch = ch.other {
		if ch.peer.thread == thread {
			return ch
		}
	}
	return w.meet(w.cl.machines[m].workers[thread])
}

// meet begins a conversation with a thread that is not our mate.
func (w *Worker) meet(peer *Worker) *channel {
	ch := newChannel(peer)
	w.chans = append(w.chans, ch)
	mate := w.out[peer.mc.id]
	ch.other, mate.other = mate.other, ch
	return ch
}

// channel is the conversation with the sender of a message. Where machines have different numbers
// of threads, or with CallThread, several threads may talk to one. It is nil of a sender that has
// crashed meanwhile.
func (w *Worker) channel(src fabric.AH) *channel {
	for ch := w.out[src.Machine]; ch != nil; ch = ch.other {
		if ch.address == src {
			return ch
		}
	}
	for _, peer := range w.cl.machines[src.Machine].workers {
		if peer.ud.qp.Address() == src {
			return w.meet(peer)
		}
	}
	if w.cl.restarts { // it was sent before a crash
		return nil
	}
	panic(fmt.Sprintf("r2: message from unknown queue pair %v", src))
}

func (ch *channel) call(seq uint32) *call { return &ch.calls[seq&uint32(len(ch.calls)-1)] }

// open takes the next sequence number.
func (ch *channel) open() (uint32, *call) {
	if n := uint32(len(ch.calls)); ch.next-ch.oldest == n {
		old := ch.calls
		ch.calls = make([]call, 2*n)
		for s := ch.oldest; s != ch.next; s++ {
			*ch.call(s) = old[s&(n-1)]
		}
	}
	s := ch.next
	ch.next++
	return s, ch.call(s)
}

// close retires the answered requests at the front.
func (ch *channel) close(w *Worker) {
	before := ch.oldest
	for ch.oldest != ch.next && ch.call(ch.oldest).answered {
		c := ch.call(ch.oldest)
		w.messages.give(c.message)
		c.message = nil
		ch.oldest++
		w.cl.open--
	}
	if ch.oldest != before && ch.stalled != nil {
		for _, c := range *ch.stalled {
			c.stalled = nil
			w.makeReady(c)
		}
		*ch.stalled = (*ch.stalled)[:0]
	}
}

// stall notes that a coroutine waits for room in the window.
func (ch *channel) stall(c *Co) {
	if ch.stalled == nil {
		ch.stalled = new([]*Co)
	}
	*ch.stalled = append(*ch.stalled, c)
	c.stalled = ch
}

// acknowledge takes a cumulative acknowledgement: what is below it has
// arrived, which is all a passive request waits for.
func (ch *channel) acknowledge(w *Worker, low uint32) {
	upto := near(ch.acked, low)
	if int32(upto-ch.acked) <= 0 {
		return
	}
	repeated := false
	for ; ch.acked != upto; ch.acked++ {
		if int32(ch.acked-ch.oldest) < 0 {
			continue
		}
		k := ch.call(ch.acked)
		repeated = repeated || k.tries > 0
		if k.passive && !k.answered {
			k.answered = true
			w.heard(ch, k, !repeated)
			w.unconfirmed--
			if f := w.cl.receipts[k.rpc]; f != nil {
				f(w.mc.id, w.thread, ch.peer.mc.id, k.message)
			}
		}
	}
	ch.close(w)
}

// lacks says that a request is not here yet and may come.
func (ch *channel) lacks(seq uint32) bool {
	d := seq - ch.arrived
	return d < RequestWindow && ch.beyond[d/64]>>(d%64)&1 == 0
}

// admit notes the arrival of a request; false: it was here before.
func (ch *channel) admit(seq uint32) bool {
	if !ch.lacks(seq) {
		return false
	}
	d := seq - ch.arrived
	ch.beyond[d/64] |= 1 << (d % 64)
	ch.advance()
	return true
}

// advance moves arrived to the first request that is not here.
func (ch *channel) advance() {
	for ch.beyond[0] == ^uint64(0) {
		ch.shift(64)
	}
	if n := bits.TrailingZeros64(^ch.beyond[0]); n > 0 {
		ch.shift(uint32(n))
	}
}

// skip takes all requests below seq as arrived: their sender no longer repeats
// them.
func (ch *channel) skip(seq uint32) {
	for n := seq - ch.arrived; n > 0; n = seq - ch.arrived {
		ch.shift(min(n, 64))
	}
	ch.advance()
}

func (ch *channel) shift(n uint32) {
	ch.arrived += n
	for i := range ch.beyond {
		x := uint64(0)
		if i+1 < len(ch.beyond) {
			x = ch.beyond[i+1]
		}
		if n == 64 {
			ch.beyond[i] = x
		} else {
			ch.beyond[i] = ch.beyond[i]>>n | x<<(64-n)
		}
	}
}

// keep stores a reply until the requester is known to have it.
func (ch *channel) keep(seq uint32, message []byte) {
	for n := uint32(len(ch.replies)); seq-ch.keptFrom >= n; n = uint32(len(ch.replies)) {
		old := ch.replies
		ch.replies = make([]kept, max(2*n, 2))
		for s := ch.keptFrom; s != ch.keptFrom+n; s++ {
			ch.replies[s&uint32(len(ch.replies)-1)] = old[s&(n-1)]
		}
	}
	ch.replies[seq&uint32(len(ch.replies)-1)] = kept{message: message, ok: true}
}

func (ch *channel) kept(seq uint32) *kept {
	if seq-ch.keptFrom >= uint32(len(ch.replies)) {
		return nil
	}
	k := &ch.replies[seq&uint32(len(ch.replies)-1)]
	if !k.ok {
		return nil
	}
	return k
}

// forget drops the replies below seq.
func (ch *channel) forget(w *Worker, seq uint32) {
	if len(ch.replies) == 0 { // only passive requests came
		ch.keptFrom = seq
		return
	}
	for int32(seq-ch.keptFrom) > 0 {
		k := &ch.replies[ch.keptFrom&uint32(len(ch.replies)-1)]
		w.messages.give(k.message)
		*k = kept{}
		ch.keptFrom++
	}
}

// messages is a pool of byte slices in seven sizes.
type messages struct {
	unused [7][][]byte
}

func messageClass(n int) int {
	switch {
	case n <= 64:
		return 0
	case n <= 256:
		return 1
	case n <= 1024:
		return 2
	case n <= 4096:
		return 3
	case n <= 16384:
		return 4
	case n <= 65536:
		return 5
	}
	return 6
}

func (p *messages) take(n int) []byte {
	k := messageClass(n)
	if l := len(p.unused[k]); l > 0 {
		b := p.unused[k][l-1]
		p.unused[k] = p.unused[k][:l-1]
		if cap(b) >= n {
			return b[:n]
		}
	}
	return make([]byte, n, max(64<<(2*k), n))
}

func (p *messages) give(b []byte) {
	if cap(b) == 0 {
		return
	}
	k := messageClass(cap(b))
	p.unused[k] = append(p.unused[k], b)
}
