package host

import (
	"drtmx/engine/fabric/space"
	"fmt"
	"math/bits"
	"slices"
)

// SpeculativeLines is how many lines a core's hardware transaction can write unless Limit says otherwise:
// those of its first-level data cache, 32 KB. What it reads is not limited: a line that
// leaves that cache stays watched further out.
const SpeculativeLines = 32 << 10 / space.LineBytes

// Intruder is the core or device that has touched a line of a hardware transaction.
type Intruder uint8

// The intruders.
const (
	ByDevice Intruder = iota // an RNIC's DMA
	ByCore                   // another core, in a transaction of its own or not
)

// Speculation is a hardware transaction of a core: the lines that it has read, and
// those that it has written with their bytes, which are invisible to others before Commit.
// Every other core or device that reads a line that it has written, or writes one that it has read or
// written, is told about through the function given to NewSpeculation: the one that
// comes later wins, as on Intel's processors. One object serves one after the other.
type Speculation struct {
	m    *Machine
	core int
	hit  func(Intruder)

	lines  []speculative
	index  []uint32 // place in lines plus 1 by hashed line, 0 is none; twice as many as lines at least, a power of two
	shift  uint     // of the hash
	data   [][space.LineBytes]byte
	views  []byte // what Load puts together of several lines
	used   int    // of views
	active bool

	limit int      // lines that it can write
	ways  uint16   // of them in one set; 0: any
	sets  []uint16 // lines written, by set, if ways is not 0
	over  bool     // a set had more
}

// speculative is a line of a transaction.
type speculative struct {
	line    space.Addr
	slot    uint32 // in index
	written int32  // place in data, or -1: it was only read
}

// speculations are the transactions of a machine that are under way.
type speculations struct {
	live []*Speculation
	// watched counts their lines by hash, as Memory.flight does accesses: most
	// accesses of others find it empty and need not ask each transaction.
	watched []uint32
}

// NewSpeculation makes the transactions of a core. hit is called when another one touches
// a line of the transaction under way; it may end it.
func (m *Machine) NewSpeculation(core int, hit func(Intruder)) *Speculation {
	s := &Speculation{m: m, core: core, hit: hit, limit: SpeculativeLines}
	s.resize(64)
	return s
}

// Limit is how many lines transactions can write from now on, and how many of one set of a cache of so many lines with
// so many ways. 0 lines are SpeculativeLines, and 0 ways are all of them: where lines lie makes no difference.
func (s *Speculation) Limit(lines, ways int) {
	if lines == 0 {
		lines = SpeculativeLines
	}
	if lines == s.limit && ways == int(s.ways) {
		return
	}
	if lines < 1 || ways < 0 || ways > lines {
		panic(fmt.Sprintf("fabric: a hardware transaction of %d lines and %d ways: at least one line, and no more ways than lines", lines, ways))
	}
	if s.limit, s.ways, s.sets = lines, uint16(ways), nil; ways > 0 {
		s.sets = make([]uint16, lines/ways)
	}
}

// Begin starts a transaction.
func (s *Speculation) Begin() {
	if s.active {
		panic(fmt.Sprintf("fabric: core %d of machine %d begins a hardware transaction inside another one", s.core, s.m.ID))
	}
	p := &s.m.Mem.speculations
	if p.watched == nil {
		p.watched = make([]uint32, flightSlots)
	}
	p.live = append(p.live, s)
	s.active = true
}

// Active says that a transaction is under way.
func (s *Speculation) Active() bool { return s.active }

// Size is how many lines the transaction has read or written, and how many of them it has written.
func (s *Speculation) Size() (lines, written int) { return len(s.lines), len(s.data) }

// Load is the n bytes at a as the transaction sees them. They are valid until its
// next Store.
func (s *Speculation) Load(a space.Addr, n int) []byte {
	first, last := space.Lines(a, n)
	own := int32(-1)
	for l := first; l <= last; l++ {
		if k := s.lines[s.enter(l, false)].written; k >= 0 {
			own = k
		}
	}
	switch {
	case own < 0:
		return s.m.Mem.Bytes(a, n)
	case first == last:
		at := int(a % space.LineBytes)
		return s.data[own][at : at+n : at+n]
	}
	b := s.view(n)
	copy(b, s.m.Mem.Bytes(a, n))
	for l := first; l <= last; l++ {
		if k := s.lines[s.enter(l, false)].written; k >= 0 {
			overlay(b, a, s.data[k][:], l<<space.LineShift)
		}
	}
	return b
}

// view gives room for n bytes. Rooms given before stay as they are until the next Store.
func (s *Speculation) view(n int) []byte {
	if s.used+n > len(s.views) {
		s.views, s.used = make([]byte, max(2*len(s.views), n, 4*space.LineBytes)), 0
	}
	s.used += n
	return s.views[s.used-n : s.used : s.used]
}

// Store keeps b for the n bytes at a. Beyond its Limit it says false: the
// hardware has no room, and the program has to give the transaction up.
func (s *Speculation) Store(a space.Addr, b []byte) bool {
	s.used = 0
	for len(b) > 0 {
		x := &s.lines[s.enter(a>>space.LineShift, true)]
		if x.written < 0 {
			if x.written = int32(len(s.data)); s.ways > 0 {
				set := &s.sets[x.line%space.Addr(len(s.sets))]
				*set++
				s.over = s.over || *set > s.ways
			}
			s.data = append(s.data, [space.LineBytes]byte(s.m.Mem.Bytes(a&^(space.LineBytes-1), space.LineBytes)))
		}
		n := copy(s.data[x.written][a%space.LineBytes:], b)
		a, b = a+space.Addr(n), b[n:]
	}
	return len(s.data) <= s.limit && !s.over
}

// Each calls f with the address of each line that the transaction has read or written.
func (s *Speculation) Each(f func(a space.Addr, written bool)) {
	for i := range s.lines {
		f(s.lines[i].line<<space.LineShift, s.lines[i].written >= 0)
	}
}

// Commit makes all stores visible at this instant, and ends the transaction.
func (s *Speculation) Commit() {
	mem := s.m.Mem
	for i := range s.lines {
		x := &s.lines[i]
		if x.written < 0 {
			continue
		}
		a := x.line << space.LineShift
		mem.Change(a, space.LineBytes)
		copy(mem.Bytes(a, space.LineBytes), s.data[x.written][:])
		if mem.onNVM(a) { // the line has been in the core's own cache till now, and is dirty in the LLC from now on
			s.m.Access(s.core, s.m.clock.Now(), a, space.LineBytes, Store)
		}
	}
	s.End()
}

// End ends the transaction: what it has not committed has never been.
func (s *Speculation) End() {
	p := &s.m.Mem.speculations
	for i := range s.lines {
		x := &s.lines[i]
		s.watch(x.line, -watchOf(x.written >= 0))
		s.index[x.slot] = 0
		if x.written >= 0 && s.ways > 0 {
			s.sets[x.line%space.Addr(len(s.sets))] = 0
		}
	}
	s.over = false
	s.lines, s.data, s.used, s.active = s.lines[:0], s.data[:0], 0, false
	i := slices.Index(p.live, s)
	p.live = slices.Delete(p.live, i, i+1)
}

// watchOf is what a line adds to the counters.
func watchOf(write bool) uint32 {
	if write {
		return oneWriter
	}
	return oneReader
}

// watch changes the counters of a line. The transaction counts as an access under way
// too: accesses of several of its lines are executed line by line.
func (s *Speculation) watch(line space.Addr, d uint32) {
	mem := s.m.Mem
	mem.speculations.watched[flightSlot(line)] += d
	if mem.touching {
		mem.flight[flightSlot(line)] += d
	}
}

// enter is the place of a line in the transaction, in which it is from now on. Other
// transactions that use it are told.
func (s *Speculation) enter(line space.Addr, write bool) int {
	slot := s.find(line)
	i := int(s.index[slot]) - 1
	was := i >= 0
	if was && (!write || s.lines[i].written >= 0) {
		return i
	}
	mem := s.m.Mem
	if len(mem.speculations.live) > 1 {
		mem.intrude(line<<space.LineShift, 1, write, ByCore, s)
	}
	if was {
		s.watch(line, oneWriter-oneReader)
		return i
	}
	s.watch(line, watchOf(write))
	if 2*len(s.lines) >= len(s.index) {
		s.resize(2 * len(s.index))
		slot = s.find(line)
	}
	s.lines = append(s.lines, speculative{line, slot, -1})
	s.index[slot] = uint32(len(s.lines))
	return len(s.lines) - 1
}

// find is the slot of the index that has a line, or in which it belongs.
func (s *Speculation) find(line space.Addr) uint32 {
	slot := uint32(uint64(line) * 0x9e3779b97f4a7c15 >> s.shift)
	for s.index[slot] != 0 && s.lines[s.index[slot]-1].line != line {
		slot = (slot + 1) & uint32(len(s.index)-1)
	}
	return slot
}

// resize makes an index of n slots, a power of two.
func (s *Speculation) resize(n int) {
	s.index, s.shift = make([]uint32, n), uint(64-bits.TrailingZeros(uint(n)))
	for i := range s.lines {
		x := &s.lines[i]
		x.slot = s.find(x.line)
		s.index[x.slot] = uint32(i + 1)
	}
}

// uses says whether a line is in the transaction such that an access of another one
// conflicts with it.
func (s *Speculation) uses(line space.Addr, write bool) bool {
	i := s.index[s.find(line)]
	return i != 0 && (write || s.lines[i-1].written >= 0)
}

// CoreTouches has a core's load or store of n bytes at a, outside of any transaction,
// end the hardware transactions that it conflicts with.
func (m *Memory) CoreTouches(a space.Addr, n int, write bool) {
	if len(m.speculations.live) > 0 {
		m.intrude(a, n, write, ByCore, nil)
	}
}

// DeviceTouches is the same of DMA.
func (m *Memory) DeviceTouches(a space.Addr, n int, write bool) {
	if len(m.speculations.live) > 0 {
		m.intrude(a, n, write, ByDevice, nil)
	}
}

// intrude tells the transactions that an access of another one conflicts with; self is
// whose it is.
func (m *Memory) intrude(a space.Addr, n int, write bool, by Intruder, self *Speculation) {
	p := &m.speculations
	for l, last := space.Lines(a, n); l <= last; l++ {
		if c := p.watched[flightSlot(l)]; c < oneWriter && (!write || c == 0) {
			continue
		}
		for i := 0; i < len(p.live); {
			s := p.live[i]
			if s != self && s.uses(l, write) {
				s.hit(by)
			}
			if i < len(p.live) && p.live[i] == s {
				i++
			}
		}
	}
}
