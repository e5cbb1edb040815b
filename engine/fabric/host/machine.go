package host

import (
	"fmt"
	"math/bits"
	"unsafe"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Machine is a machine without its RNICs: sockets with cores, LLC and memory.
type Machine struct {
	ID   int
	Type *profile.NodeType
	Mem  *Memory
	// CPU is what cores pay for verbs. engine/r2 charges it.
	CPU profile.CPUCosts
	// SSD is its disk; nil where the profile names none.
	SSD *SSD

	streams      []stream   // of cores, on a machine with NVM
	interconnect []sim.FIFO // between its sockets, there and back
	hosts        *Hosts
	clock        *sim.Sim
	steps        steps
	Processors   []*socket
	cores        []TLB
	PerSocket    int
	shared       *sharedLines // nil: no core has executed a locked instruction yet
}

// socket is a processor: the LLC in front of its memory, and its channels.
type socket struct {
	NVM      *nvmSocket // nil without: what follows is the whole socket then
	llc      *llc
	channels []sim.FIFO
	ddio     bool     // of DMA writes that enter here
	line     sim.Time // of a channel

	dmaHits, dmaMisses, evictions uint64 // see Traffic
}

// Open makes a machine, with its clock, whose memory takes at most so many bytes of address space.
func (h *Hosts) Open(m *Machine, clock *sim.Sim, id int, t *profile.NodeType, most uint64) error {
	mem, err := newMemory(id, t.Sockets.Int(), uint64(t.DRAM.Int())<<30, most, h.config.TornReads)
	if err != nil {
		return err
	}
	*m = Machine{ID: id, Type: t, Mem: mem, CPU: h.profile.CPUCosts(t), hosts: h, clock: clock, PerSocket: t.CoresPerSocket.Int(), SSD: newSSD(h.profile)}
	for range t.Sockets.Int() {
		sets, err := h.tags.alloc(llcSets(uint64(h.Scaled(t.LLC.Int()<<20)), t.LLCWays.Int()))
		if err != nil {
			return fmt.Errorf("cache tags of machine %d: %w", id, err)
		}
		m.Processors = append(m.Processors, &socket{
			llc:      newLLC(sets, t.LLCWays.Int(), t.DDIOWays.Int()),
			channels: make([]sim.FIFO, t.Channels.Int()),
			line:     space.LineBytes * t.ChannelBandwidth.PerKB() >> 10,
			ddio:     !h.config.NoDDIO,
		})
	}
	for range t.Cores() {
		m.cores = append(m.cores, NewTLB(h.Scaled(h.profile.Memory.TLBEntries.Int())))
	}
	return m.equip()
}

// Now is the time of the machine's clock.
func (m *Machine) Now() sim.Time { return m.clock.Now() }

// Cores is the number of cores.
func (m *Machine) Cores() int { return len(m.cores) }

// Sockets is the number of sockets.
func (m *Machine) Sockets() int { return len(m.Processors) }

// CoreSocket is the socket of a core.
func (m *Machine) CoreSocket(core int) int { return core / m.PerSocket }

// Kind is how a core accesses memory.
type Kind uint8

// The kinds of access.
const (
	Load    Kind = iota
	Store        // into the cache, which fetches the line before
	StoreNT      // non-temporal: past the caches
	Flush        // clwb: write the line back if it is dirty, and keep it
	Modify       // a store that takes a load's time: engine/r2 charges stores to DRAM so
)

// Access is the time a core needs to load or store n bytes: translation, LLC,
// DRAM or NVM, the other socket. It moves the caches, not the bytes. Memory is
// charged at the simulation's time, which is at most now, the core's own.
//
// StoreNT and Flush to NVM give the lines to the core's write-combining buffers,
// and the time is that of giving. A program that must not give without bound
// waits with Await.
//
// Lines that another core's locked instructions have in its cache come from there.
func (m *Machine) Access(core int, now sim.Time, a space.Addr, n int, kind Kind) sim.Time {
	store := kind != Load && kind != Flush
	if kind == Modify {
		kind = Load
	}
	t := m.access(core, now, a, n, kind)
	if m.shared != nil {
		return m.sharing(core, now, a, n, store, t)
	}
	return t
}

func (m *Machine) access(core int, now sim.Time, a space.Addr, n int, kind Kind) sim.Time {
	c := &m.hosts.Cost
	var t sim.Time
	if !m.cores[core].Touch(a) {
		t = c.Walk
	}
	home := m.Mem.Home(a)
	s := m.Processors[home]
	if s.NVM != nil || kind > Store {
		return t + m.accessNVM(core, now+t, a, n, kind)
	}
	store := kind == Store
	far := sim.Time(0)
	if home != m.CoreSocket(core) {
		far = c.Cross
	}
	first, last := space.Lines(a, n)
	idle := t // when the lines would be there if no channel were busy: all are asked for at once, and wait at the same time
	for l := first; l <= last; l++ {
		hit, queued := s.cpu(m.clock.Now(), l, store)
		switch {
		case hit && store:
			t += c.LLCStore
		case hit && l == first:
			t += c.LLCHit + far
		case hit:
			t += c.LLCNext
		case store:
			t = max(t, idle+queued) + c.DRAMStore
		case l == first:
			idle = t + c.DRAM + far
			t = idle + queued
		default:
			t = max(t+c.DRAMNext, idle+queued)
		}
	}
	return t
}

// Gather is the time a core needs to load n bytes from each of several addresses
// that it knows from the start: it has some of the loads under way at once, and waits
// for the first. In DRAM the others follow at the core's rate of random loads.
func (m *Machine) Gather(core int, now sim.Time, at []space.Addr, n int) sim.Time {
	var t sim.Time
	for i, a := range at {
		d := m.Access(core, now+t, a, n, Load)
		if i > 0 && !m.Mem.OnNVM(a) {
			d = min(d, m.hosts.Cost.DRAMRandom)
		}
		t += d
	}
	return t
}

// Extent is some bytes of a machine's memory.
type Extent struct {
	At    space.Addr
	Bytes int
}

// Warm brings bytes into the LLC of their socket at no cost, one extent after the
// other, for starting with warm caches.
func (m *Machine) Warm(extents ...Extent) {
	for i, e := range extents {
		if next := i + warmAhead; next < len(extents) {
			sim.Prefetch(m.SetOf(extents[next].At >> space.LineShift))
		}
		m.pages(e.At, e.Bytes, func(s *socket, a space.Addr, n int) { s.warm(a, n, s.llc.all, false) })
	}
}

// pages calls f for the parts of some bytes that lie in different pages, with their sockets.
func (m *Machine) pages(a space.Addr, n int, f func(s *socket, a space.Addr, n int)) {
	for {
		part := min(n, int(1<<space.HugeShift-a%(1<<space.HugeShift)))
		f(m.Processors[m.Mem.Home(a)], a, part)
		if n -= part; n <= 0 {
			return
		}
		a += space.Addr(part)
	}
}

// warmAhead is how many extents ahead of its turn a set is asked for.
const warmAhead = 16

// WarmStore is Warm of lines that a core has stored to.
func (m *Machine) WarmStore(a space.Addr, n int) {
	m.pages(a, n, func(s *socket, a space.Addr, n int) { s.warm(a, n, s.llc.all, true) })
}

// WarmDMA is Warm of lines that an RNIC has written, if that leaves them in the cache.
func (m *Machine) WarmDMA(a space.Addr, n int) {
	m.pages(a, n, func(s *socket, a space.Addr, n int) {
		if s.ddio {
			s.warm(a, n, s.llc.ddio, true)
		}
	})
}

func (s *socket) warm(a space.Addr, n int, ways uint32, dirty bool) {
	for l, last := space.Lines(a, n); l <= last; l++ {
		set, tag := s.llc.locate(l)
		way := s.llc.find(set, tag)
		switch {
		case way >= 0:
			set.ref |= 1 << way
		case s.NVM == nil:
			way, _ = s.llc.insert(set, tag, ways)
		default:
			way = s.NVM.pick(set, set.unused(ways))
			set.fill(way, tag)
			*s.NVM.owner(set, way) = uint32(l)
		}
		if dirty {
			set.dirty |= 1 << way
		}
	}
}

// CacheLines is the capacity of a socket's LLC.
func (m *Machine) CacheLines() int {
	c := m.Processors[0].llc
	return len(c.sets) * bits.OnesCount32(c.all)
}

// cpu is one line's load or store by a core: whether it hit, and how long a
// miss waits for the channel.
func (s *socket) cpu(now sim.Time, line space.Addr, store bool) (hit bool, queued sim.Time) {
	set, tag := s.llc.locate(line)
	way := s.llc.find(set, tag)
	if way >= 0 {
		set.ref |= 1 << way
		if store {
			set.dirty |= 1 << way
		}
		return true, 0
	}
	end := s.dram(now, line)
	way, dirty := s.llc.insert(set, tag, s.llc.all)
	if dirty {
		s.dram(now, line)
	}
	if store {
		set.dirty |= 1 << way
	}
	return false, end - now - s.line
}

// dram is one line's transfer on its channel; it returns the end.
func (s *socket) dram(now sim.Time, line space.Addr) sim.Time {
	// 256 bytes per channel, then the next one; the higher bits keep power-of-two
	// strides from staying on one.
	ch := uint32(line>>2^line>>7^line>>12) % uint32(len(s.channels))
	return s.channels[ch].Serve(now, s.line)
}

// DMARead is an RNIC's read of n bytes: its latency behind PCIe. Lines are
// fetched side by side, so the slowest counts.
func (m *Machine) DMARead(n *Port, now sim.Time, a space.Addr, bytes uint32) sim.Time {
	c := &m.hosts.Cost
	home := m.Mem.Home(a)
	s := m.Processors[home]
	n.Traffic.Read(a, bytes)
	if s.NVM != nil {
		return m.dmaReadNVM(n, now, a, bytes)
	}
	t := c.LLCDMA
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		set, tag := s.llc.locate(l)
		if s.llc.find(set, tag) >= 0 {
			continue // a DMA read does not make a line more recently used
		}
		t = max(t, c.DRAM+s.dram(now, l)-now-s.line)
	}
	if home != n.socket {
		t += c.Cross
	}
	return t
}

// DMALatency is what dmaRead of a word would take now, were no channel busy: a word that
// atomics come for all the time is in the LLC, where their stores put it. Nothing moves.
func (m *Machine) DMALatency(n *Port, a space.Addr) sim.Time {
	c := &m.hosts.Cost
	home := m.Mem.Home(a)
	l := m.Processors[home].llc
	t := c.DRAM
	if set, tag := l.locate(a >> space.LineShift); l.find(set, tag) >= 0 {
		t = c.LLCDMA
	}
	if home != n.socket {
		t += c.Cross
	}
	return t
}

// DMAWrite is an RNIC's write of n bytes. Writes are posted: they are not waited for, but
// caches and channels move.
func (m *Machine) DMAWrite(n *Port, now sim.Time, a space.Addr, bytes uint32) {
	if bytes == 0 {
		return
	}
	s := m.Processors[m.Mem.Home(a)]
	if s.NVM != nil {
		m.dmaWriteNVM(n, now, a, bytes)
		return
	}
	ddio := m.Processors[n.socket].ddio
	end := a + space.Addr(bytes)
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		partial := l<<space.LineShift < a || (l+1)<<space.LineShift > end
		set, tag := s.llc.locate(l)
		way := s.llc.find(set, tag)
		if ddio {
			s.countDMA(way >= 0)
		}
		switch {
		case ddio && way >= 0:
			set.ref |= 1 << way
			set.dirty |= 1 << way
		case ddio:
			if partial { // the rest of the line must come from memory
				s.dram(now, l)
			}
			w, dirty := s.llc.insert(set, tag, s.llc.ddio)
			if dirty {
				s.evictions++
				s.dram(now, l)
			}
			set.dirty |= 1 << w
		default:
			if way >= 0 {
				set.drop(way) // its bytes, if newer, merge into the write
			} else if partial {
				s.dram(now, l)
			}
			s.dram(now, l)
		}
	}
}

// aheadMax is how many lines of one access are asked for: large ones stream.
const aheadMax = 4

// AheadBytes asks for n bytes of the machine's memory and for the cache sets of
// their lines: what an access to them needs.
func (m *Machine) AheadBytes(a space.Addr, n int) {
	if n == 0 {
		return
	}
	first, last := space.Lines(a, n)
	last = min(last, first+aheadMax-1)
	if end := (last + 1) << space.LineShift; end <= m.Mem.top { // reserved addresses have none
		m.Mem.Ahead(first<<space.LineShift, int(last-first)+1)
	}
	for l := first; l <= last; l++ {
		sim.Prefetch(m.SetOf(l))
	}
}

// SetOf is the cache set of a line.
func (m *Machine) SetOf(line space.Addr) unsafe.Pointer {
	set, _ := m.Processors[m.Mem.Home(line<<space.LineShift)].llc.locate(line)
	return unsafe.Pointer(set)
}
