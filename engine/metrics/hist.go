package metrics

import (
	"math"
	"math/bits"
)

const (
	// histMaxNS is the largest value that has a bucket of its own; longer ones
	// share the last bucket, and count with their real length in mean and maximum.
	histMaxNS = 100_000_000_000

	// A quantile is exact to 1/1000 of its value, of a coarse histogram to 1/100.
	histDigits       = 3
	histDigitsCoarse = 2

	// histFew is how many durations a histogram keeps before they go into buckets.
	histFew = 64
)

// Hist is a distribution of durations: quantiles from an HDR histogram (its buckets are those of HdrHistogram) with
// three significant digits at nanosecond resolution, mean and maximum exact.
// The zero value is ready. A few durations are kept as they are, for most histograms get no more; then all of them go into buckets at
// once, whose memory Record allocates where there is none (8 KB for a power of two). A histogram of each machine would else wait for a line
// of memory at each duration: one after the other these waits pass together.
type Hist struct {
	// Coarse, set before the first Record, keeps two digits: an eighth of the
	// memory.
	Coarse bool

	few   []int64  // ns; what was recorded last
	many  *buckets // the rest; nil until there are many
	n     uint64
	sumHi uint64 // the sum of all durations in ps, 128 bits
	sumLo uint64
	max   int64 // ps
}

// Record adds a duration in ps. A negative one is a bug of the caller.
func (h *Hist) Record(ps int64) {
	if ps < 0 {
		panic("metrics: negative duration")
	}
	h.n++
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, uint64(ps), 0)
	h.sumHi += carry
	h.max = max(h.max, ps)
	h.keep(min((ps+500)/1000, histMaxNS))
}

// keep takes a duration in ns in.
func (h *Hist) keep(ns int64) {
	if len(h.few) == histFew {
		h.build()
	}
	if h.few == nil {
		h.few = make([]int64, 0, histFew)
	}
	h.few = append(h.few, ns)
}

// build moves the few into buckets.
func (h *Hist) build() {
	h.many = h.buckets()
	h.few = h.few[:0]
}

// buckets are what was recorded, in buckets that are h's own if it has some.
func (h *Hist) buckets() *buckets {
	b := h.many
	if b == nil {
		digits := histDigits
		if h.Coarse {
			digits = histDigitsCoarse
		}
		b = newBuckets(digits)
	}
	b.addAll(h.few)
	if h.many != nil {
		h.few = h.few[:0]
	}
	return b
}

// Count is the number of durations recorded.
func (h *Hist) Count() uint64 { return h.n }

// MeanNS is the exact mean; 0 when nothing was recorded.
func (h *Hist) MeanNS() float64 {
	if h.n == 0 {
		return 0
	}
	return wide(h.sumHi, h.sumLo) / float64(h.n) / 1e3
}

// MaxNS is the longest duration, rounded to ns.
func (h *Hist) MaxNS() int64 { return (h.max + 500) / 1000 }

// million is the denominator of a quantile in parts per million.
const million = 1_000_000

// partsPerMillion is a quantile as an integer; false if it is none between 0 and 1.
func partsPerMillion(q float64) (ppm uint64, ok bool) {
	ppm = uint64(float64(q*million) + 0.5)
	return ppm, ppm > 0 && ppm < million
}

// SamplesFor is how many durations the q-quantile (0 < q < 1) takes: 10/(1-q), so that ten lie above it.
func SamplesFor(q float64) uint64 {
	ppm, ok := partsPerMillion(q)
	if !ok {
		return math.MaxUint64
	}
	return (10*million + million - ppm - 1) / (million - ppm)
}

// QuantileNS is the q-quantile (0 < q < 1). It is absent when fewer than SamplesFor(q) durations were
// recorded: then less than ten lie above it, and it says more about chance than about the system.
func (h *Hist) QuantileNS(q float64) (ns int64, ok bool) {
	ppm, ok := partsPerMillion(q)
	if !ok || h.n < SamplesFor(q) {
		return 0, false
	}
	// The rank is computed in integers: the product q*n may round to another, differently on
	// machines that fuse multiply and add.
	hi, lo := bits.Mul64(h.n, ppm)
	rank, rest := bits.Div64(hi, lo, million)
	if rest > 0 {
		rank++
	}
	return min(h.buckets().at(rank), h.MaxNS()), true
}

// Merge adds what o recorded.
func (h *Hist) Merge(o *Hist) {
	if o.n == 0 {
		return
	}
	if o.many == nil && o.Coarse == h.Coarse {
		for _, ns := range o.few {
			h.keep(ns)
		}
	} else {
		h.build()
		h.many.merge(o.buckets())
	}
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, o.sumLo, 0)
	h.sumHi += o.sumHi + carry
	h.n += o.n
	h.max = max(h.max, o.max)
}

// Reset forgets everything and keeps the buckets.
func (h *Hist) Reset() {
	if h.many != nil {
		h.many.reset()
	}
	*h = Hist{Coarse: h.Coarse, many: h.many, few: h.few[:0]}
}

// Clone is an independent copy.
func (h *Hist) Clone() *Hist {
	c := &Hist{Coarse: h.Coarse}
	c.Merge(h)
	return c
}

// Latency is a distribution as results print it, in µs. A quantile without
// enough samples, and the mean and the largest of none, is 0 and absent from JSON.
type Latency struct {
	Mean float64 `json:"mean,omitempty"`
	P50  float64 `json:"p50,omitempty"` // the median: half of the requests took no longer
	P90  float64 `json:"p90,omitempty"`
	P99  float64 `json:"p99,omitempty"`  // one request of a hundred took longer
	P999 float64 `json:"p999,omitempty"` // one of a thousand
	Max  float64 `json:"max,omitempty"`
}

// Latency summarises the distribution.
func (h *Hist) Latency() Latency {
	us := func(q float64) float64 {
		ns, _ := h.QuantileNS(q)
		return float64(ns) / 1e3
	}
	return Latency{
		Mean: h.MeanNS() / 1e3,
		P50:  us(0.5), P90: us(0.9), P99: us(0.99), P999: us(0.999),
		Max: float64(h.MaxNS()) / 1e3,
	}
}

// wide is a 128-bit integer as a float. The product with a power of two is
// exact, so fusing it with the sum changes nothing.
func wide(hi, lo uint64) float64 { return float64(hi)*(1<<64) + float64(lo) }
