package fabric

import (
	"errors"
	"fmt"

	"drtmx/engine/fabric/exploration"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// Config is a cluster to build.
type Config struct {
	// Profile is the hardware; nil means val.
	Profile *profile.Profile
	// Machines is their number, at least 1.
	Machines int
	// NodeTypes are the machines' types, one each; empty means that all are of
	// the profile's first type.
	NodeTypes []string
	// TornReads makes accesses of several lines visible line by line when another
	// access to the same lines is under way. Without it every access is atomic,
	// which no hardware is: for finding out what a protocol owes to its checks.
	TornReads bool
	// CacheNum / CacheDen shrink the capacities that matter relative to the
	// population (LLC, TLBs), as the population is shrunk. 0 means 1.
	CacheNum, CacheDen uint32
	// NoDDIO starts with DDIO off.
	NoDDIO bool
	// NVM makes the persistent memory of a socket, nil if it has none. A nil
	// function means that no machine has any.
	NVM func(machine, socket int, t *profile.NodeType) (host.Device, error)
	// Durability keeps, of every line of NVM, what a crash would leave of it:
	// Machine.Crash, AfterCrash and Where need it. It costs the host time, not the
	// simulated cluster.
	Durability bool
	// LossPPM is how many datagrams (and UC packets) of a million are lost.
	LossPPM uint32
	// NICs is how many RNICs a machine uses; 0 means all that it has.
	NICs int
	// Exploration holds messages back and notes the order of accesses, nil for none.
	Exploration *exploration.Exploration
}

// Fabric is the machines of a cluster and the network between them.
type Fabric struct {
	clock    *sim.Sim
	profile  *profile.Profile
	cost     costs
	machines []*Machine
	hosts    *host.Hosts
	parts    []*part
	chunks   []*chunk // of verbs, by machine
	nics     []*NIC   // of all machines
	// firstNIC is by machine the place of its first RNIC in nics, and one more.
	firstNIC []uint16

	explored *exploration.Exploration // nil: no exploration

	torn   bool
	loss   uint32 // ppm
	rcLoss uint32 // ppm
}

// VerbCounts are totals since time 0.
type VerbCounts struct {
	Posted      [numOpcodes]uint64 // by opcode; Recv counts messages received
	Doorbells   uint64             // lists posted, RECVs apart
	Completions uint64
	Errors      uint64 // completions with an error, flushes included
	Lost        uint64 // packets lost by UD and UC
	NoRecv      uint64 // messages dropped by UD and UC for want of a RECV
	Retries     uint64 // retransmissions of RC, RNR retries included
	CQOverruns  uint64
	Split       uint64 // accesses executed line by line
	CtxMisses   uint64 // queue-pair contexts fetched
	XlateMisses uint64 // NIC translations fetched
}

func (c *VerbCounts) add(o *VerbCounts) {
	for op := range c.Posted {
		c.Posted[op] += o.Posted[op]
	}
	c.Doorbells += o.Doorbells
	c.Completions += o.Completions
	c.Errors += o.Errors
	c.Lost += o.Lost
	c.NoRecv += o.NoRecv
	c.Retries += o.Retries
	c.CQOverruns += o.CQOverruns
	c.Split += o.Split
	c.CtxMisses += o.CtxMisses
	c.XlateMisses += o.XlateMisses
}

// New builds a cluster at virtual time s.Now.
func New(s *sim.Sim, c Config) (*Fabric, error) {
	if c.Profile == nil {
		p, err := profile.Load("val")
		if err != nil {
			return nil, err
		}
		c.Profile = p
	}
	if c.Machines < 1 || c.Machines > maxMachines {
		return nil, fmt.Errorf("fabric: machines is %d: must be between 1 and %d", c.Machines, maxMachines)
	}
	if n := len(c.NodeTypes); n != 0 && n != c.Machines {
		return nil, fmt.Errorf("fabric: node types has %d entries for %d machines: give one each or none", n, c.Machines)
	}
	f := &Fabric{clock: s, profile: c.Profile, cost: newCosts(c.Profile), chunks: make([]*chunk, c.Machines<<chunkBits), firstNIC: []uint16{0}, torn: c.TornReads, loss: c.LossPPM, explored: c.Exploration}
	f.hosts = host.New(c.Profile, host.Config{TornReads: c.TornReads, CacheNum: c.CacheNum, CacheDen: c.CacheDen, NoDDIO: c.NoDDIO, Durability: c.Durability, NVM: c.NVM}, f.writing)
	most := space.PerMachine(c.Machines)
	if most < leastSpace {
		return nil, fmt.Errorf("fabric: address space: the process's limit leaves %d MB for each of %d machines: at least %d are needed: raise it with ulimit -v, or use fewer machines", most>>20, c.Machines, leastSpace>>20)
	}
	for i := range c.Machines {
		name := ""
		if len(c.NodeTypes) > 0 {
			name = c.NodeTypes[i]
		}
		t, err := c.Profile.NodeType(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("fabric: machine %d: %w", i, err), f.Close())
		}
		p := newPart(f, i)
		m, err := newMachine(p, i, t, &c, most)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("fabric: %w", err), f.Close())
		}
		f.machines = append(f.machines, m)
		f.nics = append(f.nics, m.NICs...)
		f.firstNIC = append(f.firstNIC, uint16(len(f.nics)))
		m.Opened(p.admit)
	}
	return f, nil
}

const maxMachines = sim.MaxMachines

// leastSpace of a machine is what r2's buffers and a few tables take; with less the Go runtime is close to
// the limit as well, and ends the process where it meets it.
const leastSpace = 128 << 20

// Close gives the machines' memory back. Views of it must no longer be used.
func (f *Fabric) Close() error {
	var errs []error
	for _, m := range f.machines {
		errs = append(errs, m.Mem.Close())
	}
	f.machines = nil
	errs = append(errs, f.hosts.Close())
	return errors.Join(errs...)
}

// Sim is the simulation the fabric lives in.
func (f *Fabric) Sim() *sim.Sim { return f.clock }

// Profile is the hardware.
func (f *Fabric) Profile() *profile.Profile { return f.profile }

// TCP is what the kernel's messages cost; nil where the NICs have RDMA.
func (f *Fabric) TCP() *profile.TCPCosts { return f.profile.TCPCosts() }

// Scheduler is how cores are shared; nil where the profile does not say.
func (f *Fabric) Scheduler() *profile.SchedulerCosts { return f.profile.SchedulerCosts() }

// Machines is the number of machines.
func (f *Fabric) Machines() int { return len(f.machines) }

// Machine is machine i.
func (f *Fabric) Machine(i int) *Machine { return f.machines[i] }

// Lookahead is what a message between two machines takes at least.
func (f *Fabric) Lookahead() sim.Time { return f.cost.latency }

// Exploration is Config's.
func (f *Fabric) Exploration() *exploration.Exploration { return f.explored }

// Counts are totals since time 0.
func (f *Fabric) Counts() (all VerbCounts) {
	for _, p := range f.parts {
		all.add(&p.counts)
	}
	return all
}

// InFlight is the number of requests that have not ended in every respect:
// responses, late memory accesses and completions on their way to host memory
// count, RECVs that wait for a message do not.
func (f *Fabric) InFlight() (n int) {
	for _, p := range f.parts {
		n += p.live
	}
	return n
}

// SetLoss sets how many datagrams (and UC packets) of a million are lost.
func (f *Fabric) SetLoss(ppm uint32) { f.loss = ppm }

// SetDDIO switches whether DMA writes go to the LLC, on all sockets.
func (f *Fabric) SetDDIO(on bool) {
	for _, m := range f.machines {
		for k := range m.Sockets() {
			m.SetDDIO(k, on)
		}
	}
}

// OutOfOrder is the number of calls that reached a station out of order. It
// must be 0, or queueing times are not exact.
func (f *Fabric) OutOfOrder() uint64 {
	var n uint64
	for _, m := range f.machines {
		m.Machine.Stations(func(_ string, _ int, s *sim.FIFO) { n += s.OOO })
		for _, c := range m.NICs {
			for _, s := range c.stations() {
				n += s.OOO
			}
		}
		for _, s := range m.softirqs {
			if s != nil {
				n += s.OOO
			}
		}
	}
	return n
}

// Usage appends the cumulative busy times of all stations, up to now.
func (f *Fabric) Usage(to []metrics.Usage) []metrics.Usage {
	now := f.clock.Now()
	for _, m := range f.machines {
		add := func(resource string, index int, s interface{ BusyUntil(sim.Time) sim.Time }) {
			to = append(to, metrics.Usage{Node: m.ID, Resource: resource, Index: index, BusyPS: s.BusyUntil(now), Servers: 1})
		}
		for i, n := range m.NICs {
			add(metrics.NICTx, i, &n.tx)
			add(metrics.NICRx, i, &n.rx)
			add(metrics.NICAtomic, i, &n.atomic)
			add(metrics.Link, 2*i, &n.link)
			add(metrics.Link, 2*i+1, &n.in)
			add(metrics.PCIeBus, 2*i, &n.up)
			add(metrics.PCIeBus, 2*i+1, &n.down)
			add(NICContext, i, &n.fetch)
		}
		m.Machine.Stations(func(resource string, index int, s *sim.FIFO) { add(resource, index, s) })
		for core, s := range m.softirqs {
			if s != nil {
				add(SoftirqCore, core, s)
			}
		}
	}
	return to
}

// NICContext is the resource name of an RNIC's fetching of contexts and
// translations that it does not keep.
const NICContext = "nic_context"
