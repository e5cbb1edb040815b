package host

import (
	"math"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// posted are the writes of an RNIC that have been given to PCIe and that memory
// has not taken. A posted write is not waited for, but there is room for a limited
// number of lines: when it is used up the RNIC takes no further requests (thesis
// §2.3.4). Writes leave in order, and reads do not pass them, which is what makes
// a READ flush the WRITEs before it.
type posted struct {
	nic   *Port
	limit int
	Open  int // lines claimed: on PCIe, or in the ring

	// ring has the lines that arrived, in order: when memory takes them, or
	// unknown. It is a power of two and grows.
	ring       []sim.Time
	head, tail uint32

	Queue []uint32 // requests that wait for room
	First int
	armed bool
	// behind says which writes a READ waits for, by verb.
	behind map[uint32]uint32
}

// Unknown is the time of a line that has to be read first.
const Unknown = math.MaxInt64

func newPosted(n *Port, limit int) *posted {
	size := 64
	for size < limit {
		size *= 2
	}
	return &posted{nic: n, limit: limit, ring: make([]sim.Time, size), behind: map[uint32]uint32{}}
}

// Closed says whether a request has to wait, and lets it.
func (p *posted) Closed(i uint32) bool {
	p.pop()
	if p.Open <= p.limit && len(p.Queue) == 0 {
		return false
	}
	p.Queue = append(p.Queue, i)
	p.arm()
	return true
}

// Reopen looks what room there is for the requests that wait. They are asked for with next, and rest ends it.
func (p *posted) Reopen() {
	p.armed = false
	p.pop()
}

// Next is the first request that waits, if there is room for it.
func (p *posted) Next() (i uint32, ok bool) {
	if p.First == len(p.Queue) || p.Open > p.limit {
		return 0, false
	}
	p.First++
	return p.Queue[p.First-1], true
}

// Rest has those that still wait come again.
func (p *posted) Rest() {
	if 2*p.First >= len(p.Queue) {
		p.Queue, p.First = p.Queue[:copy(p.Queue, p.Queue[p.First:])], 0
	}
	p.arm()
}

// Leave takes out of the queue the requests of which gone says so.
func (p *posted) Leave(gone func(i uint32) bool) {
	stay := p.Queue[:p.First]
	for _, k := range p.Queue[p.First:] {
		if !gone(k) {
			stay = append(stay, k)
		}
	}
	p.Queue = stay
}

// Before says whether a READ or atomic has to wait for posted writes that came
// before it, and until when at least.
func (p *posted) Before(i uint32, now sim.Time) (at sim.Time, waits bool) {
	p.pop()
	end, again := p.behind[i]
	if !again {
		end = p.tail
	}
	if int32(end-p.head) <= 0 {
		delete(p.behind, i)
		return 0, false
	}
	p.behind[i] = end
	at = now
	for k := p.head; k != end; k++ {
		if t := p.ring[k&uint32(len(p.ring)-1)]; t != Unknown {
			at = max(at, t)
		} else { // it is read at least, which takes some time also where the LLC takes none
			at = max(at, now+max(p.nic.host.hosts.Cost.LLCDMA, sim.Nanosecond))
		}
	}
	return at, true
}

// Push adds a line that memory takes at a time, and returns its number.
func (p *posted) Push(at sim.Time) uint32 {
	if p.tail-p.head == uint32(len(p.ring)) {
		p.grow()
	}
	p.ring[p.tail&uint32(len(p.ring)-1)] = at
	p.tail++
	return p.tail - 1
}

func (p *posted) grow() {
	old := p.ring
	p.ring = make([]sim.Time, 2*len(old))
	for i := p.head; i != p.tail; i++ {
		p.ring[i&uint32(len(p.ring)-1)] = old[i&uint32(len(old)-1)]
	}
}

// Set tells when memory takes a line of which that was unknown.
func (p *posted) Set(i uint32, at sim.Time) {
	p.ring[i&uint32(len(p.ring)-1)] = at
	p.arm()
}

// pop removes what memory has taken by now.
func (p *posted) pop() {
	now := p.nic.host.clock.Now()
	for p.head != p.tail && p.ring[p.head&uint32(len(p.ring)-1)] <= now {
		p.head++
		p.Open--
	}
}

// arm plans to look at the queue again when the first line leaves. If it is unknown
// when that is, or the lines are still on PCIe, a later event arms again.
func (p *posted) arm() {
	if p.armed || p.First == len(p.Queue) || p.head == p.tail {
		return
	}
	if at := p.ring[p.head&uint32(len(p.ring)-1)]; at != Unknown {
		p.armed = true
		m := p.nic.host
		m.clock.At(max(at, m.clock.Now()), m.steps.kPosted, uint32(p.nic.Number))
	}
}

// partialWrite is a DMA write of less than a line, of a line that is not cached:
// read, merged, and written to the LLC or to memory.
type partialWrite struct {
	nic   *Port
	s     *socket // of the memory
	line  space.Addr
	entry uint32
	slot  uint64
	far   sim.Time
	lo    uint8 // bytes of the line that are written
	hi    uint8
	read  bool // the line is there
	done  bool // it was taken
}

// merger is the part of a root complex that makes lines of partial writes. It reads
// some at once, but PCIe's writes are performed in order: one that has its line
// waits for those before it, and keeps its place meanwhile.
type merger struct {
	slots                  []partialWrite
	ended, performed, next uint64 // [ended, performed) are on their way to memory, [performed, next) are read
	waiting                []partialWrite
}

func (g *merger) slot(i uint64) *partialWrite { return &g.slots[i%uint64(len(g.slots))] }

// merge begins a partial write at the root complex of an RNIC, or lets it wait.
func (m *Machine) merge(w partialWrite) {
	g := &w.nic.root().merger
	if g.next-g.ended == uint64(len(g.slots)) {
		g.waiting = append(g.waiting, w)
		return
	}
	w.slot = g.next
	*g.slot(g.next) = w
	g.next++
	now := m.clock.Now()
	at := w.s.NVM.dev.Read(now, m.Mem.DeviceLine(w.line)) + m.hosts.Cost.LLCDMA
	if w.far > 0 {
		at += w.far + w.s.NVM.Cross(now, 1) + w.s.NVM.directory
	}
	m.later(at, nvmOp{stage: partRead, part: w})
}

// merged: the line is there.
func (m *Machine) merged(w partialWrite) {
	g := &w.nic.root().merger
	g.slot(w.slot).read = true
	for g.performed != g.next && g.slot(g.performed).read {
		w := *g.slot(g.performed)
		g.performed++
		m.perform(w)
	}
}

// perform writes a merged line, with DDIO to the LLC, else back to memory.
func (m *Machine) perform(w partialWrite) {
	now := m.clock.Now()
	dl := m.Mem.DeviceLine(w.line)
	at := now
	if m.Processors[w.nic.socket].ddio {
		at = w.s.allocateDMA(m, now, w.line)
	} else {
		at = w.s.NVM.dev.Write(now, dl)
		if d := m.Mem.durable; d != nil {
			d.land(at, w.line, w.lo, w.hi)
		}
	}
	if w.far > 0 { // the line was the other socket's, which its home notes, and goes back
		w.s.note(now, dl)
		at = max(at, now+w.s.NVM.Cross(now, 0)+w.far)
	}
	w.nic.Posted.Set(w.entry, at)
	if at > now {
		m.later(at, nvmOp{stage: partDone, part: w})
		return
	}
	m.freeSlots(w)
}

// freeSlots gives the places of partial writes that are over to those that wait.
func (m *Machine) freeSlots(w partialWrite) {
	g := &w.nic.root().merger
	g.slot(w.slot).done = true
	for g.ended != g.performed && g.slot(g.ended).done {
		g.ended++
		if len(g.waiting) > 0 {
			next := g.waiting[0]
			g.waiting = g.waiting[1:]
			m.merge(next)
		}
	}
}

// allocateDMA brings a line that DMA writes into the LLC and returns when there is
// room: for the line that has to leave, too many may be on their way out.
func (s *socket) allocateDMA(m *Machine, now sim.Time, line space.Addr) (taken sim.Time) {
	set, tag := s.llc.locate(line)
	way := s.llc.find(set, tag)
	taken = now
	s.countDMA(way >= 0)
	if way < 0 {
		e := &s.NVM.evictions
		var left sim.Time
		if way, left = s.fill(m, now, line, set, tag, s.llc.ddio, m.Mem.onNVM(line<<space.LineShift)); left > now {
			taken = max(now, e.room())
			e.book(left)
		}
	}
	set.ref |= 1 << way
	set.dirty |= 1 << way
	return taken
}

// dmaWriteNVM is dmaWrite on a socket with NVM.
func (m *Machine) dmaWriteNVM(n *Port, now sim.Time, a space.Addr, bytes uint32) {
	home := m.Mem.Home(a)
	s := m.Processors[home]
	far := sim.Time(0)
	if home != n.socket {
		far = m.hosts.Cost.Cross
	}
	m.Mem.Change(a, int(bytes))
	end := a + space.Addr(bytes)
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		partial := l<<space.LineShift < a || (l+1)<<space.LineShift > end
		at, read := m.dmaLine(n, s, now, l, partial, far)
		entry := n.Posted.Push(at)
		if read {
			start := l << space.LineShift
			m.merge(partialWrite{nic: n, s: s, line: l, entry: entry, far: far,
				lo: uint8(max(a, start) - start), hi: uint8(min(end, start+space.LineBytes) - start)})
		}
	}
	n.Posted.arm()
}

// dmaLine writes one line and returns when memory or the LLC takes it; read says
// that it has to be read before.
func (m *Machine) dmaLine(n *Port, s *socket, now sim.Time, l space.Addr, partial bool, far sim.Time) (at sim.Time, read bool) {
	nvm := m.Mem.onNVM(l << space.LineShift)
	ddio := m.Processors[n.socket].ddio
	set, tag := s.llc.locate(l)
	way := s.llc.find(set, tag)
	if partial && way < 0 {
		switch {
		case !nvm:
			s.dram(now, l)
		case len(n.root().merger.slots) > 0:
			return Unknown, true
		}
	}
	switch {
	case ddio:
		at = s.allocateDMA(m, now, l)
	default:
		if way >= 0 {
			set.drop(way) // its bytes, if newer, merge into the write
		}
		at = s.writeBack(m, now, l)
	}
	if far > 0 {
		at = max(at, now+s.NVM.Cross(now, 0)+far)
	}
	return at, false
}

// dmaReadNVM is dmaRead on a socket with NVM.
func (m *Machine) dmaReadNVM(n *Port, now sim.Time, a space.Addr, bytes uint32) sim.Time {
	c := &m.hosts.Cost
	home := m.Mem.Home(a)
	s := m.Processors[home]
	far := sim.Time(0)
	if home != n.socket {
		far = c.Cross
	}
	t := c.LLCDMA
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		set, tag := s.llc.locate(l)
		if s.llc.find(set, tag) < 0 { // a DMA read does not make a line more recently used
			t = max(t, s.fetch(m, now, l, 0, false))
		}
		if far > 0 {
			t = max(t, s.NVM.Cross(now, 1))
		}
	}
	return t + far
}

// nvmOp is the next step of a line.
type nvmOp struct {
	stage uint8
	next  uint32
	nt    ntLine
	part  partialWrite
}

// The steps.
const (
	lineArrives uint8 = iota // of a core, at the memory controller
	partRead                 // a partial write has its line
	partDone                 // it was taken
)

// steps are those under way on a machine with NVM.
type steps struct {
	ops                    []nvmOp
	free                   uint32
	arbiters               []*arbiter
	kOp, kArbiter, kPosted sim.Kind
}

// noStep ends the list of free steps.
const noStep = ^uint32(0)

// Opened: the machine has its RNICs. posted has one look at the requests that wait for room.
func (m *Machine) Opened(posted func(nic uint32)) {
	if len(m.steps.arbiters) == 0 {
		return
	}
	m.steps.free = noStep
	m.steps.kOp = m.clock.Register("fabric.nvm", m.onOp)
	m.steps.kArbiter = m.clock.Register("fabric.arbiter", func(i uint32) { m.steps.arbiters[i].serve(m) })
	m.steps.kPosted = m.clock.Register("fabric.posted", posted)
}

// later schedules a step.
func (m *Machine) later(at sim.Time, op nvmOp) {
	x := &m.steps
	i := x.free
	if i == noStep {
		i = uint32(len(x.ops))
		x.ops = append(x.ops, nvmOp{})
	} else {
		x.free = x.ops[i].next
	}
	x.ops[i] = op
	m.clock.At(at, x.kOp, i)
}

func (m *Machine) onOp(i uint32) {
	x := &m.steps
	op := x.ops[i]
	x.ops[i] = nvmOp{next: x.free}
	x.free = i
	switch op.stage {
	case lineArrives:
		op.nt.s.arrive(m, m.clock.Now(), op.nt)
	case partRead:
		m.merged(op.part)
	default:
		m.freeSlots(op.part)
	}
}
