package fabric

import (
	"math"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// posted are the writes of an RNIC that have been given to PCIe and that memory
// has not taken. Nobody waits for a posted write, but there is room for a limited
// number of lines: when it is used up the RNIC takes no further requests (thesis
// §2.3.4). Writes leave in order, and reads do not pass them, which is what makes
// a READ flush the WRITEs before it.
type posted struct {
	nic   *NIC
	limit int
	open  int // lines claimed: on PCIe, or in the ring

	// ring has the lines that arrived, in order: when memory takes them, or
	// unknown. It is a power of two and grows.
	ring       []sim.Time
	head, tail uint32

	queue []uint32 // requests that wait for room
	first int
	armed bool
	// behind says which writes a READ waits for, by verb.
	behind map[uint32]uint32
}

// unknown is the time of a line that has to be read first.
const unknown = math.MaxInt64

func newPosted(n *NIC, limit int) *posted {
	size := 64
	for size < limit {
		size *= 2
	}
	return &posted{nic: n, limit: limit, ring: make([]sim.Time, size), behind: map[uint32]uint32{}}
}

// claim counts a write that is given to PCIe.
func (n *NIC) claim(why Cause, a space.Addr, bytes uint32) {
	n.traffic.write(why, a, bytes)
	if n.posted != nil && bytes > 0 {
		first, last := space.Lines(a, int(bytes))
		n.posted.open += int(last-first) + 1
	}
}

// closed says whether a request has to wait, and lets it.
func (p *posted) closed(i uint32) bool {
	p.pop()
	if p.open <= p.limit && len(p.queue) == 0 {
		return false
	}
	p.queue = append(p.queue, i)
	p.arm()
	return true
}

// push adds a line that memory takes at a time, and returns its number.
func (p *posted) push(at sim.Time) uint32 {
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

// set tells when memory takes a line of which that was unknown.
func (p *posted) set(i uint32, at sim.Time) {
	p.ring[i&uint32(len(p.ring)-1)] = at
	p.arm()
}

// pop removes what memory has taken by now.
func (p *posted) pop() {
	now := p.nic.machine.fab.sim.Now()
	for p.head != p.tail && p.ring[p.head&uint32(len(p.ring)-1)] <= now {
		p.head++
		p.open--
	}
}

// arm plans to look at the queue again when the first line leaves. If nobody knows
// when that is, or the lines are still on PCIe, someone will arm again.
func (p *posted) arm() {
	if p.armed || p.first == len(p.queue) || p.head == p.tail {
		return
	}
	if at := p.ring[p.head&uint32(len(p.ring)-1)]; at != unknown {
		p.armed = true
		f := p.nic.machine.fab
		f.sim.At(max(at, f.sim.Now()), f.nvm.kPosted, uint32(p.nic.number))
	}
}

// admit lets waiting requests go on as far as there is room.
func (p *posted) admit(f *Fabric) {
	p.armed = false
	p.pop()
	now := f.sim.Now()
	for p.first < len(p.queue) && p.open <= p.limit {
		i := p.queue[p.first]
		p.first++
		v := &f.verbs[i]
		r := v.r
		if r.state&failed != 0 || p.nic.off {
			f.vanish(p.nic, r, i, v, now)
		} else {
			f.receive(p.nic, r, i, v, now)
		}
		p.back(f, r, i)
	}
	if 2*p.first >= len(p.queue) {
		p.queue, p.first = p.queue[:copy(p.queue, p.queue[p.first:])], 0
	}
	p.arm()
}

// back has the requests behind one that was let in and has to be sent again come
// again as well: its receiver was not ready, or nobody answers. They waited for room
// behind it, and would overtake it.
func (p *posted) back(f *Fabric, r *QP, i uint32) {
	l := &r.lanes[arriving]
	if r.state>>arriving&1 == 0 || l.first != i {
		return
	}
	stay := p.queue[:p.first]
	for _, k := range p.queue[p.first:] {
		if f.verbs[k].r == r {
			f.sim.At(l.until, f.kRx, k)
		} else {
			stay = append(stay, k)
		}
	}
	p.queue = stay
}

// before says whether a READ or atomic has to wait for posted writes that came
// before it, and lets it.
func (p *posted) before(r *QP, i uint32, now sim.Time) bool {
	p.pop()
	end, again := p.behind[i]
	if !again {
		end = p.tail
	}
	if int32(end-p.head) <= 0 {
		delete(p.behind, i)
		r.clear(executing, i)
		return false
	}
	p.behind[i] = end
	at := now
	for k := p.head; k != end; k++ {
		if t := p.ring[k&uint32(len(p.ring)-1)]; t != unknown {
			at = max(at, t)
		} else { // it is read at least, which takes some time also where the LLC takes none
			at = max(at, now+max(p.nic.machine.fab.cost.llcDMA, sim.Nanosecond))
		}
	}
	p.nic.machine.fab.stall(r, executing, p.nic.machine.fab.kMem, i, at)
	return true
}

// partialWrite is a DMA write of less than a line, of a line that is not cached:
// read, merged, and written to the LLC or to memory.
type partialWrite struct {
	nic   *NIC
	s     *socket // of the memory
	line  space.Addr
	entry uint32
	place uint64
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
	places                 []partialWrite
	ended, performed, next uint64 // [ended, performed) are on their way to memory, [performed, next) are read
	waiting                []partialWrite
}

func (g *merger) place(i uint64) *partialWrite { return &g.places[i%uint64(len(g.places))] }

// merge begins a partial write at the root complex of an RNIC, or lets it wait.
func (f *Fabric) merge(w partialWrite) {
	g := &w.nic.root().merger
	if g.next-g.ended == uint64(len(g.places)) {
		g.waiting = append(g.waiting, w)
		return
	}
	w.place = g.next
	*g.place(g.next) = w
	g.next++
	now := f.sim.Now()
	at := w.s.nvm.dev.Read(now, w.nic.machine.Mem.deviceLine(w.line)) + f.cost.llcDMA
	if w.far > 0 {
		at += w.far + w.s.nvm.cross(now, 1) + w.s.nvm.directory
	}
	f.later(at, nvmOp{stage: partRead, part: w})
}

// root is the socket at which the RNIC is attached.
func (n *NIC) root() *nvmSocket { return n.machine.sockets[n.socket].nvm }

// merged: the line is there.
func (f *Fabric) merged(w partialWrite) {
	g := &w.nic.root().merger
	g.place(w.place).read = true
	for g.performed != g.next && g.place(g.performed).read {
		w := *g.place(g.performed)
		g.performed++
		f.perform(w)
	}
}

// perform writes a merged line, with DDIO to the LLC, else back to memory.
func (f *Fabric) perform(w partialWrite) {
	now := f.sim.Now()
	m := w.nic.machine
	dl := m.Mem.deviceLine(w.line)
	at := now
	if m.sockets[w.nic.socket].ddio {
		at = w.s.allocateDMA(m, now, w.line)
	} else {
		at = w.s.nvm.dev.Write(now, dl)
		if d := m.Mem.durable; d != nil {
			d.land(at, w.line, w.lo, w.hi)
		}
	}
	if w.far > 0 { // the line was the other socket's, which its home notes, and goes back
		w.s.note(now, dl)
		at = max(at, now+w.s.nvm.cross(now, 0)+w.far)
	}
	w.nic.posted.set(w.entry, at)
	if at > now {
		f.later(at, nvmOp{stage: partDone, part: w})
		return
	}
	f.taken(w)
}

// taken gives the places of partial writes that are over to those that wait.
func (f *Fabric) taken(w partialWrite) {
	g := &w.nic.root().merger
	g.place(w.place).done = true
	for g.ended != g.performed && g.place(g.ended).done {
		g.ended++
		if len(g.waiting) > 0 {
			next := g.waiting[0]
			g.waiting = g.waiting[1:]
			f.merge(next)
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
		e := &s.nvm.evictions
		var left sim.Time
		if way, left = s.fill(m, now, line, set, tag, s.llc.ddio, m.Mem.onNVM(line<<space.LineShift)); left > now {
			taken = max(now, e.room())
			e.take(left)
		}
	}
	set.ref |= 1 << way
	set.dirty |= 1 << way
	return taken
}

// dmaWriteNVM is dmaWrite on a socket with NVM.
func (m *Machine) dmaWriteNVM(n *NIC, now sim.Time, a space.Addr, bytes uint32) {
	home := m.Mem.Home(a)
	s := m.sockets[home]
	far := sim.Time(0)
	if home != n.socket {
		far = m.fab.cost.cross
	}
	m.Mem.Change(a, int(bytes))
	end := a + space.Addr(bytes)
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		partial := l<<space.LineShift < a || (l+1)<<space.LineShift > end
		at, read := m.dmaLine(n, s, now, l, partial, far)
		entry := n.posted.push(at)
		if read {
			start := l << space.LineShift
			m.fab.merge(partialWrite{nic: n, s: s, line: l, entry: entry, far: far,
				lo: uint8(max(a, start) - start), hi: uint8(min(end, start+space.LineBytes) - start)})
		}
	}
	n.posted.arm()
}

// dmaLine writes one line and returns when memory or the LLC takes it; read says
// that it has to be read before.
func (m *Machine) dmaLine(n *NIC, s *socket, now sim.Time, l space.Addr, partial bool, far sim.Time) (at sim.Time, read bool) {
	nvm := m.Mem.onNVM(l << space.LineShift)
	ddio := m.sockets[n.socket].ddio
	set, tag := s.llc.locate(l)
	way := s.llc.find(set, tag)
	if partial && way < 0 {
		switch {
		case !nvm:
			s.dram(now, l)
		case len(n.root().merger.places) > 0:
			return unknown, true
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
		at = max(at, now+s.nvm.cross(now, 0)+far)
	}
	return at, false
}

// dmaReadNVM is dmaRead on a socket with NVM.
func (m *Machine) dmaReadNVM(n *NIC, now sim.Time, a space.Addr, bytes uint32) sim.Time {
	c := &m.fab.cost
	home := m.Mem.Home(a)
	s := m.sockets[home]
	far := sim.Time(0)
	if home != n.socket {
		far = c.cross
	}
	t := c.llcDMA
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		set, tag := s.llc.locate(l)
		if s.llc.find(set, tag) < 0 { // a DMA read does not make a line more recently used
			t = max(t, s.fetch(m, now, l, 0, false))
		}
		if far > 0 {
			t = max(t, s.nvm.cross(now, 1))
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

func (f *Fabric) registerNVM() {
	f.nvm.free = none
	f.nvm.kOp = f.sim.Register("fabric.nvm", f.onOp)
	f.nvm.kArbiter = f.sim.Register("fabric.arbiter", func(i uint32) { f.nvm.arbiters[i].serve(f) })
	f.nvm.kPosted = f.sim.Register("fabric.posted", func(i uint32) { f.nics[i].posted.admit(f) })
}

// later schedules a step.
func (f *Fabric) later(at sim.Time, op nvmOp) {
	i := f.nvm.free
	if i == none {
		i = uint32(len(f.nvm.ops))
		f.nvm.ops = append(f.nvm.ops, nvmOp{})
	} else {
		f.nvm.free = f.nvm.ops[i].next
	}
	f.nvm.ops[i] = op
	f.sim.At(at, f.nvm.kOp, i)
}

func (f *Fabric) onOp(i uint32) {
	op := f.nvm.ops[i]
	f.nvm.ops[i] = nvmOp{next: f.nvm.free}
	f.nvm.free = i
	switch op.stage {
	case lineArrives:
		op.nt.s.arrive(f, f.sim.Now(), op.nt)
	case partRead:
		f.merged(op.part)
	default:
		f.taken(op.part)
	}
}
