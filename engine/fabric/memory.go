package fabric

import (
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
	machine    int
	sockets    int
	buf        []byte   // indexed by address; the first 2 MB stay unused so that 0 is no address
	top        Addr     // end of what is allocated
	limit      Addr     // end of buf
	reserve    Addr     // end of what is reserved, above limit
	pending    []uint64 // by block: its bytes are not made yet
	regions    []region
	arrays     []array  // of message buffers, in the order of addresses
	firstArray []uint16 // by page: the first of them in it
	home       []uint8  // socket of each 2 MB page, and what else there is to say of it
	nvm        nvmSpace
	durable    *durability // nil: nobody asks what a crash leaves
	down       bool        // crashed: nothing changes it
	mrs        []mr

	speculations speculations // hardware transactions under way

	flight   []uint32 // accesses under way by hashed line: readers low, writers high
	touching bool     // whether accesses are registered at all
	cut      bool     // the process may not reserve as much address space as the machine has memory
}

// region is one allocation with a fill function.
type region struct {
	from, to Addr
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
	m := &Memory{machine: machine, sockets: sockets, top: 1 << hugeShift, touching: torn}
	dram = min(dram, maxSpace)
	m.cut = host < dram
	buf, err := reserveSpace(min(dram, host))
	if err != nil {
		return nil, fmt.Errorf("memory of machine %d: reserving %d MB of address space: %w; raise the limit of address space (ulimit -v)", machine, min(dram, host)>>20, err)
	}
	m.buf, m.limit = buf, Addr(len(buf))
	m.reserve = Addr(dram)
	m.home = make([]uint8, m.top>>hugeShift)
	if torn {
		m.flight = make([]uint32, flightSlots)
	}
	return m, nil
}

// maxSpace bounds what can be allocated in a machine, DRAM and NVM together: no
// host has more, and addresses of reserved memory have to follow.
const maxSpace = 192 << 30

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
func (m *Memory) Alloc(a Alloc) (Addr, error) {
	size := roundUp(a.Bytes, 1<<hugeShift)
	if a.Bytes == 0 || size > m.limit-m.top {
		return 0, &SpaceError{Machine: m.machine, Name: a.Name, Bytes: a.Bytes, Free: m.limit - m.top, All: m.limit, Limited: m.cut}
	}
	if err := m.nvm.check(m.machine, a); err != nil {
		return 0, err
	}
	from := m.top
	if err := commitSpace(m.buf[from:from+size], a.Dense); err != nil {
		return 0, fmt.Errorf("memory of machine %d: %s: %w", m.machine, a.Name, err)
	}
	m.top = from + size
	m.settle(from, m.top, a.Socket)
	if a.Interleaved {
		for p := from >> hugeShift; p < m.top>>hugeShift; p++ {
			m.home[p] = uint8((uint64(a.Socket) + p - from>>hugeShift) % uint64(m.sockets))
		}
	}
	if a.NVM {
		m.place(from, a)
	}
	words := int(m.top >> wordShift) // 2 MB are whole words
	m.pending = slices.Grow(m.pending, words-len(m.pending))[:words]
	if a.Fill != nil || a.Tracked {
		r := region{from, from + roundUp(a.Bytes, blockBytes), a.Fill}
		m.regions = append(m.regions, r)
		setBits(m.pending, r.from>>blockShift, r.to>>blockShift)
		for p := from >> hugeShift; p < m.top>>hugeShift; p++ {
			m.home[p] |= filled
		}
	}
	return from, nil
}

// setBits sets the bits from to before to.
func setBits(words []uint64, from, to Addr) {
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
func (m *Memory) Reserve(name string, bytes uint64, socket int) (Addr, error) {
	from := m.reserve
	if free := maxAddr - from; bytes >= free || roundUp(bytes, 1<<hugeShift) >= free {
		return 0, &SpaceError{Machine: m.machine, Name: name, Bytes: bytes, Free: free, All: maxAddr}
	}
	m.reserve += roundUp(bytes, 1<<hugeShift)
	m.settle(from, m.reserve, socket)
	return from, nil
}

func (m *Memory) settle(from, to Addr, socket int) {
	if n := int(to >> hugeShift); n > len(m.home) {
		m.home = append(m.home, make([]uint8, n-len(m.home))...)
	}
	for p := from >> hugeShift; p < to>>hugeShift; p++ {
		m.home[p] = uint8(socket)
	}
}

// Home is the socket of an address: the index of its home RNIC.
func (m *Memory) Home(a Addr) int {
	if p := a >> hugeShift; p < Addr(len(m.home)) {
		return int(m.home[p] &^ (onNVM | filled | hasArray))
	}
	return 0
}

// Bytes are the n bytes at a, as they are now. No time is charged. Writing to
// them is a store.
func (m *Memory) Bytes(a Addr, n int) []byte {
	end := a + Addr(n)
	if end > m.top || a < 1<<hugeShift || end < a {
		panic(fmt.Sprintf("fabric: machine %d has no bytes at %#x..%#x", m.machine, a, end))
	}
	for p := a >> hugeShift; p <= (end-1)>>hugeShift; p++ {
		switch x := m.home[p]; {
		case x&filled != 0:
			m.materialize(a>>blockShift, (end-1)>>blockShift)
			return m.buf[a:end:end]
		case x&hasArray != 0:
			if s := m.arrayOf(max(a, p<<hugeShift), end); s != nil {
				return m.inArray(s, a, end)
			}
		}
	}
	return m.buf[a:end:end]
}

// filled marks a page's socket when the page is of an allocation with a fill function, or one that is tracked.
const filled = 0x40

// wordShift is that of the bytes of a word of pending.
const wordShift = blockShift + 6

// Materialized says whether the block of an address already has bytes of its
// own, as opposed to those its fill function would make; without one, whether it may have been touched.
func (m *Memory) Materialized(a Addr) bool {
	b := a >> blockShift
	return a < m.top && m.pending[b>>6]>>(b&63)&1 == 0
}

// Touched says whether any of n bytes at a has come into being, or is of an allocation without a fill function.
func (m *Memory) Touched(a Addr, n uint64) bool {
	if n == 0 {
		return false
	}
	if a+n > m.top {
		return true
	}
	first, last := a>>blockShift, (a+n-1)>>blockShift
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
func (m *Memory) materialize(first, last Addr) {
	for w := first >> 6; w <= last>>6; w++ {
		x := m.pending[w]
		if w == first>>6 {
			x &= ^uint64(0) << (first & 63)
		}
		if w == last>>6 {
			x &= ^uint64(0) >> (63 - last&63)
		}
		for ; x != 0; x &= x - 1 {
			m.fillBlock(w<<6 | Addr(bits.TrailingZeros64(x)))
		}
	}
}

// fillBlock makes the bytes of a block.
func (m *Memory) fillBlock(b Addr) {
	m.pending[b>>6] &^= 1 << (b & 63)
	a := b << blockShift
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].to > a })
	if r := &m.regions[i]; r.fill != nil {
		r.fill((a-r.from)>>blockShift, m.buf[a:a+blockBytes:a+blockBytes])
	}
}

// close gives the address space back.
func (m *Memory) close() error {
	buf := m.buf
	m.buf, m.top = nil, 0
	for i := range m.arrays {
		if err := releaseSpace(m.arrays[i].heads); err != nil {
			return err
		}
	}
	m.arrays = nil
	return releaseSpace(buf)
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

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
// whoever has the key.
type MR struct {
	Addr       Addr
	Len        uint64
	LKey, RKey uint32
}

type mr struct {
	from, to Addr
	perm     Perm
}

// keyBase keeps 0 from being a key. Keys are dense and follow the order of
// registration, so machines that register alike have equal keys.
const keyBase = 0x100

// Register makes n bytes at a accessible to RNICs.
func (m *Memory) Register(a Addr, n uint64, p Perm) MR {
	if a+n > m.top || a+n < a || a < 1<<hugeShift {
		panic(fmt.Sprintf("fabric: machine %d registers %d bytes at %#x, which it has not allocated", m.machine, n, a))
	}
	m.mrs = append(m.mrs, mr{a, a + n, p})
	key := uint32(keyBase + len(m.mrs) - 1)
	return MR{Addr: a, Len: n, LKey: key, RKey: key}
}

// Deregister takes the region's keys back.
func (m *Memory) Deregister(r MR) { m.mrs[r.LKey-keyBase] = mr{} }

// allowed checks an RNIC's access.
func (m *Memory) allowed(key uint32, a Addr, n uint32, p Perm) bool {
	i := key - keyBase
	if i >= uint32(len(m.mrs)) {
		return false
	}
	r := &m.mrs[i]
	end := a + Addr(n)
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
		for b := r.from >> blockShift; b < r.to>>blockShift; b++ {
			made := ^m.pending[b>>6] >> (b & 63)
			if made == 0 { // none of this word's
				b |= 63
				continue
			}
			if b += Addr(bits.TrailingZeros64(made)); b >= r.to>>blockShift {
				break
			}
			h = fold(h, b<<blockShift)
			for bytes := m.buf[b<<blockShift : (b+1)<<blockShift]; len(bytes) > 0; bytes = bytes[8:] {
				h = fold(h, binary.LittleEndian.Uint64(bytes))
			}
		}
	}
	return h
}

func fold(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}
