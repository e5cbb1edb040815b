package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// looks is every doubling of a side's length up to 400.
var looks = []int{8, 16, 32, 64, 128, 256, 400}

// Of two series with the same mean, however long they remember, few of those that are looked at again
// and again are ever said to differ; and the memory takes no interval away from a series much longer.
func TestContrastCoversAllLooks(t *testing.T) {
	const runs = 400
	for _, tt := range []struct {
		memory, given float64 // at least this share has an interval in the end
	}{{0, 1}, {0.5, 1}, {0.8, 0.99}, {0.9, 0.95}, {0.95, 0.6}} {
		rnd := rand.New(rand.NewPCG(11, 11))
		wrong, given := 0, 0
		for range runs {
			a, b := LongRunOf(remembering(rnd, 400, tt.memory)), remembering(rnd, 400, tt.memory)
			ever := false
			for _, n := range looks {
				l := LongRunOf(b[:n])
				c := ContrastOf(&a, &l)
				ever = ever || c.Short == 0 && math.Abs(c.Diff) > c.Half
				if n == 400 && c.Short == 0 {
					given++
				}
			}
			if ever {
				wrong++
			}
		}
		if float64(wrong) > 0.05*runs || float64(given) < tt.given*runs {
			t.Errorf("memory %v: of %d comparisons %d said at some look that equal series differ, %d have an interval in the end", tt.memory, runs, wrong, given)
		}
	}
}

// A difference of two standard deviations is found although the values remember each other, and what a
// longer series says agrees with it.
func TestContrastFindsADifference(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 12))
	const runs = 200
	found := 0
	for range runs {
		a, b := LongRunOf(remembering(rnd, 400, 0.8)), remembering(rnd, 281, 0.8)
		for i := range b {
			b[i] -= 2 / math.Sqrt(1-0.64)
		}
		l := LongRunOf(b)
		if c := ContrastOf(&a, &l); c.Short == 0 && c.Diff < -c.Half {
			found++
		}
	}
	if found < runs*98/100 {
		t.Errorf("%d of %d", found, runs)
	}
}

// Where a side is hardly longer than the memory, the length that would do is said, and does.
func TestContrastSaysWhatLengthWouldDo(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 13))
	const runs = 200
	short, enough := 0, 0
	for range runs {
		a, b := LongRunOf(remembering(rnd, 400, 0.9)), remembering(rnd, 1000, 0.9)
		l := LongRunOf(b[:20])
		c := ContrastOf(&a, &l)
		if c.Short == 0 {
			continue
		}
		short++
		if c.Short <= 20 {
			t.Fatalf("%d values are too few, and %d are said to do", 20, c.Short)
		}
		l = LongRunOf(b[:min(2*c.Short, len(b))])
		if c := ContrastOf(&a, &l); c.Short == 0 {
			enough++
		}
	}
	if short < runs*9/10 || enough < short*8/10 {
		t.Errorf("%d of %d series of 20 are too short; twice of what was said to do did for %d", short, runs, enough)
	}
}

// A drift makes the interval wider by half of its rise on each side; what differs by more is still said to differ.
func TestContrastOfADrift(t *testing.T) {
	rnd := rand.New(rand.NewPCG(14, 14))
	a := LongRunOf(remembering(rnd, 400, 0))
	x := remembering(rnd, 400, 0)
	for i := range x {
		x[i] += 20 + 10*float64(i)/400
	}
	b := LongRunOf(x)
	if c := ContrastOf(&a, &b); math.Abs(b.Drift-10) > 1 || c.Half < 5 || c.Half > 6 || c.Diff < c.Half {
		t.Errorf("%+v, drift %g", c, b.Drift)
	}
	same, flat := []float64{3, 3, 3, 3, 3, 3, 3, 3, 3}, LongRun{}
	flat = LongRunOf(same)
	if c := ContrastOf(&flat, &flat); c.Half != 0 || c.Diff != 0 || c.Short != 0 {
		t.Errorf("equal values: %+v", c)
	}
}

// The tables are the quantiles of the distribution: the area beyond is 0.005 and 0.025.
func TestQuantilesOfStudent(t *testing.T) {
	for _, df := range []float64{1, 2, 3, 7, 15, 30, 40} {
		lg, _ := math.Lgamma((df + 1) / 2)
		lh, _ := math.Lgamma(df / 2)
		scale := math.Exp(lg-lh) / math.Sqrt(df*math.Pi)
		for tail, q := range map[float64]float64{0.005: tQuantile995(df), 0.025: tQuantile975(df)} { // order-free: the cases are independent
			area := 0.0
			const steps = 200_000
			for i := range steps { // over u = q/x, from x = q to infinity
				u := (float64(i) + 0.5) / steps
				x := q / u
				area += scale * math.Pow(1+x*x/df, -(df+1)/2) * q / (u * u) / steps
			}
			if math.Abs(area-tail) > 1e-5 {
				t.Errorf("%g degrees of freedom: beyond %g are %g, not %g", df, q, area, tail)
			}
		}
	}
}
