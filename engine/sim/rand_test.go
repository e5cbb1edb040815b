package sim_test

import (
	"math"
	"slices"
	"testing"

	"drtmx/engine/sim"
)

func stream(component string, id uint64) *sim.Rand {
	return sim.New(sim.Options{Seed: 42}).Stream(component, id)
}

// The streams are part of every recorded digest: these numbers must never
// change, on no architecture.
func TestStreamsAreFixed(t *testing.T) {
	r := stream("client", 3)
	got := []uint64{r.Uint64(), r.Uint64(), r.Uint64n(1000), uint64(r.Intn(7)), uint64(r.Exp(sim.Microsecond)), uint64(r.Exp(sim.Second))}
	want := []uint64{10968035769680850000, 9873732936705540593, 972, 5, 159493, 1957149158231}
	if !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
	if got, want := r.Perm(8), []int{3, 7, 2, 4, 5, 0, 1, 6}; !slices.Equal(got, want) {
		t.Errorf("permutation %v, want %v", got, want)
	}
	var sum uint64
	for range 10_000 {
		sum = sum*31 + uint64(r.Exp(sim.Nanosecond))
	}
	if want := uint64(11683176548896275596); sum != want {
		t.Errorf("sum over 10,000 exponentials %d, want %d", sum, want)
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := make(map[uint64]string)
	for seed := range uint64(3) {
		s := sim.New(sim.Options{Seed: seed})
		for _, c := range []string{"", "client", "clienu", "nic"} {
			for _, id := range []uint64{0, 1, 2, 1 << 32, 1 << 63} {
				x := s.Stream(c, id).Uint64()
				if old, ok := seen[x]; ok {
					t.Errorf("stream (%d, %q, %d) begins like %s", seed, c, id, old)
				}
				seen[x] = c
				if s.Stream(c, id).Uint64() != x {
					t.Errorf("stream (%d, %q, %d) is not repeatable", seed, c, id)
				}
			}
		}
	}
}

// TestUniform holds draws against the chi-squared distribution: with k classes
// its mean is k-1 and its standard deviation sqrt(2(k-1)).
func TestUniform(t *testing.T) {
	const n = 200_000
	chi := func(name string, counts []float64) {
		t.Helper()
		expect, x := n/float64(len(counts)), 0.0
		for _, c := range counts {
			x += (c - expect) * (c - expect) / expect
		}
		df := float64(len(counts) - 1)
		if math.Abs(x-df) > 5*math.Sqrt(2*df) {
			t.Errorf("%s: chi-squared %.1f with %.0f degrees of freedom", name, x, df)
		}
	}
	r := stream("uniform", 0)
	for _, k := range []int{2, 3, 10, 1000} {
		counts := make([]float64, k)
		for range n {
			counts[r.Intn(k)]++
		}
		chi("Intn", counts)
	}
	// Two thirds of 2^64: the range in which rejection matters.
	counts := make([]float64, 16)
	const big = math.MaxUint64 / 3 * 2
	for range n {
		counts[r.Uint64n(big)/(big/16+1)]++
	}
	chi("Uint64n", counts)
	// Neighbouring streams must not move together.
	a, b := stream("uniform", 1), stream("uniform", 2)
	counts = make([]float64, 16)
	for range n {
		counts[a.Uint64()>>62<<2|b.Uint64()>>62]++
	}
	chi("pairs of streams", counts)
	counts = make([]float64, 6)
	for range n {
		p := r.Perm(3)
		class := 2 * p[0]
		if p[1] > p[2] {
			class++
		}
		counts[class]++
	}
	chi("Perm", counts)
}

func TestPPM(t *testing.T) {
	r := stream("ppm", 0)
	for _, p := range []uint32{0, 10_000, 500_000, 1_000_000, 2_000_000} {
		const n = 200_000
		hits := 0.0
		for range n {
			if r.PPM(p) {
				hits++
			}
		}
		q := min(float64(p)/1e6, 1)
		if sigma := math.Sqrt(q * (1 - q) * n); math.Abs(hits-q*n) > 5*sigma {
			t.Errorf("%d ppm: %.0f hits of %d", p, hits, n)
		}
	}
}

// TestExp compares the distribution function, in whole and in the tail, and the
// first two moments with the exponential distribution.
func TestExp(t *testing.T) {
	const n = 1_000_000
	r := stream("exp", 0)
	x := make([]float64, n)
	sum, squares := 0.0, 0.0
	for i := range x {
		x[i] = float64(r.Exp(mean)) / float64(mean)
		sum += x[i]
		squares += x[i] * x[i]
	}
	if m := sum / n; math.Abs(m-1) > 5/math.Sqrt(n) {
		t.Errorf("mean %.5f", m)
	}
	if m := squares / n; math.Abs(m-2) > 5*math.Sqrt(20.0/n) {
		t.Errorf("second moment %.5f", m)
	}
	slices.Sort(x)
	worst := 0.0
	for i, v := range x {
		worst = max(worst, math.Abs(1-math.Exp(-v)-(float64(i)+0.5)/n))
	}
	if worst > 1.95/math.Sqrt(n) { // Kolmogorov-Smirnov at one in a thousand
		t.Errorf("distribution function off by %.5f", worst)
	}
	for _, tail := range []float64{5, 8, 11} {
		p := math.Exp(-tail)
		below, _ := slices.BinarySearch(x, tail)
		above := float64(n - below)
		if math.Abs(above-p*n) > 5*math.Sqrt(p*n) {
			t.Errorf("%.0f of %d are above %.0f means, want %.0f", above, n, tail, p*n)
		}
	}
	if got := r.Exp(0); got != 0 {
		t.Errorf("mean 0 gives %d", got)
	}
	for range 1000 {
		if got := r.Exp(100 * sim.Second); got < 0 || got > 4500*sim.Second {
			t.Errorf("mean of 100 s gives %d ps", got)
		}
	}
}

func TestZeroRangesPanic(t *testing.T) {
	r := stream("panic", 0)
	for name, f := range map[string]func(){"Uint64n": func() { r.Uint64n(0) }, "Intn": func() { r.Intn(-1) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of nothing returns", name)
				}
			}()
			f()
		}()
	}
}
