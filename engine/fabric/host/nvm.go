package host

import (
	"fmt"
	"math/bits"
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Device is the timing of memory behind a socket's memory controller, by lines of
// 64 bytes. Calls come in order of now. The bytes are in Memory.
type Device interface {
	// Read is when a line that is asked for now is there.
	Read(now sim.Time, line uint64) (end sim.Time)
	// Write is when the controller takes a line that waits in front of it from now
	// on: then it is persistent.
	Write(now sim.Time, line uint64) (accepted sim.Time)
	// Room is from when on the controller has room for a line.
	Room(line uint64) sim.Time
}

// Interconnect is the resource name of the way between sockets to NVM.
const Interconnect = "interconnect"

// nvmSocket is what a socket with NVM has beside its LLC and DRAM.
type nvmSocket struct {
	dev  Device
	rand *sim.Rand // of replacement
	// lines are the LLC's lines by set and way, for evicted ones go to the device.
	lines []uint32
	ways  int
	first unsafe.Pointer // of the LLC's sets

	evictions horizon      // lines that had to leave the LLC, on their way to memory
	link      [2]*sim.FIFO // from the other sockets, and to them: of two sockets each has the other's, for there is one link
	Remote    int          // lines from cores of other sockets, on their way
	Tracking  []ntLine     // those that wait
	merger    merger       // of this socket's RNICs
	arbiters  []arbiter    // by DIMM

	path, stream, LinkLine sim.Time
	streamPath             sim.Time
	Trackers               int
	directory              sim.Time
	dimms                  uint64
	unitShift              uint
}

// equip gives the sockets their NVM.
func (m *Machine) equip() error {
	c, p := &m.hosts.config, m.hosts.profile.NVM
	if c.NVM == nil || p == nil {
		return nil
	}
	m.Mem.nvm = newNVMSpace(p, len(m.Processors))
	for k, s := range m.Processors {
		dev, err := c.NVM(m.ID, k, m.Type)
		if err != nil {
			return fmt.Errorf("NVM of machine %d socket %d: %w", m.ID, k, err)
		}
		if dev == nil {
			if k > 0 && m.Processors[0].NVM != nil {
				return fmt.Errorf("NVM of machine %d: socket 0 has some and socket %d has not: give all some or none", m.ID, k)
			}
			continue
		}
		if k > 0 && m.Processors[0].NVM == nil {
			return fmt.Errorf("NVM of machine %d: socket %d has some and socket 0 has not: give all some or none", m.ID, k)
		}
		m.Mem.nvm.sockets[k].there = true
		x := &nvmSocket{dev: dev, rand: m.clock.Stream("fabric.llc", uint64(m.ID)<<8|uint64(k)),
			ways: bits.OnesCount32(s.llc.all), first: unsafe.Pointer(&s.llc.sets[0]),
			evictions: newHorizon(p.Evictions.Int()), arbiters: make([]arbiter, p.DIMMs.Int()),
			path: p.Path.Time(), streamPath: p.StreamPath.Time(), Trackers: p.RemoteWrites.Int(), stream: p.StreamStore.Time(), merger: merger{slots: make([]partialWrite, p.PartialWrites.Int())}, directory: p.Directory.Time(),
			LinkLine: sim.Time(space.LineBytes+p.InterconnectOverhead.Int()) * p.Interconnect.PerKB() >> 10,
			dimms:    m.Mem.nvm.dimms, unitShift: m.Mem.nvm.unitShift}
		x.lines = make([]uint32, len(s.llc.sets)*x.ways)
		for i := range x.arbiters {
			x.arbiters[i].open(m, x, uint64(m.ID)<<16|uint64(k)<<8|uint64(i))
		}
		s.NVM = x
	}
	if !m.Mem.nvm.any() {
		return nil
	}
	m.linkSockets()
	if c.Durability {
		m.Mem.durable = newDurability(m)
	}
	m.streams = make([]stream, len(m.cores))
	for i := range m.streams {
		m.streams[i] = stream{core: i, machine: m, buffers: p.CombiningBuffers.Int(), fills: newHorizon(p.FillBuffers.Int())}
	}
	return nil
}

// linkSockets gives the sockets their ways to each other. What leaves one of two is what
// reaches the other, whichever of them the memory belongs to.
func (m *Machine) linkSockets() {
	m.interconnect = make([]sim.FIFO, 2*len(m.Processors))
	if len(m.Processors) == 2 {
		m.interconnect = m.interconnect[:2]
	}
	for k, s := range m.Processors {
		in, out := 2*k%len(m.interconnect), (2*k+1)%len(m.interconnect)
		if k == 1 && len(m.Processors) == 2 {
			in, out = out, in
		}
		s.NVM.link = [2]*sim.FIFO{&m.interconnect[in], &m.interconnect[out]}
	}
}

// NVM is the device behind a socket, nil if it has none.
func (m *Machine) NVM(socket int) Device {
	if x := m.Processors[socket].NVM; x != nil {
		return x.dev
	}
	return nil
}

// SetDDIO switches whether DMA writes that enter at a socket go to the LLC. It is
// a property of the socket's root ports, so it acts on DRAM too.
func (m *Machine) SetDDIO(socket int, on bool) { m.Processors[socket].ddio = on }

// DDIO says whether it is on.
func (m *Machine) DDIO(socket int) bool { return m.Processors[socket].ddio }

// horizon is a number of places that are used in turn, each until a time.
type horizon struct {
	until []sim.Time
	next  int
	last  sim.Time // when all are free
}

func newHorizon(n int) horizon { return horizon{until: make([]sim.Time, n)} }

// room is from when on the next place is free.
func (h *horizon) room() sim.Time { return h.until[h.next] }

func (h *horizon) book(until sim.Time) {
	h.until[h.next] = until
	h.last = max(h.last, until)
	if h.next++; h.next == len(h.until) {
		h.next = 0
	}
}

// owner is where the line in a way is kept.
func (x *nvmSocket) owner(set *llcSet, way int) *uint32 {
	i := uint64(uintptr(unsafe.Pointer(set))-uintptr(x.first)) / setBytes
	return &x.lines[int(i)*x.ways+way]
}

// fill brings a line into one of the allowed ways and returns when the line that
// had to leave was taken by its memory. A way that was not used recently makes room;
// of several, for lines that stores or DMA writes bring, any: sets are not in step,
// so a stream of writes does not leave the cache in its order (thesis figure 2-15).
func (s *socket) fill(m *Machine, now sim.Time, line space.Addr, set *llcSet, tag uint16, allowed uint32, random bool) (way int, left sim.Time) {
	x := s.NVM
	free := set.unused(allowed)
	if random {
		way = x.pick(set, free)
	} else {
		way = set.victim(free)
	}
	was := *x.owner(set, way)
	dirty := set.fill(way, tag)
	*x.owner(set, way) = uint32(line)
	if !dirty {
		return way, now
	}
	if allowed == s.llc.ddio {
		s.evictions++
	}
	return way, s.writeBack(m, now, space.Addr(was))
}

// pick is any of some ways, an empty one if there is any.
func (x *nvmSocket) pick(set *llcSet, ways uint32) int {
	if ways&^set.held != 0 {
		return set.victim(ways)
	}
	for k := x.rand.Intn(bits.OnesCount32(ways)); k > 0; k-- {
		ways &= ways - 1
	}
	return bits.TrailingZeros32(ways)
}

// writeBack writes a dirty line to its memory and returns when that takes it.
func (s *socket) writeBack(m *Machine, now sim.Time, line space.Addr) sim.Time {
	if m.Mem.onNVM(line << space.LineShift) {
		at := s.NVM.dev.Write(now, m.Mem.DeviceLine(line))
		if d := m.Mem.durable; d != nil {
			d.land(at, line, 0, space.LineBytes)
		}
		return at
	}
	s.dram(now, line)
	return now
}

// Cross is what a line takes on the way between two sockets, in one direction.
func (x *nvmSocket) Cross(now sim.Time, away int) sim.Time {
	return x.link[away].Serve(now, x.LinkLine) - now
}

// accessNVM is Access on sockets with NVM, and of the kinds that are for it.
func (m *Machine) accessNVM(core int, now sim.Time, a space.Addr, n int, kind Kind) (t sim.Time) {
	s := m.Processors[m.Mem.Home(a)]
	first, last := space.Lines(a, n)
	switch kind {
	case StoreNT:
		end := a + space.Addr(n)
		for l := first; l <= last; l++ {
			t += m.storeNT(core, s, l, max(a, l<<space.LineShift), min(end, (l+1)<<space.LineShift))
		}
		return t
	case Flush:
		for l := first; l <= last; l++ {
			m.flushLine(core, s, l)
			t += m.hosts.Cost.LLCStore
		}
		return t
	case Store:
		return m.storeNVM(core, s, now, first, last)
	}
	return m.loadNVM(core, s, first, last)
}

// loadNVM is a load of some lines: the first takes its time, further ones come
// side by side.
func (m *Machine) loadNVM(core int, s *socket, first, last space.Addr) (t sim.Time) {
	c, now := &m.hosts.Cost, m.clock.Now()
	far := m.far(core, s)
	for l := first; l <= last; l++ {
		set, tag := s.llc.locate(l)
		if way := s.llc.find(set, tag); way >= 0 {
			set.ref |= 1 << way
			if l == first {
				t += c.LLCHit + far
			} else {
				t += c.LLCNext
			}
			continue
		}
		d := s.fetch(m, now, l, far, false) + s.claim(m, now, l, set, tag, false)
		if l == first {
			t += d
		} else {
			t = max(t+c.DRAMNext, d)
		}
	}
	return t
}

// storeNVM is a store of some lines. The store buffer hides what a line takes to
// come, but a core fetches only so many at once.
func (m *Machine) storeNVM(core int, s *socket, now sim.Time, first, last space.Addr) (t sim.Time) {
	c, clock := &m.hosts.Cost, m.clock.Now()
	far := m.far(core, s)
	fills := &m.streams[core].fills
	for l := first; l <= last; l++ {
		t += c.LLCStore
		set, tag := s.llc.locate(l)
		way := s.llc.find(set, tag)
		if way < 0 {
			t = max(t, fills.room()-now)
			fills.book(now + t + s.fetch(m, clock, l, far, true))
			t += s.claim(m, clock, l, set, tag, true)
			way = s.llc.find(set, tag)
		}
		set.ref |= 1 << way
		set.dirty |= 1 << way
	}
	return t
}

// far is what the other socket adds to a latency.
func (m *Machine) far(core int, s *socket) sim.Time {
	if m.Processors[m.CoreSocket(core)] != s {
		return m.hosts.Cost.Cross
	}
	return 0
}

// fetch is how long a line takes from memory. One that is to be written by the
// other socket is noted in the directory, which is in the memory (Cascade Lake).
func (s *socket) fetch(m *Machine, now sim.Time, line space.Addr, far sim.Time, own bool) sim.Time {
	x := s.NVM
	if !m.Mem.onNVM(line << space.LineShift) {
		return m.hosts.Cost.DRAM + far + s.dram(now, line) - now - s.line
	}
	dl := m.Mem.DeviceLine(line)
	d := x.path + x.dev.Read(now, dl) - now
	if far > 0 {
		d += far + x.Cross(now, 1)
		if own {
			d += x.directory
			s.note(now, dl)
		}
	}
	return d
}

// note writes the directory entry of a line.
func (s *socket) note(now sim.Time, dl uint64) {
	if s.NVM.directory == 0 {
		return
	}
	if taken := s.NVM.dev.Write(now, dl); taken > now {
		s.NVM.evictions.book(taken)
	}
}

// claim makes room for a line that a core brings into the LLC, and is how long
// the core waits because too many lines are on their way out.
func (s *socket) claim(m *Machine, now sim.Time, line space.Addr, set *llcSet, tag uint16, random bool) sim.Time {
	e := &s.NVM.evictions
	random = random && m.Mem.onNVM(line<<space.LineShift)
	if _, left := s.fill(m, now, line, set, tag, s.llc.all, random); left > now {
		e.book(left)
	}
	return max(e.room()-now, 0)
}

// storeNT is a non-temporal store to one line, from a to end. A copy in the cache, which is at
// least as new as memory, is merged into it.
func (m *Machine) storeNT(core int, s *socket, line, a, end space.Addr) sim.Time {
	set, tag := s.llc.locate(line)
	if way := s.llc.find(set, tag); way >= 0 {
		set.drop(way)
		a, end = line<<space.LineShift, (line+1)<<space.LineShift
	}
	partial := end-a < space.LineBytes
	if !m.Mem.onNVM(line << space.LineShift) {
		if now := m.clock.Now(); partial {
			s.dram(now, line)
		}
		s.dram(m.clock.Now(), line)
		return m.hosts.Cost.LLCStore
	}
	m.streams[core].add(ntLine{s: s, line: m.Mem.DeviceLine(line), partial: partial, far: m.far(core, s),
		mem: line, lo: uint8(a - line<<space.LineShift), hi: uint8(end - line<<space.LineShift)})
	return s.NVM.stream
}

// flushLine writes a line back if it is dirty, through the core's buffers, so that
// a fence waits for it.
func (m *Machine) flushLine(core int, s *socket, line space.Addr) {
	set, tag := s.llc.locate(line)
	way := s.llc.find(set, tag)
	if way < 0 || set.dirty>>way&1 == 0 {
		return
	}
	set.dirty &^= 1 << way
	if !m.Mem.onNVM(line << space.LineShift) {
		s.dram(m.clock.Now(), line)
		return
	}
	m.streams[core].add(ntLine{s: s, line: m.Mem.DeviceLine(line), mem: line, hi: space.LineBytes})
}
