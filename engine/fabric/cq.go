package fabric

import (
	"unsafe"

	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// CQ is a completion queue. Queue pairs of one machine share it as they like.
// It lists the verbs that completed; they live until they are polled.
type CQ struct {
	fab     *part
	number  uint32    // on its machine
	ring    []listing // a power of two, grows up to depth
	head    uint32
	tail    uint32
	depth   uint32
	armed   bool
	overrun bool
	kind    sim.Kind
	arg     uint32
	before  sim.Time
	wake    sim.Time   // of the event scheduled, if armed
	first   [4]listing // the ring's first memory, in the same lines
}

// listing is a verb in a completion queue, with what others want to know of it
// without its memory.
type listing struct {
	id   uint64
	at   sim.Time // when it becomes visible
	verb uint32
}

// stamp is a metrics.Stamp cut down to what the fabric fills, in picoseconds;
// it saturates at 4.3 ms each.
type stamp [numStamps]uint32

const (
	atDoorbell = iota
	atNICSend
	atWire
	atNICReceive
	atPCIe
	atMemory
	atCompletion
	numStamps
)

func (s *stamp) add(i int, d sim.Time) {
	if d = d + sim.Time(s[i]); d > 1<<32-1 {
		d = 1<<32 - 1
	}
	s[i] = uint32(d)
}

func (s *stamp) expand(to *metrics.Stamp) {
	*to = metrics.Stamp{
		metrics.Doorbell: s[atDoorbell], metrics.NICSend: s[atNICSend], metrics.Wire: s[atWire],
		metrics.NICReceive: s[atNICReceive], metrics.PCIe: s[atPCIe], metrics.Memory: s[atMemory],
		metrics.Completion: s[atCompletion],
	}
}

// CreateCQ makes a completion queue for at most depth completions.
func (n *NIC) CreateCQ(depth int) *CQ {
	c := &CQ{fab: n.machine.fab, depth: uint32(max(depth, 1))}
	c.ring = c.first[:]
	c.number = uint32(len(c.fab.cqs))
	c.fab.cqs = append(c.fab.cqs, cqHead{cq: c})
	c.moved()
	return c
}

// cqHead is where a completion queue is, and its oldest completion, for lookAhead.
type cqHead struct {
	cq     *CQ
	oldest *listing
}

// moved notes where the oldest completion is.
func (c *CQ) moved() { c.fab.cqs[c.number].oldest = c.oldest(0) }

// CQRef finds a completion queue without touching its memory.
type CQRef struct {
	fab    *part
	number uint32
}

// Ref is for looking ahead.
func (c *CQ) Ref() CQRef { return CQRef{c.fab, c.number} }

// Ahead asks for the completion queue, and for its oldest completions.
func (r CQRef) Ahead() {
	p := &r.fab.cqs[r.number]
	sim.PrefetchLines(unsafe.Pointer(p.cq), cqLines)
	sim.PrefetchLines(unsafe.Pointer(p.oldest), 2)
}

// Len is the number of completions that Poll would return.
func (c *CQ) Len() int {
	now := c.fab.sim.Now()
	n := c.tail - c.head
	for n > 0 && c.oldest(int(n-1)).at > now {
		n--
	}
	return int(n)
}

// Coming is the ID of the k-th oldest completion, if it is visible by the time of the
// events that sim.Ahead shows. It is for asking the host for what their handling
// needs; nothing else may depend on it.
func (c *CQ) Coming(k int) (id uint64, ok bool) {
	if uint32(k) >= c.tail-c.head {
		return 0, false
	}
	l := c.oldest(k)
	return l.id, l.at <= c.fab.sim.Now()+c.fab.sim.AheadBy()
}

// AheadPoll asks the host for what Poll needs of the k-th oldest completion.
func (c *CQ) AheadPoll(k int) { c.fab.aheadVerb(c.oldest(k).verb) }

// AheadRelease asks for the send queue that has a place again once the k-th oldest
// completion is polled. It comes after AheadPoll.
func (c *CQ) AheadRelease(k int) {
	if q := c.fab.verb(c.oldest(k).verb).q; q != nil {
		sim.Prefetch(unsafe.Pointer(q))
	}
}

// Sender is the machine that the k-th oldest completion, of a message, came from:
// for the same use as Coming.
func (c *CQ) Sender(k int) uint16 { return unpackAH(c.fab.verb(c.oldest(k).verb).b).Machine }

func (c *CQ) oldest(k int) *listing { return &c.ring[(c.head+uint32(k))&uint32(len(c.ring)-1)] }

// Poll moves completions to out, oldest first, and returns how many. It frees
// the send-queue slots of their requests and of the unsignaled ones before.
func (c *CQ) Poll(out []CQE) int {
	f := c.fab
	now := f.sim.Now()
	mask := uint32(len(c.ring) - 1)
	c.armed = false
	n := 0
	for ; n < len(out) && c.head != c.tail; n++ {
		l := &c.ring[c.head&mask]
		if l.at > now {
			break
		}
		c.head++
		i := l.verb
		v := f.verb(i)
		o := &out[n]
		o.ID, o.Op, o.Status, o.Segment, o.Bytes, o.QPN, o.Src, o.At, o.Beside = v.id, v.op, v.status, 0, v.len, v.qpn, AH{}, v.mark, 0
		if v.status == LocalProtection && v.gatherList() != 0 {
			o.Segment = f.gathers.Of(v.gatherList()).Bad
		}
		v.stamp.expand(&o.Stamp)
		if v.flags&delivery != 0 {
			o.Op, o.QPN, o.Src, o.Beside = Recv, v.rkey, unpackAH(v.b), uint64(v.local)
		} else {
			v.q.release(v.wqe)
		}
		v.flags &^= listed
		f.finishVerb(i, v)
	}
	c.moved()
	return n
}

// drop gives up what is listed, with the machine whose memory the queue was in.
func (c *CQ) drop() {
	f := c.fab
	for ; c.head != c.tail; c.head++ {
		i := c.oldest(0).verb
		v := f.verb(i)
		v.flags &^= listed
		f.finishVerb(i, v)
	}
	c.armed = false
}

// pack and unpackAH squeeze an address into a word.
func (a AH) pack() uint64 { return uint64(a.Machine)<<48 | uint64(a.NIC)<<40 | uint64(a.QPN) }

func unpackAH(x uint64) AH { return AH{uint16(x >> 48), uint8(x >> 40), uint32(x)} }

// never is later than any event.
const never sim.Time = 1<<63 - 1

// Arm asks for an event (k, arg) when a completion is there, at once if one is
// there already, but not before notBefore. It holds until Poll or Disarm. An
// event that is scheduled comes even so, and when a second completion overtakes
// the first there are two: the caller tells them by arg.
func (c *CQ) Arm(notBefore sim.Time, k sim.Kind, arg uint32) {
	c.armed, c.kind, c.arg, c.before, c.wake = true, k, arg, notBefore, never
	if c.head != c.tail {
		c.alarm()
	}
}

// Disarm takes Arm back, if its event is not scheduled yet.
func (c *CQ) Disarm() { c.armed = false }

// alarm schedules the event for the oldest completion.
func (c *CQ) alarm() {
	s := c.fab.sim
	at := max(c.oldest(0).at, c.before, s.Now())
	if at < c.wake {
		c.wake = at
		s.At(at, c.kind, c.arg)
	}
}

// push lists a verb that becomes visible at time at, which may be some time
// ahead; false means that the queue is full. The order is that of these times.
func (c *CQ) push(i uint32, v *verb, at sim.Time) bool {
	n := c.tail - c.head
	if n == c.depth {
		return false
	} else if n == uint32(len(c.ring)) {
		c.grow()
	}
	v.mark = at
	v.flags |= listed
	mask := uint32(len(c.ring) - 1)
	k := c.tail
	for ; k != c.head && c.ring[(k-1)&mask].at > at; k-- {
		c.ring[k&mask] = c.ring[(k-1)&mask]
	}
	c.ring[k&mask] = listing{v.id, at, i}
	c.tail++
	if c.armed && k == c.head {
		c.alarm()
	}
	return true
}

func (c *CQ) grow() {
	old := c.ring
	c.ring = make([]listing, 2*len(old))
	for i := c.head; i != c.tail; i++ {
		c.ring[i&uint32(len(c.ring)-1)] = old[i&uint32(len(old)-1)]
	}
	c.moved()
}
