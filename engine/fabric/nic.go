package fabric

import (
	"math"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/recency"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// NIC is an RNIC: a port to the switch and a PCIe slot at one socket.
type NIC struct {
	host.Port
	Index   int
	machine *Machine

	tx     sim.FIFO   // send pipeline: requests and responses
	rx     sim.FIFO   // receive pipeline
	link   sim.Booked // port, out: for when the send pipeline is through
	in     sim.FIFO   // switch's port towards this RNIC
	atomic sim.FIFO   // the unit that executes atomics
	up     sim.FIFO   // PCIe towards the host
	down   sim.FIFO   // PCIe from the host
	fetch  sim.FIFO   // fetching of contexts and translations

	slots    []sim.Time // conflict slots: when each is free
	owned    []sim.Time // by slot: when the store of the atomic under way is through
	slotMask space.Addr
	granule  uint
	qps      []*QP  // by number; 0 is none
	datagram []bool // by number: whether it is a UD or TCP queue pair
	contexts contexts
	misses   []uint32 // requests that wait to have their contexts fetched
	pages    host.TLB
	luck     *sim.Rand // of packets that arrive
	queues   []int     // cores that its receive queues interrupt; none with RDMA
	off      bool
	slow     sim.Time // percent that the pipelines take longer; 0: as they should
	cqe      uint32   // bytes of a completion
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
	n := &NIC{Index: index, machine: m, slots: make([]sim.Time, slots), owned: make([]sim.Time, slots), slotMask: space.Addr(slots - 1),
		granule: granule, cqe: uint32(m.fab.profile.PCIe.CQE.Int()), qps: []*QP{nil}, datagram: []bool{false}, contexts: contexts{limit: p.QPContexts.Int()}, pages: host.NewTLB(translations),
		luck: m.fab.sim.Stream("fabric.loss", uint64(m.ID)<<8|uint64(index))}
	m.Attach(&n.Port, number, socket)
	if m.fab.profile.TCP != nil { // the kernel keeps the connections, and gives physical addresses
		n.contexts.limit, n.pages = math.MaxInt, host.TLB{}
		n.receiveQueues(m.fab.profile.TCP.Queues.Int())
	}
	return n
}

// SetDown makes the RNIC deaf to others: their requests and messages vanish until it
// is up again. RC peers try again and fail in the end. What it sends itself goes out,
// and the answers reach it.
func (n *NIC) SetDown(down bool) { n.off = down }

// SetSlowdown makes the RNIC's pipelines take percent longer for every packet
// that reaches them from now on: a card that runs hot, or shares its host.
func (n *NIC) SetSlowdown(percent int) { n.slow = sim.Time(max(percent, 0)) }

func (n *NIC) slowed(d sim.Time) sim.Time {
	if n.slow != 0 {
		d += d * n.slow / 100
	}
	return d
}

func (n *NIC) stations() [8]*sim.FIFO {
	return [...]*sim.FIFO{&n.tx, &n.rx, &n.link.FIFO, &n.in, &n.atomic, &n.up, &n.down, &n.fetch}
}

// slot is the conflict slot of an address.
func (n *NIC) slot(a space.Addr) space.Addr {
	g := a >> n.granule
	return (g ^ g>>9 ^ g>>18) & n.slotMask
}

// hold takes the conflict slot of an address from t on for d, behind the verb that
// has it, and returns when it begins. Slots are taken in the order of arrival
// at the RNIC, so booking ahead is exact; a verb that could not begin at once although
// its slot is idle comes later, see tooEarly.
func (n *NIC) hold(a space.Addr, t, d sim.Time) sim.Time {
	s := &n.slots[n.slot(a)]
	t = max(t, *s)
	*s = t + d
	return t
}

// translate looks the pages of an access up and returns when the last
// translation is there.
func (n *NIC) translate(now sim.Time, a space.Addr, bytes uint32) (ready sim.Time) {
	c := &n.machine.fab.cost
	if n.pages.Entries == nil {
		return 0
	}
	n.Traffic.Translations++
	if !n.pages.Touch(a) {
		n.Traffic.TranslationMisses++
		n.machine.fab.counts.XlateMisses++
		ready = n.fetch.Serve(now, c.xlateFetch) + c.roundTrip
	}
	if end := a + space.Addr(max(bytes, 1)) - 1; end>>space.HugeShift != a>>space.HugeShift && !n.pages.Touch(end) {
		n.Traffic.TranslationMisses++
		n.machine.fab.counts.XlateMisses++
		ready = n.fetch.Serve(now, c.xlateFetch) + c.roundTrip
	}
	return ready
}

// contexts is the cache of queue-pair contexts: true LRU over the RNIC's queue
// pairs. While all of them fit nothing is ever evicted and no order is kept; it
// begins, by number, with the first queue pair that is one too many.
type contexts struct {
	limit int // contexts kept at most
	kept  int
	recency.Order
}

// queue has a request wait until contexts of sending queue pairs are fetched again.
// Packets that arrive go ahead of them: what comes in has to be taken off the link,
// what is to go out can stay where it is. Without that, the answers to what has been
// sent queue behind what has not, which makes each request take longer, and more
// contexts be forgotten until its answer comes.
func (f *part) queue(n *NIC, i uint32) {
	if n.misses = append(n.misses, i); len(n.misses) == 1 {
		f.sim.At(n.fetch.Free, f.kAdmit, uint32(n.Number))
	}
}

// onAdmit lets the requests that wait go on, as long as nothing is fetched.
func (f *part) onAdmit(number uint32) {
	n, now := f.nics[number], f.sim.Now()
	k := 0
	for ; k < len(n.misses) && n.fetch.Free <= now; k++ {
		f.onTx(n.misses[k])
	}
	if n.misses = n.misses[:copy(n.misses, n.misses[k:])]; len(n.misses) > 0 {
		f.sim.At(n.fetch.Free, f.kAdmit, number)
	}
}

// lacks reports whether a queue pair's context is not in the RNIC.
func (n *NIC) lacks(h *QP) bool {
	c := &n.contexts
	if !c.Begun() {
		return h.state&kept == 0
	}
	return c.Recent != h.qpn && !c.Has(h.qpn)
}

// use makes sure that a queue pair's context is in the RNIC and returns when it
// is there, which is at most now if it was.
func (n *NIC) use(h *QP, now sim.Time) (ready sim.Time) {
	c, f := &n.contexts, n.machine.fab
	n.Traffic.Contexts++
	switch {
	case !c.Begun():
		if h.state&kept != 0 {
			return h.contextReady(now)
		}
		c.kept++
		h.state |= kept
	case c.Recent == h.qpn:
		return h.contextReady(now)
	default:
		was := c.Has(h.qpn)
		if c.Use(h.qpn); was {
			return h.contextReady(now)
		}
		if c.kept == c.limit {
			c.Forget()
		} else {
			c.kept++
		}
	}
	h.state |= fetched
	f.counts.CtxMisses++
	n.Traffic.ContextMisses++
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
	if c.Begun() {
		c.Add()
		return
	}
	if len(qps)-1 <= c.limit {
		return
	}
	c.Begin(len(qps), c.limit)
	for i, q := range qps {
		if i > 0 && q.state&kept != 0 {
			c.Use(uint32(i))
		}
	}
}

// admit lets requests that wait for room among the posted writes of an RNIC go on as far as there is room.
func (f *part) admit(number uint32) {
	n, now := f.nics[number], f.sim.Now()
	n.Posted.Reopen()
	for {
		i, ok := n.Posted.Next()
		if !ok {
			break
		}
		v := f.verb(i)
		r := v.r
		if r.state&failed != 0 || n.off {
			f.vanish(n, r, i, v, now)
		} else {
			f.receive(n, r, i, v, now)
		}
		f.back(n, r, i)
	}
	n.Posted.Rest()
}

// back has the requests behind one that was let in and has to be sent again come
// again as well: its receiver was not ready, or its machine is down. They waited for room
// behind it, and would overtake it.
func (f *part) back(n *NIC, r *QP, i uint32) {
	l := &r.lanes[arriving]
	if r.state>>arriving&1 == 0 || l.first != i {
		return
	}
	n.Posted.Leave(func(k uint32) bool {
		if f.verb(k).r != r {
			return false
		}
		f.sim.At(l.until, f.kRx, k)
		return true
	})
}

// behindWrites says whether a READ or atomic has to wait for posted writes that came
// before it, and lets it.
func (f *part) behindWrites(n *NIC, r *QP, i uint32, now sim.Time) bool {
	at, waits := n.Posted.Before(i, now)
	if !waits {
		r.clear(executing, i)
		return false
	}
	f.stall(r, executing, f.kMem, i, at)
	return true
}
