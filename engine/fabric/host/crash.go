package host

import (
	"fmt"

	"drtmx/engine/fabric/space"
)

// Halt stops the machine at this instant: DRAM and caches are lost, NVM keeps its persistent domain and a
// random part, by lines, of what was in flight.
func (m *Machine) Halt() error {
	switch {
	case m.Mem.Down:
		return fmt.Errorf("fabric: machine %d crashes, it is down already: restart it first", m.ID)
	case m.Mem.nvm.any() && m.Mem.durable == nil:
		return fmt.Errorf("fabric: machine %d crashes, and what its NVM keeps is not recorded: set Config.Durability", m.ID)
	}
	if d := m.Mem.durable; d != nil {
		d.crash()
	}
	m.Mem.lose()
	m.Mem.Down = true
	m.SSD.crash(m.clock.Now())
	for _, s := range m.Processors {
		clear(s.llc.sets)
	}
	m.shared = nil
	return nil
}

// Resume ends the crash.
func (m *Machine) Resume() {
	m.Mem.Down = false
	clear(m.Mem.flight) // stores in whose middle the cores stopped
}

// Down says that the machine has crashed and not been restarted.
func (m *Machine) Down() bool { return m.Mem.Down }

// crash leaves in the memory what is persistent, and some of what is in flight.
func (d *durability) crash() {
	now := d.m.clock.Now()
	d.applyAll(now)
	flying := d.inFlight(now) // with their bytes, before these are gone
	mem := d.m.Mem
	for i := range d.list {
		o := &d.list[i]
		if k, open := d.index[o.line]; !open || k != uint32(i) {
			continue
		}
		b := d.line(o.line)
		copy(mem.Bytes(o.line<<space.LineShift, space.LineBytes), b[:])
	}
	for i := range flying {
		p := &flying[i]
		if d.rand.Intn(2) == 0 {
			copy(mem.Bytes(p.line<<space.LineShift+space.Addr(p.lo), int(p.hi-p.lo)), p.data[p.lo:p.hi])
		}
	}
	clear(d.index)
	d.list, d.free, d.ring, d.head = d.list[:0], d.free[:0], d.ring[:0], 0
}

// lose empties the DRAM.
func (m *Memory) lose() {
	for i := range m.arrays {
		m.arrays[i].lose()
	}
	for from := space.Addr(1 << space.HugeShift); from < m.top; {
		to := from
		for to < m.top && !m.onNVM(to) {
			to += 1 << space.HugeShift
		}
		if to > from {
			space.Forget(m.buf[from:to])
			for b := from >> space.BlockShift; b < to>>space.BlockShift; b += 64 { // 2 MB are whole words
				m.pending[b>>6] = 0
			}
		}
		from = to + 1<<space.HugeShift
	}
}
