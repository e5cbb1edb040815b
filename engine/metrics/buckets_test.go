package metrics

import (
	"math/rand/v2"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The buckets are those of HdrHistogram: each duration is in the same, and what is merged, between digits too, has the same quantiles.
func TestBucketsAreHdrHistograms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, digits := range []int{histDigits, histDigitsCoarse} {
		var own [2]*buckets
		var theirs [2]*hdrhistogram.Histogram
		for i, digits := range []int{digits, histDigits + histDigitsCoarse - digits} { // the second has the other digits
			own[i], theirs[i] = newBuckets(digits), hdrhistogram.New(1, histMaxNS, digits)
			for range 20_000 {
				ns := rnd.Int64N(1<<rnd.IntN(37)) % (histMaxNS + 1)
				own[i].add(ns, 1)
				if err := theirs[i].RecordValue(ns); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, ns := range []int64{0, 1, 255, 256, 257, 2047, 2048, 2049, histMaxNS - 1, histMaxNS} {
			own[0].add(ns, 1)
			if err := theirs[0].RecordValue(ns); err != nil {
				t.Fatal(err)
			}
		}
		equal := func(what string) {
			i := 0
			for _, bar := range theirs[0].Distribution() {
				if own[0].counts[i] != uint64(bar.Count) || own[0].least(i) != bar.From || own[0].top(i) != bar.To {
					t.Fatalf("%s, %d digits: bucket %d from %d to %d has %d, want %+v", what, digits, i, own[0].least(i), own[0].top(i), own[0].counts[i], bar)
				}
				i++
			}
			for _, p := range []float64{0.1, 50, 90, 99, 99.9, 100} {
				rank := uint64(p/100*float64(theirs[0].TotalCount()) + 0.5)
				if got, want := own[0].at(rank), theirs[0].ValueAtPercentile(p); got != want {
					t.Errorf("%s, %d digits: percentile %g is %d, want %d", what, digits, p, got, want)
				}
			}
		}
		equal("recorded")
		same, its := newBuckets(digits), hdrhistogram.New(1, histMaxNS, digits)
		same.add(77, 5)
		its.RecordValues(77, 5)
		own[0].merge(same)
		theirs[0].Merge(its)
		equal("merged")
		own[0].merge(own[1])
		theirs[0].Merge(theirs[1])
		equal("merged with other digits")
		own[0].reset()
		theirs[0].Reset()
		own[0].add(5, 2000)
		theirs[0].RecordValues(5, 2000)
		equal("after a reset")
	}
}
