package masstree

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
)

// bytes are a node's as they are now, without charge.
func (t *tree) bytes(a r2.Addr) []byte { return t.cl.Mem(t.machine).Bytes(a, nodeBytes) }

// findNow copies the value of a key as it is now.
func (t *tree) findNow(key uint64, value []byte) bool {
	b := t.bytes(r2.Addr(wire.Get64(t.cl.Mem(t.machine).Bytes(t.head, 8))))
	for wire.Get64(b)&isBorder == 0 {
		i := 0
		for i < count(wire.Get64(b)) && key >= interiorKey(b, i) {
			i++
		}
		b = t.bytes(child(b, i))
	}
	p := permOf(b)
	for i := range p.n() {
		if keyAt(b, p.slot(i)) != key {
			continue
		}
		v := wire.Get64(b[atValues+8*p.slot(i):])
		if t.rows != nil {
			copy(value, t.cl.Mem(t.machine).Bytes(r2.Addr(v), t.rows.bytes))
			return true
		}
		for k := range value {
			value[k] = byte(v >> (8 * k))
		}
		return true
	}
	return false
}

// audit looks at all touched nodes: those below an untouched one are as they were at the start.
func (t *tree) audit(bad func(string)) {
	root := r2.Addr(wire.Get64(t.cl.Mem(t.machine).Bytes(t.head, 8)))
	if wire.Get64(t.bytes(root))&isRoot == 0 {
		bad(fmt.Sprintf("masstree: the root %#x of machine %d is none", root, t.machine))
	}
	t.auditNode(root, 0, 0, ^uint64(0), bad)
}

func (t *tree) touched(a r2.Addr) bool {
	if a >= t.borders.At(0) && a < t.borders.At(t.borders.Room()) {
		return t.borders.Touched(t.borders.Number(a))
	}
	return t.inner.Touched(t.inner.Number(a))
}

// auditNode looks at a node that may have keys from low to high.
func (t *tree) auditNode(a, parent r2.Addr, low, high uint64, bad func(string)) {
	if !t.touched(a) {
		return
	}
	b := t.bytes(a)
	w := wire.Get64(b)
	say := func(format string, args ...any) {
		bad(fmt.Sprintf("masstree: node %#x of machine %d: ", a, t.machine) + fmt.Sprintf(format, args...))
	}
	if w&(locked|dirty) != 0 {
		say("version %#x at rest", w)
	}
	if up := r2.Addr(wire.Get64(t.cl.Mem(t.machine).Bytes(parentAt(a, w), 8))); up != parent {
		say("parent %#x, it is a child of %#x", up, parent)
	}
	last, some := uint64(0), false
	key := func(k uint64) {
		if k < low || k > high || some && k <= last {
			say("key %d behind %d, of %d to %d", k, last, low, high)
		}
		last, some = k, true
	}
	if w&isBorder != 0 {
		p := permOf(b)
		seen := 0
		for i := range width {
			seen |= 1 << p.slot(i)
		}
		if p.n() > width || seen != 1<<width-1 {
			say("permutation %#x", uint64(p))
			return
		}
		for i := range p.n() {
			key(keyAt(b, p.slot(i)))
		}
		if wire.Get64(b[atLow:]) != low {
			say("lowest key %d, its parent says %d", wire.Get64(b[atLow:]), low)
		}
		if next := r2.Addr(wire.Get64(b[atNext:])); (next == 0) != (high == ^uint64(0)) || next != 0 && t.touched(next) && wire.Get64(t.bytes(next)[atLow:]) != high+1 {
			say("its next node %#x does not begin behind %d", next, high)
		}
		return
	}
	from := low
	for i := range count(w) + 1 {
		to := high
		if i < count(w) {
			key(interiorKey(b, i))
			to = interiorKey(b, i) - 1
		}
		t.auditNode(child(b, i), a, from, to, bad)
		from = to + 1
	}
}
