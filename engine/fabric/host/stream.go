package host

import (
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// stream is what a core has given to its write-combining buffers: non-temporal
// stores and lines that clwb writes back. A line stays in a buffer until the
// memory controller takes it; meanwhile the core fills the others. The buffers
// drain without order.
type stream struct {
	machine *Machine
	core    int
	buffers int
	held    int
	queue   []ntLine // that have no buffer yet
	head    int
	fills   horizon // line fill buffers of cached accesses

	waits   bool
	drained bool // waits until nothing is left, else until all have a buffer
	kind    sim.Kind
	arg     uint32
}

// ntLine is a line on its way from a core to a memory controller.
type ntLine struct {
	s       *socket
	line    uint64 // of the device
	from    *stream
	far     sim.Time
	partial bool // has to be read first
	lo, hi  uint8
	mem     space.Addr // line of the memory, of which lo to hi are written
}

// Await says whether everything that core gave to its write-combining buffers is
// in one, or, drained, in the persistent domain. If not, the event comes when it is.
func (m *Machine) Await(core int, drained bool, kind sim.Kind, arg uint32) (done bool) {
	if m.streams == nil {
		return true
	}
	w := &m.streams[core]
	if w.empty(drained) {
		return true
	}
	w.waits, w.drained, w.kind, w.arg = true, drained, kind, arg
	return false
}

// Streaming says whether lines of a core's write-combining buffers have not been
// taken by memory.
func (m *Machine) Streaming(core int) bool {
	return m.streams != nil && !m.streams[core].empty(true)
}

// StoresBy is when the lines are there to which a core has stored until now.
func (m *Machine) StoresBy(core int) sim.Time {
	if m.streams == nil {
		return 0
	}
	return m.streams[core].fills.last
}

func (w *stream) empty(drained bool) bool {
	return w.head == len(w.queue) && (!drained || w.held == 0)
}

func (w *stream) add(l ntLine) {
	l.from = w
	w.queue = append(w.queue, l)
	w.issue()
}

// issue gives lines to free buffers.
func (w *stream) issue() {
	for w.held < w.buffers && w.head < len(w.queue) {
		l := w.queue[w.head]
		if w.head++; w.head == len(w.queue) {
			w.queue, w.head = w.queue[:0], 0
		}
		w.held++
		w.depart(l)
	}
	w.check()
}

// depart sends a line to the memory controller. A buffer is free when the core
// hears that it was taken; to have one event, that way is gone before as well. A
// socket tracks only so many lines from others, and further ones wait, in no order.
func (w *stream) depart(l ntLine) {
	m, x := w.machine, l.s.NVM
	now := m.clock.Now()
	at := now + x.streamPath
	if l.far > 0 {
		if x.Remote == x.Trackers {
			x.Tracking = append(x.Tracking, l)
			return
		}
		x.Remote++
		at += l.far + x.Cross(now, 0)
	}
	m.later(at, nvmOp{stage: lineArrives, nt: l})
}

// tracked gives a tracker to a line that waits for one.
func (x *nvmSocket) tracked() {
	x.Remote--
	if last := len(x.Tracking) - 1; last >= 0 {
		k := x.rand.Intn(last + 1)
		l := x.Tracking[k]
		x.Tracking[k] = x.Tracking[last]
		x.Tracking = x.Tracking[:last]
		l.from.depart(l)
	}
}

// arrive: a line is at the memory controller. Where bytes are missing it is read.
func (s *socket) arrive(m *Machine, now sim.Time, l ntLine) {
	if !l.partial {
		s.NVM.arbiter(l.line).put(m, l)
		return
	}
	l.partial = false
	m.later(s.NVM.dev.Read(now, l.line), nvmOp{stage: lineArrives, nt: l})
}

// accepted: the memory controller took a line.
func (w *stream) accepted() {
	w.held--
	w.issue()
	if w.waits && w.empty(w.drained) {
		w.waits = false
		clock := w.machine.clock
		clock.At(clock.Now(), w.kind, w.arg)
	}
}

// arbiter is the way of the cores' lines into the write pending queue of one DIMM.
// Lines come from many cores over a mesh that keeps no order: when there is room,
// any of those that wait may be next.
type arbiter struct {
	number  uint32
	x       *nvmSocket
	rand    *sim.Rand
	waiting []ntLine
	armed   bool
}

func (a *arbiter) open(m *Machine, x *nvmSocket, id uint64) {
	a.number, a.x, a.rand = uint32(len(m.steps.arbiters)), x, m.clock.Stream("fabric.arbiter", id)
	m.steps.arbiters = append(m.steps.arbiters, a)
}

func (x *nvmSocket) arbiter(line uint64) *arbiter {
	return &x.arbiters[line>>x.unitShift%x.dimms]
}

func (a *arbiter) put(m *Machine, l ntLine) {
	a.waiting = append(a.waiting, l)
	if !a.armed {
		a.serve(m)
	}
}

// serve takes lines while there is room, and comes back when there is again.
func (a *arbiter) serve(m *Machine) {
	now := m.clock.Now()
	a.armed = true // the lines that follow only join
	for len(a.waiting) > 0 {
		if room := a.x.dev.Room(a.waiting[0].line); room > now {
			m.clock.At(room, m.steps.kArbiter, a.number)
			return
		}
		k, last := 0, len(a.waiting)-1
		if last > 0 {
			k = a.rand.Intn(last + 1)
		}
		l := a.waiting[k]
		a.waiting[k] = a.waiting[last]
		a.waiting = a.waiting[:last]
		at := a.x.dev.Write(now, l.line)
		if d := l.from.machine.Mem.durable; d != nil {
			d.land(at, l.mem, l.lo, l.hi)
		}
		if l.far > 0 {
			a.x.tracked()
		}
		l.from.accepted()
	}
	a.armed = false
}
