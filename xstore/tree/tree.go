package tree

import (
	"errors"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// ErrFull says that the memory of a tree has no room for another leaf, inner node or value: Options.Spare or Options.Heap
// was too small.
var ErrFull = errors.New("tree: no room")

const (
	// maxLevels bounds the levels of inner nodes: with fanout 4, nodes half full, more than 2^31 leaves need.
	maxLevels = 32

	// maxALN keeps leaf numbers within the 31 bits of a TT entry.
	maxALN = 1<<31 - 1

	epochShift = 16
)

// Options describe a tree that is to be made.
type Options struct {
	Name string // for messages to people

	// Keys are there from the start; nil: none.
	Keys store.Keys
	// ValueBytes is the length of values, or the greatest length if Heap is set.
	ValueBytes int
	// Value writes the value that a key has from the start. It must be a pure function of the key. Nil leaves zeros.
	Value func(key uint64, value []byte)

	// Heap is set if values have lengths of their own: the slots of leaves hold fat pointers (thesis §3.4.1, note 1) to values
	// in a heap, which has so many bytes beyond the initial values.
	Heap uint64
	// Size is the length of the value that a key has from the start, pure; nil: ValueBytes. It needs Heap.
	Size func(key uint64) int

	// Real is set if Keys are the hashes of keys of different lengths (thesis §3.6). It needs Heap, in which records have key and
	// value; those that are there from the start come from here, instead of Value.
	Real RealKeys

	// Slots is N, the slots of a leaf. More make TT and index smaller and a lookup READ longer. Default 16 (thesis §3.4.1).
	Slots int
	// Fill is how many keys leaves have at the start. Default half of Slots (thesis §3.4.1), as ascending inserts leave them.
	Fill int
	// Fanout is the most children of an inner node. Default 16: with Slots it gives the thesis' index of 7 levels for 100
	// million keys (§3.7.1), if nodes are as full as Children says.
	Fanout int
	// Children is how many children inner nodes have at the start. Default ln 2 of Fanout, 11 of 16: as full as random inserts
	// leave the nodes of a B+ tree in the mean (Yao, On random 2-3 trees, 1978).
	Children int

	// Spare is the number of keys there is room for beyond the initial ones, in leaves that are half full. It costs address
	// space, and memory only when used.
	Spare uint64

	// Epoch is that of the incarnations at the start; see Rebuild.
	Epoch uint8

	// OnSplit is called once for each split that has committed, on the coroutine that made it. separator is the lowest key that
	// is routed to the leaf right since then.
	OnSplit func(c *r2.Co, left, right uint32, separator uint64)
}

// Tree is the XTree of a machine.
type Tree struct {
	cl      *r2.Cluster
	mem     *host.Memory
	machine int
	o       Options
	layout  Layout
	inner   InnerLayout
	first   initial
	heap    *heap // nil: values are in the leaves

	base      r2.Addr // root word, locks and the state of the slabs; behind it inner nodes, leaves and the heap
	inners    r2.Addr
	leaves    r2.Addr
	maxInners uint32
	maxLeaves uint32
	mr        host.MR
	lock      r2.HTMLock

	epoch  uint8
	splits uint64
	idle   []*work
	kept   []keptLeaf // by thread

	anyReal bool // a planted fault: keys of one hash are taken for each other. Tests only.
}

// keptLeaf is a leaf that a thread has taken from the slab for the next split of its own.
type keptLeaf struct {
	leaf, inca uint32
	some       bool
}

// The words of a tree in front of its nodes, each on a line of its own, so that regions meet only where they must.
const (
	rootAt   = 0
	lockAt   = 1 * record.LineBytes
	leafSlab = 2 * record.LineBytes // next number never used u32 | head of the free list plus 1 u32
	nodeSlab = 3 * record.LineBytes // next number
	heapSlab = 4 * record.LineBytes // next byte; then the heads of the heap's free lists
)

// New makes a tree in the memory of a machine. Nothing is touched.
func New(cl *r2.Cluster, machine int, o Options) (*Tree, error) {
	t := &Tree{cl: cl, mem: cl.Mem(machine), machine: machine, o: o, epoch: o.Epoch, kept: make([]keptLeaf, cl.Threads(machine))}
	if err := t.plan(); err != nil {
		return nil, fmt.Errorf("tree %s: %w", o.Name, err)
	}
	words := uint64(roundUp(heapSlab+8+t.heap.words(), pageBytes))
	inners := words
	leaves := inners + pages(uint64(t.maxInners)*uint64(t.inner.NodeBytes()))
	values := leaves + pages(uint64(t.maxLeaves)*uint64(t.layout.LeafBytes()))
	bytes := values + pages(t.heap.size())
	base, err := t.mem.Alloc(host.Alloc{Name: "tree " + o.Name, Bytes: bytes, Interleaved: true, Fill: func(block uint64, dst []byte) {
		t.fill(block*blockBytes, dst)
	}})
	if err != nil {
		return nil, err
	}
	t.base, t.inners, t.leaves = base, base+inners, base+leaves
	t.lock = r2.HTMLock{Addr: base + lockAt}
	if t.heap != nil {
		t.heap.state, t.heap.base = base+heapSlab, base+values
	}
	t.mr = t.mem.Register(base, bytes, host.LocalWrite|host.RemoteRead)
	return t, nil
}

const (
	pageBytes  = 4096
	blockBytes = 512 // of fabric.Alloc.Fill
)

func pages(n uint64) uint64 { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// plan fills in defaults and works out the geometry.
func (t *Tree) plan() (err error) {
	o := &t.o
	o.Slots, o.Fanout = or(o.Slots, 16), or(o.Fanout, 16)
	o.Fill, o.Children = or(o.Fill, o.Slots/2), or(o.Children, max(2, o.Fanout*6931/10000))
	slot := o.ValueBytes
	if o.Heap > 0 {
		slot = fatPointerBytes
	} else if o.Size != nil || o.Real != nil {
		return errors.New("keys and values with lengths of their own (Real, Size) need a heap (Heap)")
	}
	if o.Real != nil && o.Size != nil {
		return errors.New("values with lengths of their own (Size) beside keys with such (Real): they have one length")
	}
	if t.layout, err = NewLayout(o.Slots, slot); err != nil {
		return err
	}
	if t.inner, err = newInnerLayout(o.Fanout); err != nil {
		return err
	}
	if o.Fill < 1 || o.Fill > o.Slots {
		return fmt.Errorf("fill %d: leaves of %d slots have 1 to so many keys", o.Fill, o.Slots)
	}
	if o.Children < 2 || o.Children > o.Fanout {
		return fmt.Errorf("children %d: inner nodes of fanout %d have 2 to so many", o.Children, o.Fanout)
	}
	t.first = newInitial(o.Keys, o.Fill, o.Children)
	extra := (o.Spare+uint64(o.Slots/2)-1)/uint64(o.Slots/2) + 1 + uint64(len(t.kept))
	leaves := t.first.leaves + extra
	if leaves > maxALN {
		return fmt.Errorf("%d leaves: the numbers of leaves have 31 bits", leaves)
	}
	// An inner node that splits has taken in a leaf or node for each child that it has more than at the start, at least two.
	t.maxLeaves, t.maxInners = uint32(leaves), t.first.inners()+uint32(extra)+maxLevels
	if o.Heap > 0 {
		t.heap, err = newHeap(o, t.first.keys)
	}
	return err
}

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// Layout is the geometry of the leaves.
func (t *Tree) Layout() *Layout { return &t.layout }

// Inner is the geometry of the inner nodes.
func (t *Tree) Inner() *InnerLayout { return &t.inner }

// RKey is the key to all memory of the tree: root word, inner nodes, leaves, heap.
func (t *Tree) RKey() uint32 { return t.mr.RKey }

// RootAddr is the address of the root word; see DecodeRoot.
func (t *Tree) RootAddr() r2.Addr { return t.base + rootAt }

// InnerAddr is the address of an inner node.
func (t *Tree) InnerAddr(n uint32) r2.Addr {
	return t.inners + r2.Addr(n)*r2.Addr(t.inner.bytes)
}

// LeafAddr is the address of a leaf.
func (t *Tree) LeafAddr(aln uint32) r2.Addr {
	return t.leaves + r2.Addr(aln)*r2.Addr(t.layout.bytes)
}

// Epoch is that of the incarnations: it changes with Rebuild.
func (t *Tree) Epoch() uint8 { return t.epoch }

// inca is the incarnation with which a leaf begins in this epoch.
func (t *Tree) inca() uint32 { return uint32(t.epoch) << epochShift }

// Initial says how the leaves are at the start: leaf i holds the keys of ranks i*fill to (i+1)*fill-1, in order, and has
// incarnation inca. So a translation table is a pure function of its place until a leaf has split.
func (t *Tree) Initial() (leaves uint32, fill int, inca uint32) {
	return uint32(t.first.leaves), t.o.Fill, uint32(t.o.Epoch) << epochShift
}

// MaxInners bounds the numbers of inner nodes.
func (t *Tree) MaxInners() uint32 { return t.maxInners }

// InitialRoot is what the root word says at the start.
func (t *Tree) InitialRoot() (root uint32, levels int) { return t.first.inners() - 1, t.first.levels() }

// InitialInners is how many inner nodes there are at the start on a level.
func (t *Tree) InitialInners(level int) int { return int(t.first.base[level+1] - t.first.base[level]) }

// InitialInner describes an inner node as it is at the start, if it is there: what a cache of nodes begins with.
func (t *Tree) InitialInner(number uint32, n *Inner) (ok bool) {
	if ok = number < t.first.inners(); ok {
		t.first.node(number, n)
		n.INCA = uint32(t.o.Epoch) << epochShift
	}
	return ok
}
