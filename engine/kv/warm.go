package kv

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
