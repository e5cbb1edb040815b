package fabric

import "drtmx/engine/sim"

// NICLoad is what an RNIC has done.
type NICLoad struct {
	Socket                        int
	Tx, Rx, Atomic, Fetch         UnitLoad // pipelines, the unit for atomics, the fetching of contexts
	LinkOut, LinkIn               UnitLoad
	PCIeUp, PCIeDown              UnitLoad // towards the host, and from there
	ContextMisses, PageMisses     uint64
	ContextsNeeded, PagesRequired uint64
}

// MachineLoad is what the parts of a machine have done.
type MachineLoad struct {
	NICs    []NICLoad
	Sockets []SocketLoad
	Between []UnitLoad // the way between sockets, by direction; none without NVM
}

// Load reads the stations of a machine, up to now.
func (m *Machine) Load() MachineLoad {
	now := m.fab.sim.Now()
	unit := func(s *sim.FIFO) UnitLoad { return UnitLoad{s.BusyUntil(now), s.N} }
	l := MachineLoad{NICs: make([]NICLoad, len(m.NICs))}
	l.Sockets, l.Between = m.load(now)
	for i, n := range m.NICs {
		t := &n.traffic
		l.NICs[i] = NICLoad{Socket: n.Socket(), Tx: unit(&n.tx), Rx: unit(&n.rx), Atomic: unit(&n.atomic), Fetch: unit(&n.fetch),
			LinkOut: UnitLoad{n.link.BusyUntil(now), n.link.N}, LinkIn: unit(&n.in), PCIeUp: unit(&n.up), PCIeDown: unit(&n.down),
			ContextMisses: t.ContextMisses, PageMisses: t.TranslationMisses, ContextsNeeded: t.Contexts, PagesRequired: t.Translations}
	}
	return l
}

// Traffic is that of a socket and the RNICs attached to it.
func (m *Machine) Traffic(socket int) Traffic {
	t := m.cacheTraffic(socket)
	for _, n := range m.NICs {
		if n.Socket() == socket {
			t.Add(&n.traffic)
		}
	}
	if m.fab.profile.TCP != nil { // no RNIC, no contexts
		t.Contexts = 0
	}
	return t
}

// completed counts a completion written to the host.
func (n *NIC) completed() { n.traffic.write(ByCompletion, 0, n.cqe) }
