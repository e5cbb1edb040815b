package fabric

import (
	"fmt"
	"math/bits"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Machine is one node: sockets with cores, LLC and DRAM, and RNICs.
type Machine struct {
	ID   int
	Type *profile.NodeType
	Mem  *Memory
	NICs []*NIC
	// CPU is what cores pay for verbs. engine/r2 charges it.
	CPU profile.CPUCosts
	// SSD is its disk; nil where the profile names none.
	SSD *SSD
	// MaxInline is the largest payload that fits into a request.
	MaxInline int
	// Interrupted, unless nil, hears of softirq work of d that a core gets now, and says
	// whether a thread wants the core meanwhile. engine/r2 sets it.
	Interrupted func(core int, d sim.Time) (wanted bool)

	softirqs     []*softirq // by core, nil of those that no queue interrupts; none with RDMA
	streams      []stream   // of cores, on a machine with NVM
	interconnect []sim.FIFO // between its sockets, there and back
	fab          *Fabric
	sockets      []*socket
	cores        []tlb
	perSock      int
	shared       *sharedLines // nil: no core has executed a locked instruction yet
}

// socket is a processor: the LLC in front of its memory, and its channels.
type socket struct {
	nvm      *nvmSocket // nil without: what follows is the whole socket then
	llc      *llc
	channels []sim.FIFO
	ddio     bool     // of DMA writes that enter here
	line     sim.Time // of a channel

	dmaHits, dmaMisses, evictions uint64 // see Traffic
}

func newMachine(f *Fabric, id int, t *profile.NodeType, c *Config, most uint64) (*Machine, error) {
	mem, err := newMemory(id, t.Sockets.Int(), uint64(t.DRAM.Int())<<30, most, c.TornReads)
	if err != nil {
		return nil, err
	}
	m := &Machine{ID: id, Type: t, Mem: mem, CPU: f.profile.CPUCosts(t), MaxInline: f.profile.NIC.MaxInline.Int(),
		fab: f, perSock: t.CoresPerSocket.Int(), SSD: newSSD(f.profile)}
	scale := func(n int) uint64 { return max(uint64(n)*uint64(c.CacheNum)/uint64(c.CacheDen), 1) }
	for range t.Sockets.Int() {
		sets, err := f.tags.take(llcSets(scale(t.LLC.Int()<<20), t.LLCWays.Int()))
		if err != nil {
			return nil, fmt.Errorf("cache tags of machine %d: %w", id, err)
		}
		m.sockets = append(m.sockets, &socket{
			llc:      newLLC(sets, t.LLCWays.Int(), t.DDIOWays.Int()),
			channels: make([]sim.FIFO, t.Channels.Int()),
			line:     space.LineBytes * t.ChannelBandwidth.PerKB() >> 10,
			ddio:     !c.NoDDIO,
		})
	}
	for range t.Cores() {
		m.cores = append(m.cores, newTLB(int(scale(f.profile.Memory.TLBEntries.Int()))))
	}
	if f.profile.TCP != nil {
		m.softirqs = make([]*softirq, t.Cores())
	}
	nics := t.NICs.Int()
	if c.NICs > 0 {
		nics = min(nics, c.NICs)
	}
	for i := range nics {
		m.NICs = append(m.NICs, newNIC(m, uint16(len(f.nics)+i), i, i%t.Sockets.Int(), int(scale(f.profile.NIC.Translations.Int()))))
	}
	return m, m.equip(c)
}

// Cores is the number of cores.
func (m *Machine) Cores() int { return len(m.cores) }

// CoreSocket is the socket of a core.
func (m *Machine) CoreSocket(core int) int { return core / m.perSock }

// Place gives a worker thread its core and the RNIC of that core's socket.
// Threads go round the sockets, so that few threads use all RNICs.
func (m *Machine) Place(thread int) (core, nic int) {
	if thread >= len(m.cores) {
		panic(fmt.Sprintf("fabric: thread %d on machine %d with %d cores", thread, m.ID, len(m.cores)))
	}
	n := len(m.sockets)
	core = thread%n*m.perSock + thread/n
	return core, m.CoreSocket(core) % len(m.NICs)
}

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
// and the time is that of giving. Whoever does not want to give without bound
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
	c := &m.fab.cost
	var t sim.Time
	if !m.cores[core].touch(a) {
		t = c.walk
	}
	home := m.Mem.Home(a)
	s := m.sockets[home]
	if s.nvm != nil || kind > Store {
		return t + m.accessNVM(core, now+t, a, n, kind)
	}
	store := kind == Store
	far := sim.Time(0)
	if home != m.CoreSocket(core) {
		far = c.cross
	}
	first, last := space.Lines(a, n)
	idle := t // when the lines would be there if no channel were busy: all are asked for at once, and wait at the same time
	for l := first; l <= last; l++ {
		hit, queued := s.cpu(m.fab.sim.Now(), l, store)
		switch {
		case hit && store:
			t += c.llcStore
		case hit && l == first:
			t += c.llcHit + far
		case hit:
			t += c.llcNext
		case store:
			t = max(t, idle+queued) + c.dramStore
		case l == first:
			idle = t + c.dram + far
			t = idle + queued
		default:
			t = max(t+c.dramNext, idle+queued)
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
			d = min(d, m.fab.cost.dramRandom)
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
			sim.Prefetch(m.setOf(extents[next].At >> space.LineShift))
		}
		m.pages(e.At, e.Bytes, func(s *socket, a space.Addr, n int) { s.warm(a, n, s.llc.all, false) })
	}
}

// pages calls f for the parts of some bytes that lie in different pages, with their sockets.
func (m *Machine) pages(a space.Addr, n int, f func(s *socket, a space.Addr, n int)) {
	for {
		part := min(n, int(1<<space.HugeShift-a%(1<<space.HugeShift)))
		f(m.sockets[m.Mem.Home(a)], a, part)
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
		case s.nvm == nil:
			way, _ = s.llc.insert(set, tag, ways)
		default:
			way = s.nvm.pick(set, set.unused(ways))
			set.place(way, tag)
			*s.nvm.owner(set, way) = uint32(l)
		}
		if dirty {
			set.dirty |= 1 << way
		}
	}
}

// CacheLines is the capacity of a socket's LLC.
func (m *Machine) CacheLines() int {
	c := m.sockets[0].llc
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

// dmaRead is an RNIC's read of n bytes: its latency behind PCIe. Lines are
// fetched side by side, so the slowest counts.
func (m *Machine) dmaRead(n *NIC, now sim.Time, a space.Addr, bytes uint32) sim.Time {
	c := &m.fab.cost
	home := m.Mem.Home(a)
	s := m.sockets[home]
	n.traffic.read(a, bytes)
	if s.nvm != nil {
		return m.dmaReadNVM(n, now, a, bytes)
	}
	t := c.llcDMA
	for l, last := space.Lines(a, int(bytes)); l <= last; l++ {
		set, tag := s.llc.locate(l)
		if s.llc.find(set, tag) >= 0 {
			continue // a DMA read does not make a line more recently used
		}
		t = max(t, c.dram+s.dram(now, l)-now-s.line)
	}
	if home != n.socket {
		t += c.cross
	}
	return t
}

// dmaLatency is what dmaRead of a word would take now, were no channel busy: a word that
// atomics come for all the time is in the LLC, where their stores put it. Nothing moves.
func (m *Machine) dmaLatency(n *NIC, a space.Addr) sim.Time {
	c := &m.fab.cost
	home := m.Mem.Home(a)
	l := m.sockets[home].llc
	t := c.dram
	if set, tag := l.locate(a >> space.LineShift); l.find(set, tag) >= 0 {
		t = c.llcDMA
	}
	if home != n.socket {
		t += c.cross
	}
	return t
}

// dmaWrite is an RNIC's write of n bytes. Writes are posted: nobody waits, but
// caches and channels move.
func (m *Machine) dmaWrite(n *NIC, now sim.Time, a space.Addr, bytes uint32) {
	if bytes == 0 {
		return
	}
	s := m.sockets[m.Mem.Home(a)]
	if s.nvm != nil {
		m.dmaWriteNVM(n, now, a, bytes)
		return
	}
	ddio := m.sockets[n.socket].ddio
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
