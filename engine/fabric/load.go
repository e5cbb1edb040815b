package fabric

import "drtmx/engine/sim"

// UnitLoad is what a station has done since time 0: how long it was busy, and how many times it
// served. Nothing that a run depends on looks at it.
type UnitLoad struct {
	BusyPS sim.Time
	N      uint64
}

// NICLoad is what an RNIC has done.
type NICLoad struct {
	Socket                        int
	Tx, Rx, Atomic, Fetch         UnitLoad // pipelines, the unit for atomics, the fetching of contexts
	LinkOut, LinkIn               UnitLoad
	PCIeUp, PCIeDown              UnitLoad // towards the host, and from there
	ContextMisses, PageMisses     uint64
	ContextsNeeded, PagesRequired uint64
}

// SocketLoad is what the memory of a socket has done, and what its cache is like.
type SocketLoad struct {
	Channels                          []UnitLoad
	DDIO                              bool
	Ways, DDIOWays                    int
	LLCBytes                          int
	DDIOHits, DDIOMisses, DDIOEvicted uint64 // lines
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
	l := MachineLoad{NICs: make([]NICLoad, len(m.NICs)), Sockets: make([]SocketLoad, len(m.sockets))}
	for i, n := range m.NICs {
		t := &n.traffic
		l.NICs[i] = NICLoad{Socket: n.socket, Tx: unit(&n.tx), Rx: unit(&n.rx), Atomic: unit(&n.atomic), Fetch: unit(&n.fetch),
			LinkOut: UnitLoad{n.link.BusyUntil(now), n.link.N}, LinkIn: unit(&n.in), PCIeUp: unit(&n.up), PCIeDown: unit(&n.down),
			ContextMisses: t.ContextMisses, PageMisses: t.TranslationMisses, ContextsNeeded: t.Contexts, PagesRequired: t.Translations}
	}
	for i := range m.interconnect {
		l.Between = append(l.Between, unit(&m.interconnect[i]))
	}
	for k, s := range m.sockets {
		x := SocketLoad{Channels: make([]UnitLoad, len(s.channels)), DDIO: s.ddio, Ways: m.Type.LLCWays.Int(), DDIOWays: m.Type.DDIOWays.Int(),
			LLCBytes: m.Type.LLC.Int() << 20, DDIOHits: s.dmaHits, DDIOMisses: s.dmaMisses, DDIOEvicted: s.evictions}
		for i := range s.channels {
			x.Channels[i] = unit(&s.channels[i])
		}
		l.Sockets[k] = x
	}
	return l
}
