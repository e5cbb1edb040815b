package fabric

import (
	"slices"

	"drtmx/engine/sim"
)

// NIC is an RNIC: a port to the switch and a PCIe slot at one socket.
type NIC struct {
	Index   int
	machine *Machine
	socket  int

	tx     sim.FIFO // send pipeline: requests and responses
	rx     sim.FIFO // receive pipeline
	link   sim.FIFO // port, out
	in     sim.FIFO // switch's port towards this RNIC
	atomic sim.FIFO // the unit that executes atomics
	up     sim.FIFO // PCIe towards the host
	down   sim.FIFO // PCIe from the host
	fetch  sim.FIFO // fetching of contexts and translations

	slots    []sim.Time // conflict slots: when each is free
	slotMask Addr
	granule  uint
	qps      []*QP // by number; 0 is nobody
	contexts contexts
	pages    tlb
	luck     *sim.Rand // of packets that arrive
	off      bool
}

func newNIC(m *Machine, index, socket, translations int) *NIC {
	p := &m.fab.profile.NIC
	slots := 1
	for slots < p.ConflictSlots.Int() {
		slots *= 2
	}
	granule := uint(0)
	for 1<<granule < p.ConflictGranule.Int() {
		granule++
	}
	return &NIC{Index: index, machine: m, socket: socket, slots: make([]sim.Time, slots), slotMask: Addr(slots - 1),
		granule: granule, qps: []*QP{nil}, contexts: contexts{limit: p.QPContexts.Int()}, pages: newTLB(translations),
		luck: m.fab.sim.Stream("fabric.loss", uint64(m.ID)<<8|uint64(index))}
}

// Machine is the machine the RNIC sits in.
func (n *NIC) Machine() *Machine { return n.machine }

// Socket is the socket it is attached to.
func (n *NIC) Socket() int { return n.socket }

// SetDown cuts the RNIC off: packets to it vanish until it is up again. RC
// peers try again and fail in the end.
func (n *NIC) SetDown(down bool) { n.off = down }

func (n *NIC) stations() [8]*sim.FIFO {
	return [...]*sim.FIFO{&n.tx, &n.rx, &n.link, &n.in, &n.atomic, &n.up, &n.down, &n.fetch}
}

// hold takes the conflict slot of an address from t on for d, behind whoever
// has it, and returns when it begins. Slots are taken in the order of arrival
// at the RNIC, so booking ahead is exact.
func (n *NIC) hold(a Addr, t, d sim.Time) sim.Time {
	g := a >> n.granule
	s := &n.slots[(g^g>>12)&n.slotMask]
	t = max(t, *s)
	*s = t + d
	return t
}

// translate looks the pages of an access up and returns when the last
// translation is there.
func (n *NIC) translate(now sim.Time, a Addr, bytes uint32) (ready sim.Time) {
	c := &n.machine.fab.cost
	if !n.pages.touch(a) {
		n.machine.fab.counts.XlateMisses++
		ready = n.fetch.Serve(now, c.xlateFetch) + c.roundTrip
	}
	if end := a + Addr(max(bytes, 1)) - 1; end>>hugeShift != a>>hugeShift && !n.pages.touch(end) {
		n.machine.fab.counts.XlateMisses++
		ready = n.fetch.Serve(now, c.xlateFetch) + c.roundTrip
	}
	return ready
}

// contexts is the cache of queue-pair contexts: true LRU over the RNIC's queue
// pairs. While all of them fit there is nothing to evict and the order is only
// noted; the list is made when the first one does not.
type contexts struct {
	limit      int // contexts kept
	qps        int // queue pairs that exist
	kept       int
	clock      uint64
	first      *QP // most recently used
	last       *QP
	maintained bool
}

// context is the state of one queue pair in that cache.
type context struct {
	prev, next *QP
	used       uint64
	ready      sim.Time // when the fetch under way ends
	kept       bool
}

// use makes sure that q's context is in the RNIC and returns when it is there,
// which is at most now if it was.
func (n *NIC) use(q *QP, now sim.Time) (ready sim.Time) {
	c := &n.contexts
	if q.ctx.kept {
		if !c.maintained {
			c.clock++
			q.ctx.used = c.clock
		} else if c.first != q {
			c.unlink(q)
			c.pushFront(q)
		}
		return q.ctx.ready
	}
	if c.kept == c.limit {
		old := c.last
		c.unlink(old)
		old.ctx.kept = false
	} else {
		c.kept++
	}
	q.ctx.kept = true
	if c.maintained {
		c.pushFront(q)
	} else {
		c.clock++
		q.ctx.used = c.clock
	}
	f := n.machine.fab
	f.counts.CtxMisses++
	q.ctx.ready = n.fetch.Serve(now, f.cost.qpFetch) + f.cost.roundTrip
	return q.ctx.ready
}

// added counts a new queue pair and starts to keep the list when they no
// longer all fit.
func (c *contexts) added(qps []*QP) {
	c.qps++
	if c.maintained || c.qps <= c.limit {
		return
	}
	c.maintained = true
	var kept []*QP
	for _, q := range qps {
		if q != nil && q.ctx.kept {
			kept = append(kept, q)
		}
	}
	slices.SortFunc(kept, func(a, b *QP) int { return int(a.ctx.used) - int(b.ctx.used) })
	for _, q := range kept {
		c.pushFront(q)
	}
}

func (c *contexts) pushFront(q *QP) {
	q.ctx.prev, q.ctx.next = nil, c.first
	if c.first != nil {
		c.first.ctx.prev = q
	} else {
		c.last = q
	}
	c.first = q
}

func (c *contexts) unlink(q *QP) {
	p, n := q.ctx.prev, q.ctx.next
	if p != nil {
		p.ctx.next = n
	} else {
		c.first = n
	}
	if n != nil {
		n.ctx.prev = p
	} else {
		c.last = p
	}
}
