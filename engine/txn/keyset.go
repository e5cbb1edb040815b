package txn

import "math/bits"

// keySet is a set of some of the keys below a bound that may be hundreds of millions:
// it has memory where its members are.
type keySet struct {
	chunks []*[keyChunk / 64]uint64
	bound  uint64
}

const keyChunk = 1 << 14

func newKeySet(keys uint64) keySet {
	return keySet{make([]*[keyChunk / 64]uint64, (keys+keyChunk-1)/keyChunk), keys}
}

// add puts a key in; keys beyond the bound are left out.
func (s keySet) add(key uint64) {
	if key >= s.bound {
		return
	}
	c := &s.chunks[key/keyChunk]
	if *c == nil {
		*c = new([keyChunk / 64]uint64)
	}
	(*c)[key%keyChunk/64] |= 1 << (key % 64)
}

// each calls f with the members in rising order.
func (s keySet) each(f func(key uint64)) {
	for i, c := range s.chunks {
		if c == nil {
			continue
		}
		for k, word := range c {
			for ; word != 0; word &= word - 1 {
				f(uint64(i)*keyChunk + uint64(k)*64 + uint64(bits.TrailingZeros64(word)))
			}
		}
	}
}
