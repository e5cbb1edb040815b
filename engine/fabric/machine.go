package fabric

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// Machine is one node: a host with its RNICs.
type Machine struct {
	host.Machine
	NICs []*NIC
	// MaxInline is the largest payload that fits into a request.
	MaxInline int
	// Interrupted, unless nil, hears of softirq work of d that a core gets now, and says
	// whether a thread wants the core meanwhile. engine/r2 sets it.
	Interrupted func(core int, d sim.Time) (wanted bool)

	softirqs []*softirq // by core, nil of those that no queue interrupts; none with RDMA
	fab      *part
}

func newMachine(f *part, id int, t *profile.NodeType, c *Config, most uint64) (*Machine, error) {
	m := &Machine{MaxInline: f.profile.NIC.MaxInline.Int(), fab: f}
	if err := f.hosts.Open(&m.Machine, f.sim, id, t, most); err != nil {
		return nil, err
	}
	if f.profile.TCP != nil {
		m.softirqs = make([]*softirq, t.Cores())
	}
	nics := t.NICs.Int()
	if c.NICs > 0 {
		nics = min(nics, c.NICs)
	}
	for i := range nics {
		m.NICs = append(m.NICs, newNIC(m, uint16(len(f.nics)+i), i, i%t.Sockets.Int(), f.hosts.Scaled(f.profile.NIC.Translations.Int())))
	}
	return m, nil
}

// Assign gives a worker thread its core and the RNIC of that core's socket.
// Threads go round the sockets, so that few threads use all RNICs.
func (m *Machine) Assign(thread int) (core, nic int) {
	if thread >= m.Cores() {
		panic(fmt.Sprintf("fabric: thread %d on machine %d with %d cores", thread, m.ID, m.Cores()))
	}
	n := m.Sockets()
	core = thread%n*m.PerSocket + thread/n
	return core, m.CoreSocket(core) % len(m.NICs)
}
