package memcached

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
)

func (t *cache) word(a r2.Addr) uint64 { return wire.Get64(t.cl.Mem(t.machine).Bytes(a, 8)) }

// findNow copies the value of a key as it is now.
func (t *cache) findNow(key uint64, value []byte) bool {
	for item := r2.Addr(t.word(t.buckets.At(t.bucketOf(key)))); item != 0; item = r2.Addr(t.word(item + atChain)) {
		if t.word(item+atKey) == key {
			copy(value, t.cl.Mem(t.machine).Bytes(item+atValue, t.spec.ValueBytes))
			return true
		}
	}
	return false
}

// audit looks at what was touched: locks, chains, the items of chains in the list, and free chunks.
func (t *cache) audit(bad func(string)) {
	say := func(format string, args ...any) {
		bad(fmt.Sprintf("memcached: machine %d: ", t.machine) + fmt.Sprintf(format, args...))
	}
	for i := range r2.Addr(locks) {
		if t.word(t.mutexes+i*lockBytes) != 0 {
			say("the lock %d of buckets is taken at rest", i)
		}
	}
	if t.word(t.list) != 0 {
		say("the lock of the list is taken at rest")
	}
	items := uint64(0)
	for b := range t.mask + 1 {
		if t.buckets.Touched(b) {
			items += t.auditChain(b, say)
		}
	}
	if items > t.live {
		say("%d items in chains, %d keys", items, t.live)
	}
	free := uint64(0)
	for item := r2.Addr(t.word(t.freeList())); item != 0 && free <= t.next; item = r2.Addr(t.word(item + atNext)) {
		free++
	}
	if t.live+free != t.next {
		say("%d keys and %d free chunks, %d chunks were used", t.live, free, t.next)
	}
}

// auditChain counts the items of a bucket, and looks at their neighbours in the list.
func (t *cache) auditChain(b uint64, say func(string, ...any)) (items uint64) {
	for item := r2.Addr(t.word(t.buckets.At(b))); item != 0; {
		if items++; items > t.next {
			say("the chain of bucket %d has no end", b)
			return items
		}
		if !t.items.Touched(t.items.Number(item)) { // as it was at the start, and so is what follows
			item = r2.Addr(t.chained(t.places.of(t.items.Number(item)) + t.mask + 1))
			continue
		}
		if key := t.word(item + atKey); t.bucketOf(key) != b {
			say("key %d is in bucket %d", key, b)
		}
		t.auditListed(item, say)
		item = r2.Addr(t.word(item + atChain))
	}
	return items
}

// auditListed looks at those neighbours of an item in the list that were touched: others have it between them.
func (t *cache) auditListed(item r2.Addr, say func(string, ...any)) {
	for _, x := range []struct{ to, end, back r2.Addr }{{item + atNext, t.last(), atPrev}, {item + atPrev, t.first(), atNext}} {
		back, by := x.end, r2.Addr(t.word(x.to))
		if by != 0 {
			if !t.items.Touched(t.items.Number(by)) {
				continue
			}
			back = by + x.back
		}
		if r2.Addr(t.word(back)) != item {
			say("the neighbours of item %#x in the list do not have it between them", item)
		}
	}
}
