package fabric

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/sim"
)

// NICLoad is what an RNIC has done.
type NICLoad struct {
	Socket                        int
	Tx, Rx, Atomic, Fetch         host.UnitLoad // pipelines, the unit for atomics, the fetching of contexts
	LinkOut, LinkIn               host.UnitLoad
	PCIeUp, PCIeDown              host.UnitLoad // towards the host, and from there
	ContextMisses, PageMisses     uint64
	ContextsNeeded, PagesRequired uint64
}

// MachineLoad is what the parts of a machine have done.
type MachineLoad struct {
	NICs    []NICLoad
	Sockets []host.SocketLoad
	Between []host.UnitLoad // the way between sockets, by direction; none without NVM
}

// Load reads the stations of a machine, up to now.
func (m *Machine) Load() MachineLoad {
	now := m.fab.sim.Now()
	unit := func(s *sim.FIFO) host.UnitLoad { return host.UnitLoad{BusyPS: s.BusyUntil(now), N: s.N} }
	l := MachineLoad{NICs: make([]NICLoad, len(m.NICs))}
	l.Sockets, l.Between = m.Loads(now)
	for i, n := range m.NICs {
		t := &n.Traffic
		l.NICs[i] = NICLoad{Socket: n.Socket(), Tx: unit(&n.tx), Rx: unit(&n.rx), Atomic: unit(&n.atomic), Fetch: unit(&n.fetch),
			LinkOut: host.UnitLoad{BusyPS: n.link.BusyUntil(now), N: n.link.N}, LinkIn: unit(&n.in), PCIeUp: unit(&n.up), PCIeDown: unit(&n.down),
			ContextMisses: t.ContextMisses, PageMisses: t.TranslationMisses, ContextsNeeded: t.Contexts, PagesRequired: t.Translations}
	}
	return l
}

// Traffic is that of a socket and the RNICs attached to it.
func (m *Machine) Traffic(socket int) host.Traffic {
	t := m.CacheTraffic(socket)
	for _, n := range m.NICs {
		if n.Socket() == socket {
			t.Add(&n.Traffic)
		}
	}
	if m.fab.profile.TCP != nil { // no RNIC, no contexts
		t.Contexts = 0
	}
	return t
}

// completed counts a completion written to the host.
func (n *NIC) completed() { n.Traffic.Write(host.ByCompletion, 0, n.cqe) }
