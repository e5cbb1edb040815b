package masstree

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/rivals/service"
)

// lock takes the lock of a node.
func (t *tree) lock(c *r2.Co, a r2.Addr) (w uint64) {
	for range spins {
		if w = c.Load64(a); w&locked == 0 && c.LocalCAS(a, w, w|locked) == w {
			return w | locked
		}
		service.Pause(c)
	}
	panic(fmt.Sprintf("masstree: machine %d at %d ps: node %#x stays locked: %#x", t.machine, c.Now(), a, w))
}

// unlock gives a node free.
func (t *tree) unlock(c *r2.Co, a r2.Addr, w uint64) { c.Store64(a, unlocked(w)) }

// mark says in a node that keys move in it. It returns the new version word.
func (t *tree) mark(c *r2.Co, a r2.Addr, w, how uint64) uint64 {
	c.Store64(a, w|how)
	return w | how
}

// lockBorder finds and locks the border node of a key. Keys only ever leave a border node to the right, so it is that node or
// one behind.
func (t *tree) lockBorder(c *r2.Co, key uint64) (a r2.Addr, b []byte, w uint64) {
	a, _, _ = t.descend(c, key)
	w = t.lock(c, a)
	for next, there := onward(c, a, key); there; next, there = onward(c, a, key) {
		t.unlock(c, a, w)
		a, w = next, t.lock(c, next)
	}
	return a, t.cl.Mem(t.machine).Bytes(a, nodeBytes), w
}

// Update overwrites the value of a key that is there.
func (t *tree) Update(c *r2.Co, key uint64, value []byte) bool {
	t.rows.enter(c)
	defer t.rows.leave(c)
	a, b, w := t.lockBorder(c, key)
	_, slot, found := find(c, b, key)
	if found {
		old := wire.Get64(b[atValues+8*slot:])
		c.Store64(a+atValues+8*r2.Addr(slot), t.keep(c, value))
		if t.rows != nil {
			t.rows.retire(c, r2.Addr(old))
		}
	}
	t.unlock(c, a, w)
	return found
}

// keep makes what a node has of a value: the value, or the address of a row with it.
func (t *tree) keep(c *r2.Co, value []byte) (v uint64) {
	if t.rows != nil {
		row, ok := t.rows.alloc()
		if !ok {
			panic(fmt.Sprintf("masstree: machine %d at %d ps: all rows wait for operations to end", t.machine, c.Now()))
		}
		c.Store(row, value)
		return uint64(row)
	}
	for i, x := range value {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// Insert adds a key that is not there.
func (t *tree) Insert(c *r2.Co, key uint64, value []byte) (bool, error) {
	t.rows.enter(c)
	defer t.rows.leave(c)
	a, b, w := t.lockBorder(c, key)
	place, _, found := find(c, b, key)
	if found || t.full() {
		t.unlock(c, a, w)
		if found {
			return false, nil
		}
		return false, service.ErrFull
	}
	t.live++
	v := t.keep(c, value)
	if permOf(b).n() == width {
		t.splitBorder(c, a, b, w, place, key, v)
		return true, nil
	}
	t.insertInBorder(c, a, b, w, place, key, v)
	return true, nil
}

// insertInBorder puts a key into a locked border node that has room, and gives the node free. A reader that found another key in
// the slot before must not take the value for that one's: slots that were in use before count in the version.
func (t *tree) insertInBorder(c *r2.Co, a r2.Addr, b []byte, w uint64, place int, key, v uint64) {
	if count(w) > 0 && w&splitting == 0 {
		w = setCount(t.mark(c, a, w, inserting), 0)
	}
	p := permOf(b)
	slot := r2.Addr(p.spare())
	c.Store64(a+atKeys+8*slot, key)
	c.Store64(a+atValues+8*slot, v)
	c.Store64(a+atPermutation, uint64(p.insert(place)))
	t.unlock(c, a, w)
}

// Delete takes a key out. Its slot is free; a border node that is empty stays.
func (t *tree) Delete(c *r2.Co, key uint64) bool {
	t.rows.enter(c)
	defer t.rows.leave(c)
	a, b, w := t.lockBorder(c, key)
	place, slot, found := find(c, b, key)
	if found {
		t.live--
		old := wire.Get64(b[atValues+8*slot:])
		c.Store64(a+atPermutation, uint64(permOf(b).remove(place)))
		w = setCount(w, min(count(w)+1, width))
		if t.rows != nil {
			t.rows.retire(c, r2.Addr(old))
		}
	}
	t.unlock(c, a, w)
	return found
}

// full says that there is no room for a key, or for the nodes of splits.
func (t *tree) full() bool {
	return t.live == t.room || t.nextBorder+underWay > t.borders.Room() || t.nextInner+underWay > t.inner.Room()
}
