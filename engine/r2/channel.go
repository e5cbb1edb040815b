package r2

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2/beside"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/rings"
)

const (
	owedMax     = 32 // receipts owed before they get a message of their own
	owedWaiting = 8  // the same of a thread that waits, and has nothing to send them with
)

// call is a request that is not answered or, passive, not acknowledged.
type call struct {
	group    *Group // that waits for it
	message  []byte // kept for repetition
	sentAt   Time
	reply    *Reply
	rpc      uint8
	passive  bool
	answered bool
	phase    metrics.Phase
	tries    uint8  // repetitions
	deferred uint8  // how often the server has said that its answer takes long
	posted   Time   // the first time
	sent     uint16 // segments of the request that went out
	granted  uint16 // that are there
	got      uint16 // segments of the reply that are here
}

// channel is one thread's side of the conversation with a thread of another
// machine.
type channel struct {
	// Requests from here.
	datagram.Open[call]
	acked   uint32
	address fabric.AH     // of the peer
	stalled *[]*Co        // nil: none ever was
	rto     *datagram.RTO // nil: nothing was ever repeated
	rings   *rings.Remote // nil: all messages are datagrams

	// Requests from there.
	datagram.Arrivals
	datagram.Replies
	parts     datagram.Parts // requests whose first segments are here
	owedSince Time
	owed      int

	peer    *Worker
	answers *beside.Kept // beside the peer's
	other   *channel     // with another thread of that machine
}

// asker is the coroutine that asks.
func (k *call) asker() uint32 { return k.group.co.ID() }

func newChannel(peer *Worker) *channel {
	ch := &channel{peer: peer, answers: peer.answers.Kept(), Open: datagram.NewOpen[call]()}
	if peer.ud != nil {
		ch.address = peer.ud.QP.Address()
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
		if peer.ud.QP.Address() == src {
			return w.meet(peer)
		}
	}
	if w.cl.restarts { // it was sent before a crash
		return nil
	}
	panic(fmt.Sprintf("r2: message from unknown queue pair %v", src))
}

// close retires the answered requests at the front.
func (ch *channel) close(w *Worker) {
	before := ch.Oldest
	for ch.Oldest != ch.Next && ch.At(ch.Oldest).answered {
		c := ch.At(ch.Oldest)
		w.messages.Give(c.message)
		c.message = nil
		ch.Oldest++
		w.closed(1)
	}
	if ch.Oldest != before && ch.stalled != nil {
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
	upto := datagram.Near(ch.acked, low)
	if int32(upto-ch.acked) <= 0 {
		return
	}
	repeated := false
	for ; ch.acked != upto; ch.acked++ {
		if int32(ch.acked-ch.Oldest) < 0 {
			continue
		}
		k := ch.At(ch.acked)
		repeated = repeated || k.tries > 0
		if k.passive && !k.answered {
			k.answered = true
			w.rtos.Heard(ch.rto, k.tries, !repeated, w.Local-k.sentAt)
			w.unconfirmed--
			if f := w.cl.rpc(k.rpc).Receipt; f != nil {
				f(w.mc.id, w.thread, ch.peer.mc.id, k.message[w.cl.front:])
			}
		}
	}
	ch.close(w)
}
