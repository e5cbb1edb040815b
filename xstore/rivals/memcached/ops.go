package memcached

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/rivals/service"
)

// enter hashes a key and takes the lock of its bucket, or the one that there is.
func (t *cache) enter(c *r2.Co, key uint64) (bucket, mutex r2.Addr) {
	c.Compute(hashCycles)
	b := t.bucketOf(key)
	mutex = t.list
	if !t.global {
		mutex = t.mutexes + r2.Addr(b%locks*lockBytes)
	}
	lock(c, mutex)
	return t.buckets.At(b), mutex
}

// longest is a chain that no hash function makes.
const longest = 1 << 12

// find goes along a chain. from is the word that has the item's address.
func (t *cache) find(c *r2.Co, bucket r2.Addr, key uint64) (item, from r2.Addr) {
	from = bucket
	for range longest {
		if item = r2.Addr(c.Load64(from)); item == 0 {
			return 0, from
		}
		found := wire.Get64(c.Load(item, atValue)[atKey:]) == key
		service.ChargeSearch(c, 1)
		if found {
			return item, from
		}
		from = item + atChain
	}
	c.Fail(fmt.Errorf("memcached: machine %d at %d ps: the chain of bucket %d has no end", t.machine, c.Now(), t.buckets.Number(bucket)))
	return 0, from
}

// Get copies the value of a key.
func (t *cache) Get(c *r2.Co, key uint64, value []byte) bool {
	bucket, mutex := t.enter(c, key)
	item, _ := t.find(c, bucket, key)
	if item != 0 {
		copy(value, c.Load(item+atValue, t.spec.ValueBytes))
		if now(c)-c.Load64(item+atUsed) > interval {
			t.lockList(c)
			t.unlink(c, item)
			t.link(c, item)
			t.unlockList(c)
			c.Store64(item+atUsed, now(c))
		}
	}
	unlock(c, mutex)
	return item != 0
}

// fill writes an item that is in no chain yet.
func (t *cache) fill(c *r2.Co, chain, key uint64, value []byte) (item r2.Addr) {
	t.lockList(c)
	item = t.alloc(c)
	t.unlockList(c)
	c.Store64(item+atChain, chain)
	c.Store64(item+atUsed, now(c))
	c.Store64(item+atKey, key)
	c.Store(item+atValue, value)
	return item
}

// Update puts a new item in the place of the old one.
func (t *cache) Update(c *r2.Co, key uint64, value []byte) bool {
	bucket, mutex := t.enter(c, key)
	old, from := t.find(c, bucket, key)
	if old != 0 {
		item := t.fill(c, c.Load64(old+atChain), key, value)
		c.Store64(from, uint64(item))
		t.lockList(c)
		t.unlink(c, old)
		t.link(c, item)
		t.free(c, old)
		t.unlockList(c)
	}
	unlock(c, mutex)
	return old != 0
}

// Insert adds a key that is not there.
func (t *cache) Insert(c *r2.Co, key uint64, value []byte) (bool, error) {
	bucket, mutex := t.enter(c, key)
	defer unlock(c, mutex)
	if old, _ := t.find(c, bucket, key); old != 0 {
		return false, nil
	}
	if t.live == t.room {
		return false, service.ErrFull
	}
	t.live++
	item := t.fill(c, c.Load64(bucket), key, value)
	c.Store64(bucket, uint64(item))
	t.lockList(c)
	t.link(c, item)
	t.unlockList(c)
	return true, nil
}

// Delete takes a key out.
func (t *cache) Delete(c *r2.Co, key uint64) bool {
	bucket, mutex := t.enter(c, key)
	item, from := t.find(c, bucket, key)
	if item != 0 {
		t.live--
		c.Store64(from, c.Load64(item+atChain))
		t.lockList(c)
		t.unlink(c, item)
		t.free(c, item)
		t.unlockList(c)
	}
	unlock(c, mutex)
	return item != 0
}

// Scan finds nothing: there is no order.
func (t *cache) Scan(*r2.Co, uint64, int, []byte) int { return 0 }
