package masstree

import (
	"drtmx/engine/r2"
	"drtmx/engine/wire"
)

// splitBorder moves the upper half of a full border node to a new one on its right, and adds a key. If the key comes behind
// all that there are, the new node has it alone: keys that come in order leave full nodes.
func (t *tree) splitBorder(c *r2.Co, a r2.Addr, b []byte, w uint64, place int, key, v uint64) {
	w = setCount(t.mark(c, a, w, splitting), 0)
	p, next := permOf(b), wire.Get64(b[atNext:])
	left := (width + 1) / 2 // keys of the old node
	if place == width && next == 0 {
		left = width
	}
	keep := left
	if place < left {
		keep--
	}
	var m [nodeBytes]byte
	n := 0
	add := func(key, v uint64) {
		wire.Put64(m[atKeys+8*n:], key)
		wire.Put64(m[atValues+8*n:], v)
		n++
	}
	for i := keep; i <= width; i++ {
		if i == place && place >= left {
			add(key, v)
		}
		if i < width {
			add(keyAt(b, p.slot(i)), wire.Get64(b[atValues+8*p.slot(i):]))
		}
	}
	low, rw := keyAt(m[:], 0), isBorder|locked|splitting|w&allSplit
	wire.Put64(m[:], rw)
	wire.Put64(m[atPermutation:], uint64(identity(n)))
	wire.Put64(m[atLow:], low)
	wire.Put64(m[atNext:], next)
	wire.Put64(m[atParent:], wire.Get64(b[atParent:]))
	right := t.borders.At(t.nextBorder)
	t.nextBorder++
	c.Store(right, m[:])
	p = p.first(keep)
	if place < left {
		slot := r2.Addr(p.spare())
		c.Store64(a+atKeys+8*slot, key)
		c.Store64(a+atValues+8*slot, v)
		p = p.insert(place)
	}
	c.Store64(a+atPermutation, uint64(p))
	link(c, a, right)
	t.hang(c, half{a, w}, half{right, rw}, low)
}

// link makes a new node the next one of the node that it was split off.
func link(c *r2.Co, a, right r2.Addr) { c.Store64(a+atNext, uint64(right)) }

// half is a node that has been split, or what was split off: locked, with its version word.
type half struct {
	at r2.Addr
	w  uint64
}

// hang makes the parent of a node that has been split know its right half, whose lowest key is low, and gives both free.
// Locks are taken from below upwards.
func (t *tree) hang(c *r2.Co, left, right half, low uint64) {
	for {
		p, w := t.lockParent(c, left)
		if p == 0 {
			t.grow(c, left, right, low)
			return
		}
		b := t.cl.Mem(t.machine).Bytes(p, nodeBytes)
		i, n := 0, count(w)
		for i < n && low >= interiorKey(b, i) {
			i++
		}
		if n < width {
			w = t.mark(c, p, w, inserting)
			t.widen(c, p, b, i, n, low, right.at)
			c.Store64(parentAt(right.at, right.w), uint64(p))
			t.unlock(c, left.at, left.w)
			t.unlock(c, right.at, right.w)
			t.unlock(c, p, setCount(w, n+1))
			return
		}
		above, more, next := t.splitInterior(c, half{p, w}, b, i, low, right)
		t.unlock(c, left.at, left.w)
		t.unlock(c, right.at, right.w)
		left, right, low = above, more, next
	}
}

// lockParent locks the parent of a locked node, 0 if it is the root. A thread that moves the node to another parent holds the
// lock of the one that it leaves.
func (t *tree) lockParent(c *r2.Co, of half) (p r2.Addr, w uint64) {
	at := parentAt(of.at, of.w)
	for {
		if p = r2.Addr(c.Load64(at)); p == 0 {
			return 0, 0
		}
		w = t.lock(c, p)
		if r2.Addr(c.Load64(at)) == p {
			return p, w
		}
		t.unlock(c, p, w)
	}
}

// grow puts a new root above the two halves of the old one.
func (t *tree) grow(c *r2.Co, left, right half, low uint64) {
	root := t.takeInner()
	var m [nodeBytes]byte
	wire.Put64(m[:], setCount(isRoot, 1))
	wire.Put64(m[atInteriorKeys:], low)
	wire.Put64(m[atChildren:], uint64(left.at))
	wire.Put64(m[atChildren+8:], uint64(right.at))
	c.Store(root, m[:])
	c.Store64(parentAt(left.at, left.w), uint64(root))
	c.Store64(parentAt(right.at, right.w), uint64(root))
	c.Store64(t.head, uint64(root))
	t.unlock(c, left.at, left.w&^isRoot)
	t.unlock(c, right.at, right.w)
}

func (t *tree) takeInner() r2.Addr {
	t.nextInner++
	return t.inner.At(t.nextInner - 1)
}

// widen adds a child behind place i of an interior node with n keys.
func (t *tree) widen(c *r2.Co, p r2.Addr, b []byte, i, n int, low uint64, right r2.Addr) {
	var keys, children [8 * (width + 1)]byte
	wire.Put64(keys[:], low)
	copy(keys[8:], b[atInteriorKeys+8*i:][:8*(n-i)])
	wire.Put64(children[:], uint64(right))
	copy(children[8:], b[atChildren+8*(i+1):][:8*(n-i)])
	c.Store(p+atInteriorKeys+8*r2.Addr(i), keys[:8*(n-i+1)])
	c.Store(p+atChildren+8*r2.Addr(i+1), children[:8*(n-i+1)])
}

// splitInterior splits a full interior node and adds a child behind place i. It returns the halves, and the key between them.
func (t *tree) splitInterior(c *r2.Co, p half, b []byte, i int, low uint64, child half) (left, right half, between uint64) {
	const keep = (width + 1) / 2
	w := t.mark(c, p.at, p.w, splitting)
	var keys [8 * (width + 1)]byte
	var children [8 * (width + 2)]byte
	copy(keys[:], b[atInteriorKeys:][:8*width])
	copy(keys[8*(i+1):], b[atInteriorKeys+8*i:][:8*(width-i)])
	wire.Put64(keys[8*i:], low)
	copy(children[:], b[atChildren:][:8*(width+1)])
	copy(children[8*(i+2):], b[atChildren+8*(i+1):][:8*(width-i)])
	wire.Put64(children[8*(i+1):], uint64(child.at))

	var m [nodeBytes]byte
	n := width - keep // keys of the right half
	rw := setCount(locked|splitting|w&allSplit, n)
	wire.Put64(m[:], rw)
	copy(m[atInteriorKeys:], keys[8*(keep+1):])
	copy(m[atChildren:], children[8*(keep+1):])
	wire.Put64(m[atInteriorUp:], wire.Get64(b[atInteriorUp:]))
	right = half{t.takeInner(), rw}
	c.Store(right.at, m[:])
	c.Store(p.at+atInteriorKeys, keys[:8*keep])
	c.Store(p.at+atChildren, children[:8*(keep+1)])
	for k := keep + 1; k < width+2; k++ {
		moved := r2.Addr(wire.Get64(children[8*k:]))
		c.Store64(parentAt(moved, child.w), uint64(right.at))
	}
	if i+1 <= keep {
		c.Store64(parentAt(child.at, child.w), uint64(p.at))
	}
	return half{p.at, setCount(w, keep)}, right, wire.Get64(keys[8*keep:])
}
