package rdpma

import (
	"fmt"

	"drtmx/engine/owned"
	"drtmx/engine/r2"
)

// Config says which memory there is and how it is used. The zero value of a
// field means its default.
type Config struct {
	// Servers are the machines that have a pool; default all. Every machine is a
	// client.
	Servers []int
	// Sockets of a server that have a pool, from 0; default all. With one, other
	// sockets' RNICs and cores have no memory of their own socket to go to.
	Sockets int
	// PoolBytes is the data pool of a server's socket; default 64 MB. Address
	// space: only what is touched takes the host's memory.
	PoolBytes uint64
	// AtomicBytes is the DRAM of a server's socket for the words of atomics (H8);
	// default 2 MB.
	AtomicBytes uint64
	// DIMMs of a socket, among which H2 divides threads; default as many as the
	// hardware has, and 6 (§2.1) where it has no NVM.
	DIMMs int
	// Hints of Table 2-4; SetHints changes them later.
	Hints Hints
	// DRAM puts the pools into DRAM: what systems of before the hardware did, which
	// took it for NVM (§2.3.5.2). Persistence is then pretended.
	DRAM bool
	// KeepDDIO leaves DDIO as it is: H3 then sends large one-sided writes as
	// two-sided ones ("if DDIO must be enabled", §2.3.4.1), and all persistent
	// ones, which the server's cache would keep.
	KeepDDIO bool
	// LargeBytes is from where on a write is large for H3 with KeepDDIO; default
	// 256, the size of an XLine, below which writes are small.
	LargeBytes int
	// FlushDRAM reads a word of DRAM after a persistent WRITE instead of a word of
	// what was written: the order on the queue pair is what flushes, and DRAM
	// answers sooner [librdpma].
	FlushDRAM bool
	// Pool tells the pools of one cluster apart: each has a number of its own.
	Pool int
}

const (
	defaultPoolBytes   = 64 << 20
	defaultAtomicBytes = 2 << 20
	defaultDIMMs       = 6
	// maxAlloc bounds an allocation, so that offsets fit 32 bits on the wire.
	maxAlloc = 1 << 30
	// MaxBytes is what one operation carries.
	MaxBytes = 256 << 10
)

// Memory is the remote persistent memory of a cluster.
type Memory struct {
	rpcWrite, rpcRead uint8

	cl      *r2.Cluster
	cfg     Config
	hints   Hints
	secret  uint64
	servers []*server // by machine; nil: no server
	order   []*server // the servers, in the order of Config.Servers
	chunk   int       // bytes of a two-sided message
	own     owned.Each[part]
}

// part is what coroutines of a machine count and use.
type part struct {
	counts  Counts
	flushes [][]flush // lists of batches that are through
}

// Counts are totals since Open.
type Counts struct {
	Writes, Reads uint64 // operations, persistent ones included
	Padded        uint64 // writes with padding
	PadBytes      uint64
	Unpadded      uint64 // writes that a hint would pad and that had to stay as they are
	Rerouted      uint64 // one-sided writes sent as two-sided (H3 with KeepDDIO)
	CrossSocket   uint64 // operations whose memory is on another socket than the RNIC or core that reaches it
	FlushReads    uint64 // READs for persistence
}

// Open makes the pools. It is called before the run, once per Config.Pool.
func Open(cl *r2.Cluster, cfg Config) (*Memory, error) {
	if err := cfg.complete(cl); err != nil {
		return nil, err
	}
	m := &Memory{cl: cl, cfg: cfg, secret: cl.Stream("rdpma", uint64(cfg.Pool)).Uint64() | 1,
		servers: make([]*server, cl.Machines()), own: owned.New[part](cl.Machines(), nil),
		chunk: (cl.MaxPayload() - requestBytes) / XLineBytes * XLineBytes}
	for _, id := range cfg.Servers {
		s, err := m.openServer(id)
		if err != nil {
			return nil, err
		}
		m.servers[id] = s
		m.order = append(m.order, s)
	}
	m.rpcWrite = cl.Handle(fmt.Sprintf("rdpma.%d.write", cfg.Pool), m.serveWrite)
	m.rpcRead = cl.Handle(fmt.Sprintf("rdpma.%d.read", cfg.Pool), m.serveRead)
	m.SetHints(cfg.Hints)
	return m, nil
}

// complete fills in defaults and says what is wrong.
func (c *Config) complete(cl *r2.Cluster) error {
	if c.Servers == nil {
		for i := range cl.Machines() {
			c.Servers = append(c.Servers, i)
		}
	}
	seen := make([]bool, cl.Machines())
	for _, id := range c.Servers {
		if id < 0 || id >= cl.Machines() || seen[id] {
			return fmt.Errorf("rdpma: Servers %v: %d is not a machine of %d, or is there twice", c.Servers, id, cl.Machines())
		}
		seen[id] = true
		if n := cl.Fabric().Machine(id).Type.Sockets.Int(); c.Sockets < 0 || c.Sockets > n {
			return fmt.Errorf("rdpma: Sockets %d: machine %d has %d: use 0 for all", c.Sockets, id, n)
		}
	}
	if c.PoolBytes == 0 {
		c.PoolBytes = defaultPoolBytes
	}
	if c.AtomicBytes == 0 {
		c.AtomicBytes = defaultAtomicBytes
	}
	if c.DIMMs == 0 {
		c.DIMMs = defaultDIMMs
		if n := cl.Fabric().Profile().NVM; n != nil {
			c.DIMMs = n.DIMMs.Int()
		}
	}
	if c.LargeBytes == 0 {
		c.LargeBytes = XLineBytes
	}
	switch {
	case c.DIMMs < 1 || c.DIMMs > 64:
		return fmt.Errorf("rdpma: DIMMs %d: must be between 1 and 64", c.DIMMs)
	case c.LargeBytes < 1:
		return fmt.Errorf("rdpma: LargeBytes %d: must be at least 1", c.LargeBytes)
	case cl.MaxPayload() < requestBytes+XLineBytes:
		return fmt.Errorf("rdpma: messages carry %d bytes: r2's MaxMessage must leave room for %d", cl.MaxPayload(), requestBytes+XLineBytes)
	}
	return nil
}

func (m *Memory) openServer(id int) (*server, error) {
	s := &server{machine: id}
	n := m.cfg.Sockets
	if n == 0 {
		n = m.cl.Fabric().Machine(id).Type.Sockets.Int()
	}
	for k := range n {
		data, err := m.newPool(id, k, 0, m.cfg.PoolBytes, !m.cfg.DRAM)
		if err != nil {
			return nil, err
		}
		words, err := m.newPool(id, k, 0, m.cfg.AtomicBytes, false)
		if err != nil {
			return nil, err
		}
		s.spread, s.dram = append(s.spread, data), append(s.dram, words)
		s.single = append(s.single, make([]*pool, m.cfg.DIMMs))
	}
	return s, nil
}

// Hints are those in force.
func (m *Memory) Hints() Hints { return m.hints }

// SetHints changes the hints for operations and allocations that begin from
// now on. H3 acts on the hardware: on all that the servers' RNICs write.
func (m *Memory) SetHints(h Hints) {
	m.hints = h
	if m.cfg.KeepDDIO {
		return
	}
	for _, s := range m.order {
		hw := m.cl.Fabric().Machine(s.machine)
		for k := range hw.Type.Sockets.Int() { // an RNIC writes to the memory of other sockets too
			hw.SetDDIO(k, !h.H3)
		}
	}
}

// Alloc takes n bytes on a server, on its sockets in turn. They are what was
// there before: write before you read.
func (m *Memory) Alloc(machine, n int) (Ptr, error) {
	s, err := m.server(machine)
	if err != nil {
		return Ptr{}, err
	}
	k := s.nextSocket()
	return m.alloc(s, s.spread[k], n, false)
}

func (m *Memory) server(machine int) (*server, error) {
	if machine < 0 || machine >= len(m.servers) || m.servers[machine] == nil {
		return nil, fmt.Errorf("rdpma: machine %d is no server: servers are %v", machine, m.cfg.Servers)
	}
	return m.servers[machine], nil
}

func (s *server) nextSocket() int {
	k := s.turn
	s.turn = (s.turn + 1) % len(s.spread)
	return k
}

func (m *Memory) alloc(s *server, p *pool, n int, atomic bool) (Ptr, error) {
	if n < 1 || n > maxAlloc {
		return Ptr{}, fmt.Errorf("rdpma: allocation of %d bytes: must be between 1 and %d: %w", n, maxAlloc, ErrSize)
	}
	granule := wordBytes
	if !atomic {
		granule = max(m.hints.granule(OneSided, n), m.hints.granule(TwoSided, n))
	}
	i, err := s.alloc(p, n, granule, atomic)
	if err != nil {
		return Ptr{}, err
	}
	b := &s.blocks[i]
	ptr := Ptr{addr: b.addr, block: i, gen: b.gen, size: b.size, machine: uint16(s.machine), socket: p.socket, atomic: atomic}
	ptr.seal = ptr.sealed(m.secret)
	return ptr, nil
}

// Free gives the memory back. The pointer, and every copy of it, is refused from
// then on.
func (m *Memory) Free(p Ptr) error {
	if _, err := m.resolve(p); err != nil {
		return fmt.Errorf("rdpma: free %v: %w", p, err)
	}
	m.servers[p.machine].free(p.block)
	return nil
}

// resolve finds what a pointer points to, or why it points nowhere.
func (m *Memory) resolve(p Ptr) (*block, error) {
	if p.seal != p.sealed(m.secret) || p.IsNil() {
		return nil, fmt.Errorf("it was not made by Alloc of this memory: %w", ErrForeign)
	}
	b := &m.servers[p.machine].blocks[p.block]
	return b, b.current(p.gen)
}

// current says whether a generation is the one in use.
func (b *block) current(gen uint32) error {
	switch {
	case b.gen == gen:
		return nil
	case b.gen&1 == 0:
		return fmt.Errorf("generation %d was freed: allocate again: %w", gen, ErrFreed)
	}
	return fmt.Errorf("generation %d was freed, the memory is in use as generation %d: %w", gen, b.gen, ErrStale)
}

// check resolves a pointer for an operation on n bytes at off.
func (m *Memory) check(p Ptr, off, n int, atomic bool) (*block, error) {
	b, err := m.resolve(p)
	switch {
	case err != nil:
		return nil, err
	case p.atomic != atomic && atomic:
		return nil, fmt.Errorf("atomics need words from AllocAtomic: %w", ErrKind)
	case n < 1 || n > MaxBytes || n > int(p.size):
		return nil, fmt.Errorf("%d bytes: must be between 1 and %d: %w", n, min(MaxBytes, int(p.size)), ErrSize)
	case off%wordBytes != 0 || off < 0:
		return nil, fmt.Errorf("offset %d: must be a multiple of %d: %w", off, wordBytes, ErrMisaligned)
	case off+n > int(p.size):
		return nil, fmt.Errorf("bytes %d to %d: the allocation ends at %d: %w", off, off+n, p.size, ErrRange)
	}
	return b, nil
}
