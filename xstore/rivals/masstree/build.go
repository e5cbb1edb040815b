package masstree

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/rivals/lazy"
)

// tree is one instance: a Masstree of one layer in the memory of a socket.
type tree struct {
	cl      *r2.Cluster
	machine int
	socket  int
	keys    store.Keys
	spec    *store.KVSpec
	fill    uint64   // keys of a border node at the start
	levels  []uint64 // nodes of each level at the start, from the border nodes up
	offset  []uint64 // of a level's first interior node among all
	borders *lazy.Array
	inner   *lazy.Array
	head    r2.Addr // of a line with the address of the root
	rows    *rows   // nil: values are in the nodes

	// An allocation takes from a pool of its thread, as in Masstree: of the order in which threads do nothing depends.
	nextBorder, nextInner uint64
	live, room            uint64 // keys
}

// most is how many border nodes there can be: each split leaves seven keys in both halves, and those from the start can
// all split once.
func (t *tree) most() uint64 {
	return t.levels[0] + min(t.spec.Spare, t.levels[0]) + t.spec.Spare/7 + 2*underWay
}

// underWay is how many nodes the splits that are under way at one time can take.
const underWay = 512

func newTree(cl *r2.Cluster, machine, socket int, keys store.Keys, s *store.KVSpec, fill int) (*tree, error) {
	t := &tree{cl: cl, machine: machine, socket: socket, keys: keys, spec: s, fill: uint64(fill), live: keys.Len(), room: keys.Len() + s.Spare}
	t.offset = []uint64{0}
	n, all := max(1, (keys.Len()+t.fill-1)/t.fill), uint64(0)
	t.levels = append(t.levels, n)
	for n > 1 {
		n = (n + t.fill) / (t.fill + 1)
		t.levels = append(t.levels, n)
		t.offset = append(t.offset, all)
		all += n
	}
	t.nextBorder, t.nextInner = t.levels[0], all
	name := fmt.Sprintf("masstree %s of machine %d socket %d: ", s.Name, machine, socket)
	var err error
	if t.borders, err = lazy.New(cl, machine, lazy.Options{Name: name + "border nodes", Socket: socket, Size: nodeBytes, N: t.levels[0], Room: t.most(), Make: t.border}); err != nil {
		return nil, err
	}
	if t.inner, err = lazy.New(cl, machine, lazy.Options{Name: name + "interior nodes", Socket: socket, Size: nodeBytes, N: all, Room: all + t.most()/6 + 2*underWay, Make: t.interior}); err != nil {
		return nil, err
	}
	if s.ValueBytes > 8 {
		if t.rows, err = newRows(t, name+"rows"); err != nil {
			return nil, err
		}
	}
	if t.head, err = cl.Mem(machine).Alloc(host.Alloc{Name: name + "root", Bytes: 64, Socket: socket}); err != nil {
		return nil, err
	}
	wire.Put64(cl.Mem(machine).Bytes(t.head, 8), uint64(t.node(len(t.levels)-1, 0)))
	return t, nil
}

// node is the address of a node that was there from the start.
func (t *tree) node(level int, i uint64) r2.Addr {
	if level == 0 {
		return t.borders.At(i)
	}
	return t.inner.At(t.offset[level] + i)
}

// up is the parent of such a node, 0 of the root.
func (t *tree) up(level int, i uint64) uint64 {
	if level+1 == len(t.levels) {
		return 0
	}
	return uint64(t.node(level+1, i/(t.fill+1)))
}

func (t *tree) flags(level int) uint64 {
	if level+1 == len(t.levels) {
		return isRoot
	}
	return 0
}

// border makes a border node as it is at the start.
func (t *tree) border(i uint64, b []byte) {
	from := i * t.fill
	n := int(min(t.fill, t.keys.Len()-from))
	wire.Put64(b, isBorder|t.flags(0))
	wire.Put64(b[atPermutation:], uint64(identity(n)))
	for k := range n {
		key := t.keys.Key(from + uint64(k))
		wire.Put64(b[atKeys+8*k:], key)
		if t.rows != nil {
			wire.Put64(b[atValues+8*k:], uint64(t.rows.array.At(from+uint64(k))))
		} else if t.spec.Value != nil {
			t.spec.Value(key, b[atValues+8*k:][:t.spec.ValueBytes])
		}
	}
	if i > 0 {
		wire.Put64(b[atLow:], keyAt(b, 0))
	}
	if i+1 < t.levels[0] {
		wire.Put64(b[atNext:], uint64(t.node(0, i+1)))
	}
	wire.Put64(b[atParent:], t.up(0, i))
}

// interior makes an interior node as it is at the start.
func (t *tree) interior(number uint64, b []byte) {
	level := len(t.levels) - 1
	for number < t.offset[level] {
		level--
	}
	i := number - t.offset[level]
	span := t.fill // keys under a child
	for range level - 1 {
		span *= t.fill + 1
	}
	first := i * (t.fill + 1)
	n := int(min(t.fill+1, t.levels[level-1]-first))
	wire.Put64(b, setCount(t.flags(level), n-1))
	for k := range n {
		at := first + uint64(k)
		if k > 0 {
			wire.Put64(b[atInteriorKeys+8*(k-1):], t.keys.Key(at*span))
		}
		wire.Put64(b[atChildren+8*k:], uint64(t.node(level-1, at)))
	}
	wire.Put64(b[atInteriorUp:], t.up(level, i))
}

// warm brings the nodes near the root into the socket's cache, level by level as long as all of a level fits.
func (t *tree) warm() {
	hw := t.cl.Fabric().Machine(t.machine)
	left := uint64(hw.CacheLines())
	for level := len(t.levels) - 1; level >= 0; level-- {
		lines := t.levels[level] * (nodeBytes / 64)
		if lines > left {
			return
		}
		left -= lines
		for i := range t.levels[level] {
			hw.Warm(host.Extent{At: t.node(level, i), Bytes: nodeBytes})
		}
	}
}
