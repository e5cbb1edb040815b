package metrics

import (
	"math"
	"testing"
)

func TestHistogram(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		h := Hist{Coarse: coarse}
		if h.Histogram() != nil {
			t.Error("nothing was recorded, and yet there is a histogram")
		}
		for us := int64(1); us <= 1000; us++ {
			h.Record(us * 1_000_000)
		}
		x := h.Histogram()
		if x.Count() != 1000 || len(x.UpperUS) != len(x.Counts) || x.UpperUS[len(x.UpperUS)-1] != 1000 {
			t.Fatalf("%d durations, up to %v", x.Count(), x.UpperUS[len(x.UpperUS)-1])
		}
		for i := range x.UpperUS {
			if i > 0 && x.UpperUS[i] <= x.UpperUS[i-1] || x.Counts[i] == 0 {
				t.Errorf("interval %d ends at %g us with %d durations", i, x.UpperUS[i], x.Counts[i])
			}
		}
		for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
			ns, ok := h.QuantileNS(q)
			if below := x.Below(float64(ns) / 1e3 * 1.01); ok && math.Abs(below-q) > 0.02 {
				t.Errorf("%g of the durations lie below the quantile of %g", below, q)
			}
		}
		us, share := x.CDF()
		if len(us) > 250 || share[len(share)-1] != 1 || us[len(us)-1] != 1000 {
			t.Errorf("a line of %d points to %g at %g us", len(us), share[len(share)-1], us[len(us)-1])
		}
	}
	var none *Histogram
	if x, _ := none.CDF(); none.Count() != 0 || none.Below(1) != 0 || x != nil {
		t.Error("no histogram has durations")
	}
}
