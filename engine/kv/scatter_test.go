package kv

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestBijectionIsOne(t *testing.T) {
	for width := uint(6); width <= 14; width++ {
		p := newBijection(width, uint64(width)*77)
		seen := make([]bool, 1<<width)
		for x := range uint64(1) << width {
			y := p.forward(x)
			if y > p.mask || seen[y] {
				t.Fatalf("width %d: %d maps to %d, which is taken or too large", width, x, y)
			}
			seen[y] = true
			if back := p.inverse(y); back != x {
				t.Fatalf("width %d: %d maps to %d and back to %d", width, x, y, back)
			}
		}
	}
}

func TestBijectionOfAnyWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newBijection(uint(rapid.IntRange(6, 40).Draw(t, "width")), rapid.Uint64().Draw(t, "seed"))
		x := rapid.Uint64().Draw(t, "x") & p.mask
		if y := p.forward(x); y > p.mask || p.inverse(y) != x {
			t.Fatalf("%d maps to %d and back to %d", x, y, p.inverse(y))
		}
	})
}

// The span of a place is exactly the hash values that belong to it, also when there are more places than hash
// values.
func TestPlacesDivideHashValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScatter(rapid.Uint64Range(0, 2000).Draw(t, "n"), rapid.Uint64Range(1, 20000).Draw(t, "places"), sparse, 1)
		end := s.mask + 1
		if rapid.Bool().Draw(t, "sequential") {
			s = newSequential(s.n, pageNodes*rapid.SampledFrom([]uint64{3, 6}).Draw(t, "fill"), 1)
			end = s.places << placeBits
		}
		next := uint64(0)
		for place := range s.places {
			from, to := s.span(place)
			if from != next || to < from || to-from > s.longest() {
				t.Fatalf("place %d of %d has hash values %d to %d, expected from %d, at most %d", place, s.places, from, to, next, s.longest())
			}
			for h := from; h < to; h++ {
				if s.slotOf(h) != place {
					t.Fatalf("hash value %d belongs to place %d, but lies in the span of %d", h, s.slotOf(h), place)
				}
			}
			next = to
		}
		if next != end {
			t.Fatalf("spans end at %d of %d", next, end)
		}
		for i := range s.n {
			if j := s.number(s.hash(i)); j != i {
				t.Fatalf("number %d has the hash value of %d", i, j)
			}
		}
		for key := range uint64(50) {
			if h := s.foreign(key << 20); h >= end {
				t.Fatalf("key %d has hash value %d of %d", key<<20, h, end)
			}
		}
	})
}

func TestLargePlacesAndSpans(t *testing.T) {
	s := newScatter(1<<32, 1<<30+7, sparse, 3)
	for _, place := range []uint64{0, 1, s.places / 2, s.places - 1} {
		from, to := s.span(place)
		if s.slotOf(from) != place || s.slotOf(to-1) != place || (to <= s.mask && s.slotOf(to) != place+1) {
			t.Errorf("place %d: span %d to %d", place, from, to)
		}
	}
}

// The numbers fall on the places as evenly and as unevenly as independent hashing would have it: the counts follow
// the binomial distribution of sampling without replacement.
func TestOccupancyIsBinomial(t *testing.T) {
	const n, places = 300_000, 50_000
	s := newScatter(n, places, sparse, 42)
	var counts [places]int
	for i := range uint64(n) {
		counts[s.slotOf(s.hash(i))]++
	}
	var variance float64
	mean := float64(n) / places
	histogram := map[int]float64{}
	for _, c := range counts {
		variance += (float64(c) - mean) * (float64(c) - mean) / places
		histogram[c]++
	}
	// Each place has about r hash values, each of which belongs to a number with probability n / 2^width.
	r := float64(s.mask+1) / places
	p := mean / r
	if want := r * p * (1 - p); math.Abs(variance/want-1) > 0.05 {
		t.Errorf("variance %.3f of the records per place, want %.3f", variance, want)
	}
	chi, cells := 0.0, 0
	for k := 1; k <= 13; k++ {
		want := places * binomial(r, p, k)
		if want < 20 {
			continue
		}
		chi += (histogram[k] - want) * (histogram[k] - want) / want
		cells++
	}
	// r is no integer, so the fit is not perfect; a hash that clusters gives thousands.
	if limit := 12 * float64(cells); chi > limit {
		t.Errorf("chi-square %.1f over %d cells, at most %.1f", chi, cells, limit)
	}
}

// binomial is the probability of k of n, with n a real number.
func binomial(n, p float64, k int) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(n - float64(k) + 1)
	return math.Exp(a - b - c + float64(k)*math.Log(p) + (n-float64(k))*math.Log(1-p))
}

// Neighbouring keys, as hot sets are, do not fall on neighbouring places.
func TestNeighboursScatter(t *testing.T) {
	const n, places = 1 << 18, 1 << 15
	s := newScatter(n, places, sparse, 7)
	hot := uint64(n / 25)
	var counts [places]int
	for i := range hot {
		counts[s.slotOf(s.hash(i))]++
	}
	most := 0
	for _, c := range counts {
		most = max(most, c)
	}
	// Mean 0.32 per place; with independent hashing 6 or 7 are the most among 32,768 places.
	if most > 9 {
		t.Errorf("%d of the first %d keys share a place", most, hot)
	}
}

func BenchmarkInverse(b *testing.B) {
	s := newScatter(200_000, 33_333, sparse, 1)
	sum := uint64(0)
	for i := range b.N {
		sum += s.inverse(uint64(i) & s.mask)
	}
	_ = sum
}
