package metrics

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestQuantiles(t *testing.T) {
	for _, h := range []*Hist{{}, {Coarse: true}} {
		testQuantiles(t, h)
	}
}

func testQuantiles(t *testing.T, h *Hist) {
	within := 1.001
	if h.Coarse {
		within = 1.01
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var all []int64
	for range 50_000 {
		ps := rnd.Int64N(1<<rnd.IntN(36)) + 1
		h.Record(ps)
		all = append(all, (ps+500)/1000)
	}
	slices.Sort(all)
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		got, ok := h.QuantileNS(q)
		want := all[int(q*50_000+0.5)-1]
		// The answer is the top of a bucket.
		if !ok || got < want || float64(got) > float64(want)*within+1 {
			t.Errorf("q %v: %d, %v; exact %d", q, got, ok, want)
		}
	}
	if got, want := h.MaxNS(), all[len(all)-1]; got != want {
		t.Errorf("max %d, want %d", got, want)
	}
}

func TestQuantileNeedsSamples(t *testing.T) {
	for _, c := range []struct {
		q    float64
		need int
	}{{0.5, 20}, {0.9, 100}, {0.99, 1000}, {0.999, 10_000}} {
		var h Hist
		for i := range c.need {
			if _, ok := h.QuantileNS(c.q); ok {
				t.Fatalf("q %v present with %d samples", c.q, i)
			}
			h.Record(5000)
		}
		if ns, ok := h.QuantileNS(c.q); !ok || ns != 5 {
			t.Errorf("q %v absent with %d samples (%d)", c.q, c.need, ns)
		}
	}
	var h Hist
	for _, q := range []float64{0, 1, -1, 2} {
		if _, ok := h.QuantileNS(q); ok {
			t.Errorf("q %v is a quantile", q)
		}
	}
}

// The mean is exact where a float sum of the same durations is not, and where 64
// bits do not hold it.
func TestMeanIsExact(t *testing.T) {
	var h Hist
	sum := new(big.Int)
	for i := range int64(100) {
		ps := int64(1)<<62 + i
		h.Record(ps)
		sum.Add(sum, big.NewInt(ps))
	}
	want, _ := new(big.Float).Quo(new(big.Float).SetInt(sum), big.NewFloat(100*1000)).Float64()
	if got := h.MeanNS(); got != want {
		t.Errorf("mean %v, want %v", got, want)
	}
}

// SamplesFor is the least number of samples with which a quantile is there.
func TestSamplesFor(t *testing.T) {
	for q, want := range map[float64]uint64{0.5: 20, 0.9: 100, 0.99: 1000, 0.999: 10_000, 0.7: 34} {
		if n := SamplesFor(q); n != want {
			t.Errorf("%g takes %d samples, want %d", q, n, want)
		}
		var h Hist
		for range SamplesFor(q) - 1 {
			h.Record(1000)
		}
		if _, ok := h.QuantileNS(q); ok {
			t.Errorf("%g is known of one sample less", q)
		}
		h.Record(1000)
		if _, ok := h.QuantileNS(q); !ok {
			t.Errorf("%g is not known of %d samples", q, want)
		}
	}
}

func TestHistMergeCloneReset(t *testing.T) {
	var a, b, both Hist
	for i := range int64(3000) {
		x, y := 1_000_000+i*1000, 2_000_000+i*7000
		a.Record(x)
		b.Record(y)
		both.Record(x)
		both.Record(y)
	}
	c := a.Clone()
	c.Merge(&b)
	if c.Latency() != both.Latency() || c.Count() != 6000 {
		t.Errorf("merged %+v, want %+v", c.Latency(), both.Latency())
	}
	if a.Count() != 3000 {
		t.Error("the clone shares with its original")
	}
	c.Reset()
	if c.Count() != 0 || c.MeanNS() != 0 || c.MaxNS() != 0 {
		t.Errorf("after Reset: %+v", c.Latency())
	}
	c.Merge(&a)
	if c.Latency() != a.Latency() {
		t.Error("a reset histogram differs from a new one")
	}
	var empty Hist
	empty.Merge(&Hist{})
	if empty.Clone().Count() != 0 {
		t.Error("an empty histogram is not empty")
	}
}

// A histogram of few durations, which has no buckets, says what one with buckets says, and so does one that is merged of
// such ones, whatever was in it.
func TestFewDurations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, coarse := range []bool{false, true} {
		for _, n := range []int{0, 1, 19, 25, histFew, histFew + 1, 3 * histFew} {
			few, other, want := Hist{Coarse: coarse}, Hist{Coarse: coarse}, Hist{Coarse: coarse}
			want.build()
			for i := range n {
				ps := rnd.Int64N(1 << rnd.IntN(50))
				want.Record(ps)
				if i%3 > 0 {
					few.Record(ps)
				} else {
					other.Record(ps)
				}
			}
			few.Merge(&other)
			for _, h := range []*Hist{&few, few.Clone()} {
				if h.Latency() != want.Latency() || !reflect.DeepEqual(h.Histogram(), want.Histogram()) || h.Count() != want.Count() {
					t.Errorf("coarse %v: %d durations without buckets %+v, with %+v", coarse, n, h.Latency(), want.Latency())
				}
			}
			if built := few.many != nil; built != (n > histFew) {
				t.Errorf("coarse %v: %d durations have buckets: %v", coarse, n, built)
			}
			if few.Reset(); few.Count() != 0 || few.Histogram() != nil {
				t.Errorf("coarse %v: after Reset of %d: %+v", coarse, n, few.Latency())
			}
		}
	}
	var fine, coarse Hist
	coarse.Coarse = true
	coarse.Record(123_456_789)
	fine.Merge(&coarse)
	if got, want := fine.Histogram(), coarse.Histogram(); !reflect.DeepEqual(got, want) {
		t.Errorf("merged into a fine one %v, want %v", got, want)
	}
}

func TestLongDurations(t *testing.T) {
	var h Hist
	for range 100 {
		h.Record(1000 * 1_000_000_000_000) // 1000 s
	}
	if h.MaxNS() != 1_000_000_000_000 || h.MeanNS() != 1e12 {
		t.Errorf("max %d mean %v", h.MaxNS(), h.MeanNS())
	}
}

func TestLatencyJSON(t *testing.T) {
	var h Hist
	for range 30 {
		h.Record(2_500_000)
	}
	got, err := json.Marshal(h.Latency())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"mean":2.5,"p50":2.5,"max":2.5}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if none, err := json.Marshal(Latency{}); err != nil || string(none) != "{}" {
		t.Errorf("without a sample: %s, %v", none, err)
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	var h Hist
	h.Record(1)
	ps := int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(ps); ps = ps*3%1_000_000_007 + 1 }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	var h Hist
	ps := int64(1)
	for b.Loop() {
		h.Record(ps)
		ps = (ps*48271 + 1) & (1<<30 - 1)
	}
}

// BenchmarkWindow is what closing a window costs: summarise, add to the whole, start over.
func BenchmarkWindow(b *testing.B) {
	for _, coarse := range []bool{false, true} {
		h, whole := Hist{Coarse: coarse}, Hist{Coarse: coarse}
		b.Run(fmt.Sprintf("coarse=%v", coarse), func(b *testing.B) {
			for b.Loop() {
				for i := range int64(1000) {
					h.Record(5_000_000 + i*100_000)
				}
				_ = h.Latency()
				whole.Merge(&h)
				h.Reset()
			}
		})
	}
}
