package dataset

import "math/bits"

// part is a range of key space, from lo to below hi, with m keys in it. Its hash decides where they are.
type part struct{ hash, lo, hi, m uint64 }

// halving says how the keys of a part fall to its halves.
type halving struct {
	// rough is by how much, at most, the lower half's share differs from a half, in 2^-32. 0: each key falls to
	// either half with equal chance.
	rough uint64
}

// split draws the halves of a part of at least two keys and more places than keys.
func (x *halving) split(p part) (low, high part) {
	mid := p.lo + (p.hi-p.lo)/2
	var n uint64
	if x.rough == 0 {
		n = heads(p.hash, p.m)
	} else {
		r := mix(p.hash)
		over, under := bits.Mul64(p.m, x.share(r))
		under, carry := bits.Add64(under, r&(1<<32-1), 0) // rounded up as often as it should be
		n = (over+carry)<<32 | under>>32
	}
	if most := mid - p.lo; n > most {
		n = most
	}
	if most := p.hi - mid; p.m-n > most {
		n = p.m - most
	}
	return part{mix(p.hash ^ lowSeed), p.lo, mid, n}, part{mix(p.hash ^ highSeed), mid, p.hi, p.m - n}
}

// share is that of the lower half, in 2^-32.
func (x *halving) share(r uint64) uint64 { return 1<<31 + (r>>32)*x.rough>>32 - x.rough/2 }

const (
	lowSeed  = 0xd1342543de82ef95
	highSeed = 0xaef17502108ef2d9
)

// heads is how many of m coins show heads.
func heads(hash, m uint64) (n uint64) {
	for ; m >= 64; m -= 64 {
		hash += golden
		n += uint64(bits.OnesCount64(mix(hash)))
	}
	return n + uint64(bits.OnesCount64(mix(hash+golden)&(1<<m-1)))
}

// isLeaf says that the keys of a part need no further halving: there is one, or one in every place.
func (p part) isLeaf() bool { return p.m == 1 || p.m == p.hi-p.lo }

// leafKey is the i-th key of a part that needs no further halving.
func (p part) leafKey(i uint64) uint64 {
	if p.m == p.hi-p.lo {
		return p.lo + i
	}
	return p.lo + below(mix(p.hash), p.hi-p.lo)
}

// key is the i-th of a part's keys.
func (x *halving) key(p part, i uint64) uint64 {
	for !p.isLeaf() {
		low, high := x.split(p)
		if i < low.m {
			p = low
		} else {
			i -= low.m
			p = high
		}
	}
	return p.leafKey(i)
}

// rank is how many of a part's keys are below one that is within its range, and whether this is one of them.
func (x *halving) rank(p part, key uint64) (i uint64, ok bool) {
	for p.m > 0 && !p.isLeaf() {
		low, high := x.split(p)
		if key < low.hi {
			p = low
		} else {
			i += low.m
			p = high
		}
	}
	switch {
	case p.m == 0:
		return i, false
	case p.m == p.hi-p.lo:
		return i + key - p.lo, true
	}
	at := p.leafKey(0)
	if at < key {
		i++
	}
	return i, at == key
}

// append appends n of a part's keys, from the from-th on.
func (x *halving) append(dst []uint64, p part, from, n uint64) []uint64 {
	if n == 0 {
		return dst
	}
	if p.isLeaf() {
		for i := range n {
			dst = append(dst, p.leafKey(from+i))
		}
		return dst
	}
	low, high := x.split(p)
	if from < low.m {
		some := min(n, low.m-from)
		dst = x.append(dst, low, from, some)
		from, n = low.m, n-some
	}
	return x.append(dst, high, from-low.m, n)
}

const golden = 0x9e3779b97f4a7c15

// mix is a hash of 64 bits: the finalizer of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// seeded is the hash of a number under a seed.
func seeded(seed, n uint64) uint64 { return mix(mix(seed*golden+1) + n*golden) }

// below makes a number of [0, n) of a hash.
func below(hash, n uint64) uint64 {
	hi, _ := bits.Mul64(hash, n)
	return hi
}

// times is x*y/z, rounded down.
func times(x, y, z uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	q, _ := bits.Div64(hi, lo, z)
	return q
}
