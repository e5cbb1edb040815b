package metrics

import "math/bits"

// Sketch is a distribution of durations in little memory: counters over buckets that are a
// thirty-second of their value wide. It tells how many durations were longer than one, for intervals of
// quantiles; the quantiles themselves are those of a Hist, which is finer. It allocates once.
type Sketch struct {
	counts []uint32
	n      uint64
}

const (
	sketchBits    = 5
	sketchBuckets = (37 - sketchBits + 1) << sketchBits // up to histMaxNS
)

// bucketOf is the bucket of a duration in ns.
func bucketOf(ns int64) int {
	v := uint64(min(ns, histMaxNS))
	if v < 1<<sketchBits {
		return int(v)
	}
	shift := bits.Len64(v) - sketchBits - 1
	return (shift+1)<<sketchBits + int(v>>shift) - 1<<sketchBits
}

// Record adds a duration in ps.
func (s *Sketch) Record(ps int64) {
	if s.counts == nil {
		s.counts = make([]uint32, sketchBuckets)
	}
	s.counts[bucketOf((ps+500)/1000)]++
	s.n++
}

// Merge adds what o recorded.
func (s *Sketch) Merge(o *Sketch) {
	if o.n == 0 {
		return
	}
	if s.counts == nil {
		s.counts = make([]uint32, sketchBuckets)
	}
	for i, n := range o.counts {
		s.counts[i] += n
	}
	s.n += o.n
}

// Reset forgets everything and keeps the memory.
func (s *Sketch) Reset() {
	if s.n > 0 {
		clear(s.counts)
	}
	s.n = 0
}

// Count is the number of durations recorded.
func (s *Sketch) Count() uint64 { return s.n }

// at is how many durations are in the bucket of ns, and how many in those above.
func (s *Sketch) at(ns int64) (in, above uint64) {
	if s.n == 0 {
		return 0, 0
	}
	b := bucketOf(ns)
	for _, n := range s.counts[b+1:] {
		above += uint64(n)
	}
	return uint64(s.counts[b]), above
}

// QuantileCI95 is the half-width of the 95 % interval of a quantile as a share of it, from the
// distribution of a whole stretch of time and those of its equal parts. The interval is that of the
// share of durations that are longer than the quantile, by the parts, carried over to durations by the
// whole's distribution: what is between its quantiles q - h and q + h (Woodruff 1952). So a part needs
// no quantile of its own, and where many durations are equal the interval is narrow.
func QuantileCI95(whole *Hist, parts []Sketch, q float64) (share float64, e Estimate) {
	ns, ok := whole.QuantileNS(q)
	if !ok || ns == 0 || len(parts) < LeastValues {
		return 0, Estimate{Why: TooShort, Batches: float64(len(parts))}
	}
	// The quantile is somewhere in its bucket: as much of the bucket counts as longer as makes the share
	// of the longer ones right.
	above, counts := make([]float64, len(parts)), make([]float64, len(parts))
	in := make([]float64, len(parts))
	sumIn, sumAbove, sum := 0.0, 0.0, 0.0
	for i := range parts {
		a, b := parts[i].at(ns)
		in[i], above[i], counts[i] = float64(a), float64(b), float64(parts[i].n)
		sumIn, sumAbove, sum = sumIn+in[i], sumAbove+above[i], sum+counts[i]
	}
	if sumIn > 0 {
		longer := min(max((float64((1-q)*sum)-sumAbove)/sumIn, 0), 1)
		for i := range above {
			above[i] += float64(longer * in[i])
		}
	}
	if e = EstimateRatio(above, counts); e.Why != None {
		return 0, e
	}
	low, below := whole.QuantileNS(q - e.Half95)
	high, beyond := whole.QuantileNS(q + e.Half95)
	if !below || !beyond {
		return 0, Estimate{Why: TooShort}
	}
	return float64(max(ns-low, high-ns)) / float64(ns), e
}
