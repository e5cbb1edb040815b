package kv

import "slices"

// longSpan is how many hash values a set has from which its entries are listed. The entries of a
// shorter one are found among the numbers that belong to it, which takes no memory.
const longSpan = 1024

// roster lists the entries of sets that are kept in bits, by number. A small cache over large tables
// has sets of millions of hash values, and every new one has to be compared with them.
type roster struct {
	numbers []uint64 // setEntries for each set, the first of them valid
	counts  []uint8
}

// newRoster is an empty one, nil where the spans of the sets are short.
func newRoster(s *scatter) *roster {
	if (s.mask+1)/s.places <= longSpan {
		return nil
	}
	return &roster{make([]uint64, s.places*setEntries), make([]uint8, s.places)}
}

// of is the members of a set, in no order.
func (l *roster) of(set uint64) []uint64 {
	return l.numbers[set*setEntries:][:l.counts[set]]
}

func (l *roster) add(set, n uint64) {
	if l != nil {
		l.numbers[set*setEntries+uint64(l.counts[set])] = n
		l.counts[set]++
	}
}

func (l *roster) remove(set, n uint64) {
	if l == nil {
		return
	}
	list := l.of(set)
	list[slices.Index(list, n)] = list[len(list)-1]
	l.counts[set]--
}

// enter makes a record an entry of its set, at its first place.
func (x *Cache) enter(set, n uint64) {
	setBit(x.bits, present(n))
	x.roster.add(set, n)
}

// leave ends that.
func (x *Cache) leave(set, n uint64) {
	clearBit(x.bits, present(n))
	x.roster.remove(set, n)
}
