package masstree

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/rivals/service"
)

// spins bounds how often a node is looked at until it is released: some milliseconds.
const spins = 100_000

// stable loads the lines of a node that are prefetched, once no keys are being moved in it. The view is of this instant.
func (t *tree) stable(c *r2.Co, a r2.Addr) (b []byte, w uint64) {
	for range spins {
		b = c.Load(a, prefetch)
		if w = wire.Get64(b); w&dirty == 0 {
			return t.cl.Mem(t.machine).Bytes(a, nodeBytes), w
		}
		service.Pause(c)
	}
	panic(fmt.Sprintf("masstree: machine %d at %d ps: node %#x stays dirty: %#x", t.machine, c.Now(), a, w))
}

// version is a node's version word as it is at the instant of the load before.
func version(c *r2.Co, a r2.Addr) uint64 { return binary.LittleEndian.Uint64(c.Peek(a, 8)) }

// descend finds the border node of a key, with a version of it. A reader holds no lock: it takes a step down only if
// the node above has not changed meanwhile, and begins again at the root if keys have left that one.
func (t *tree) descend(c *r2.Co, key uint64) (a r2.Addr, b []byte, w uint64) {
	a, b, w = t.root(c)
	for w&isBorder == 0 {
		below := child(b, findChild(c, b, w, key))
		nb, nw := t.stable(c, below)
		if !changed(w, version(c, a)) {
			a, b, w = below, nb, nw
			continue
		}
		was := w
		if b, w = t.stable(c, a); split(was, w) { // not before it is stable: splits count when they are done
			a, b, w = t.root(c)
		}
	}
	return a, b, w
}

// root finds the root: the head may still name one that has got a parent.
func (t *tree) root(c *r2.Co) (a r2.Addr, b []byte, w uint64) {
	a = r2.Addr(c.Load64(t.head))
	for b, w = t.stable(c, a); w&isRoot == 0; b, w = t.stable(c, a) {
		a = r2.Addr(c.Load64(parentAt(a, w)))
	}
	return a, b, w
}

// onward is the next border node if a key belongs to one behind a, which has been split.
func onward(c *r2.Co, a r2.Addr, key uint64) (next r2.Addr, there bool) {
	next = r2.Addr(c.Load64(a + atNext))
	return next, next != 0 && key >= c.Load64(next+atLow)
}

// Get copies the value of a key.
func (t *tree) Get(c *r2.Co, key uint64, value []byte) bool {
	t.rows.enter(c)
	defer t.rows.leave(c)
	a, b, w := t.descend(c, key)
	for {
		_, slot, found := find(c, b, key)
		v := c.Load64(a + atValues + 8*r2.Addr(slot)) // of a key that is not there: the time at which the version is looked at
		if !changed(w, version(c, a)) {
			if found {
				t.copyValue(c, v, value)
			}
			return found
		}
		was := w
		if b, w = t.stable(c, a); split(was, w) {
			for next, there := onward(c, a, key); there; next, there = onward(c, a, key) {
				a = next
			}
			b, w = t.stable(c, a)
		}
	}
}

// copyValue copies what a node has as the value of a key.
func (t *tree) copyValue(c *r2.Co, v uint64, value []byte) {
	if t.rows != nil {
		copy(value, c.Load(r2.Addr(v), t.rows.bytes))
		return
	}
	for i := range value {
		value[i] = byte(v >> (8 * i))
	}
}

// scanned is what a border node has for a scan.
type scanned struct {
	keys, values [width]uint64
	slots        [width]int
	n            int
}

// Scan goes along the border nodes.
func (t *tree) Scan(c *r2.Co, key uint64, n int, dst []byte) (pairs int) {
	t.rows.enter(c)
	defer t.rows.leave(c)
	var s scanned
	a, b, w := t.descend(c, key)
	for pairs < n {
		s.from(c, b, key)
		c.Touch(a+prefetch, nodeBytes-prefetch)
		now := t.second(c, a, &s)
		next := r2.Addr(wire.Get64(b[atNext:]))
		if changed(w, now) {
			was := w
			if b, w = t.stable(c, a); split(was, w) {
				a, b, w = t.descend(c, key)
			}
			continue
		}
		m := min(s.n, n-pairs)
		t.put(c, &s, m, dst[pairs*(8+t.spec.ValueBytes):])
		if pairs += m; m > 0 {
			if key = s.keys[m-1] + 1; key == 0 {
				break
			}
		}
		if next == 0 {
			break
		}
		a = next
		b, w = t.stable(c, a)
	}
	return pairs
}

// from notes the keys from one on, as they are in a view.
func (s *scanned) from(c *r2.Co, b []byte, key uint64) {
	p := permOf(b)
	s.n = 0
	for i := range p.n() {
		slot := p.slot(i)
		if k := keyAt(b, slot); k >= key {
			s.keys[s.n], s.slots[s.n] = k, slot
			s.n++
		}
	}
	service.ChargeSearch(c, p.n())
}

// second reads the values, a moment later than the keys, and the version at that moment.
func (t *tree) second(c *r2.Co, a r2.Addr, s *scanned) (now uint64) {
	now = c.Load64(a)
	b := t.cl.Mem(t.machine).Bytes(a, nodeBytes) // whose lines have come with the keys
	for i := range s.n {
		s.values[i] = wire.Get64(b[atValues+8*s.slots[i]:])
	}
	return now
}

// put writes the first m pairs as a scan returns them. Rows are loaded side by side.
func (t *tree) put(c *r2.Co, s *scanned, m int, dst []byte) {
	size := 8 + t.spec.ValueBytes
	if t.rows != nil {
		var at [width]r2.Addr
		for i := range m {
			at[i] = r2.Addr(s.values[i])
		}
		c.TouchAll(at[:m], t.rows.bytes)
	}
	for i := range m {
		d := dst[i*size:][:size]
		wire.Put64(d, s.keys[i])
		if t.rows != nil {
			copy(d[8:], t.cl.Mem(t.machine).Bytes(r2.Addr(s.values[i]), t.rows.bytes))
			continue
		}
		for k := range d[8:] {
			d[8+k] = byte(s.values[i] >> (8 * k))
		}
	}
}
