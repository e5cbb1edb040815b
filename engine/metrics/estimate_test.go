package metrics

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// remembering is a series of first order: what is left of a value in the next one is memory.
func remembering(rnd *rand.Rand, n int, memory float64) []float64 {
	out, x := make([]float64, n), rnd.NormFloat64()/math.Sqrt(1-memory*memory)
	for i := range out {
		x = memory*x + rnd.NormFloat64()
		out[i] = 100 + x
	}
	return out
}

// The interval of a series is wrong in at most 8 % of those that have one, however long the series
// remembers, and where it remembers for as long as it lasts there is none.
func TestEstimateCovers(t *testing.T) {
	const runs = 2000
	for _, tt := range []struct {
		values int
		memory float64
		given  float64 // at least this share has an interval
	}{{64, 0, 0.9}, {100, 0.5, 0.9}, {2000, 0.9, 0.9}, {1000, 0.97, 0.6}, {2000, 0.99, 0.5}, {16, 0, 0.8}, {8, 0, 0.7}} {
		rnd := rand.New(rand.NewPCG(5, 5))
		given, wrong := 0, 0
		for range runs {
			e := EstimateMean(remembering(rnd, tt.values, tt.memory))
			if e.Why != None {
				continue
			}
			given++
			if math.Abs(e.Mean-100) > e.Half95 {
				wrong++
			}
		}
		if float64(given) < tt.given*runs || float64(wrong) > 0.08*float64(given) {
			t.Errorf("%d values, memory %v: of %d series %d have an interval, %d of them are wrong", tt.values, tt.memory, runs, given, wrong)
		}
	}
}

// A series that is hardly longer than the memory of its system mostly has no interval, and the reason
// says how many independent batches there are.
func TestEstimateOfLongMemory(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	const runs = 1000
	given, said := 0, 0
	for range runs {
		switch e := EstimateMean(remembering(rnd, 64, 0.98)); {
		case e.Why == None:
			given++
		case e.Why == Dependent && e.Batches < leastBatches && e.Times() > 1 && strings.Contains(e.Reason("throughput"), "independent batches"):
			said++
		}
	}
	if given > runs/4 || said < runs/4 {
		t.Errorf("of %d series %d have an interval, and %d say how many batches are independent", runs, given, said)
	}
}

// A slow drift has no interval, be there noise or none. One of less than a hundredth makes the interval
// wider. Noise alone is not taken for a drift.
func TestEstimateOfDrift(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	const runs = 500
	sloping := func(rise, noise float64) []float64 {
		x := make([]float64, 400)
		for i := range x {
			x[i] = 100 + rise*float64(i)/400 + noise*rnd.NormFloat64()
		}
		return x
	}
	drifting, none := 0, 0
	for range runs {
		e := EstimateMean(sloping(10, 10))
		if e.Why == Drifting && e.Drift > 5 && e.Drift < 17 && strings.HasPrefix(e.Reason("throughput"), "still drifting: throughput changes by +") {
			drifting++
		}
		if EstimateMean(sloping(0, 10)).Why == Drifting {
			none++
		}
	}
	if drifting < runs*9/10 || none > runs*2/100 {
		t.Errorf("of %d series with a drift %d are said to drift, of as many without %d", runs, drifting, none)
	}
	if e := EstimateMean(sloping(0.5, 0)); e.Why != None || e.Half95 < 0.49 || e.Half95 > 0.6 {
		t.Errorf("a small drift: %+v", e)
	}
}

func TestEstimateOfNothing(t *testing.T) {
	if e := EstimateMean(make([]float64, LeastValues/2)); e.Why != TooShort || e.Reason("x") == "" || e.Times() != 2 {
		t.Errorf("of few values: %+v", e)
	}
	if e := EstimateMean(make([]float64, 64)); e.Why != None || e.Half95 != 0 || e.Batches < 14 || e.Reason("x") != "" {
		t.Errorf("of values that are equal: %+v", e)
	}
	if e := EstimateRatio(make([]float64, 64), make([]float64, 64)); e.Why != TooShort {
		t.Errorf("of nothing over nothing: %+v", e)
	}
}

// The interval of a ratio covers that of all, where numerator and denominator vary together.
func TestEstimateRatioCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	const runs, ratio = 2000, 0.03
	wrong := 0
	for range runs {
		y, x := make([]float64, 64), make([]float64, 64)
		for i := range y {
			for range 50 + rnd.IntN(100) {
				x[i]++
				if rnd.Float64() < ratio {
					y[i]++
				}
			}
		}
		if e := EstimateRatio(y, x); e.Why == None && math.Abs(e.Mean-ratio) > e.Half95 {
			wrong++
		}
	}
	if wrong > runs*8/100 {
		t.Errorf("wrong %d times of %d", wrong, runs)
	}
}

// The interval of a quantile covers it, of a distribution whose parts differ.
func TestQuantileCI95Covers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	const runs = 300
	for _, q := range []float64{0.5, 0.99} {
		exact := -math.Log(1-q) * 1e7 // ns, of the exponential distribution
		given, wrong := 0, 0
		for range runs {
			var whole Hist
			parts := make([]Sketch, 64)
			for i := range parts {
				for range 100 {
					ps := int64(rnd.ExpFloat64() * 1e10)
					whole.Record(ps)
					parts[i].Record(ps)
				}
			}
			share, e := QuantileCI95(&whole, parts, q)
			if e.Why != None {
				continue
			}
			given++
			if ns, _ := whole.QuantileNS(q); math.Abs(float64(ns)-exact) > share*float64(ns) {
				wrong++
			}
		}
		if given < runs*8/10 || wrong > given*8/100 {
			t.Errorf("q %v: %d of %d have an interval, %d of them wrong", q, given, runs, wrong)
		}
	}
}

// Durations that are all equal have a quantile without a doubt.
func TestQuantileCI95OfEqual(t *testing.T) {
	var whole Hist
	parts := make([]Sketch, 64)
	for i := range parts {
		for range 50 {
			whole.Record(1_700_000)
			parts[i].Record(1_700_000)
		}
	}
	if share, e := QuantileCI95(&whole, parts, 0.5); e.Why != None || share != 0 {
		t.Errorf("± %v, %+v", share, e)
	}
	if _, e := QuantileCI95(&Hist{}, parts, 0.5); e.Why != TooShort {
		t.Errorf("of nothing: %+v", e)
	}
}

func TestSketch(t *testing.T) {
	last := -1
	for _, ns := range []int64{0, 1, 31, 32, 33, 63, 64, 66, 1000, 1 << 20, histMaxNS, histMaxNS + 1} {
		b := bucketOf(ns)
		if b < last || b >= sketchBuckets {
			t.Errorf("%d ns are in bucket %d, less in %d of %d", ns, b, last, sketchBuckets)
		}
		last = b
	}
	var a, b Sketch
	a.Record(5_000)
	a.Record(7_000_000)
	b.Merge(&a)
	b.Merge(&Sketch{})
	if in, above := b.at(5); in != 1 || above != 1 || b.Count() != 2 {
		t.Errorf("%d, %d above, of %d", in, above, b.Count())
	}
	if n := testing.AllocsPerRun(100, func() { b.Reset(); b.Record(9_000) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSketch(b *testing.B) {
	var s Sketch
	for b.Loop() {
		s.Record(1_500_000)
	}
}
