package kv

import "drtmx/engine/r2"

// Fill makes the cache as full as a long run leaves it, without charging
// anything: every set has its popular records first and then others, in the
// random order of hash values, as far as it has places. popular may be nil.
//
// What a set begins with is computed when it is first looked at, so filling
// the caches of a large cluster takes no time before the start.
func (x *Cache) Fill(popular func(table uint8, key uint64) bool) {
	x.popular = popular
	x.filled = make([]uint64, (x.sets+63)/64)
}

// open brings a set into being.
func (x *Cache) open(set uint64) {
	if x.filled == nil || getBit(x.filled, set) {
		return
	}
	setBit(x.filled, set)
	room := setEntries
	from, to := x.span(set)
	for h := from; h < to; h++ {
		if i := x.inverse(h); i < x.n && getBit(x.present, i) {
			room--
		}
	}
	if x.popular != nil {
		room = x.fillSet(set, room, true)
	}
	x.fillSet(set, room, false)
}

// fillSet takes absent records of a set while there is room for them.
func (x *Cache) fillSet(set uint64, room int, popular bool) int {
	from, to := x.span(set)
	for h := from; h < to && room > 0; h++ {
		n := x.inverse(h)
		if n >= x.n || x.isOwn(n) || getBit(x.present, n) {
			continue
		}
		if popular && !x.popular(x.nameOf(n)) {
			continue
		}
		setBit(x.present, n)
		x.stats.Entries++
		room--
	}
	return room
}

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
	for _, t := range x.list {
		first := x.base[t.spec.ID]
		if n < first || n >= first+t.records {
			continue
		}
		n -= first
		for _, shards := range t.shards {
			for _, s := range shards {
				if n >= s.before && n < s.before+s.n {
					return t.spec.ID, s.key(n - s.before)
				}
			}
		}
	}
	panic("kv: no such record")
}

// Lines names the memory that accesses to a record go through, for caches that
// start warm: its bucket and its row, on its server and on each backup.
func (t *Table) Lines(key uint64, f func(machine int, a r2.Addr, n int)) {
	loc, ok := t.Find(key)
	if !ok {
		return
	}
	s, hash := t.locate(key)
	node := s.place(hash)
	f(s.machine, s.nodeAddr(node), nodeBytes)
	f(s.machine, loc.Addr, t.RowBytes())
	for _, b := range t.backups[s.machine] {
		if a, ok := t.backupRow(b, key); ok {
			f(b.host, b.index[s.socket]+r2.Addr(node*nodeBytes), lineBytes)
			f(b.host, a, t.RowBytes())
		}
	}
}

// Line is the line of a record's set in the cache.
func (x *Cache) Line(t *Table, key uint64) (a r2.Addr, n int) {
	set, sockets := x.place(x.entryOf(t, key).hash), uint64(len(x.space))
	return x.space[set%sockets] + r2.Addr(set/sockets*lineBytes), lineBytes
}
