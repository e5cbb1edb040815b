package host

import (
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"errors"
	"math/bits"
	"unsafe"
)

// llcSet is one set of the cache: 16-bit tags (0 is an empty way), a reference
// bit per way for replacement (not recently used) and a dirty bit. It is one
// line of the host's memory, for each simulated access reads one.
type llcSet struct {
	tags  [profile.MaxWays / 4]uint64
	ref   uint32
	dirty uint32
	held  uint32 // ways that hold a line
	_     uint32
}

// llc is the last-level cache in front of one socket's memory. The lines of a
// set are told apart exactly over 65,535 times the cache's sets; beyond, tags
// repeat and one lookup in some thousands hits by mistake.
type llc struct {
	sets  []llcSet
	n     space.Addr
	magic uint64 // of the division by n
	spread,
	words int
	all  uint32 // the ways
	ddio uint32 // the ways into which DMA writes may allocate
}

// llcSets is the number of sets of a cache.
func llcSets(bytes uint64, ways int) uint64 { return max(bytes/space.LineBytes/uint64(ways), 1) }

func newLLC(sets []llcSet, ways, ddio int) *llc {
	n := uint64(len(sets))
	c := &llc{sets: sets, n: n, words: (ways + 3) / 4, all: 1<<ways - 1}
	c.ddio = c.all &^ (1<<(ways-ddio) - 1)
	c.magic = ^uint64(0)/n + 1 // exact for lines below 2^32, that is maxAddr
	c.spread = 1<<(bits.Len64(n)-1) - 1
	return c
}

// tagSpace is the memory of all tag arrays.
type tagSpace struct {
	blocks [][]byte
	free   []byte
}

const (
	tagBlock = 16 << 20
	setBytes = uint64(unsafe.Sizeof(llcSet{}))
)

func (s *tagSpace) alloc(sets uint64) ([]llcSet, error) {
	n := sets * setBytes
	if n > uint64(len(s.free)) {
		b, err := space.ReserveDense(max(n, tagBlock))
		if err != nil {
			return nil, err
		}
		s.blocks = append(s.blocks, b)
		s.free = b
	}
	b := s.free[:n]
	s.free = s.free[n:]
	return unsafe.Slice((*llcSet)(unsafe.Pointer(&b[0])), sets), nil
}

func (s *tagSpace) close() error {
	var errs []error
	for _, b := range s.blocks {
		errs = append(errs, space.ReleaseDense(b))
	}
	s.blocks, s.free = nil, nil
	return errors.Join(errs...)
}

// locate gives the set and the tag of a line. The set is not simply the line
// modulo their number: equal offsets in different allocations, which all begin
// at 2 MB, would meet in few sets. Hardware hashes as well.
func (c *llc) locate(line space.Addr) (*llcSet, uint16) {
	if c.n == 1 {
		return &c.sets[0], uint16(line%65535) + 1
	}
	q, _ := bits.Mul64(line, c.magic)
	i := line - q*c.n + (q*0x9e3779b1>>8)&space.Addr(c.spread)
	if i >= c.n {
		i -= c.n
	}
	return &c.sets[i], uint16(q%65535) + 1
}

// find is the way that holds the tag, or -1.
func (c *llc) find(s *llcSet, tag uint16) int {
	const ones, tops = 0x0001000100010001, 0x8000800080008000
	pattern := uint64(tag) * ones
	for w := range s.tags[:c.words] {
		x := s.tags[w] ^ pattern
		if m := (x - ones) &^ x & tops; m != 0 {
			return w<<2 + bits.TrailingZeros64(m)>>4
		}
	}
	return -1
}

// insert puts the tag into the first of the allowed ways that was not used
// recently, and says whether a dirty line had to leave.
func (c *llc) insert(s *llcSet, tag uint16, allowed uint32) (way int, dirty bool) {
	way = s.victim(s.unused(allowed))
	return way, s.fill(way, tag)
}

// victim is the way to use of some: the first that is empty, for no line has to leave it.
func (s *llcSet) victim(free uint32) int {
	if empty := free &^ s.held; empty != 0 {
		free = empty
	}
	return bits.TrailingZeros32(free)
}

// unused are the allowed ways that were not used recently. When all were, none
// counts as such any more.
func (s *llcSet) unused(allowed uint32) uint32 {
	free := allowed &^ s.ref
	if free == 0 {
		s.ref &^= allowed
		free = allowed
	}
	return free
}

// fill puts the tag into a way, and says whether a dirty line had to leave.
func (s *llcSet) fill(way int, tag uint16) (dirty bool) {
	shift := uint(way&3) << 4
	w := &s.tags[way>>2]
	bit := uint32(1) << way
	dirty = s.dirty&bit != 0
	*w = *w&^(0xffff<<shift) | uint64(tag)<<shift
	s.ref |= bit
	s.dirty &^= bit
	s.held |= bit
	return dirty
}

func (s *llcSet) drop(way int) {
	s.tags[way>>2] &^= 0xffff << (uint(way&3) << 4)
	s.ref &^= 1 << way
	s.dirty &^= 1 << way
	s.held &^= 1 << way
}

// TLB is a set-associative translation cache over 2 MB pages with true LRU inside a
// set: the most recent entry comes first. Sets are a power of two, of four ways or as many
// more as make all entries: Broadwell's 1,536 are 256 sets of six. What cannot be shared
// out evenly gives the first sets one way more.
type TLB struct {
	Entries []uint32 // set after set
	mask    uint32   // of the number of a set
	ways    uint32
	wider   uint32 // sets with one way more
}

func NewTLB(entries int) TLB {
	sets := 1 << (bits.Len(uint(max(entries/4, 1))) - 1)
	return TLB{Entries: make([]uint32, entries), mask: uint32(sets - 1), ways: uint32(entries / sets), wider: uint32(entries % sets)}
}

// first is where the set begins in which a page may be, and set is that set.
func (t *TLB) first(page uint32) (at, ways uint32) {
	i := (page ^ page>>9) & t.mask
	return i*t.ways + min(i, t.wider), t.ways + (i-t.wider)>>31
}

func (t *TLB) set(page uint32) []uint32 {
	at, ways := t.first(page)
	return t.Entries[at:][:ways]
}

// Touch looks a page up and brings it in.
func (t *TLB) Touch(a space.Addr) (hit bool) {
	page := uint32(a>>space.HugeShift) + 1 // 0 is an empty entry
	at, _ := t.first(page)
	return t.Entries[at] == page || t.bring(page)
}

// bring makes a page the most recent of its set.
func (t *TLB) bring(page uint32) (hit bool) {
	before := page
	s := t.set(page)
	for i, e := range s {
		s[i], before = before, e
		if e == page {
			return true
		}
	}
	return false
}
