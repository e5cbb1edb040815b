package fabric

import "drtmx/engine/sim"

// NIC is an RNIC: a port to the switch and a PCIe slot at one socket.
type NIC struct {
	Index   int
	number  uint16 // in the fabric
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
	owned    []sim.Time // by slot: when the store of the atomic under way is through
	slotMask Addr
	granule  uint
	qps      []*QP  // by number; 0 is nobody
	datagram []bool // by number: whether it is a UD queue pair
	contexts contexts
	pages    tlb
	luck     *sim.Rand // of packets that arrive
	off      bool
}

func newNIC(m *Machine, number uint16, index, socket, translations int) *NIC {
	p := &m.fab.profile.NIC
	slots := 1
	for slots < p.ConflictSlots.Int() {
		slots *= 2
	}
	granule := uint(0)
	for 1<<granule < p.ConflictGranule.Int() {
		granule++
	}
	return &NIC{Index: index, number: number, machine: m, socket: socket, slots: make([]sim.Time, slots), owned: make([]sim.Time, slots), slotMask: Addr(slots - 1),
		granule: granule, qps: []*QP{nil}, datagram: []bool{false}, contexts: contexts{limit: p.QPContexts.Int()}, pages: newTLB(translations),
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

// slot is the conflict slot of an address.
func (n *NIC) slot(a Addr) Addr {
	g := a >> n.granule
	return (g ^ g>>9 ^ g>>18) & n.slotMask
}

// hold takes the conflict slot of an address from t on for d, behind whoever
// has it, and returns when it begins. Slots are taken in the order of arrival
// at the RNIC, so booking ahead is exact.
func (n *NIC) hold(a Addr, t, d sim.Time) sim.Time {
	s := &n.slots[n.slot(a)]
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
// pairs. While all of them fit nothing is ever evicted and no order is kept; it
// begins, by number, with the first queue pair that is one too many.
type contexts struct {
	limit       int // contexts kept at most
	kept        int
	order       []links // by queue-pair number, nil while all fit
	first, last uint32  // most and least recently used; 0 is nobody
}

type links struct{ prev, next uint32 }

// use makes sure that a queue pair's context is in the RNIC and returns when it
// is there, which is at most now if it was.
func (n *NIC) use(h *QP, now sim.Time) (ready sim.Time) {
	c, f := &n.contexts, n.machine.fab
	if c.order == nil {
		if h.state&kept != 0 {
			return h.contextReady(now)
		}
		c.kept++
	} else if q := h.qpn; h.state&kept != 0 {
		if c.first != q {
			c.unlink(q)
			c.pushFront(q)
		}
		return h.contextReady(now)
	} else {
		if c.kept == c.limit {
			old := c.last
			c.unlink(old)
			n.qps[old].state &^= kept
		} else {
			c.kept++
		}
		c.pushFront(q)
	}
	h.state |= kept | fetched
	f.counts.CtxMisses++
	h.ready = n.fetch.Serve(now, f.cost.qpFetch) + f.cost.roundTrip
	return h.ready
}

// contextReady is when a context that is kept is there: 0 if it has been.
func (q *QP) contextReady(now sim.Time) sim.Time {
	if q.state&fetched == 0 {
		return 0
	}
	if q.ready <= now {
		q.state &^= fetched
	}
	return q.ready
}

// added counts a new queue pair and starts to keep an order when they no longer
// all fit.
func (c *contexts) added(qps []*QP) {
	if c.order != nil {
		c.order = append(c.order, links{})
		return
	}
	if len(qps)-1 <= c.limit {
		return
	}
	c.order = make([]links, len(qps))
	for i, q := range qps {
		if i > 0 && q.state&kept != 0 {
			c.pushFront(uint32(i))
		}
	}
}

func (c *contexts) pushFront(q uint32) {
	c.order[q] = links{next: c.first}
	if c.first != 0 {
		c.order[c.first].prev = q
	} else {
		c.last = q
	}
	c.first = q
}

func (c *contexts) unlink(q uint32) {
	l := c.order[q]
	if l.prev != 0 {
		c.order[l.prev].next = l.next
	} else {
		c.first = l.next
	}
	if l.next != 0 {
		c.order[l.next].prev = l.prev
	} else {
		c.last = l.prev
	}
}
