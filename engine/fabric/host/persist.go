package host

import (
	"bytes"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Place is where the newest bytes of a line are (thesis figure 2-7).
type Place uint8

// The places.
const (
	// Persistent: in the domain that survives a crash, which begins with the
	// memory controller's write pending queue.
	Persistent Place = iota
	// InCache: in the LLC and not yet in memory.
	InCache
	// InFlight: in an RNIC or on PCIe, in a core's write-combining buffers, or in
	// front of a memory controller that has no room. A crash keeps some of it.
	InFlight
)

// String is the name.
func (p Place) String() string { return [...]string{"persistent", "in cache", "in flight"}[p] }

// durability knows what a machine's NVM would hold after a crash. The visible
// bytes are in Memory; kept here are, of lines whose visible bytes are not all
// persistent, those that are. A line's bytes move there with the write that the
// memory controller accepts, as they are when they are sent to it.
type durability struct {
	m     *Machine
	index map[space.Addr]uint32
	list  []openLine
	free  []uint32

	// ring has the writes that memory controllers were given, in the order in which
	// they accept them; the first head are over. One controller that has no room does
	// not hold up what others accept. Writes to one line are accepted in order.
	ring []landing
	head int

	// carried are the bytes of the DMA write under way, which reach the memory
	// at the end of the event.
	carried []byte
	at      space.Addr
	rand    *sim.Rand
}

// openLine is a line with newer bytes than those that are persistent.
type openLine struct {
	line    space.Addr
	landing int // writes in the ring
	durable [space.LineBytes]byte
}

// landing is a write of a part of a line that is accepted at a time.
type landing struct {
	at sim.Time
	piece
}

// piece is a part of a line with its bytes.
type piece struct {
	line   space.Addr
	lo, hi uint8
	data   [space.LineBytes]byte
}

func newDurability(m *Machine) *durability {
	return &durability{m: m, index: map[space.Addr]uint32{}, rand: m.clock.Stream("fabric.crash", uint64(m.ID))}
}

// Change says that n bytes at a are about to change. Code that stores to Bytes
// calls it before, if the bytes may be in NVM; what is changed without it counts
// as having been there always.
func (m *Memory) Change(a space.Addr, n int) {
	if m.durable != nil && !m.Down {
		m.durable.change(a, n)
	}
}

func (d *durability) change(a space.Addr, n int) {
	mem := d.m.Mem
	for l, last := space.Lines(a, n); l <= last; l++ {
		if _, open := d.index[l]; open || !mem.onNVM(l<<space.LineShift) {
			continue
		}
		k := uint32(len(d.list))
		if n := len(d.free); n > 0 {
			k, d.free = d.free[n-1], d.free[:n-1]
		} else {
			d.list = append(d.list, openLine{})
		}
		o := &d.list[k]
		o.line, o.landing = l, 0
		copy(o.durable[:], mem.Bytes(l<<space.LineShift, space.LineBytes))
		d.index[l] = k
	}
}

// DMABytes is dmaWrite with the bytes, which move to the memory only afterwards.
func (m *Machine) DMABytes(n *Port, now sim.Time, a space.Addr, count uint32, b []byte) {
	d := m.Mem.durable
	if d == nil {
		m.DMAWrite(n, now, a, count)
		return
	}
	d.at, d.carried = a, b
	m.DMAWrite(n, now, a, count)
	d.carried = nil
}

// bytes are a line's bytes as they leave for memory.
func (d *durability) bytes(l space.Addr) (b [space.LineBytes]byte) {
	copy(b[:], d.m.Mem.Bytes(l<<space.LineShift, space.LineBytes))
	overlay(b[:], l<<space.LineShift, d.carried, d.at)
	return b
}

// overlay copies what two ranges of bytes have in common.
func overlay(to []byte, at space.Addr, from []byte, fromAt space.Addr) {
	lo, hi := max(at, fromAt), min(at+space.Addr(len(to)), fromAt+space.Addr(len(from)))
	if lo < hi {
		copy(to[lo-at:hi-at], from[lo-fromAt:])
	}
}

// land notes that a memory controller accepts bytes lo to hi of a line.
func (d *durability) land(at sim.Time, l space.Addr, lo, hi uint8) {
	d.applyAccepted(d.m.clock.Now())
	k, open := d.index[l]
	if !open { // nothing has changed, or a crash came in between
		return
	}
	d.list[k].landing++
	w := landing{at, piece{l, lo, hi, d.bytes(l)}}
	d.ring = append(d.ring, w)
	i := len(d.ring) - 1
	for ; i > d.head && d.ring[i-1].at > at; i-- {
		d.ring[i] = d.ring[i-1]
	}
	d.ring[i] = w
}

// applyAccepted applies the writes that were accepted before now, and forgets lines
// that are persistent again. Those of this very instant stay, for their bytes may
// not have moved.
func (d *durability) applyAccepted(now sim.Time) {
	for d.head < len(d.ring) && d.ring[d.head].at < now {
		w := &d.ring[d.head]
		d.head++
		k, open := d.index[w.line]
		if !open {
			continue
		}
		o := &d.list[k]
		copy(o.durable[w.lo:w.hi], w.data[w.lo:w.hi])
		o.landing--
		if o.landing == 0 && bytes.Equal(o.durable[:], d.m.Mem.Bytes(w.line<<space.LineShift, space.LineBytes)) {
			delete(d.index, w.line)
			d.free = append(d.free, k)
		}
	}
	if d.head > 64 && d.head*2 > len(d.ring) {
		d.ring = d.ring[:copy(d.ring, d.ring[d.head:])]
		d.head = 0
	}
	d.check()
}

// cached says whether the LLC has a line.
func (d *durability) cached(l space.Addr) bool {
	s := d.m.Processors[d.m.Mem.Home(l<<space.LineShift)]
	set, tag := s.llc.locate(l)
	return s.llc.find(set, tag) >= 0
}

// CachePersistent says whether the LLC belongs to the persistent domain: that of
// the NVM's successor does (thesis §2.4).
func (m *Machine) CachePersistent() bool { return m.Type.NVMGeneration.Int() > 1 }

// line is what of a line is persistent now, for certain.
func (d *durability) line(l space.Addr) (b [space.LineBytes]byte) {
	k, open := d.index[l]
	if !open || d.m.CachePersistent() && d.cached(l) {
		copy(b[:], d.m.Mem.Bytes(l<<space.LineShift, space.LineBytes))
		return b
	}
	return d.list[k].durable
}

// inFlight are the writes that are neither in a cache nor in memory.
func (d *durability) inFlight(now sim.Time) (all []piece) {
	add := func(l space.Addr, lo, hi uint8) {
		if d.m.Mem.onNVM(l << space.LineShift) {
			all = append(all, piece{l, lo, hi, d.bytes(l)})
		}
	}
	for i := d.head; i < len(d.ring); i++ {
		if w := &d.ring[i]; w.at > now {
			all = append(all, w.piece)
		}
	}
	nt := func(w *ntLine) {
		if w.s != nil && w.from.machine == d.m {
			add(w.mem, w.lo, w.hi)
		}
	}
	part := func(w *partialWrite) {
		if w.nic != nil && w.nic.host == d.m {
			add(w.line, w.lo, w.hi)
		}
	}
	x := &d.m.steps
	for i := range d.m.streams {
		w := &d.m.streams[i]
		for k := w.head; k < len(w.queue); k++ {
			nt(&w.queue[k])
		}
	}
	for _, a := range x.arbiters {
		for i := range a.waiting {
			nt(&a.waiting[i])
		}
	}
	for i := range x.ops {
		nt(&x.ops[i].nt)
		part(&x.ops[i].part)
	}
	for _, s := range d.m.Processors {
		for i := range s.NVM.Tracking {
			nt(&s.NVM.Tracking[i])
		}
		g := &s.NVM.merger
		for i := g.performed; i != g.next; i++ {
			if w := g.slot(i); w.read { // else it is among the steps
				part(w)
			}
		}
		for i := range g.waiting {
			part(&g.waiting[i])
		}
	}
	return d.inRNIC(all)
}

// inRNIC adds the WRITEs that an RNIC of the machine has taken, and perhaps
// acknowledged, and that have not reached the cache or memory.
func (d *durability) inRNIC(all []piece) []piece {
	d.m.hosts.inRNIC(d.m, func(a space.Addr, b []byte) {
		for l, last := space.Lines(a, len(b)); l <= last; l++ {
			if !d.m.Mem.onNVM(l << space.LineShift) {
				continue
			}
			start := l << space.LineShift
			p := piece{line: l, lo: uint8(max(a, start) - start), hi: uint8(min(a+space.Addr(len(b)), start+space.LineBytes) - start)}
			overlay(p.data[:], start, b, a)
			all = append(all, p)
		}
	})
	return all
}

// applyAll applies what was accepted up to and including now.
func (d *durability) applyAll(now sim.Time) {
	d.applyAccepted(now + 1)
	d.checkPlaces(now)
}

// Where says where the newest bytes of a line are. Without Config.Durability
// everything counts as persistent.
func (m *Machine) Where(a space.Addr) Place {
	d, l := m.Mem.durable, a>>space.LineShift
	if d == nil || !m.Mem.onNVM(a) {
		return Persistent
	}
	now := m.clock.Now()
	d.applyAll(now)
	for _, p := range d.inFlight(now) {
		if p.line == l {
			return InFlight
		}
	}
	if d.line(l) == d.bytes(l) {
		return Persistent
	}
	return InCache
}

// AfterCrash is what n bytes at a would be if the machine crashed now: of NVM what
// is persistent, and of what is in flight a random part, by lines; none of it if r
// is nil. DRAM is lost. Nothing changes by looking.
func (m *Machine) AfterCrash(a space.Addr, n int, r *sim.Rand) []byte {
	out := make([]byte, n)
	d := m.Mem.durable
	if !m.Mem.onNVM(a) {
		return out
	}
	if d == nil {
		copy(out, m.Mem.Bytes(a, n))
		return out
	}
	now := m.clock.Now()
	d.applyAll(now)
	for l, last := space.Lines(a, n); l <= last; l++ {
		b := d.line(l)
		overlay(out, a, b[:], l<<space.LineShift)
	}
	if r == nil {
		return out
	}
	for _, p := range d.inFlight(now) {
		if r.Intn(2) == 0 {
			overlay(out, a, p.data[p.lo:p.hi], p.line<<space.LineShift+space.Addr(p.lo))
		}
	}
	return out
}
