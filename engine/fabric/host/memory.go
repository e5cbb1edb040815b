package host

import (
	"drtmx/engine/fabric/space"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// Memory is one machine's address space. Allocated bytes are real, in one
// anonymous mapping whose pages cost nothing until touched; reserved addresses
// have no bytes and exist to be charged for.
type Memory struct {
	Machine    int
	sockets    int
	buf        []byte     // indexed by address; the first 2 MB stay unused so that 0 is no address
	top        space.Addr // end of what is allocated
	limit      space.Addr // end of buf
	reserve    space.Addr // end of what is reserved, above limit
	pending    []uint64   // by block: its bytes are not made yet
	regions    []region
	arrays     []array  // of message buffers, in the order of addresses
	firstArray []uint16 // by page: the first of them in it
	home       []uint8  // socket of each 2 MB page, and what else there is to say of it
	nvm        nvmSpace
	durable    *durability // nil: what a crash leaves is not recorded
	Down       bool        // crashed: nothing changes it
	mrs        []mr

	speculations speculations // hardware transactions under way

	flight   []uint32 // accesses under way by hashed line: readers low, writers high
	touching bool     // whether accesses are registered at all
	cut      bool     // the process may not reserve as much address space as the machine has memory
}

// region is one allocation with a fill function.
type region struct {
	from, to space.Addr
	fill     func(block uint64, dst []byte) // nil: zeros, as they are
}

// Alloc describes memory to allocate.
type Alloc struct {
	// Name appears in errors.
	Name  string
	Bytes uint64
	// Socket is where the memory lives, and with it the home RNIC.
	Socket int
	// Interleaved has pages of 2 MB go round the sockets, from Socket on, as the operating
	// system's policy of that name does: each page has the home RNIC of its own socket. An access to bytes of
	// two pages is charged as one to the socket of the first.
	Interleaved bool
	// NVM says that it lies in the socket's persistent memory.
	NVM bool
	// DIMM is the one it lies on, from 1; 0 means interleaved over all.
	DIMM int
	// Fill makes the initial bytes of one block of 512, counted from the start of
	// the allocation. It must depend on nothing but the block's number. Nil means
	// zeros.
	Fill func(block uint64, dst []byte)
	// Tracked has Materialized know which blocks were touched, also without a fill function.
	Tracked bool
	// Dense says that most of it will be touched: the host may use large pages,
	// which makes random access cheaper for it.
	Dense bool
}

// newMemory reserves the address space of dram bytes, or of as many as host allows for.
func newMemory(machine, sockets int, dram, host uint64, torn bool) (*Memory, error) {
	m := &Memory{Machine: machine, sockets: sockets, top: 1 << space.HugeShift, touching: torn}
	dram = min(dram, space.MaxBytes)
	m.cut = host < dram
	buf, err := space.Reserve(min(dram, host))
	if err != nil {
		return nil, fmt.Errorf("memory of machine %d: reserving %d MB of address space: %w; raise the limit of address space (ulimit -v)", machine, min(dram, host)>>20, err)
	}
	m.buf, m.limit = buf, space.Addr(len(buf))
	m.reserve = space.Addr(dram)
	m.home = make([]uint8, m.top>>space.HugeShift)
	if torn {
		m.flight = make([]uint32, flightSlots)
	}
	return m, nil
}

// SpaceError says that a machine has no room for an allocation.
type SpaceError struct {
	Machine          int
	Name             string
	Bytes, Free, All uint64
	// Limited says that the machine has more memory than this process has address space for.
	Limited bool
}

func (e *SpaceError) Error() string {
	if e.Limited {
		return fmt.Sprintf("memory of machine %d: %s needs %d bytes, %d of the %d are free that the process's limit of address space (ulimit -v) leaves for it", e.Machine, e.Name, e.Bytes, e.Free, e.All)
	}
	return fmt.Sprintf("memory of machine %d: %s needs %d bytes, %d of %d are free", e.Machine, e.Name, e.Bytes, e.Free, e.All)
}

// Alloc takes memory. Nothing is touched until it is used.
func (m *Memory) Alloc(a Alloc) (space.Addr, error) {
	size := space.RoundUp(a.Bytes, 1<<space.HugeShift)
	if a.Bytes == 0 || size > m.limit-m.top {
		return 0, &SpaceError{Machine: m.Machine, Name: a.Name, Bytes: a.Bytes, Free: m.limit - m.top, All: m.limit, Limited: m.cut}
	}
	if err := m.nvm.check(m.Machine, a); err != nil {
		return 0, err
	}
	from := m.top
	if err := space.Commit(m.buf[from:from+size], a.Dense); err != nil {
		return 0, fmt.Errorf("memory of machine %d: %s: %w", m.Machine, a.Name, err)
	}
	m.top = from + size
	m.setHome(from, m.top, a.Socket)
	if a.Interleaved {
		for p := from >> space.HugeShift; p < m.top>>space.HugeShift; p++ {
			m.home[p] = uint8((uint64(a.Socket) + p - from>>space.HugeShift) % uint64(m.sockets))
		}
	}
	if a.NVM {
		m.interleave(from, a)
	}
	words := int(m.top >> wordShift) // 2 MB are whole words
	m.pending = slices.Grow(m.pending, words-len(m.pending))[:words]
	if a.Fill != nil || a.Tracked {
		r := region{from, from + space.RoundUp(a.Bytes, space.BlockBytes), a.Fill}
		m.regions = append(m.regions, r)
		setBits(m.pending, r.from>>space.BlockShift, r.to>>space.BlockShift)
		for p := from >> space.HugeShift; p < m.top>>space.HugeShift; p++ {
			m.home[p] |= filled
		}
	}
	return from, nil
}

// setBits sets the bits from to before to.
func setBits(words []uint64, from, to space.Addr) {
	for ; from < to && from&63 != 0; from++ {
		words[from>>6] |= 1 << (from & 63)
	}
	for ; from+64 <= to; from += 64 {
		words[from>>6] = ^uint64(0)
	}
	for ; from < to; from++ {
		words[from>>6] |= 1 << (from & 63)
	}
}

// Reserve takes addresses without bytes, for charging structures whose bytes
// the simulator keeps elsewhere.
func (m *Memory) Reserve(name string, bytes uint64, socket int) (space.Addr, error) {
	from := m.reserve
	if free := space.MaxAddr - from; bytes >= free || space.RoundUp(bytes, 1<<space.HugeShift) >= free {
		return 0, &SpaceError{Machine: m.Machine, Name: name, Bytes: bytes, Free: free, All: space.MaxAddr}
	}
	m.reserve += space.RoundUp(bytes, 1<<space.HugeShift)
	m.setHome(from, m.reserve, socket)
	return from, nil
}

func (m *Memory) setHome(from, to space.Addr, socket int) {
	if n := int(to >> space.HugeShift); n > len(m.home) {
		m.home = append(m.home, make([]uint8, n-len(m.home))...)
	}
	for p := from >> space.HugeShift; p < to>>space.HugeShift; p++ {
		m.home[p] = uint8(socket)
	}
}

// Home is the socket of an address: the index of its home RNIC.
func (m *Memory) Home(a space.Addr) int {
	if p := a >> space.HugeShift; p < space.Addr(len(m.home)) {
		return int(m.home[p] &^ (onNVM | filled | hasArray))
	}
	return 0
}

// Bytes are the n bytes at a, as they are now. No time is charged. Writing to
// them is a store.
func (m *Memory) Bytes(a space.Addr, n int) []byte {
	end := a + space.Addr(n)
	if end > m.top || a < 1<<space.HugeShift || end < a {
		panic(fmt.Sprintf("fabric: machine %d has no bytes at %#x..%#x", m.Machine, a, end))
	}
	for p := a >> space.HugeShift; p <= (end-1)>>space.HugeShift; p++ {
		switch x := m.home[p]; {
		case x&filled != 0:
			m.materialize(a>>space.BlockShift, (end-1)>>space.BlockShift)
			return m.buf[a:end:end]
		case x&hasArray != 0:
			if s := m.arrayOf(max(a, p<<space.HugeShift), end); s != nil {
				return m.inArray(s, a, end)
			}
		}
	}
	return m.buf[a:end:end]
}

// filled marks a page's socket when the page is of an allocation with a fill function, or one that is tracked.
const filled = 0x40

// wordShift is that of the bytes of a word of pending.
const wordShift = space.BlockShift + 6

// Materialized says whether the block of an address already has bytes of its
// own, as opposed to those its fill function would make; without one, whether it may have been touched.
func (m *Memory) Materialized(a space.Addr) bool {
	b := a >> space.BlockShift
	return a < m.top && m.pending[b>>6]>>(b&63)&1 == 0
}

// Touched says whether any of n bytes at a has come into being, or is of an allocation without a fill function.
func (m *Memory) Touched(a space.Addr, n uint64) bool {
	if n == 0 {
		return false
	}
	if a+n > m.top {
		return true
	}
	first, last := a>>space.BlockShift, (a+n-1)>>space.BlockShift
	for w := first >> 6; w <= last>>6; w++ {
		x := ^m.pending[w]
		if w == first>>6 {
			x &= ^uint64(0) << (first & 63)
		}
		if w == last>>6 {
			x &= ^uint64(0) >> (63 - last&63)
		}
		if x != 0 {
			return true
		}
	}
	return false
}

// materialize makes the blocks from first to last that are pending.
func (m *Memory) materialize(first, last space.Addr) {
	for w := first >> 6; w <= last>>6; w++ {
		x := m.pending[w]
		if w == first>>6 {
			x &= ^uint64(0) << (first & 63)
		}
		if w == last>>6 {
			x &= ^uint64(0) >> (63 - last&63)
		}
		for ; x != 0; x &= x - 1 {
			m.fillBlock(w<<6 | space.Addr(bits.TrailingZeros64(x)))
		}
	}
}

// fillBlock makes the bytes of a block.
func (m *Memory) fillBlock(b space.Addr) {
	m.pending[b>>6] &^= 1 << (b & 63)
	a := b << space.BlockShift
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].to > a })
	if r := &m.regions[i]; r.fill != nil {
		r.fill((a-r.from)>>space.BlockShift, m.buf[a:a+space.BlockBytes:a+space.BlockBytes])
	}
}

// Close gives the address space back.
func (m *Memory) Close() error {
	buf := m.buf
	m.buf, m.top = nil, 0
	for i := range m.arrays {
		if err := space.Release(m.arrays[i].heads); err != nil {
			return err
		}
	}
	m.arrays = nil
	return space.Release(buf)
}

// Perm is what may be done to a memory region from outside. Reading it locally
// is always allowed.
type Perm uint8

// The permissions, as flags.
const (
	LocalWrite Perm = 1 << iota
	RemoteRead
	RemoteWrite
	RemoteAtomic
)

// MR is a memory region: a part of the memory that RNICs may access, by
// every peer that has the key.
type MR struct {
	Addr       space.Addr
	Len        uint64
	LKey, RKey uint32
}

type mr struct {
	from, to space.Addr
	perm     Perm
}

// keyBase keeps 0 from being a key. Keys are dense and follow the order of
// registration, so machines that register alike have equal keys.
const keyBase = 0x100

// Register makes n bytes at a accessible to RNICs.
func (m *Memory) Register(a space.Addr, n uint64, p Perm) MR {
	if a+n > m.top || a+n < a || a < 1<<space.HugeShift {
		panic(fmt.Sprintf("fabric: machine %d registers %d bytes at %#x, which it has not allocated", m.Machine, n, a))
	}
	m.mrs = append(m.mrs, mr{a, a + n, p})
	key := uint32(keyBase + len(m.mrs) - 1)
	return MR{Addr: a, Len: n, LKey: key, RKey: key}
}

// Deregister takes the region's keys back.
func (m *Memory) Deregister(r MR) { m.mrs[r.LKey-keyBase] = mr{} }

// Allowed checks an RNIC's access.
func (m *Memory) Allowed(key uint32, a space.Addr, n uint32, p Perm) bool {
	i := key - keyBase
	if i >= uint32(len(m.mrs)) {
		return false
	}
	r := &m.mrs[i]
	end := a + space.Addr(n)
	return a >= r.from && end <= r.to && end >= a && r.to != 0 && r.perm&p == p
}

// Digest folds into h the blocks that have come into being of every allocation
// with a fill function, in the order of addresses.
func (m *Memory) Digest(h uint64) uint64 {
	for i := range m.regions {
		r := &m.regions[i]
		if r.fill == nil {
			continue
		}
		for b := r.from >> space.BlockShift; b < r.to>>space.BlockShift; b++ {
			made := ^m.pending[b>>6] >> (b & 63)
			if made == 0 { // none of this word's
				b |= 63
				continue
			}
			if b += space.Addr(bits.TrailingZeros64(made)); b >= r.to>>space.BlockShift {
				break
			}
			h = Fold(h, b<<space.BlockShift)
			for bytes := m.buf[b<<space.BlockShift : (b+1)<<space.BlockShift]; len(bytes) > 0; bytes = bytes[8:] {
				h = Fold(h, binary.LittleEndian.Uint64(bytes))
			}
		}
	}
	return h
}

func Fold(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// Has says whether an address has bytes, as those that are only reserved have not.
func (m *Memory) Has(a space.Addr) bool { return a < m.top }
