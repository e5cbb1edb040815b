package kv

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Fill makes the cache as full as a long run leaves it, without charging
// anything: every set has its popular records first and then others, in the
// random order of hash values, as far as it has places. popular may be nil.
//
// What a set begins with is computed when it is first looked at, so filling
// the caches of a large cluster takes no time before the start.
func (x *Cache) Fill(popular func(table uint8, key uint64) bool) {
	x.popular = popular
	x.seeded = x.stats.Entries > 0
	x.filled = make([]uint64, (x.sets+63)/64)
}

// open brings a set into being.
func (x *Cache) open(set uint64) {
	if x.filled == nil || getBit(x.filled, set) {
		return
	}
	setBit(x.filled, set)
	room, absent := setEntries, x.absent[:0]
	from, to := x.span(set)
	for h := from; h < to; h++ {
		switch n := x.inverse(h); {
		case n >= x.n:
		case x.seeded && getBit(x.bits, present(n)):
			room--
		case !x.isOwn(n):
			absent = append(absent, n)
		}
	}
	x.absent = absent
	for _, popular := range []bool{len(absent) > room, false} { // with room for all the order does not matter
		for i, n := range absent {
			if room <= 0 {
				return
			}
			if n == taken || popular && (x.popular == nil || !x.popular(x.nameOf(n))) {
				continue
			}
			x.enter(set, n)
			absent[i] = taken
			x.stats.Entries++
			room--
		}
	}
}

// taken marks a record of the absent ones that is absent no more.
const taken = ^uint64(0)

// openAll brings every set into being: before the geometry changes.
func (x *Cache) openAll() {
	if x.filled == nil {
		return
	}
	for set := range x.sets {
		x.open(set)
	}
	x.filled = nil
}

// nameOf is the table and key of a record that was there from the start.
func (x *Cache) nameOf(n uint64) (table uint8, key uint64) {
	p := x.partOf(n)
	return p.shard.table.spec.ID, p.shard.keyOf(n - p.from)
}

// Lines names the memory that accesses to a record go through, for caches that
// start warm: its bucket and its row, on its server and on each backup.
func (t *Table) Lines(key uint64, f func(machine int, a r2.Addr, n int)) {
	loc, ok := t.Find(key)
	if !ok {
		return
	}
	s, hash := t.locate(key)
	node := s.slotOf(hash)
	if t.spec.Tree {
		t.linesOfTree(s, key, f)
	} else {
		f(s.machine, s.nodeAddr(node), s.bytes)
	}
	f(s.machine, loc.Addr, t.rows.ImageBytes())
	for _, b := range t.backups[s.machine] {
		if !t.spec.Tree {
			for _, at := range s.backupLines {
				f(b.host, b.bucketAddr(s, node)+at, lineBytes)
			}
		}
		f(b.host, b.rowAddr(s, loc.Ref.Row()), t.rows.ImageBytes())
	}
}

// Line is the line of a record's set in the cache.
func (x *Cache) Line(of store.Table, key uint64) (a r2.Addr, n int) {
	t := of.(*Table)
	set, sockets := x.slotOf(x.entryOf(t, key).hash), uint64(len(x.space))
	return x.space[set%sockets] + r2.Addr(set/sockets*lineBytes), lineBytes
}
