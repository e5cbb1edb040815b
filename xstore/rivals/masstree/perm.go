package masstree

// permutation says which slots of a border node are in use, and in what order of keys: the low 4 bits are their number, then
// follow 4 bits for each slot, those in use first. One store of it publishes an insert or a delete.
type permutation uint64

// identity has the first n slots in use, in order.
func identity(n int) permutation {
	p := permutation(n)
	for i := range width {
		p |= permutation(i) << (4 + 4*i)
	}
	return p
}

func (p permutation) n() int         { return int(p & 15) }
func (p permutation) slot(i int) int { return int(p >> (4 + 4*i) & 15) }

// spare is the slot that insert takes: that which was freed last comes last.
func (p permutation) spare() int { return p.slot(p.n()) }

// insert puts the spare slot at place i.
func (p permutation) insert(i int) permutation {
	slot := permutation(p.spare())
	return p.move(p.n(), i, slot) + 1
}

// remove takes the slot at place i out of use.
func (p permutation) remove(i int) permutation {
	slot := permutation(p.slot(i))
	return p.move(i, width-1, slot) - 1
}

// first keeps the first n slots in use.
func (p permutation) first(n int) permutation { return p&^15 | permutation(n) }

// move takes the slot at place from to place to.
func (p permutation) move(from, to int, slot permutation) permutation {
	shift := func(i int) int { return 4 + 4*i }
	for ; from < to; from++ {
		p = p&^(15<<shift(from)) | permutation(p.slot(from+1))<<shift(from)
	}
	for ; from > to; from-- {
		p = p&^(15<<shift(from)) | permutation(p.slot(from-1))<<shift(from)
	}
	return p&^(15<<shift(to)) | slot<<shift(to)
}
