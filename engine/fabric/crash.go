package fabric

import (
	"drtmx/engine/fabric/space"
	"fmt"
)

// Crash stops the machine at this instant. DRAM and caches are lost and read as
// zeros, whatever fill function they had; NVM keeps its persistent domain and a
// random part, by lines, of what was in flight. The RNICs are down, the machine's
// queue pairs are dead and those connected to them fail at once, as if the
// connection manager had told: the peers' own timeouts would take seconds. Nothing
// that is still under way changes the machine's bytes any more.
//
// Cores are not known here: whoever runs programs on them has to stop them.
func (m *Machine) Crash() error {
	switch {
	case m.Mem.down:
		return fmt.Errorf("fabric: machine %d crashes, it is down already: restart it first", m.ID)
	case m.Mem.nvm.any() && m.Mem.durable == nil:
		return fmt.Errorf("fabric: machine %d crashes, and nobody knows what its NVM keeps: set Config.Durability", m.ID)
	}
	if d := m.Mem.durable; d != nil {
		d.crash()
	}
	m.Mem.lose()
	m.Mem.down = true
	m.SSD.crash(m.fab.sim.Now())
	for _, s := range m.sockets {
		clear(s.llc.sets)
	}
	m.shared = nil
	now := m.fab.sim.Now()
	for _, n := range m.NICs {
		n.off = true
		for _, q := range n.qps[1:] {
			m.fab.abandon(q)
			if p := q.peer; p != nil && !p.nic.machine.Mem.down {
				m.fab.setError(p, now)
				p.state |= severed
			}
		}
	}
	return nil
}

// Down says that the machine has crashed and not been restarted.
func (m *Machine) Down() bool { return m.Mem.down }

// Restart brings the machine back with what its NVM kept and empty DRAM. Its old
// queue pairs, and those of its peers to it, stay in the error state. It is refused
// as long as requests of before the crash are under way.
func (m *Machine) Restart() error {
	if !m.Mem.down {
		return fmt.Errorf("fabric: machine %d restarts, and is not down: crash it first", m.ID)
	}
	f := m.fab
	for i := range f.verbs {
		if v := &f.verbs[i]; v.q != nil && (f.nics[v.from].machine == m || v.flags&ticket == 0 && f.nics[v.to].machine == m) {
			return fmt.Errorf("fabric: machine %d restarts at %d ps with a %v of before the crash under way: let some microseconds pass", m.ID, f.sim.Now(), v.op)
		}
	}
	m.Mem.down = false
	clear(m.Mem.flight) // stores in whose middle the cores stopped
	for _, n := range m.NICs {
		n.off = false
	}
	return nil
}

// abandon puts a queue pair of a crashed machine into the error state. Nobody is
// there to see completions, so none are given, and those that nobody has polled
// are gone.
func (f *Fabric) abandon(h *QP) {
	h.state |= failed
	for _, cq := range []*CQ{h.sendCQ, h.recvCQ} {
		if cq != nil {
			cq.drop()
		}
	}
	h.sendCQ, h.recvCQ = nil, nil
	queued := f.queued(h)
	h.sqHead, h.sqTail = none, none
	h.rqHead = h.rqTail
	for i := range f.verbs {
		v := &f.verbs[i]
		if v.q != h || v.flags&(finished|orphan|delivery) != 0 || h.transport != RC && !queued[uint32(i)] {
			continue
		}
		v.flags |= orphan
		if queued[uint32(i)] && v.flags&(ready|waiting) == ready { // no event will come
			f.give(uint32(i), v)
		}
	}
}

// crash leaves in the memory what is persistent, and some of what is in flight.
func (d *durability) crash() {
	now := d.m.fab.sim.Now()
	d.settleAll(now)
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
