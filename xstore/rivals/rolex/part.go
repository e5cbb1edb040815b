package rolex

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"drtmx/engine/fabric/host"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/model"
	"drtmx/xstore/rivals/lazy"
)

// The entry of a segment in a memory node's directory.
//
//	0 lock u64: of its trainer | 8 splits u64: of its leaves, since the start | 16 current u64 | 24 unused
//
// current is version u16 | lines u16 | first line u32 of what was published last, from the highest bits on; 0: nothing, and
// the model is that of the initial leaves.
const (
	entryBytes = 32
	atSplits   = 8
	atCurrent  = 16

	lineBytes = 64
	mostLines = 1<<16 - 1 // of a published segment
)

func current(version uint32, lines int, line uint64) uint64 {
	return uint64(version)<<48 | uint64(lines)<<32 | line
}

// part is what a memory node holds. Its own cores have nothing to do with it.
type part struct {
	s         *Store
	machine   int
	low, high uint64
	keys      store.Keys
	each      uint64 // initial keys of a segment
	segments  int

	leaves    *lazy.Array
	directory *lazy.Array
	heads     r2.Addr // the next free leaf, and in another line the next free line of what is published
	published r2.Addr
	lines     uint64 // of these
	rkeys     struct{ leaves, directory, heads, published uint32 }

	top     model.Top                 // leads to a key's segment
	initial []atomic.Pointer[segment] // trained when first used, by whichever machine
	// modelRoom is the distance of two models in the memory of a client: what they take in the mean.
	modelRoom int
	stats     owned.Each[Stats] // of a machine's clients
	scratch   node              // of the thread that makes initial leaves
}

// Stats counts what clients did to a memory node's keys since the start.
type Stats struct {
	Lookups  uint64 // predictions, those of scans included
	Leaves   uint64 // READ by them
	Synonyms uint64 // READ because a leaf's link led there
	Torn     uint64 // leaves that were caught in a change, and READ again
	Waits    uint64 // locks that were taken when they were wanted
	Splits   uint64 // leaves that got a synonym
	Trained  uint64 // segments that were trained again
	Fetched  uint64 // segments that clients READ because theirs were older
	Given    uint64 // trainings given up: another client is at it, or memory for it is short
}

const headLines = 2

// newPart makes a memory node's part.
func (s *Store) newPart(m int) (*part, error) {
	o := &s.opt
	p := &part{s: s, machine: m, keys: s.ranges.Keys(m)}
	p.low, p.high = s.ranges.Range(m)
	n, fill := p.keys.Len(), uint64(o.Fill)
	leaves := max((n+fill-1)/fill, 1)
	p.each = fill * uint64(o.SegmentLeaves)
	p.segments = int((leaves + uint64(o.SegmentLeaves) - 1) / uint64(o.SegmentLeaves))
	p.initial = make([]atomic.Pointer[segment], p.segments)
	p.stats = owned.New[Stats](s.cl.Machines(), nil)
	p.scratch = make(node, s.layout.block.Data())
	// Splits are at most one of each initial leaf before it has half a leaf's room, and one for each half leaf of new keys.
	half := uint64(o.Slots / 2)
	spare := 2*(min(leaves, s.spec.Spare)+s.spec.Spare/half) + chunk*uint64(s.threads)
	if leaves+spare >= uint64(noLeaf) {
		return nil, fmt.Errorf("rolex %s: %d leaves on machine %d, below 2^32", s.spec.Name, leaves+spare, m)
	}
	p.lines = (spare*4/lineBytes+1)*8 + uint64(p.segments)*(uint64(o.SegmentLeaves)/lineBytes*8+2)
	var err error
	if p.leaves, err = lazy.New(s.cl, m, lazy.Options{Name: s.spec.Name + ": leaves", Size: s.layout.stride(), N: leaves, Room: leaves + spare, Make: p.makeLeaf, Interleaved: true}); err != nil {
		return nil, err
	}
	if p.directory, err = lazy.New(s.cl, m, lazy.Options{Name: s.spec.Name + ": directory", Size: entryBytes, Room: uint64(p.segments), Interleaved: true}); err != nil {
		return nil, err
	}
	mem := s.cl.Mem(m)
	if p.heads, err = mem.Alloc(host.Alloc{Name: s.spec.Name + ": heads", Bytes: headLines * lineBytes}); err != nil {
		return nil, err
	}
	if p.published, err = mem.Alloc(host.Alloc{Name: s.spec.Name + ": published models", Bytes: p.lines * lineBytes, Interleaved: true}); err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(mem.Bytes(p.heads, 8), leaves)
	binary.LittleEndian.PutUint64(mem.Bytes(p.heads+lineBytes, 8), 1) // current 0 is none
	change := host.RemoteRead | host.RemoteWrite | host.RemoteAtomic
	p.rkeys.leaves = mem.Register(p.leaves.At(0), p.leaves.Room()*uint64(s.layout.stride()), change).RKey
	p.rkeys.directory = mem.Register(p.directory.At(0), p.directory.Room()*entryBytes, change).RKey
	p.rkeys.heads = mem.Register(p.heads, headLines*lineBytes, change).RKey
	p.rkeys.published = mem.Register(p.published, p.lines*lineBytes, host.RemoteRead|host.RemoteWrite).RKey
	p.top, err = model.TrainTop(model.TopSpec{Kind: "pieces", Eps: 1 / float64(max(2048, p.segments))}, p.keys)
	p.measureModels()
	return p, err
}

// measured is how many models are trained for the mean of their sizes.
const measured = 16

func (p *part) measureModels() {
	sum, n := 0, min(measured, p.segments)
	for k := range n {
		sum += blobHeader + p.atStart(k*p.segments/n).model.Bytes()
	}
	p.modelRoom = (sum/n + lineBytes - 1) &^ (lineBytes - 1)
}

// leavesAtStart is their number.
func (p *part) leavesAtStart() uint64 {
	return max((p.keys.Len()+uint64(p.s.opt.Fill)-1)/uint64(p.s.opt.Fill), 1)
}

// lowOf is the lowest key that belongs to initial leaf g.
func (p *part) lowOf(g uint64) uint64 {
	if g == 0 {
		return p.low
	}
	return p.keys.Key(g * uint64(p.s.opt.Fill))
}

// highOf is the highest one.
func (p *part) highOf(g uint64) uint64 {
	if g+1 >= p.leavesAtStart() {
		return p.high
	}
	return p.lowOf(g+1) - 1
}

// leafOf is the initial leaf that a key belongs to.
func (p *part) leafOf(key uint64) uint64 {
	n, ok := p.keys.Rank(key)
	if !ok {
		n = max(n, 1) - 1
	}
	return n / uint64(p.s.opt.Fill)
}

// makeLeaf makes an initial leaf.
func (p *part) makeLeaf(g uint64, b []byte) {
	l, n := &p.s.layout, p.scratch
	clear(n)
	n.setLow(p.lowOf(g))
	n.setHigh(p.highOf(g))
	n.setLink(noLeaf)
	if g+1 < p.leavesAtStart() {
		n.setLink(uint32(g + 1))
	}
	first := g * uint64(p.s.opt.Fill)
	for i := first; i < min(first+uint64(p.s.opt.Fill), p.keys.Len()); i++ {
		key := p.keys.Key(i)
		n.insert(l, int(i-first), key, nil)
		if p.s.spec.Value != nil {
			p.s.spec.Value(key, n.value(l, int(i-first)))
		}
	}
	l.encode(b, n, 0)
}

// lowest and highest are the keys of a segment, both included. They never change.
func (p *part) lowest(i int) uint64 { return p.lowOf(uint64(i) * uint64(p.s.opt.SegmentLeaves)) }

func (p *part) highest(i int) uint64 {
	if i+1 == p.segments {
		return p.high
	}
	return p.lowest(i+1) - 1
}

// atStart is the model of a segment's initial leaves, which every client begins with.
func (p *part) atStart(i int) *segment {
	x := p.initial[i].Load()
	if x == nil {
		first := uint64(i) * uint64(p.s.opt.SegmentLeaves)
		lows := make(fences, min(uint64(p.s.opt.SegmentLeaves), p.leavesAtStart()-first))
		for g := range lows {
			lows[g] = p.lowOf(first + uint64(g))
		}
		x = p.s.trained(lows, p.highest(i))
		x.first = uint32(first)
		p.initial[i].Store(x)
	}
	return x
}

func (p *part) leafLoc(i uint32) r2.Loc {
	return r2.Loc{Machine: p.machine, RKey: p.rkeys.leaves, Addr: p.leaves.At(uint64(i))}
}

func (p *part) entryLoc(segment int, at r2.Addr) r2.Loc {
	return r2.Loc{Machine: p.machine, RKey: p.rkeys.directory, Addr: p.directory.At(uint64(segment)) + at}
}

func (p *part) headLoc(i int) r2.Loc {
	return r2.Loc{Machine: p.machine, RKey: p.rkeys.heads, Addr: p.heads + r2.Addr(i*lineBytes)}
}

func (p *part) lineLoc(line uint64) r2.Loc {
	return r2.Loc{Machine: p.machine, RKey: p.rkeys.published, Addr: p.published + r2.Addr(line*lineBytes)}
}
