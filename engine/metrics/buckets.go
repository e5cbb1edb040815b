package metrics

import (
	"math/bits"
	"slices"
)

// buckets are those of an HDR histogram: durations below 2^(half+1) ns have a bucket each, and from there on every power of two
// is cut into 2^half buckets. There is memory for the powers of two that have been in use, and what is added, merged and forgotten touches
// no bucket outside of those in use.
type buckets struct {
	half   int      // log2 of how many buckets a power of two has
	counts []uint64 // of the buckets from base on
	base   int
	lo, hi int // the buckets in use: from lo to before hi
}

// newBuckets has as many buckets in a power of two as keep so many significant digits.
func newBuckets(digits int) *buckets {
	single := 2 // below it a nanosecond is told from the next
	for range digits {
		single *= 10
	}
	return &buckets{half: bits.Len(uint(single-1)) - 1}
}

// index is the bucket of a duration.
func (b *buckets) index(ns int64) int {
	shift := bits.Len64(uint64(ns)|(2<<b.half-1)) - b.half - 1
	return shift<<b.half + int(ns>>shift)
}

// least is the shortest duration of a bucket, and top the longest.
func (b *buckets) least(i int) int64 {
	shift := max(i>>b.half-1, 0)
	return int64(i-shift<<b.half) << shift
}

func (b *buckets) top(i int) int64 { return b.least(i) + 1<<max(i>>b.half-1, 0) - 1 }

// add counts n durations. They have a bucket: Record cuts longer ones.
func (b *buckets) add(ns int64, n uint64) {
	i := b.index(ns)
	b.use(i, i+1)
	b.counts[i-b.base] += n
}

// addAll counts each of some durations.
func (b *buckets) addAll(ns []int64) {
	if len(ns) == 0 {
		return
	}
	b.use(b.index(slices.Min(ns)), b.index(slices.Max(ns))+1)
	for _, x := range ns {
		b.counts[b.index(x)-b.base]++
	}
}

func (b *buckets) use(lo, hi int) {
	if lo < b.base || hi > b.base+len(b.counts) {
		b.cover(lo, hi)
	}
	if b.hi == 0 {
		b.lo = lo
	}
	b.lo, b.hi = min(b.lo, lo), max(b.hi, hi)
}

// cover makes room for buckets, by powers of two.
func (b *buckets) cover(lo, hi int) {
	if len(b.counts) > 0 {
		lo, hi = min(lo, b.base), max(hi, b.base+len(b.counts))
	}
	lo, hi = lo>>b.half<<b.half, ((hi-1)>>b.half+1)<<b.half
	counts := make([]uint64, hi-lo)
	copy(counts[max(b.base-lo, 0):], b.counts)
	b.counts, b.base = counts, lo
}

// used are the counts of the buckets in use.
func (b *buckets) used() []uint64 {
	if b.hi == 0 {
		return nil
	}
	return b.counts[b.lo-b.base : b.hi-b.base]
}

// merge adds what o counts, whatever digits it keeps: each duration counts as the shortest of its bucket.
func (b *buckets) merge(o *buckets) {
	if o.hi == 0 {
		return
	}
	if o.half == b.half {
		b.use(o.lo, o.hi)
		to := b.counts[o.lo-b.base:]
		for i, n := range o.used() {
			to[i] += n
		}
		return
	}
	for i, n := range o.used() {
		if n > 0 {
			b.add(o.least(o.lo+i), n)
		}
	}
}

// at is the longest duration of the bucket in which that rank is, from 1.
func (b *buckets) at(rank uint64) int64 {
	for i, n := range b.used() {
		if n >= rank {
			return b.top(b.lo + i)
		}
		rank -= n
	}
	panic("metrics: fewer durations than the rank")
}

func (b *buckets) reset() {
	clear(b.used())
	b.lo, b.hi = 0, 0
}
