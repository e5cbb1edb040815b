package host

import (
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// flightSlots is the number of counters for accesses under way. Lines that
// share one make an access tear that need not: allowed, and rare.
const flightSlots = 1 << 11

const (
	oneReader = 1
	oneWriter = 1 << 16
)

func flightSlot(line space.Addr) space.Addr { return (line ^ line>>12) & (flightSlots - 1) }

// BeginAccess registers an access of several lines that is about to happen one
// line after the other, and says whether another one that conflicts is under
// way. If not, the caller may do it in one go. EndAccess must follow, with the
// same arguments.
func (m *Memory) BeginAccess(a space.Addr, n int, write bool) (overlapped bool) {
	if !m.touching {
		return false
	}
	overlapped = m.Overlapped(a, n, write, false)
	m.Enter(a, n, write)
	return overlapped
}

// EndAccess ends what BeginAccess began.
func (m *Memory) EndAccess(a space.Addr, n int, write bool) {
	if m.touching {
		m.Leave(a, n, write)
	}
}

func (m *Memory) Enter(a space.Addr, n int, write bool) {
	one := uint32(oneReader)
	if write {
		one = oneWriter
	}
	for l, last := space.Lines(a, n); l <= last; l++ {
		m.flight[flightSlot(l)] += one
	}
}

func (m *Memory) Leave(a space.Addr, n int, write bool) {
	one := uint32(oneReader)
	if write {
		one = oneWriter
	}
	for l, last := space.Lines(a, n); l <= last; l++ {
		m.flight[flightSlot(l)] -= one
	}
}

// Overlapped says whether a conflicting access to one of the lines is
// registered. With self, the access itself is registered already.
func (m *Memory) Overlapped(a space.Addr, n int, write, self bool) bool {
	l, last := space.Lines(a, n)
	own := uint32(0)
	if self && write {
		own = oneWriter
	}
	for ; l <= last; l++ {
		c := m.flight[flightSlot(l)] - own
		if c >= oneWriter || write && c != 0 {
			return true
		}
	}
	return false
}

// AheadFlight asks the host for where an access to a line is registered.
func (m *Memory) AheadFlight(a space.Addr) {
	sim.Prefetch(unsafe.Pointer(&m.flight[flightSlot(a>>space.LineShift)]))
}
