package fabric

import "fmt"

// Crash stops the machine at this instant. DRAM and caches are lost and read as
// zeros, whatever fill function they had; NVM keeps its persistent domain and a
// random part, by lines, of what was in flight. The RNICs are down, the machine's
// queue pairs are dead and those connected to them fail at once, as if the
// connection manager had told: the peers' own timeouts would take seconds. Nothing
// that is still under way changes the machine's bytes any more.
//
// Cores are not known here: the layer that runs programs on them has to stop them.
func (m *Machine) Crash() error {
	if err := m.Halt(); err != nil {
		return err
	}
	now := m.fab.sim.Now()
	for _, n := range m.NICs {
		n.off = true
		for _, q := range n.qps[1:] {
			m.fab.abandon(q)
			if p := q.peer; p != nil && !p.nic.machine.Mem.Down {
				p.fab.orphanAll(p)
				p.fab.setError(p, now)
				p.state |= severed
			}
		}
	}
	return nil
}

// Restart brings the machine back with what its NVM kept and empty DRAM. Its old
// queue pairs, and those of its peers to it, stay in the error state. It is refused
// as long as requests of before the crash are under way.
func (m *Machine) Restart() error {
	if !m.Mem.Down {
		return fmt.Errorf("fabric: machine %d restarts, and is not down: crash it first", m.ID)
	}
	var under error
	m.fab.each(func(v *verb) {
		if m.fab.nics[v.from].machine == m || v.flags&ticket == 0 && m.fab.nics[v.to].machine == m {
			under = fmt.Errorf("fabric: machine %d restarts at %d ps with a %v of before the crash under way: let some microseconds pass", m.ID, m.fab.sim.Now(), v.op)
		}
	})
	if under != nil {
		return under
	}
	m.Resume()
	for _, n := range m.NICs {
		n.off = false
	}
	return nil
}

// abandon puts a queue pair of a crashed machine into the error state. No program is
// there to see completions, so none are given, and those that were not polled
// are gone.
func (f *part) abandon(h *QP) {
	h.state |= failed
	for _, cq := range []*CQ{h.sendCQ, h.recvCQ} {
		if cq != nil {
			cq.drop()
		}
	}
	h.sendCQ, h.recvCQ = nil, nil
	for ; h.rqHead != h.rqTail; h.rqHead++ {
		f.dropRecv(&h.rq[h.rqHead&uint16(len(h.rq)-1)])
	}
	f.orphanAll(h)
	f.dropQueued(h)
}

// orphanAll marks what a queue pair has under way, wherever it is: all machines stand still.
func (f *part) orphanAll(h *QP) {
	for i := h.oldest; i != h.sqHead; i = f.verb(i).next {
		f.verb(i).flags |= orphan
	}
}
