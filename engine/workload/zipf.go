package workload

import (
	"fmt"

	"drtmx/engine/r2"
)

// Zipf draws ranks of [0, n): rank i with probability proportional to
// 1/(i+1)^theta. The first ranks are exact, the others are drawn from steps
// that grow with the rank and are flat inside.
type Zipf struct {
	n     uint64
	first []uint64 // first rank of each step
	bound []uint64 // 2^64 * probability of all steps up to and with this one
	guide []uint32 // step where the search for a top byte of bound begins
}

const (
	zipfExact = 1024 // ranks that are steps of their own
	zipfGrow  = 256  // later steps are a 1/zipfGrow of their rank wide
)

// NewZipf builds the tables: some thousand entries whatever n is.
func NewZipf(n uint64, theta float64) (*Zipf, error) {
	if n == 0 || !(theta >= 0 && theta < 2) {
		return nil, fmt.Errorf("zipf over %d ranks with constant %g: at least one rank, constant from 0 to below 2", n, theta)
	}
	z := &Zipf{n: n}
	var weight []float64
	for a := uint64(0); a < n; {
		b := a + 1
		if a >= zipfExact {
			b = min(a+a/zipfGrow, n)
		}
		z.first = append(z.first, a)
		weight = append(weight, stepWeight(a+1, b, theta))
		a = b
	}
	total := 0.0
	for i := len(weight) - 1; i >= 0; i-- { // small ones first
		total += weight[i]
	}
	z.bound = make([]uint64, len(weight))
	sum := 0.0
	for i, w := range weight {
		sum += w
		z.bound[i] = toBound(sum / total)
	}
	z.bound[len(weight)-1] = ^uint64(0)
	z.guide = make([]uint32, 257)
	step := 0
	for i := range 256 {
		for z.bound[step] < uint64(i)<<56 {
			step++
		}
		z.guide[i] = uint32(step)
	}
	z.guide[256] = uint32(len(z.bound) - 1)
	return z, nil
}

// stepWeight is the sum of i^-theta over the ranks a..b, counted from one, by
// the midpoint.
func stepWeight(a, b uint64, theta float64) float64 {
	if a == b {
		return power(float64(a), -theta)
	}
	mid := float64(float64(a)+float64(b)) / 2
	return float64(float64(b-a+1) * power(mid, -theta))
}

func toBound(share float64) uint64 {
	if share >= 1 {
		return ^uint64(0)
	}
	return uint64(float64(share*(1<<32))) << 32
}

// Draw draws a rank.
func (z *Zipf) Draw(r *r2.Rand) uint64 {
	u := r.Uint64()
	lo, hi := z.guide[u>>56], z.guide[u>>56+1]
	for lo < hi {
		mid := (lo + hi) / 2
		if z.bound[mid] < u {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	a, b := z.first[lo], z.n
	if int(lo)+1 < len(z.first) {
		b = z.first[lo+1]
	}
	if b-a == 1 {
		return a
	}
	return a + r.Uint64n(b-a)
}

// power is x^y for x >= 1. Every product is rounded before it is added, so
// that no machine fuses them and all get the same bits.
func power(x, y float64) float64 { return expOf(float64(y * logOf(x))) }

const ln2 = 0.6931471805599453

// logOf is the natural logarithm: x = m * 2^e, log m by the series of
// 2 artanh((m-1)/(m+1)).
func logOf(x float64) float64 {
	e := 0
	for x >= 2 {
		x /= 2
		e++
	}
	t := (x - 1) / (x + 1)
	t2 := float64(t * t)
	sum, term := 0.0, t
	for k := 1; k < 40; k += 2 {
		sum += term / float64(k)
		term = float64(term * t2)
	}
	return float64(float64(2*sum) + float64(float64(e)*ln2))
}

// expOf is e^x for x of moderate size.
func expOf(x float64) float64 {
	neg := x < 0
	if neg {
		x = -x
	}
	k := int(x / ln2)
	f := x - float64(float64(k)*ln2)
	sum, term := 1.0, 1.0
	for i := 1; i < 24; i++ {
		term = float64(term*f) / float64(i)
		sum += term
	}
	for range k {
		sum *= 2
	}
	if neg {
		return 1 / sum
	}
	return sum
}
