package kv

const usedBit = uint64(1) << 63 // of the value of a moved entry

// The two bits of a record, by its number, among those of all records.
func present(n uint64) uint64 { return 2 * n }
func used(n uint64) uint64    { return 2*n + 1 }

const presents = 0x5555_5555_5555_5555 // of a word

func getBit(b []uint64, i uint64) bool { return b[i/64]>>(i%64)&1 != 0 }
func setBit(b []uint64, i uint64)      { b[i/64] |= single[i%64] }
func clearBit(b []uint64, i uint64)    { b[i/64] &^= 1 << (i % 64) }

// single are words of one bit. With a table setBit is one instruction on memory; with a shift
// it reads first, for which the host maps a page of zeros that the write then has to replace.
var single = func() (words [64]uint64) {
	for i := range words {
		words[i] = 1 << i
	}
	return words
}()

// tagged is the name of a moved entry: table and key.
func (x *Cache) tagged(t *Table, key uint64) uint64 { return uint64(t.spec.ID)<<55 | key }

func (x *Cache) untagged(tag uint64) (*Table, uint64) {
	return x.tables[uint8(tag>>55)], tag & MaxKey
}

// findMoved returns the slot of a key among the moved entries, or -1. All entries of a set have the set's
// number as their hash there.
func (x *Cache) findMoved(t *Table, key uint64, e entry) int {
	if x.moved.used == 0 {
		return -1
	}
	return x.moved.find(x.slotOf(e.hash), x.tagged(t, key))
}

// member is an entry of a set.
type member struct {
	after  uint64 // distance from the hand in the order of hash values
	number uint64
	tag    uint64 // of a moved entry, else 0
}

func (v member) before(w member) bool {
	return v.after < w.after || v.after == w.after && v.tag < w.tag
}

// makeRoom sees to it that the set of an entry has a free place.
func (x *Cache) makeRoom(e entry) {
	set := x.slotOf(e.hash)
	var m [setEntries]member
	n := x.membersOf(set, e.hash, &m)
	if n < setEntries {
		return
	}
	x.stats.Evictions++
	x.stats.Entries--
	for _, v := range m {
		if !x.pass(set, v) {
			x.drop(set, v)
			return
		}
	}
	x.drop(set, m[0])
}

// membersOf collects the entries of a set in the order in which the hand meets them, starting at a hash value.
func (x *Cache) membersOf(set, hand uint64, m *[setEntries]member) int {
	n := 0
	add := func(v member) {
		i := n
		for ; i > 0 && v.before(m[i-1]); i-- {
			m[i] = m[i-1]
		}
		m[i] = v
		n++
	}
	if x.roster != nil {
		for _, i := range x.roster.of(set) {
			add(member{after: (x.hash(i) - hand) & x.mask, number: i})
		}
	} else {
		from, to := x.span(set)
		for h := from; h < to; h++ {
			if i := x.inverse(h); i < x.n && getBit(x.bits, present(i)) {
				add(member{after: (h - hand) & x.mask, number: i})
			}
		}
	}
	for i := x.moved.walk(set, -1); i >= 0; i = x.moved.walk(set, i+1) {
		t, key := x.untagged(x.moved.slots[i].key)
		add(member{after: (x.entryOf(t, key).hash - hand) & x.mask, tag: x.moved.slots[i].key})
	}
	return n
}

// pass reports whether an entry was used since the hand last came by, and marks it unused.
func (x *Cache) pass(set uint64, v member) bool {
	if v.tag == 0 {
		was := getBit(x.bits, used(v.number))
		clearBit(x.bits, used(v.number))
		return was
	}
	value := &x.moved.slots[x.moved.find(set, v.tag&^valid)].value
	was := *value&usedBit != 0
	*value &^= usedBit
	return was
}

func (x *Cache) drop(set uint64, v member) {
	if v.tag == 0 {
		x.leave(set, v.number)
		return
	}
	x.moved.remove(x.moved.find(set, v.tag&^valid))
}
