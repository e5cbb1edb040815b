package fabric

import (
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// HostConfig is what hosts are like beyond their profile. Package fabric says what each is good for.
type HostConfig struct {
	TornReads          bool   // whether accesses of several lines are seen line by line where others touch them
	CacheNum, CacheDen uint32 // a factor on LLC and TLBs; 0 means 1
	NoDDIO, Durability bool
	NVM                func(machine, socket int, t *profile.NodeType) (Device, error) // of a socket; nil: no machine has any
}

// Hosts is what the hosts of a cluster share.
type Hosts struct {
	sim     *sim.Sim
	profile *profile.Profile
	config  HostConfig
	cost    memoryCosts
	tags    tagSpace
	nvm     struct { // of all machines that have any
		ops                    []nvmOp
		free                   uint32
		arbiters               []*arbiter
		kOp, kArbiter, kPosted sim.Kind
	}
	// inRNIC calls each with the bytes of every WRITE that an RNIC of the machine has taken, and perhaps
	// acknowledged, and that has not reached the cache or memory.
	inRNIC func(m *Host, each func(a space.Addr, b []byte))
}

// newHosts begins a cluster without machines.
func newHosts(s *sim.Sim, p *profile.Profile, c HostConfig, inRNIC func(m *Host, each func(a space.Addr, b []byte))) *Hosts {
	if c.CacheNum == 0 {
		c.CacheNum = 1
	}
	if c.CacheDen == 0 {
		c.CacheDen = 1
	}
	return &Hosts{sim: s, profile: p, config: c, cost: newMemoryCosts(p), inRNIC: inRNIC}
}

// scaled is a capacity as the population is shrunk.
func (h *Hosts) scaled(n int) int {
	return int(max(uint64(n)*uint64(h.config.CacheNum)/uint64(h.config.CacheDen), 1))
}

// opened: all machines are made.
func (h *Hosts) opened(posted func(nic uint32)) {
	if len(h.nvm.arbiters) == 0 {
		return
	}
	h.nvm.free = noStep
	h.nvm.kOp = h.sim.Register("fabric.nvm", h.onOp)
	h.nvm.kArbiter = h.sim.Register("fabric.arbiter", func(i uint32) { h.nvm.arbiters[i].serve(h) })
	h.nvm.kPosted = h.sim.Register("fabric.posted", posted)
}

// noStep ends the list of free steps.
const noStep = ^uint32(0)

// close gives the caches' memory back.
func (h *Hosts) close() error { return h.tags.close() }

// memoryCosts are the profile's numbers of caches and memory.
type memoryCosts struct {
	llcHit, llcNext, llcStore, llcDMA sim.Time
	dram, dramNext, dramStore         sim.Time
	dramRandom                        sim.Time
	cross, walk                       sim.Time
}

func newMemoryCosts(p *profile.Profile) memoryCosts {
	m := &p.Memory
	return memoryCosts{
		llcHit: m.LLCHit.Time(), llcNext: m.LLCNext.Time(), llcStore: m.LLCStore.Time(), llcDMA: m.LLCDMA.Time(),
		dram: m.DRAM.Time(), dramNext: m.DRAMNext.Time(), dramStore: m.DRAMStore.Time(),
		dramRandom: m.DRAMRandom.Time(),
		cross:      m.CrossSocket.Time(), walk: m.TLBWalk.Time(),
	}
}
