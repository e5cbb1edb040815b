package workload

import (
	"fmt"
	"math"
	"math/bits"

	"drtmx/engine/r2"
)

// HotSet is a set of hot items spread evenly over [0, n), so that every
// partition, socket and page has its share of them.
type HotSet struct {
	n, hot, stride uint64
}

// NewHotSet makes permille of n items hot, at least one.
func NewHotSet(n uint64, permille int) (HotSet, error) {
	if n == 0 || permille < 1 || permille > 1000 {
		return HotSet{}, fmt.Errorf("hot set of %d per mille of %d items: from 1 to 1000 per mille of at least one item", permille, n)
	}
	hot := max(n*uint64(permille)/1000, 1)
	return HotSet{n: n, hot: hot, stride: n / hot}, nil
}

// Hot is the number of hot items.
func (h HotSet) Hot() uint64 { return h.hot }

// At is the i-th hot item.
func (h HotSet) At(i uint64) uint64 { return i * h.stride }

// IsHot tells whether an item is hot.
func (h HotSet) IsHot(item uint64) bool {
	return item%h.stride == 0 && item/h.stride < h.hot
}

// DrawHot draws one of the hot items.
func (h HotSet) DrawHot(r *r2.Rand) uint64 { return r.Uint64n(h.hot) * h.stride }

// DrawCold draws one of the others; one of all when there are no others.
func (h HotSet) DrawCold(r *r2.Rand) uint64 {
	if h.hot == h.n {
		return r.Uint64n(h.n)
	}
	i, gap := r.Uint64n(h.n-h.hot), h.stride-1
	if i >= h.hot*gap {
		return i + h.hot // the rest of the division lies behind the last gap
	}
	return i/gap*h.stride + 1 + i%gap
}

// ShareUnit is the unit in which shares are drawn.
const ShareUnit = 1_000_000

// ShareUnits is a share from 0 to 1 in that unit.
func ShareUnits(share float64) uint64 { return uint64(math.Round(share * ShareUnit)) }

// Scatter is a bijection of [0, n) that takes neighbours apart, so that the
// popular ranks of a distribution are not all in one partition.
type Scatter struct{ n, step, back uint64 }

// NewScatter makes one.
func NewScatter(n uint64) Scatter {
	step := n*618/1000 | 1 // near the golden section: neighbours stay apart
	for gcd(step, n) != 1 {
		step += 2
	}
	return Scatter{n, step, inverse(step%n, n)}
}

// At maps i.
func (s Scatter) At(i uint64) uint64 { return times(i, s.step, s.n) }

// Of is the number that At maps to v.
func (s Scatter) Of(v uint64) uint64 { return times(v, s.back, s.n) }

// times is x*y modulo n.
func times(x, y, n uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return bits.Rem64(hi, lo, n)
}

// inverse is 1/x modulo n, which have no common factor.
func inverse(x, n uint64) uint64 {
	old, now := uint64(0), 1%n // factors of x that leave a and b
	for a, b := n, x; b > 1; {
		q := a / b
		old, now = now, (old+n-times(q, now, n))%n
		a, b = b, a-q*b
	}
	return now
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
