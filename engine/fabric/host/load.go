package host

import (
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// UnitLoad is what a station has done since time 0: how long it was busy, and how many times it
// served. Nothing that a run depends on looks at it.
type UnitLoad struct {
	BusyPS sim.Time
	N      uint64
}

// SocketLoad is what the memory of a socket has done, and what its cache is like.
type SocketLoad struct {
	Channels                          []UnitLoad
	DDIO                              bool
	Ways, DDIOWays                    int
	LLCBytes                          int
	DDIOHits, DDIOMisses, DDIOEvicted uint64 // lines
}

// Loads reads the stations of a host, up to now: its sockets, and the way between them.
func (m *Machine) Loads(now sim.Time) (sockets []SocketLoad, between []UnitLoad) {
	unit := func(s *sim.FIFO) UnitLoad { return UnitLoad{s.BusyUntil(now), s.N} }
	for i := range m.interconnect {
		between = append(between, unit(&m.interconnect[i]))
	}
	for _, s := range m.Processors {
		x := SocketLoad{Channels: make([]UnitLoad, len(s.channels)), DDIO: s.ddio, Ways: m.Type.LLCWays.Int(), DDIOWays: m.Type.DDIOWays.Int(),
			LLCBytes: m.Type.LLC.Int() << 20, DDIOHits: s.dmaHits, DDIOMisses: s.dmaMisses, DDIOEvicted: s.evictions}
		for i := range s.channels {
			x.Channels[i] = unit(&s.channels[i])
		}
		sockets = append(sockets, x)
	}
	return sockets, between
}

// Stations calls f for each station: channels of the sockets one after the other, then the ways between sockets.
func (m *Machine) Stations(f func(resource string, index int, s *sim.FIFO)) {
	for k, s := range m.Processors {
		for i := range s.channels {
			f(metrics.MemoryBus, k*len(s.channels)+i, &s.channels[i])
		}
	}
	for i := range m.interconnect {
		f(Interconnect, i, &m.interconnect[i])
	}
}
