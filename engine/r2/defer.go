package r2

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2/beside"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/registered"
)

// A handler that cannot answer yet keeps the request as a Ticket and answers later, from any code of its
// machine: that is how a lock queue is served. The caller's coroutine waits for its reply as for any other.
//
// Until then the caller repeats its request as if it were lost, and an open request keeps back the window
// of its channel. So a repetition is told "not yet" (a reply of that number, without a payload), and the
// caller goes on with a new request that only waits for the answer to the old one. A short wait costs no
// message; a long one costs three small ones per repetition, which come ever later. It ends with the answer
// or with a machine: no number of repetitions ends it.

// What a reply says in header.lag.
const (
	answeredLate = 1 // it was deferred: the time it took tells nothing about the network
	notYet       = 2 // it is deferred: ask for it again
	ofOldEpoch   = 3 // it was refused; the payload is the epoch of now
)

// maxDoublings is how often the time to the next repetition is doubled for a request that is known to wait.
const maxDoublings = 3

// Ticket is a request that its handler has not answered. It belongs to the handler that deferred it until it is
// answered, and may be another request's afterwards. A crash of the machine takes it.
type Ticket struct {
	w      *Worker
	ch     *channel // nil: a coroutine of the worker itself has asked
	seq    uint32
	head   datagram.Header
	from   Peer
	asker  uint32
	starts uint32 // of the caller's machine
	req    []byte

	group *Group // of a call of a thread to itself; nil: not waited for
	reply *Reply

	state  uint8
	moved  bool // the caller was told to ask again, and has not done so yet
	works  bool // a coroutine is at it: it waits for no lock
	f      func(c *Co, req, rep []byte) int
	answer []byte // while the caller is on its way to ask again
	beside beside.Answer
	since  Time
	at     int // in the worker's list
}

// States of a ticket.
const (
	ticketNew      = iota // its handler has not returned
	ticketOpen            // it waits for its answer
	ticketAnswered        // the answer waits for the caller to ask again
	ticketDone            // it may be another request's
	ticketLost            // its machine has crashed
)

// HandleDeferring is Handle of one that may Defer.
func (cl *Cluster) HandleDeferring(name string, h Handler) (id uint8) {
	if !cl.deferring {
		cl.deferring = true
		cl.again = cl.Handle("r2.again", serveAgain)
		cl.rpc(cl.again).Defers = true
	}
	id = cl.Handle(name, h)
	cl.rpc(id).Defers = true
	return id
}

// Defer keeps the request that is being handled: what its handler returns is no reply. The bytes of the
// request are the ticket's own. A passive request, which has no reply, cannot be deferred.
func (c *Co) Defer() *Ticket {
	t := c.keepRequest()
	if t.head.Kind == datagram.Passive {
		panic(fmt.Sprintf("r2: %s defers a passive %s at %d ps: it has no reply to defer", c.Name(), c.w.cl.rpc(t.head.RPC).Name, c.Now()))
	}
	return t
}

// keepRequest makes a ticket of the request that c handles.
func (c *Co) keepRequest() *Ticket {
	w, j := c.w, &c.w.job
	if c.serves {
		j = &c.w.own
	}
	switch {
	case c.index >= 0 && !c.serves:
		panic(fmt.Sprintf("r2: %s defers at %d ps, and handles no request", c.Name(), c.Now()))
	case !w.cl.rpc(j.head.RPC).Defers:
		panic(fmt.Sprintf("r2: %s defers a %s at %d ps: have it handled by HandleDeferring", c.Name(), w.cl.rpc(j.head.RPC).Name, c.Now()))
	case w.deferred != nil:
		panic(fmt.Sprintf("r2: %s defers a %s twice at %d ps", c.Name(), w.cl.rpc(j.head.RPC).Name, c.Now()))
	}
	t := w.newTicket()
	t.ch, t.seq, t.head, t.from, t.asker = j.ch, j.seq, j.head, j.from, j.asker
	t.req = w.messages.Take(len(j.req))
	copy(t.req, j.req)
	if t.ch != nil {
		t.starts = t.ch.peer.mc.starts
	}
	w.deferred = t
	return t
}

func (w *Worker) newTicket() *Ticket {
	var t *Ticket
	if n := len(w.spare); n > 0 {
		t, w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		t = new(Ticket)
	}
	*t = Ticket{w: w, at: len(w.tickets), beside: beside.Answer{Notes: t.beside.Notes[:0]}}
	w.tickets = append(w.tickets, t)
	return t
}

// free ends a ticket.
func (t *Ticket) free() {
	w, last := t.w, len(t.w.tickets)-1
	w.messages.Give(t.req)
	w.messages.Give(t.answer)
	w.tickets[t.at] = w.tickets[last]
	w.tickets[t.at].at = t.at
	w.tickets[last] = nil
	w.tickets = w.tickets[:last]
	*t = Ticket{w: w, state: ticketDone, beside: t.beside}
	w.spare = append(w.spare, t)
}

// loseTickets is what a crash does to them. They belong to no request again: code that has one may still look at it.
func (w *Worker) loseTickets() {
	for _, t := range w.tickets {
		*t = Ticket{w: w, state: ticketLost}
	}
	clear(w.tickets)
	w.tickets, w.deferred = w.tickets[:0], nil
}

// dropAnswers ends the tickets whose callers were on their way to ask again when their machine crashed.
func (w *Worker) dropAnswers(ch *channel) {
	for i := len(w.tickets) - 1; i >= 0; i-- {
		if t := w.tickets[i]; t.ch == ch && t.state == ticketAnswered {
			t.free()
		}
	}
}

// String is for a watchdog.
func (t *Ticket) String() string {
	what := "has deferred"
	if t.works {
		what = "works on"
	}
	return fmt.Sprintf("m%d.t%d: %s a %s of machine %d thread %d since %d ps", t.w.machine, t.w.thread, what, t.w.cl.rpc(t.head.RPC).Name, t.from.Machine, t.from.Thread, t.since)
}

// ticketOf is the ticket of a request.
func (w *Worker) ticketOf(ch *channel, seq uint32) *Ticket {
	for _, t := range w.tickets {
		if t.ch == ch && t.seq == seq {
			return t
		}
	}
	return nil
}

// From is the requester.
func (t *Ticket) From() Peer { return t.from }

// Req is what was asked. It is valid until the answer.
func (t *Ticket) Req() []byte { return t.req }

// Gone says that no caller waits for the answer any more: the caller has crashed or given up, or the ticket's
// own machine has crashed since.
func (t *Ticket) Gone() bool {
	switch {
	case t.state == ticketLost:
		return true
	case t.ch == nil:
		return false
	}
	mc := t.ch.peer.mc
	return mc.state != running || mc.starts != t.starts || !t.moved && int32(t.seq-t.ch.KeptFrom) < 0
}

// Answer has f write the reply and sends it. f is as a handler is: it may wait for its core's local time
// and for nothing else. It runs on the ticket's worker: at once, on c, if that is c's, or when its loop
// gets to it. If no caller waits any more (see Gone) it runs all the same, and its reply goes nowhere; but
// if the machine has crashed since Defer, it does not.
func (t *Ticket) Answer(c *Co, f func(c *Co, req, rep []byte) int) {
	switch {
	case t.state == ticketLost:
		return
	case t.f != nil || t.works || t.state > ticketOpen:
		panic(fmt.Sprintf("r2: %s answers a ticket at %d ps that is answered already", c.Name(), c.Now()))
	}
	t.f = f
	if c.w == t.w && t.state == ticketOpen {
		t.deliver(c)
		return
	}
	t.w.post(c, mail{ticket: t})
}

// deliver is Answer on the ticket's worker.
func (t *Ticket) deliver(c *Co) {
	w, start, flat := t.w, t.w.Local, c.Beyond()
	w.Charge(w.CPU.Dispatch)
	rep := w.messages.Take(w.cl.MaxReply())
	outer := beside.Begin(&c.Pad)
	n := t.f(c, t.req, rep)
	c.Back(flat)
	t.beside.Notes = append(t.beside.Notes, beside.End(&c.Pad, outer)...)
	t.finish(c, rep[:n], start)
	w.messages.Give(rep)
}

// finish gives an answer to the coroutine that waits for it. Work on it began at a time.
func (t *Ticket) finish(c *Co, reply []byte, start Time) {
	w := t.w
	t.beside.Stamp.Spend(metrics.LockWait, max(start-t.since, 0))
	t.beside.Stamp.Spend(metrics.Handler, w.Local-start)
	switch {
	case t.head.Kind == datagram.Passive:
	case t.ch == nil:
		t.reply.B = t.group.co.Buf(len(reply)).B
		copy(t.reply.B, reply)
		registered.Annotate(t.reply, t.beside.Notes)
		w.Charge(w.CopyCost(len(reply)))
		w.done(t.group, &t.beside.Stamp)
	case t.Gone():
	default:
		if x := w.cl.watch; x != nil {
			x.served(w, &job{ch: t.ch, seq: t.seq, head: t.head, asker: t.asker}, len(reply), start)
		}
		t.answer = w.messages.Take(len(reply))
		copy(t.answer, reply)
		if t.moved {
			t.state = ticketAnswered
			return
		}
		t.send(c)
		return
	}
	t.free()
}

// send sends the answer.
func (t *Ticket) send(c *Co) {
	w := t.w
	if w.cl.single {
		core.FenceStreams(&c.Program)
	}
	k := t.ch.Keep(t.seq, t.answer, w.answers.Keep(&t.beside))
	k.How, t.answer = answeredLate, nil
	w.sendReply(t.ch, t.seq, t.head, k)
	t.free()
}

// holds says that a handler has deferred its request.
func (w *Worker) holds(j *job) bool {
	t := w.deferred
	if t == nil {
		return false
	}
	w.deferred = nil
	switch t.state {
	case ticketNew:
		t.state, t.since = ticketOpen, w.Local
		t.beside.Set(&j.beside)
	case ticketAnswered: // while it was asked for again
		t.send(w.handler)
	}
	return true
}

// beginOwn begins a request of a thread to itself that may be deferred.
func (w *Worker) beginOwn(c *Co, j job) {
	if c.index < 0 {
		panic(fmt.Sprintf("r2: %s asks its own thread for %s at %d ps: a handler cannot wait for what may be deferred", c.Name(), w.cl.RPCName(j.head.RPC), c.Now()))
	}
	if w.own = j; c.mode.Passive {
		w.own.head.Kind = datagram.Passive
	}
}

// endOwn is its ticket if its handler, which has made notes, has deferred it.
func (w *Worker) endOwn(notes []uint64) *Ticket {
	t := w.deferred
	w.deferred = nil
	if t != nil {
		t.state, t.since = ticketOpen, w.Local
		t.beside.Notes = append(t.beside.Notes, notes...)
	}
	return t
}

// sayNotYet answers the repetition of a request that is deferred.
func (w *Worker) sayNotYet(ch *channel, seq uint32, h datagram.Header) {
	t := w.ticketOf(ch, seq)
	if t == nil || t.Gone() {
		return
	}
	k := ch.Keep(seq, nil, w.answers.Keep(&t.beside))
	k.How, t.moved = notYet, true
	w.sendReply(ch, seq, h, k)
}

// askAgain ends a request of which the server says that its answer takes long, and waits for that with a
// new one.
func (w *Worker) askAgain(ch *channel, seq uint32, k *call) {
	if seq != ch.Oldest && ch.Full() {
		return // the next repetition will do it
	}
	if rto := ch.rto; rto != nil && rto.Doublings > 0 {
		rto.Doublings-- // it was no sign of a slow machine
	}
	was, rpc := *k, w.cl.rpcOf(k)
	k.answered = true
	ch.close(w)
	next, k := ch.Begin()
	w.opened()
	*k = was
	ask := binary.LittleEndian.AppendUint32(make([]byte, 0, againBytes), seq)
	k.message, k.rpc = w.framed(append(ask, rpc)), w.cl.again
	k.sentAt, k.tries, k.sent, k.granted, k.got = w.Local, 0, 0, 0, 0
	k.deferred = min(k.deferred+1, maxDoublings)
	w.request(ch, next, k, true, false)
	w.startTick()
}

// againBytes is what a request to ask again has: the number of the one before, and the rpc of the first.
const againBytes = 5

// rpcOf is what a call is for.
func (cl *Cluster) rpcOf(k *call) uint8 {
	if k.deferred > 0 {
		return k.message[cl.front+againBytes-1]
	}
	return k.rpc
}

// serveAgain is the handler of a request that asks for the answer to one before it.
func serveAgain(c *Co, from Peer, req, rep []byte) int {
	w := c.w
	j, seq := &w.job, binary.LittleEndian.Uint32(req)
	t := w.ticketOf(j.ch, seq)
	if t == nil {
		w.Clock.Fail(fmt.Errorf("r2: machine %d thread %d asks machine %d again for request %d, which is not deferred", from.Machine, from.Thread, w.mc.id, seq))
		return 0
	}
	t.seq, t.head, t.moved = j.seq, j.head, false
	w.deferred = t
	return 0
}

// later is after how long a call is repeated where that is after for most.
func (cl *Cluster) later(after Time, k *call) Time {
	if k.deferred == 0 {
		return after
	}
	return min(after<<k.deferred, datagram.MaxBackoff*cl.cfg.ResendAfter)
}

// retryWindowHead repeats the request that keeps back the window of a channel, if it may be deferred: the thread that
// holds the lock that it waits for may be among those that are kept back.
func (w *Worker) retryWindowHead(ch *channel) {
	k := ch.At(ch.Oldest)
	first := ch.stalled == nil || len(*ch.stalled) == 0
	if first && w.cl.rpc(k.rpc).Defers && !k.answered && k.tries < resendMax && ch.peer.mc.state == running {
		k.tries++
		k.sentAt = w.Local
		w.request(ch, ch.Oldest, k, true, true)
	}
}
