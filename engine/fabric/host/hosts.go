package host

import (
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Config is what hosts are like beyond their profile. Package fabric says what each is good for.
type Config struct {
	TornReads          bool   // whether accesses of several lines are seen line by line where others touch them
	CacheNum, CacheDen uint32 // a factor on LLC and TLBs; 0 means 1
	NoDDIO, Durability bool
	NVM                func(machine, socket int, t *profile.NodeType) (Device, error) // of a socket; nil: no machine has any
}

// Hosts is what the hosts of a cluster share.
type Hosts struct {
	profile *profile.Profile
	config  Config
	Cost    Costs
	tags    tagSpace
	// inRNIC calls each with the bytes of every WRITE that an RNIC of the machine has taken, and perhaps
	// acknowledged, and that has not reached the cache or memory.
	inRNIC func(m *Machine, each func(a space.Addr, b []byte))
}

// New begins a cluster without machines.
func New(p *profile.Profile, c Config, inRNIC func(m *Machine, each func(a space.Addr, b []byte))) *Hosts {
	if c.CacheNum == 0 {
		c.CacheNum = 1
	}
	if c.CacheDen == 0 {
		c.CacheDen = 1
	}
	return &Hosts{profile: p, config: c, Cost: NewCosts(p), inRNIC: inRNIC}
}

// Scaled is a capacity as the population is shrunk.
func (h *Hosts) Scaled(n int) int {
	return int(max(uint64(n)*uint64(h.config.CacheNum)/uint64(h.config.CacheDen), 1))
}

// Close gives the caches' memory back.
func (h *Hosts) Close() error { return h.tags.close() }

// Costs are the profile's numbers of caches and memory.
type Costs struct {
	LLCHit, LLCNext, LLCStore, LLCDMA sim.Time
	DRAM, DRAMNext, DRAMStore         sim.Time
	DRAMRandom                        sim.Time
	Cross, Walk                       sim.Time
}

func NewCosts(p *profile.Profile) Costs {
	m := &p.Memory
	return Costs{
		LLCHit: m.LLCHit.Time(), LLCNext: m.LLCNext.Time(), LLCStore: m.LLCStore.Time(), LLCDMA: m.LLCDMA.Time(),
		DRAM: m.DRAM.Time(), DRAMNext: m.DRAMNext.Time(), DRAMStore: m.DRAMStore.Time(),
		DRAMRandom: m.DRAMRandom.Time(),
		Cross:      m.CrossSocket.Time(), Walk: m.TLBWalk.Time(),
	}
}
