package kv

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// ArrayEntryBytes is what an array has of a record: row 32 bits, incarnation 16.
const ArrayEntryBytes = 8

// Array is a location cache as in the released code: an array with a place for each record of other machines that was there from the
// start, filled before anything runs. Nothing is ever evicted. A lookup goes to one place, which is a line
// of memory, and finds the location unless the record was deleted since; records that come later have no place.
//
// The simulator stores where it differs from the start.
type Array struct {
	cl      *r2.Cluster
	machine int
	*Numbers
	own    []interval // numbers of the machine's own records, which have no places
	places uint64
	bytes  uint64
	space  []r2.Addr  // reserved, by socket
	other  probeTable // by number: the Ref, or gone
	stats  store.CacheStats
}

// noLocation is the value of a place that has no location.
const noLocation = ^uint64(0)

// NewArray makes the array of a machine.
func NewArray(cl *r2.Cluster, machine int, all *Numbers, bytes uint64) (*Array, error) {
	x := &Array{cl: cl, machine: machine, Numbers: all, own: all.ownOf(machine)}
	x.places = all.slotsOf(machine)
	if err := x.Resize(bytes); err != nil {
		return nil, err
	}
	sockets := len(cl.Fabric().Machine(machine).NICs)
	for k := range sockets {
		a, err := cl.Mem(machine).Reserve("kv.array", x.places*ArrayEntryBytes/uint64(sockets)+2*lineBytes, k)
		if err != nil {
			return nil, err
		}
		x.space = append(x.space, a)
	}
	x.stats.Entries, x.stats.Capacity = x.places, x.places
	return x, nil
}

// ownOf are the numbers of a machine's own records.
func (all *Numbers) ownOf(machine int) (own []interval) {
	for _, p := range all.parts {
		if p.shard.machine == machine {
			own = append(own, interval{p.from, p.from + p.shard.records})
		}
	}
	return own
}

// slotsOf is how many records are of other machines.
func (all *Numbers) slotsOf(machine int) uint64 {
	n := all.total
	for _, r := range all.ownOf(machine) {
		n -= r.to - r.from
	}
	return n
}

// Bytes is the budget.
func (x *Array) Bytes() uint64 { return x.bytes }

// Resize changes the budget, which changes nothing unless it is too small.
func (x *Array) Resize(bytes uint64) error {
	if need := x.places * ArrayEntryBytes; need > bytes {
		return fmt.Errorf("cache.bytes %d: the array of a machine has %d bytes, for it has all records of other machines; raise cache.bytes, or set kv.cache=clock", bytes, need)
	}
	x.bytes = bytes
	return nil
}

// Stats are the counters.
func (x *Array) Stats() store.CacheStats { return x.stats }

// number is the number of a record, if it has a place.
func (x *Array) number(t *Table, key uint64) (s *shard, j, n uint64, ok bool) {
	s, j, ok = t.shardOf(key)
	return s, j, x.base[t.spec.ID] + s.before + j, ok && s.machine != x.machine
}

// addr is where a record's place is. Lines are dealt to the sockets in turn.
func (x *Array) addr(n uint64) r2.Addr {
	at := n
	for _, r := range x.own {
		if n >= r.to {
			at -= r.to - r.from
		}
	}
	line, sockets := at*ArrayEntryBytes/lineBytes, uint64(len(x.space))
	return x.space[line%sockets] + r2.Addr(line/sockets*lineBytes+at*ArrayEntryBytes%lineBytes)
}

// Get is the location of a key of another machine, if it is known.
func (x *Array) Get(c *r2.Co, of store.Table, key uint64) (Location, bool) {
	s, j, n, ok := x.number(of.(*Table), key)
	ref := homeRef(j)
	if ok {
		c.Touch(x.addr(n), ArrayEntryBytes)
		if i := x.other.find(mix(n), n); i >= 0 {
			ref, ok = Ref(x.other.slots[i].value), x.other.slots[i].value != noLocation
		}
	}
	if !ok {
		x.stats.Misses++
		return Location{}, false
	}
	x.stats.Hits++
	return s.location(ref), true
}

// Put remembers where a record is.
func (x *Array) Put(c *r2.Co, of store.Table, key uint64, r Ref) {
	_, j, n, ok := x.number(of.(*Table), key)
	if !ok {
		return
	}
	c.Touch(x.addr(n), ArrayEntryBytes)
	i := x.other.find(mix(n), n)
	if i >= 0 && x.other.slots[i].value == noLocation {
		x.stats.Entries++
	}
	switch {
	case r != homeRef(j) && i >= 0:
		x.other.slots[i].value = uint64(r)
	case r != homeRef(j):
		x.other.add(mix(n), n, uint64(r))
	case i >= 0:
		x.other.remove(i)
	}
}

// Invalidate forgets a location that turned out to be stale.
func (x *Array) Invalidate(c *r2.Co, of store.Table, key uint64) {
	_, _, n, ok := x.number(of.(*Table), key)
	if !ok {
		return
	}
	c.Touch(x.addr(n), ArrayEntryBytes)
	i := x.other.find(mix(n), n)
	switch {
	case i < 0:
		x.other.add(mix(n), n, noLocation)
	case x.other.slots[i].value == noLocation:
		return
	default:
		x.other.slots[i].value = noLocation
	}
	x.stats.Entries--
	x.stats.Stale++
}

// Fill has nothing to do: the array is full.
func (x *Array) Fill(func(table uint8, key uint64) bool) {}

// Warm likewise.
func (x *Array) Warm(store.Table, uint64) {}

// Line is the line of a record's place. What has no place is looked for nowhere; it shares the first.
func (x *Array) Line(of store.Table, key uint64) (a r2.Addr, n int) {
	_, _, number, ok := x.number(of.(*Table), key)
	if !ok {
		return x.space[0], ArrayEntryBytes
	}
	return x.addr(number), ArrayEntryBytes
}
