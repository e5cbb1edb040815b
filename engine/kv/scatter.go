package kv

import "math/bits"

// bijection is a keyed permutation of [0, 2^width). Because it can be undone, what a hash table holds at
// a place is computable: it is the inverse images of the place's hash values.
//
// Three rounds of multiply and shift, each invertible on its own: an odd factor has an inverse modulo
// 2^width, and x ^= x >> s undoes itself for s of at least half the width.
type bijection struct {
	mask   uint64
	width  uint
	shift  uint
	add    uint64
	mul    [3]uint64
	invert [3]uint64
}

func newBijection(width uint, seed uint64) bijection {
	p := bijection{mask: 1<<width - 1, width: width, shift: (width + 1) / 2}
	p.add = mix(seed)
	for i := range p.mul {
		p.mul[i] = mix(seed+uint64(i)+1) | 1
		p.invert[i] = inverseOdd(p.mul[i])
	}
	return p
}

// The rounds are written out, and a shift by less than 64 needs no check: places are searched by going
// through their hash values, which makes this the inner loop of every lookup of a local record.

func (p *bijection) forward(x uint64) uint64 {
	shift := p.shift & 63
	x = (x + p.add) & p.mask
	x = x * p.mul[0] & p.mask
	x ^= x >> shift
	x = x * p.mul[1] & p.mask
	x ^= x >> shift
	x = x * p.mul[2] & p.mask
	return x ^ x>>shift
}

func (p *bijection) inverse(x uint64) uint64 {
	shift := p.shift & 63
	x ^= x >> shift
	x = x * p.invert[2] & p.mask
	x ^= x >> shift
	x = x * p.invert[1] & p.mask
	x ^= x >> shift
	x = x * p.invert[0] & p.mask
	return (x - p.add) & p.mask
}

// inverseOdd is the inverse of an odd number modulo 2^64, by Newton's iteration: x*x = 1 modulo 8, and
// each step doubles the number of right bits.
func inverseOdd(x uint64) uint64 {
	y := x
	for range 5 {
		y *= 2 - x*y
	}
	return y
}

// mix is the finaliser of SplitMix64: a good hash of 64 bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// scatter throws the numbers [0, n) over places as a hash function would, and finds both the place of
// a number and the numbers of a place. Hash values are sparse (at most one in eight belongs to a number, unless
// places are crowded anyway), so that the places fill up nearly as unevenly as with independent hashing.
type scatter struct {
	bijection
	n, places  uint64
	sequential bool   // the bijection is within a block of numbers, see newSequential,
	per        uint64 // of so many
}

// Hash values per number, at least.
const (
	sparse = 8
	dense  = 2 // where places have many numbers each, and how unevenly does not matter
)

func newScatter(n, places, perNumber, seed uint64) scatter {
	width := uint(bits.Len64(max(perNumber*n, 64) - 1))
	return scatter{bijection: newBijection(width, seed), n: n, places: places}
}

// Numbers that follow each other, in blocks of as many as pageNodes first nodes take: the hash values of a
// block and of a place in it.
const (
	blockBits = 11 // 10.7 hash values per number, or more
	blockMask = 1<<blockBits - 1
	placeBits = 6 // pageNodes places
)

// newSequential keeps neighbours together: each block of numbers is thrown over the places of a page of its own, as
// newScatter would throw them, in an order that differs from block to block. The bijection is applied twice: with so
// few bits, once leaves neighbours more evenly spread than chance does.
func newSequential(n, per, seed uint64) scatter {
	blocks := max(1, (n+per-1)/per)
	return scatter{bijection: newBijection(blockBits, seed), n: n, places: blocks * pageNodes, sequential: true, per: per}
}

// block is a block of numbers of a sequential scatter by their hash values, which is faster to make than each number
// is to find from its hash value.
type block struct {
	which uint64 // and one more; 0: none yet
	at    [blockMask + 1]uint8
}

// of makes the block of a hash value.
func (b *block) of(s *scatter, hash uint64) (first uint64) {
	which := hash >> blockBits
	first = which * s.per
	if b.has(hash) {
		return first
	}
	b.which, b.at = which+1, [blockMask + 1]uint8{}
	if first < s.n {
		salt := mix(which)
		for i := range min(s.per, s.n-first) {
			b.at[s.forward(s.forward(i)+salt)&blockMask] = uint8(i + 1)
		}
	}
	return first
}

// has says whether it is the block of a hash value.
func (b *block) has(hash uint64) bool { return b.which == hash>>blockBits+1 }

// members appends the numbers whose hash values are in [from, to), of one place, in that order.
func (b *block) members(s *scatter, from, to uint64, dst []uint64) []uint64 {
	first := b.of(s, from)
	for h := from; h < to; h++ {
		if i := b.at[h&blockMask]; i != 0 {
			dst = append(dst, first+uint64(i)-1)
		}
	}
	return dst
}

// hash is the hash value of a number.
func (s *scatter) hash(i uint64) uint64 {
	if s.sequential {
		block := i / s.per
		return block<<blockBits | s.forward(s.forward(i%s.per)+mix(block))
	}
	return s.forward(i)
}

// number is the number of a hash value; those that belong to none give n or more.
func (s *scatter) number(hash uint64) uint64 {
	if s.sequential {
		block := hash >> blockBits
		if i := s.inverse((s.inverse(hash&blockMask) - mix(block)) & blockMask); i < s.per {
			return block*s.per + i
		}
		return s.n
	}
	return s.inverse(hash)
}

// count is how many of the hash values [from, to) of one place belong to numbers.
func (s *scatter) count(from, to uint64) int {
	p, n, count := s.bijection, s.n, 0
	if !s.sequential {
		for h := from; h < to; h++ {
			count += int((p.inverse(h) - n) >> 63) // 1 if it is below n, without a branch that is hard to predict
		}
		return count
	}
	block := from >> blockBits
	salt := mix(block)
	n = min(s.per, n-min(n, block*s.per))
	for h := from; h < to; h++ {
		count += int((p.inverse((p.inverse(h&blockMask)-salt)&blockMask) - n) >> 63)
	}
	return count
}

// foreign is the hash value of a key that is none of the n numbers.
func (s *scatter) foreign(key uint64) uint64 {
	if s.sequential {
		hash, _ := bits.Mul64(mix(key+s.add), s.places<<placeBits)
		return hash
	}
	return mix(key+s.add) & s.mask
}

// slotOf is where a hash value belongs: the places divide the hash values into ranges.
func (s *scatter) slotOf(hash uint64) uint64 {
	if s.sequential {
		return hash >> placeBits
	}
	hi, lo := bits.Mul64(hash, s.places)
	return hi<<(64-s.width) | lo>>s.width
}

// span is the range of hash values [from, to) of a place. It may be empty when there are more places than
// hash values.
func (s *scatter) span(place uint64) (from, to uint64) {
	return s.start(place), s.start(place + 1)
}

// start is the least hash value of a place: place x 2^width / places, rounded up.
func (s *scatter) start(place uint64) uint64 {
	if s.sequential {
		return place << placeBits
	}
	hi, lo := bits.Mul64(place, 1<<s.width)
	lo, carry := bits.Add64(lo, s.places-1, 0)
	quotient, _ := bits.Div64(hi+carry, lo, s.places)
	return quotient
}

// longest is an upper bound of the number of hash values of one place.
func (s *scatter) longest() uint64 {
	if s.sequential {
		return 1 << placeBits
	}
	return 1<<s.width/s.places + 1
}
