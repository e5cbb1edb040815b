package fabric

import "drtmx/engine/sim"

// Context is what a process opens to use an RNIC (ibv_context). The driver gives
// it a limited number of MMIO buffers, through which its queue pairs ring their
// doorbells (thesis §2.2.2): the first queue pairs have one each to themselves,
// all others share. A buffer that is shared is behind a spin lock, for its
// write-combining window can be filled by one core at a time.
//
// Contexts are driver state in host memory: opening none costs nothing, and
// the program that posts decides whether its queue pairs belong to one. Buffers are given
// at a queue pair's first doorbell, not when it is made, so queue pairs that are
// never used take none.
type Context struct {
	machine   *Machine
	dedicated int // buffers not given yet
	turn      int // of the shared buffers, which takes the next queue pair
	shared    []spinLock
}

// MMIOBuffer is the buffer of a queue pair. The zero value is none yet.
type MMIOBuffer uint8

// ownBuffer is a buffer that no other queue pair has; shared ones follow.
const ownBuffer MMIOBuffer = 1

// OpenContext opens the RNIC once more.
func (n *NIC) OpenContext() *Context {
	p := &n.machine.fab.profile.NIC
	return &Context{machine: n.machine, dedicated: p.MMIODedicated.Int(), shared: make([]spinLock, p.MMIOShared.Int())}
}

// AllocBuffer gives a queue pair its buffer.
func (x *Context) AllocBuffer() MMIOBuffer {
	if x.dedicated > 0 {
		x.dedicated--
		return ownBuffer
	}
	b := ownBuffer + 1 + MMIOBuffer(x.turn)
	x.turn = (x.turn + 1) % len(x.shared)
	return b
}

// FreeBuffer takes the buffer of a queue pair back that is destroyed.
func (x *Context) FreeBuffer(b MMIOBuffer) {
	if b == ownBuffer {
		x.dedicated++
	}
}

// Ring is when a core that comes to a buffer at time at is done with a doorbell
// that keeps it busy for mmio. The core spins until then.
func (x *Context) Ring(b MMIOBuffer, core int, at, mmio sim.Time) (done sim.Time) {
	if b <= ownBuffer {
		return at + mmio
	}
	l := &x.shared[b-ownBuffer-1]
	l.forget(x.machine.fab.sim.Now())
	return l.hold(x.machine, core, at, mmio)
}

// spinLock is a test-and-set lock: a core that finds it taken spins on its line.
//
// Cores come to it at their local times, some of which lie ahead of others that
// come later in the order of events. So it keeps what is booked from now on, in
// the order of time, and a core takes the first gap that is long enough.
type spinLock struct {
	booked []turn
	last   int // core that held it before everything booked, plus 1; 0: none
}

// turn is one core's time in the lock.
type turn struct {
	from, to sim.Time
	core     int
}

// forget drops the turns before now: no core comes to the lock earlier than that.
func (l *spinLock) forget(now sim.Time) {
	n := 0
	for n < len(l.booked) && l.booked[n].to <= now {
		l.last = l.booked[n].core + 1
		n++
	}
	l.booked = append(l.booked[:0], l.booked[n:]...)
}

// hold books a turn for a core that comes at time at and needs d inside.
//
// To take the lock, its cache line has to come from the core that held it
// before. To give it back while others spin, the line has to come once more:
// their attempts have taken it away.
func (l *spinLock) hold(m *Machine, core int, at, d sim.Time) (done sim.Time) {
	before := l.last - 1
	k := 0
	for ; ; k++ {
		length := d + m.LineFrom(before, core)
		waits := k > 0 && l.booked[k-1].to > at // a core that finds it taken spins
		if k > 0 {
			at = max(at, l.booked[k-1].to)
		}
		if waits {
			length += m.LineFrom(before, core)
		}
		if k == len(l.booked) || at+length <= l.booked[k].from {
			done = at + length
			break
		}
		before = l.booked[k].core
	}
	l.booked = append(l.booked, turn{})
	copy(l.booked[k+1:], l.booked[k:])
	l.booked[k] = turn{at, done, core}
	return done
}
