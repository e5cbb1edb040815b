package host

import (
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// sharedLines are lines that cores have executed locked instructions on, and whose caches
// have them. Such a line is in the cache of one core that may change it, or in those of
// several that have read it since; a core that has it not waits until it has come, and cores that
// want to change it get it one after the other.
//
// Lines that only one core uses cost nothing more than any other. A line leaves the table
// when another one takes its place, as it would leave a core's second-level cache.
type sharedLines struct {
	line  [sharedSlots]uint32 // what is in each slot; 0 is none
	state [sharedSlots]sharedLine
}

// sharedSlots are lines of 256 KB, a core's second-level cache.
const sharedSlots = 1 << 12

type sharedLine struct {
	free   sim.Time // the last core that asked for it has it then
	copies uint64   // the cores that have it, a bit for each (modulo 64)
	from   uint16   // the core that had it last: it comes from there
}

func sharedSlot(line space.Addr) space.Addr { return (line ^ line>>12) & (sharedSlots - 1) }

func copyOf(core int) uint64 { return 1 << (core & 63) }

// Atomic is the time that a core takes for a locked instruction on a word. Those on one line
// happen one after the other, each when the line has come from the core that had it.
func (m *Machine) Atomic(core int, now sim.Time, a space.Addr) sim.Time {
	kind := Load // as engine/r2 charges stores to DRAM
	if m.Mem.onNVM(a) {
		kind = Store
	}
	own := m.access(core, now, a, 8, kind) + m.CPU.Atomic
	if m.shared == nil {
		m.shared = new(sharedLines)
	}
	line := a >> space.LineShift
	k := sharedSlot(line)
	x := &m.shared.state[k]
	if m.shared.line[k] != uint32(line) {
		m.shared.line[k] = uint32(line)
		*x = sharedLine{copies: copyOf(core), from: uint16(core)}
		return own
	}
	return max(own, x.acquire(m, core, now, own))
}

// acquire moves the line to a core that changes it, and returns how long it waits: 0 if the line is
// its own. needs is what it does with the line at least.
func (x *sharedLine) acquire(m *Machine, core int, now, needs sim.Time) sim.Time {
	if x.copies == copyOf(core) {
		return 0
	}
	x.free = max(now, x.free) + max(needs, m.transfer(x, core))
	x.copies, x.from = copyOf(core), uint16(core)
	return x.free - now
}

// look has a core that only reads the line wait until it has it.
func (x *sharedLine) look(m *Machine, core int, now sim.Time) sim.Time {
	if x.copies&copyOf(core) != 0 {
		return 0
	}
	wait := max(0, x.free-now) + m.transfer(x, core)
	x.copies |= copyOf(core)
	x.from = uint16(core)
	return wait
}

// transfer is the way of the line to a core that has it not, or that has it and wants it alone.
func (m *Machine) transfer(x *sharedLine, core int) sim.Time {
	if int(x.from) == core {
		return m.CPU.LineTransfer // another one's copy has to go
	}
	return m.LineFrom(int(x.from), core)
}

// sharing is the time of an access to lines of which some may be shared; own is what it takes
// if none is. The lines come at the same time.
func (m *Machine) sharing(core int, now sim.Time, a space.Addr, n int, store bool, own sim.Time) sim.Time {
	t := own
	for l, last := space.Lines(a, n); l <= last; l++ {
		k := sharedSlot(l)
		switch {
		case m.shared.line[k] != uint32(l):
		case store:
			t = max(t, m.shared.state[k].acquire(m, core, now, 0))
		default:
			t = max(t, m.shared.state[k].look(m, core, now))
		}
	}
	return t
}

// LineFrom is what a locked instruction costs when the line was last written by
// another core, or by none.
func (m *Machine) LineFrom(before, core int) sim.Time {
	switch {
	case before == core || before < 0:
		return m.CPU.Atomic
	case m.CoreSocket(before) == m.CoreSocket(core):
		return m.CPU.LineTransfer
	}
	return m.CPU.LineTransfer + m.hosts.Cost.Cross
}
