package fabric

import (
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// CQ is a completion queue. Queue pairs of one machine share it as they like.
type CQ struct {
	fab     *Fabric
	ring    []entry // a power of two, grows up to depth
	head    uint32
	tail    uint32
	depth   uint32
	last    sim.Time
	overrun bool

	armed  bool
	kind   sim.Kind
	arg    uint32
	before sim.Time
}

// entry is a CQE as it waits: one line of the host's memory.
type entry struct {
	id     uint64
	at     sim.Time
	stamp  stamp
	bytes  uint32
	qp     uint32 // index in the fabric
	src    AH
	op     Opcode
	status Status
	wqe    uint16
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
		metrics.Doorbell: int64(s[atDoorbell]), metrics.NICSend: int64(s[atNICSend]), metrics.Wire: int64(s[atWire]),
		metrics.NICReceive: int64(s[atNICReceive]), metrics.PCIe: int64(s[atPCIe]), metrics.Memory: int64(s[atMemory]),
		metrics.Completion: int64(s[atCompletion]),
	}
}

// CreateCQ makes a completion queue for at most depth completions.
func (n *NIC) CreateCQ(depth int) *CQ {
	return &CQ{fab: n.machine.fab, ring: make([]entry, 16), depth: uint32(max(depth, 1))}
}

// Len is the number of completions that Poll would return.
func (c *CQ) Len() int {
	now := c.fab.sim.Now()
	n := c.tail - c.head
	for n > 0 && c.ring[(c.head+n-1)&uint32(len(c.ring)-1)].at > now {
		n--
	}
	return int(n)
}

// Poll moves completions to out, oldest first, and returns how many. It frees
// the send-queue slots of their requests and of the unsignaled ones before.
func (c *CQ) Poll(out []CQE) int {
	now := c.fab.sim.Now()
	mask := uint32(len(c.ring) - 1)
	for i := range out {
		if c.head == c.tail {
			return i
		}
		e := &c.ring[c.head&mask]
		if e.at > now {
			return i
		}
		c.head++
		q := c.fab.qps[e.qp]
		if e.op != Recv {
			q.release(e.wqe)
		}
		o := &out[i]
		o.ID, o.Op, o.Status, o.Bytes, o.QPN, o.Src, o.At = e.id, e.op, e.status, e.bytes, q.qpn, e.src, e.at
		e.stamp.expand(&o.Stamp)
	}
	return len(out)
}

// Overrun says that completions came while the queue was full. They are lost,
// and the queue pairs they belonged to are in the error state.
func (c *CQ) Overrun() bool { return c.overrun }

// Arm asks for one event (k, arg) when a completion is there, at once if one
// is there already, but not before notBefore.
func (c *CQ) Arm(notBefore sim.Time, k sim.Kind, arg uint32) {
	if c.head != c.tail {
		at := c.ring[c.head&uint32(len(c.ring)-1)].at
		c.fab.sim.At(max(at, notBefore, c.fab.sim.Now()), k, arg)
		return
	}
	c.armed, c.kind, c.arg, c.before = true, k, arg, notBefore
}

// Disarm takes Arm back, if its event is not scheduled yet.
func (c *CQ) Disarm() { c.armed = false }

// push adds a completion that becomes visible at e.at. The entry is filled in
// place by the caller; nil means that the queue is full.
func (c *CQ) push(at sim.Time) *entry {
	n := c.tail - c.head
	if n == uint32(len(c.ring)) {
		if n >= c.depth {
			return nil
		}
		c.grow()
	} else if n >= c.depth {
		return nil
	}
	e := &c.ring[c.tail&uint32(len(c.ring)-1)]
	c.tail++
	// Queue pairs of several RNICs may share the queue, whose order is that of
	// arrival.
	c.last = max(c.last, at)
	e.at = c.last
	if c.armed {
		c.armed = false
		c.fab.sim.At(max(e.at, c.before), c.kind, c.arg)
	}
	return e
}

func (c *CQ) grow() {
	old := c.ring
	c.ring = make([]entry, 2*len(old))
	for i := c.head; i != c.tail; i++ {
		c.ring[i&uint32(len(c.ring)-1)] = old[i&uint32(len(old)-1)]
	}
}
