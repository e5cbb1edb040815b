package memcached

import (
	"fmt"
	"math/bits"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/xstore/rivals/lazy"
)

// An item is as memcached has it: a header of 56 bytes, the key, the value.
//
//	0 next u64, 8 prev u64: in the LRU list | 16 chain u64 | 24 second of its last use u64 | 32 other fields | 56 key u64 | 64 value
const (
	atNext  = 0
	atPrev  = 8
	atChain = 16
	atUsed  = 24
	atKey   = 56
	atValue = 64

	lockBytes  = 40      // of a mutex; those of buckets lie side by side
	locks      = 1 << 13 // of buckets [memcached's thread.c, for more than four threads]
	least      = 1 << 16 // buckets
	spare      = 1 << 8  // chunks for items that updates write before the old ones are free
	second     = 1e12    // in ps
	interval   = 60      // seconds between two moves of an item in the list
	begin      = 1 << 31 // the second at which a run begins; the last use of initial items was in second 0
	listLine   = 64      // behind the list's lock: its ends, and the first free chunk
	hashCycles = 30      // of 8 bytes: some 10 multiplications, rotations and additions one after the other; assumed
)

// cache is one instance, in the memory of a socket.
type cache struct {
	cl      *r2.Cluster
	machine int
	keys    store.Keys
	spec    *store.KVSpec
	global  bool    // one lock
	n       uint64  // initial items
	places  scatter // of items in the table
	order   scatter // of items in the list
	mask    uint64  // of buckets
	buckets *lazy.Array
	items   *lazy.Array
	mutexes r2.Addr
	list    r2.Addr // the lock of the LRU list

	next       uint64 // chunk that was never used
	live, room uint64 // keys
}

func newCache(cl *r2.Cluster, machine, socket int, keys store.Keys, s *store.KVSpec, global bool) (*cache, error) {
	n := keys.Len()
	t := &cache{cl: cl, machine: machine, keys: keys, spec: s, global: global, n: n, next: n, live: n, room: n + s.Spare}
	t.places = newScatter(n, 0x9e3779b97f4a7c15, mix(s.Seed))
	t.order = newScatter(n, 0x6a09e667f3bcc908, mix(s.Seed+1))
	buckets := uint64(least)
	if enough := n / 3 * 2; enough > buckets { // memcached doubles them when there are three items for two
		buckets = 1 << bits.Len64(enough-1)
	}
	t.mask = buckets - 1
	name := fmt.Sprintf("memcached %s of machine %d socket %d: ", s.Name, machine, socket)
	var err error
	if t.items, err = lazy.New(cl, machine, lazy.Options{Name: name + "items", Socket: socket, Size: chunk(s.ValueBytes), N: n, Room: t.room + spare, Make: t.item}); err != nil {
		return nil, err
	}
	if t.buckets, err = lazy.New(cl, machine, lazy.Options{Name: name + "buckets", Socket: socket, Size: 8, N: buckets, Make: t.bucket}); err != nil {
		return nil, err
	}
	if t.mutexes, err = cl.Mem(machine).Alloc(host.Alloc{Name: name + "locks", Bytes: locks * lockBytes, Socket: socket}); err != nil {
		return nil, err
	}
	if t.list, err = cl.Mem(machine).Alloc(host.Alloc{Name: name + "LRU list", Bytes: 2 * listLine, Socket: socket}); err != nil {
		return nil, err
	}
	ends := cl.Mem(machine).Bytes(t.list+listLine, 24)
	wire.Put64(ends, uint64(t.items.At(t.order.inverse(0))))
	wire.Put64(ends[8:], uint64(t.items.At(t.order.inverse(n-1))))
	return t, nil
}

// chunk is the memory of an item.
func chunk(valueBytes int) int { return (atValue + valueBytes + 15) &^ 15 }

// item makes an item as it is at the start.
func (t *cache) item(i uint64, b []byte) {
	at := t.order.of(i)
	if at+1 < t.n {
		wire.Put64(b[atNext:], uint64(t.items.At(t.order.inverse(at+1))))
	}
	if at > 0 {
		wire.Put64(b[atPrev:], uint64(t.items.At(t.order.inverse(at-1))))
	}
	wire.Put64(b[atChain:], t.chained(t.places.of(i)+t.mask+1))
	key := t.keys.Key(i)
	wire.Put64(b[atKey:], key)
	if t.spec.Value != nil {
		t.spec.Value(key, b[atValue:][:t.spec.ValueBytes])
	}
}

// bucket makes a bucket as it is at the start: it has the place of its own number, and each that is a table's size behind.
func (t *cache) bucket(i uint64, b []byte) { wire.Put64(b, t.chained(i)) }

// chained is the item of a place, 0 if there is none.
func (t *cache) chained(place uint64) uint64 {
	if place >= t.n {
		return 0
	}
	return uint64(t.items.At(t.places.inverse(place)))
}

// bucketOf is the bucket of a key.
func (t *cache) bucketOf(key uint64) uint64 {
	if i, ok := t.keys.Rank(key); ok {
		return t.places.of(i) & t.mask
	}
	return mix(key) & t.mask
}

// now is the second that items are marked with.
func now(c *r2.Co) uint64 { return begin + uint64(c.Now()/second) }
