package kv

import (
	"fmt"
	"math/bits"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Sizes of the location cache in bytes.
const (
	CacheEntryBytes = 16 // valid 1 bit, table 8, key 55; used 1, location 48 (row 32, incarnation 16), 15 free
	setEntries      = lineBytes / CacheEntryBytes
)

// Cache is a machine's location cache (thesis section 4.3.1): where records of other machines are, so that
// one READ gets a record. All threads of the machine share it.
//
// It is a table of sets of one line, four entries each. A key has one set; looking it up touches one line. A
// full set gives up an entry by CLOCK: the hand starts at the newcomer's place in the order of hash values,
// passes entries used since the hand last came by (and marks them unused), and takes the first that was
// not. A newcomer counts as used with its first hit, so that keys seen once do not displace hot ones.
//
// The structure is charged as described; the simulator stores it differently. Nearly all entries say that a
// record that was there from the start is still where it was, which is computable: such an entry is two bits, present
// and used, and the members of a set are found by inverting the hash function. Only entries of records that
// were inserted or moved are stored in words.
type Cache struct {
	cl      *r2.Cluster
	machine int
	*Numbers
	ownRecords []interval // numbers of the machine's own records
	scatter               // records of all tables over sets
	sets       uint64
	bytes      uint64

	bits    []uint64 // by record number: present and used
	roster  *roster  // nil: sets are short enough to be searched
	filled  []uint64 // bits by set: it has what Fill brings; nil: nothing is to be filled
	popular func(table uint8, key uint64) bool
	seeded  bool     // Fill found entries
	absent  []uint64 // of the set that is being filled
	moved   probeTable

	space      []r2.Addr // reserved, by socket
	spaceBytes uint64

	stats store.CacheStats
}

// interval is the numbers from from to before to.
type interval struct{ from, to uint64 }

// NewCache makes an empty cache of a machine for numbered records.
func NewCache(cl *r2.Cluster, machine int, all *Numbers, bytes, seed uint64) (*Cache, error) {
	x := &Cache{cl: cl, machine: machine, Numbers: all, ownRecords: all.ownOf(machine)}
	total := all.total
	perNumber := uint64(sparse)
	if total > 2*bytes/CacheEntryBytes { // all sets are full whatever the hash function
		perNumber = dense
	}
	x.scatter = newScatter(total, 1, perNumber, mix(seed^uint64(machine)))
	x.bits = make([]uint64, (2*total+63)/64)
	return x, x.setSize(bytes)
}

func (x *Cache) setSize(bytes uint64) error {
	if bytes < store.MinCacheBytes {
		return fmt.Errorf("location cache of %d bytes: must be at least %d; to run without, switch the cache off", bytes, store.MinCacheBytes)
	}
	if x.cl != nil && bytes > x.spaceBytes {
		var space []r2.Addr
		sockets := len(x.cl.Fabric().Machine(x.machine).NICs)
		for k := range sockets {
			a, err := x.cl.Mem(x.machine).Reserve("kv.cache", bytes/uint64(sockets)+lineBytes, k)
			if err != nil {
				return err
			}
			space = append(space, a)
		}
		x.space, x.spaceBytes = space, bytes
	}
	x.bytes, x.sets = bytes, bytes/lineBytes
	x.places = x.sets
	x.roster = newRoster(&x.scatter)
	x.stats.Capacity = x.sets * setEntries
	return nil
}

// Bytes is the budget.
func (x *Cache) Bytes() uint64 { return x.bytes }

// Stats are the counters.
func (x *Cache) Stats() store.CacheStats { return x.stats }

// entry is where a key stands in the cache's order.
type entry struct {
	s      *shard
	hash   uint64
	number uint64 // of a record that was there from the start, among all of them
	home   Ref    // where that record was
	fixed  bool   // whether the record was there from the start: number and home are valid
}

// entryOf computes where a key belongs. It costs no virtual time: the hash is computed in a few cycles that
// the cost of the phase contains.
func (x *Cache) entryOf(t *Table, key uint64) entry {
	s, j, initial := t.shardOf(key)
	if !initial {
		return entry{s: s, hash: x.foreign(key + uint64(t.spec.ID)<<56)}
	}
	n := x.base[t.spec.ID] + s.before + j
	return entry{s: s, hash: x.hash(n), number: n, home: homeRef(j), fixed: true}
}

// touch charges the line of an entry's set. Sets are dealt to the sockets in turn.
func (x *Cache) touch(c *r2.Co, set uint64) {
	x.open(set)
	n := uint64(len(x.space))
	c.Touch(x.space[set%n]+r2.Addr(set/n*lineBytes), lineBytes)
}

// Get returns the location of a key of another machine, if it is known.
func (x *Cache) Get(c *r2.Co, of store.Table, key uint64) (Location, bool) {
	t := of.(*Table)
	e := x.entryOf(t, key)
	x.touch(c, x.slotOf(e.hash))
	loc, ok := x.get(t, key, e)
	if ok {
		x.stats.Hits++
	} else {
		x.stats.Misses++
	}
	return loc, ok
}

func (x *Cache) get(t *Table, key uint64, e entry) (Location, bool) {
	if e.fixed && getBit(x.bits, present(e.number)) {
		setBit(x.bits, used(e.number))
		return e.s.location(e.home), true
	}
	if i := x.findMoved(t, key, e); i >= 0 {
		v := &x.moved.slots[i].value
		*v |= usedBit
		return e.s.location(Ref(*v &^ usedBit)), true
	}
	return Location{}, false
}

// Put remembers where a record is.
func (x *Cache) Put(c *r2.Co, of store.Table, key uint64, r Ref) {
	t := of.(*Table)
	e := x.entryOf(t, key)
	x.touch(c, x.slotOf(e.hash))
	x.put(t, key, r, e)
}

// Warm is Put before the system runs, when every record is where it was: it charges nothing. Filling the
// cache with keys drawn from the workload's own distribution leaves it as after a long run.
func (x *Cache) Warm(of store.Table, key uint64) {
	t := of.(*Table)
	e := x.entryOf(t, key)
	if !e.fixed || e.s.machine == x.machine {
		return
	}
	x.open(x.slotOf(e.hash))
	if _, ok := x.get(t, key, e); !ok {
		x.put(t, key, e.home, e)
	}
}

func (x *Cache) put(t *Table, key uint64, r Ref, e entry) {
	home := e.fixed && r == e.home
	if i := x.findMoved(t, key, e); i >= 0 {
		if !home {
			v := &x.moved.slots[i].value
			*v = *v&usedBit | uint64(r)
			return
		}
		x.moved.remove(i)
		x.stats.Entries--
	} else if e.fixed && getBit(x.bits, present(e.number)) {
		if home {
			return
		}
		x.leave(x.slotOf(e.hash), e.number)
		x.stats.Entries--
	}
	x.makeRoom(e)
	x.stats.Entries++
	if home {
		x.enter(x.slotOf(e.hash), e.number)
		clearBit(x.bits, used(e.number))
		return
	}
	x.moved.add(x.slotOf(e.hash), x.tagged(t, key), uint64(r))
}

// Invalidate forgets a location that turned out to be stale.
func (x *Cache) Invalidate(c *r2.Co, of store.Table, key uint64) {
	t := of.(*Table)
	e := x.entryOf(t, key)
	x.touch(c, x.slotOf(e.hash))
	x.forget(t, key, e)
}

func (x *Cache) forget(t *Table, key uint64, e entry) {
	switch i := x.findMoved(t, key, e); {
	case i >= 0:
		x.moved.remove(i)
	case e.fixed && getBit(x.bits, present(e.number)):
		x.leave(x.slotOf(e.hash), e.number)
	default:
		return
	}
	x.stats.Entries--
	x.stats.Stale++
}

// isOwn reports whether a record, by its number, is of this machine.
func (x *Cache) isOwn(n uint64) bool {
	for _, r := range x.ownRecords {
		if n >= r.from && n < r.to {
			return true
		}
	}
	return false
}

// Resize changes the budget while the system runs. Entries keep their places in the hash order; those that
// no longer fit their set are given up, used ones last.
func (x *Cache) Resize(bytes uint64) error {
	x.openAll()
	if err := x.setSize(bytes); err != nil {
		return err
	}
	before := x.stats.Entries
	moved := x.moved.slots
	x.moved, x.stats.Entries = probeTable{}, 0
	taken := make([]uint8, x.sets)
	for _, used := range [2]bool{true, false} {
		x.keepFixed(taken, used)
		for _, s := range moved {
			if s.key != 0 && s.value&usedBit != 0 == used {
				x.keepMoved(taken, s)
			}
		}
	}
	x.stats.Evictions += before - x.stats.Entries
	return nil
}

func (x *Cache) keepFixed(taken []uint8, used bool) {
	for w, pairs := range x.bits {
		word := pairs & presents
		if used {
			word &= pairs >> 1
		} else {
			word &^= pairs >> 1
		}
		for ; word != 0; word &= word - 1 {
			n := uint64(w)*32 + uint64(bits.TrailingZeros64(word))/2
			if set := x.slotOf(x.hash(n)); x.claimSlot(taken, set) {
				x.roster.add(set, n)
			} else {
				clearBit(x.bits, present(n))
			}
		}
	}
}

func (x *Cache) keepMoved(taken []uint8, s probeSlot) {
	t, key := x.untagged(s.key)
	set := x.slotOf(x.entryOf(t, key).hash)
	if x.claimSlot(taken, set) {
		x.moved.add(set, s.key, s.value)
	}
}

// claimSlot gives a place of a set to one more entry, if it has one.
func (x *Cache) claimSlot(taken []uint8, set uint64) bool {
	if taken[set] == setEntries {
		return false
	}
	taken[set]++
	x.stats.Entries++
	return true
}
