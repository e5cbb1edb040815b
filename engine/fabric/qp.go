package fabric

import (
	"fmt"

	"drtmx/engine/fabric/gather"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// QPConfig describes a queue pair. Zero depths and limits are the profile's.
type QPConfig struct {
	Transport Transport
	// SendCQ and RecvCQ take the completions; nil drops them.
	SendCQ, RecvCQ *CQ
	// SendDepth is how many requests may be posted whose slots are not free
	// again; see CQ.Poll.
	SendDepth int
	// RecvDepth is how many RECVs may wait.
	RecvDepth int
	// MaxInline is the inline payload that is asked for, at most the profile's. As
	// drivers do, the queue pair makes room for what fills its blocks of 64 bytes.
	MaxInline int
	// MaxSegments is the longest gather list of a request, at most the profile's. TCP takes one segment.
	MaxSegments int
	// MaxOutstanding is how many READs and ATOMICs may be under way; more wait in
	// the send queue, and everything behind them does too.
	MaxOutstanding int
}

// QP is a queue pair: two lines of the host's memory, of which the events on a
// verb's way need the first.
type QP struct {
	// What this end does for its peer happens in order: no request executes and
	// no response leaves before these times.
	executed, responded sim.Time
	nic                 *NIC
	sendCQ              *CQ
	*waits
	oldest, sqHead     uint32 // requests: of RC that are not complete, else that the RNIC has not sent yet; and of those the first it has not sent
	posted, freed      uint16 // send-queue slots
	unanswered         uint16 // requests whose response waits for memory
	outstanding, limit uint8  // READs and ATOMICs
	transport          Transport
	state              uint8  // flags; the low ones are the lanes that may be held up
	peerNIC            uint16 // number of the RNIC it is connected to
	qpn                uint32 // in the RNIC

	fab            *part
	peer           *QP // nil until connected, and for UD
	recvCQ         *CQ
	rq             []recv // ring, a power of two
	sqTail         uint32
	rqHead, rqTail uint16
	rqDepth, depth uint16
	inline         uint16
	segments       uint8 // of a gather list, at most
}

// waits is what a queue pair needs when something has to wait.
type waits struct {
	lanes   [numLanes]lane
	ready   sim.Time // when the context under way is in the RNIC
	flushed sim.Time // of a failed queue pair: its latest completion so far
	sent    sim.Time // when the latest completion of what UC and UD have sent is there
	broken  bool     // the peer has given a request up: what it had sent behind that is lost
	lost    []uint32 // requests that came home without an answer
}

// qpBlock queue pairs are allocated at a time; they never move.
const qpBlock = 256

// Flags of a queue pair's state.
const (
	failed  uint8 = 1 << (numLanes + iota) // error state
	kept                                   // its context is in the RNIC, or on the way
	fetched                                // it may still be on the way
	severed                                // its peer's machine has crashed
)

// lane is a point that the packets of one queue pair pass in order. When one
// has to wait (for a context, for its retransmission), it holds the lane up.
type lane struct {
	until sim.Time // no message may overtake up to here
	first uint32   // the verb that is waited for, or none
}

// The lanes of a queue pair.
const (
	arriving   = iota // requests at the responder's RNIC
	executing         // at the responder's memory
	responding        // responses that leave
	answering         // responses at the requester's RNIC
	numLanes
)

// CreateQP makes a queue pair on the RNIC. A UD or TCP pair is ready at
// once, the others after Connect.
func (n *NIC) CreateQP(c QPConfig) (*QP, error) {
	f, p := n.machine.fab, &n.machine.fab.profile.NIC
	def := func(v *int, name string, d profile.Number, top int) error {
		if *v == 0 {
			*v = d.Int()
		}
		if *v < 0 || *v > top {
			return fmt.Errorf("fabric: %s is %d: must be between 1 and %d", name, *v, top)
		}
		return nil
	}
	switch rdma := f.profile.TCP == nil; {
	case c.Transport > TCP:
		return nil, fmt.Errorf("fabric: transport %d: must be RC, UC, UD or TCP", c.Transport)
	case rdma && c.Transport == TCP:
		return nil, fmt.Errorf("fabric: transport TCP: the NICs of profile %s have RDMA, and no kernel is modelled there; use RC, UC or UD, or a profile with a section tcp", f.profile.Name)
	case !rdma && c.Transport != TCP:
		return nil, fmt.Errorf("fabric: transport %v: the NICs of profile %s have no RDMA; use TCP", c.Transport, f.profile.Name)
	}
	if err := def(&c.SendDepth, "send depth", p.SendDepth, 32768); err != nil {
		return nil, err
	}
	if err := def(&c.RecvDepth, "receive depth", p.RecvDepth, 32768); err != nil {
		return nil, err
	}
	if err := def(&c.MaxInline, "max inline", p.MaxInline, p.MaxInline.Int()); err != nil {
		return nil, err
	}
	if err := def(&c.MaxOutstanding, "max outstanding", p.Outstanding, p.Outstanding.Int()); err != nil {
		return nil, err
	}
	if c.Transport == TCP {
		c.MaxSegments = 1
	} else if err := def(&c.MaxSegments, "max segments", p.SGEMax, p.SGEMax.Int()); err != nil {
		return nil, err
	}
	if len(f.qps) == 0 {
		f.qps = make([]QP, qpBlock)
	}
	q := &f.qps[0]
	f.qps = f.qps[1:]
	*q = QP{sendCQ: c.SendCQ, waits: new(waits), oldest: none, sqHead: none, sqTail: none, nic: n,
		limit: uint8(c.MaxOutstanding), transport: c.Transport,
		fab: f, recvCQ: c.RecvCQ, qpn: uint32(len(n.qps)),
		rqDepth: uint16(c.RecvDepth), depth: uint16(c.SendDepth), segments: uint8(c.MaxSegments)}
	q.inline = uint16(q.inlineRoom(uint32(c.MaxInline)))
	for i := range q.lanes {
		q.lanes[i] = lane{-1, none}
	}
	if c.Transport == TCP { // its NIC keeps no contexts to fetch
		q.state |= kept
	}
	n.qps = append(n.qps, q)
	n.datagram = append(n.datagram, !c.Transport.connected())
	n.contexts.added(n.qps)
	return q, nil
}

// Connect joins two queue pairs of one connected transport. Of a machine that is
// down there is no answer: the other end is severed from the start.
func Connect(a, b *QP) error {
	switch {
	case a.transport != b.transport:
		return fmt.Errorf("fabric: connect %v with %v: transports must be the same", a.transport, b.transport)
	case !a.transport.connected():
		return fmt.Errorf("fabric: connect: %v queue pairs are not connected; give SendWR.Dest", a.transport)
	case a.peer != nil || b.peer != nil:
		return fmt.Errorf("fabric: connect: one of the queue pairs is connected already")
	case a == b:
		return fmt.Errorf("fabric: connect: a queue pair with itself; create two")
	}
	a.peer, b.peer = b, a
	a.peerNIC, b.peerNIC = b.nic.Number, a.nic.Number
	for _, q := range []*QP{a, b} {
		if q.peer.nic.machine.Mem.Down {
			q.state |= failed | severed
		}
	}
	return nil
}

// Address is where others find the queue pair.
func (q *QP) Address() AH {
	return AH{Machine: uint16(q.nic.machine.ID), NIC: uint8(q.nic.Index), QPN: q.qpn}
}

// NIC is the RNIC of the queue pair.
func (q *QP) NIC() *NIC { return q.nic }

// Peer is the RNIC that it is connected to; nil before Connect, and for UD.
func (q *QP) Peer() *NIC {
	if q.peer == nil {
		return nil
	}
	return q.peer.nic
}

// Inline is the largest payload that fits inside a request of any kind.
func (q *QP) Inline() int { return int(q.inline) }

// Failed says that it is in the error state: everything posted is flushed.
func (q *QP) Failed() bool { return q.state&failed != 0 }

// Severed says that it failed because the machine at its other end has crashed.
func (q *QP) Severed() bool { return q.state&severed != 0 }

// Free is the number of free slots of the send queue.
func (q *QP) Free() int { return int(q.depth) - q.Outstanding() }

// Outstanding is the number of posted requests whose slots are not free again.
func (q *QP) Outstanding() int { return int(q.posted - q.freed) }

// release frees the slots up to and including the one with this number.
func (q *QP) release(wqe uint16) {
	if d := wqe + 1 - q.freed; d <= 1<<15 {
		q.freed += d
	}
}

// PostRecv adds receive buffers. They take effect at once: the receive queue
// lies in host memory and the RNIC reads it ahead.
func (q *QP) PostRecv(at sim.Time, list []RecvWR) error {
	f := q.fab
	if at < f.sim.Now() {
		return fmt.Errorf("fabric: post at %d ps, which is before now", at)
	}
	if n := int(q.rqTail-q.rqHead) + len(list); n > int(q.rqDepth) {
		return fmt.Errorf("fabric: %d RECVs posted, the receive queue holds %d", n, q.rqDepth)
	}
	mem := q.nic.machine.Mem
	for i := range list {
		w := &list[i]
		if !mem.Allowed(w.LKey, w.Local, w.Len, host.LocalWrite) {
			return fmt.Errorf("fabric: RECV into %d bytes at %#x: local key %#x does not allow writing there", w.Len, w.Local, w.LKey)
		}
		if err := q.checkSegments(Recv, 1+len(w.Further)); err != nil {
			return err
		}
		if k := gather.Refused(w.Further, q.nic.allows(host.LocalWrite)); k >= 0 {
			s := &w.Further[k]
			return fmt.Errorf("fabric: RECV, segment %d, into %d bytes at %#x: local key %#x does not allow writing there", k+1, s.Len, s.Local, s.LKey)
		}
	}
	for i := range list {
		if q.Failed() {
			f.flushRecv(q, &recv{id: list[i].ID})
			continue
		}
		if int(q.rqTail-q.rqHead) == len(q.rq) {
			q.growRQ()
		}
		q.rq[q.rqTail&uint16(len(q.rq)-1)] = f.recvOf(&list[i])
		q.rqTail++
	}
	return nil
}

func (q *QP) growRQ() {
	old := q.rq
	q.rq = make([]recv, max(16, 2*len(old)))
	for i := q.rqHead; i != q.rqTail; i++ {
		q.rq[i&uint16(len(q.rq)-1)] = old[i&uint16(len(old)-1)]
	}
}
