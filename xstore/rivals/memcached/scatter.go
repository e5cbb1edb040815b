package memcached

import "math/bits"

// scatter is a permutation of the numbers below n that looks random and can be inverted: a line through the residues.
type scatter struct{ n, by, back, from uint64 }

// newScatter takes a slope close to a part of n, in 2^-64, so that neighbours come to lie far from each other.
func newScatter(n, part, from uint64) scatter {
	by, _ := bits.Mul64(part, n)
	for by = max(by, 1); gcd(by, n) != 1; by++ {
	}
	return scatter{n: n, by: by % n, back: inverse(by%n, n), from: from % n}
}

func (s scatter) of(i uint64) uint64 { return (times(i, s.by, s.n) + s.from) % s.n }

func (s scatter) inverse(x uint64) uint64 { return times((x+s.n-s.from)%s.n, s.back, s.n) }

// times is a*b modulo n, for a and b below n.
func times(a, b, n uint64) uint64 {
	high, low := bits.Mul64(a, b)
	_, rest := bits.Div64(high%n, low, n)
	return rest
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inverse is the number that a is to be multiplied by to give 1 modulo n; 0 for n = 1.
func inverse(a, n uint64) uint64 {
	x, y := int64(0), int64(1)
	for r, s := int64(n), int64(a); s != 0; {
		q := r / s
		r, s = s, r-q*s
		x, y = y, x-q*y
	}
	if x < 0 {
		x += int64(n)
	}
	return uint64(x) % n
}

// mix is the hash of a key that is not there from the start.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
