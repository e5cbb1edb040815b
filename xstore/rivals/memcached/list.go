package memcached

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/xstore/rivals/service"
)

// spins bounds how often a core looks at a lock: some hundred milliseconds.
const spins = 1 << 22

// lock spins on a word until it is the core's.
var lock = func(c *r2.Co, a r2.Addr) {
	for i := range spins {
		if c.Load64(a) == 0 && c.LocalCAS(a, 0, 1) == 0 {
			return
		}
		service.Pause(c)
		c.Compute(i & 7) // two cores do not go on looking in step
	}
	panic(fmt.Sprintf("memcached: machine %d at %d ps: lock %#x stays taken", c.Machine(), c.Now(), a))
}

var unlock = func(c *r2.Co, a r2.Addr) { c.Store64(a, 0) }

// Words of the list.
func (t *cache) first() r2.Addr    { return t.list + listLine }
func (t *cache) last() r2.Addr     { return t.list + listLine + 8 }
func (t *cache) freeList() r2.Addr { return t.list + listLine + 16 }

// lockList takes the lock of the list, which an operation that holds the one lock there is has.
func (t *cache) lockList(c *r2.Co) {
	if !t.global {
		lock(c, t.list)
	}
}

func (t *cache) unlockList(c *r2.Co) {
	if !t.global {
		unlock(c, t.list)
	}
}

// unlink takes an item out of the list.
func (t *cache) unlink(c *r2.Co, item r2.Addr) {
	next, prev := r2.Addr(c.Load64(item+atNext)), r2.Addr(c.Load64(item+atPrev))
	to, back := prev+atNext, next+atPrev
	if prev == 0 {
		to = t.first()
	}
	if next == 0 {
		back = t.last()
	}
	c.Store64(to, uint64(next))
	c.Store64(back, uint64(prev))
}

// link makes an item the first of the list.
func (t *cache) link(c *r2.Co, item r2.Addr) {
	next := r2.Addr(c.Load64(t.first()))
	back := next + atPrev
	if next == 0 {
		back = t.last()
	}
	c.Store64(item+atNext, uint64(next))
	c.Store64(item+atPrev, 0)
	c.Store64(back, uint64(item))
	c.Store64(t.first(), uint64(item))
}

// alloc returns a free chunk.
func (t *cache) alloc(c *r2.Co) (item r2.Addr) {
	if item = r2.Addr(c.Load64(t.freeList())); item != 0 {
		c.Store64(t.freeList(), c.Load64(item+atNext))
		return item
	}
	if t.next == t.items.Room() {
		panic(fmt.Sprintf("memcached: machine %d at %d ps: no chunk is free for %d keys", t.machine, c.Now(), t.live))
	}
	t.next++
	return t.items.At(t.next - 1)
}

// free puts a chunk back on the free list.
func (t *cache) free(c *r2.Co, item r2.Addr) {
	c.Store64(item+atNext, c.Load64(t.freeList()))
	c.Store64(t.freeList(), uint64(item))
}
