package sim

import (
	"math/bits"
	"math/rand/v2"
)

// Rand is a random stream (PCG-DXSM) that belongs to one component. Streams are
// independent of each other, so one component drawing more or fewer numbers
// does not move any other.
type Rand struct{ pcg rand.PCG }

// Stream returns the stream of (component, id) under the simulation's seed. Two
// calls with equal arguments return two streams with equal numbers.
func (s *Sim) Stream(component string, id uint64) *Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for i := 0; i < len(component); i++ {
		h = (h ^ uint64(component[i])) * 1099511628211
	}
	a := mix(s.all.options.Seed ^ mix(h))
	r := new(Rand)
	r.pcg.Seed(a, mix(a+mix(id+0x9e3779b97f4a7c15)))
	return r
}

// mix is the finalizer of SplitMix64: every input bit reaches every output bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 is uniform over all 64-bit numbers.
func (r *Rand) Uint64() uint64 { return r.pcg.Uint64() }

// Uint64n is uniform in [0, n). It panics when n is 0.
func (r *Rand) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("sim: Uint64n of 0")
	}
	hi, lo := bits.Mul64(r.pcg.Uint64(), n)
	if lo < n { // the rare part where some numbers would be more likely
		for floor := -n % n; lo < floor; {
			hi, lo = bits.Mul64(r.pcg.Uint64(), n)
		}
	}
	return hi
}

// Intn is uniform in [0, n). It panics when n is not positive.
func (r *Rand) Intn(n int) int {
	if n <= 0 {
		panic("sim: Intn of a number that is not positive")
	}
	return int(r.Uint64n(uint64(n)))
}

// PPM is true with a probability of p in a million.
func (r *Rand) PPM(p uint32) bool { return r.Uint64n(1e6) < uint64(p) }

// Perm is a random permutation of 0 .. n-1.
func (r *Rand) Perm(n int) []int {
	q := make([]int, n)
	for i := range q {
		j := r.Intn(i + 1)
		q[i], q[j] = q[j], i
	}
	return q
}

// Exp is exponentially distributed with the given mean, from one draw and in
// integer arithmetic. It is 0 when mean is not positive.
//
// A uniform u = 2^-(zeros+1) * (1 + mantissa) gives -ln u = zeros*ln 2 +
// (ln 2 - ln(1 + mantissa)); the second part is interpolated from a table.
func (r *Rand) Exp(mean Time) Time {
	if mean <= 0 {
		return 0
	}
	u := r.pcg.Uint64() | 1
	zeros := bits.LeadingZeros64(u)
	m := u << zeros << 1 // the mantissa, 64 bits behind the point
	i := m >> (64 - expBits)
	frac := m << expBits >> 32
	a, b := expTable[i], expTable[i+1]
	e := uint64(zeros)*ln2 + a - ((a-b)*frac)>>32
	hi, lo := bits.Mul64(uint64(mean), e)
	return Time(hi<<32 | lo>>32)
}

const (
	expBits = 8
	ln2     = 2977044472 // in units of 2^-32
)

// expTable[i] is ln 2 - ln(1 + i/256) in units of 2^-32.
var expTable = func() (t [1<<expBits + 1]uint64) {
	for i := range t {
		// The binary logarithm of x in [1, 2), digit by digit: square; where the
		// square reaches 2 the next digit is 1.
		x := uint64(1<<31) + uint64(i)<<(31-expBits) // 31 bits behind the point
		if i == 1<<expBits {
			break // ln 2 - ln 2
		}
		var log uint64
		for range 32 {
			x = x * x >> 31
			log <<= 1
			if x >= 1<<32 {
				log |= 1
				x >>= 1
			}
		}
		t[i] = ln2 - (log*ln2)>>32
	}
	return t
}()
