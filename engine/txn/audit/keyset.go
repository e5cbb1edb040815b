package audit

import (
	"math/bits"
	"slices"
)

// keySet is a set of keys, most of them below a bound that may be hundreds of millions:
// it has memory where its members are.
type keySet struct {
	chunks []*keys          // of keys below the bound
	beyond map[uint64]*keys // by number of the chunk
}

// keys are the members in a chunk.
type keys [keyChunk / 64]uint64

const keyChunk = 1 << 14

func newKeySet(bound uint64) keySet {
	return keySet{chunks: make([]*keys, (bound+keyChunk-1)/keyChunk)}
}

// add puts a key in.
func (s *keySet) add(key uint64) {
	c, n := (*keys)(nil), key/keyChunk
	if n < uint64(len(s.chunks)) {
		c = s.chunks[n]
	} else {
		c = s.beyond[n]
	}
	if c == nil {
		c = new(keys)
		if n < uint64(len(s.chunks)) {
			s.chunks[n] = c
		} else {
			if s.beyond == nil {
				s.beyond = map[uint64]*keys{}
			}
			s.beyond[n] = c
		}
	}
	c[key%keyChunk/64] |= 1 << (key % 64)
}

// each calls f with the members in rising order.
func (s *keySet) each(f func(key uint64)) {
	for n, c := range s.chunks {
		c.each(uint64(n), f)
	}
	numbers := make([]uint64, 0, len(s.beyond))
	for n := range s.beyond {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		s.beyond[n].each(n, f)
	}
}

func (c *keys) each(chunk uint64, f func(key uint64)) {
	if c == nil {
		return
	}
	for k, word := range c {
		for ; word != 0; word &= word - 1 {
			f(chunk*keyChunk + uint64(k)*64 + uint64(bits.TrailingZeros64(word)))
		}
	}
}
