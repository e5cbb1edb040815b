package workload

import (
	"fmt"
	"math"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

func random() *r2.Rand { return sim.New(sim.Options{Seed: 3}).Stream("dist", 0) }

// TestHotSet: hot and cold items partition [0, n), whatever divides what.
func TestHotSet(t *testing.T) {
	r := random()
	for _, c := range []struct {
		n        uint64
		permille int
	}{{100, 40}, {103, 40}, {7, 1000}, {150, 60}, {2, 1}, {1000, 333}, {1000, 999}} {
		h, err := NewHotSet(c.n, c.permille)
		if err != nil {
			t.Fatal(err)
		}
		hot, cold := map[uint64]bool{}, map[uint64]bool{}
		for range 200 * c.n {
			hot[h.DrawHot(r)] = true
			cold[h.DrawCold(r)] = true
		}
		if uint64(len(hot)) != h.Hot() {
			t.Errorf("%v: %d hot items drawn, there are %d", c, len(hot), h.Hot())
		}
		for i := range h.Hot() {
			if !hot[h.At(i)] || !h.IsHot(h.At(i)) {
				t.Errorf("%v: hot item %d is not hot", c, h.At(i))
			}
		}
		if h.Hot() < c.n {
			if uint64(len(hot)+len(cold)) != c.n {
				t.Errorf("%v: %d hot and %d cold", c, len(hot), len(cold))
			}
			for k := range cold {
				if hot[k] || h.IsHot(k) || k >= c.n {
					t.Errorf("%v: cold item %d", c, k)
				}
			}
		}
	}
	if _, err := NewHotSet(0, 40); err == nil {
		t.Error("a hot set of nothing")
	}
}

// TestScatter is a bijection and takes neighbours apart.
func TestScatter(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 1000, 4096} {
		s := NewScatter(n)
		seen := make([]bool, n)
		for i := range n {
			if seen[s.At(i)] {
				t.Fatalf("n %d: %d twice", n, s.At(i))
			}
			if back := s.Of(s.At(i)); back != i {
				t.Fatalf("n %d: %d is mapped to %d, and back to %d", n, i, s.At(i), back)
			}
			seen[s.At(i)] = true
		}
	}
}

// TestZipf: the hottest key's share is that of the reference (hardware.md), and
// the first ranks fall as they should.
func TestZipf(t *testing.T) {
	for n, zeta := range map[uint64]float64{100_000: 12.778338, 1_000_000: 15.391850, 10_000_000: 18.066243, 100_000_000: 20.802930} {
		z, err := NewZipf(n, 0.99)
		if err != nil {
			t.Fatal(err)
		}
		total := float64(math.MaxUint64)
		for rank := range 10 {
			below := 0.0
			if rank > 0 {
				below = float64(z.bound[rank-1])
			}
			got := (float64(z.bound[rank]) - below) / total
			want := math.Pow(float64(rank+1), -0.99) / zeta
			if math.Abs(got/want-1) > 1e-3 {
				t.Errorf("n %d rank %d: probability %.6f, want %.6f", n, rank, got, want)
			}
		}
	}
	z, _ := NewZipf(5000, 0.5)
	r := random()
	counts := make([]int, 5000)
	for range 1_000_000 {
		counts[z.Draw(r)]++
	}
	// P(rank < 1250) is nearly sqrt(1/4) for theta 1/2.
	n := 0
	for _, c := range counts[:1250] {
		n += c
	}
	if share := float64(n) / 1e6; math.Abs(share-0.497) > 0.005 {
		t.Errorf("the first quarter gets %.4f", share)
	}
	if _, err := NewZipf(10, 2); err == nil {
		t.Error("constant 2 is accepted")
	}
}

// fits is the chi-square test of counts against weights, at five standard deviations.
func fits(t *testing.T, what string, counts, weights []float64) {
	t.Helper()
	n, total, chi := 0.0, 0.0, 0.0
	for i := range counts {
		n, total = n+counts[i], total+weights[i]
	}
	for i, c := range counts {
		want := n * weights[i] / total
		chi += (c - want) * (c - want) / want
	}
	if free := float64(len(counts) - 1); math.Abs(chi-free) > 5*math.Sqrt(2*free) {
		t.Errorf("%s: chi-square of %.0f with %.0f degrees of freedom", what, chi, free)
	}
}

// TestShapes: ranks have the zipfian weights, the flat tail included, and hot and cold
// items come equally often each.
func TestShapes(t *testing.T) {
	r := random()
	for _, theta := range []float64{0, 0.5, 0.99, 1, 1.99} {
		const n = 4_000
		z, err := NewZipf(n, theta)
		if err != nil {
			t.Fatal(err)
		}
		counts, weights := make([]float64, 200), make([]float64, 200)
		for i := range n { // twenty to a class, so that each has some
			weights[i/20] += math.Pow(float64(i+1), -theta)
		}
		for range 400_000 {
			counts[z.Draw(r)/20]++
		}
		fits(t, fmt.Sprintf("zipf %g", theta), counts, weights)
	}
	h, err := NewHotSet(1_003, 40)
	if err != nil {
		t.Fatal(err)
	}
	hot, cold, even := make([]float64, h.Hot()), make([]float64, 1_003), make([]float64, 1_003)
	for range 200_000 {
		hot[h.DrawHot(r)/h.At(1)]++
		cold[h.DrawCold(r)]++
	}
	for i := range even {
		even[i] = 1
	}
	for i := range h.Hot() { // from behind, so that no other hot one moves
		at := h.At(h.Hot() - 1 - i)
		cold = append(cold[:at], cold[at+1:]...)
	}
	fits(t, "hot items", hot, even[:len(hot)])
	fits(t, "cold items", cold, even[:len(cold)])
}

// TestPower: our own powers agree with the library's.
func TestPower(t *testing.T) {
	for _, x := range []float64{1, 1.5, 2, 10, 1e3, 1e10} {
		for _, y := range []float64{-1.99, -0.99, -0.5, 0, 0.3} {
			if got, want := power(x, y), math.Pow(x, y); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("%g^%g = %g, want %g", x, y, got, want)
			}
		}
	}
}

func TestMix(t *testing.T) {
	m, err := NewMix([]string{"a", "b"}, []int{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	r := random()
	share := func() float64 {
		n := 0
		for range 100_000 {
			n += m.Pick(r)
		}
		return float64(n) / 100_000
	}
	if s := share(); math.Abs(s-0.75) > 0.01 {
		t.Errorf("b gets %.3f", s)
	}
	if err := m.Set("b", 0); err != nil || share() != 0 {
		t.Error("b was switched off and still comes")
	}
	for _, err := range []error{m.Set("a", 0), m.Set("a", -1), m.Set("c", 1)} {
		if err == nil {
			t.Error("an impossible weight is accepted")
		}
	}
	if n, err := m.Add("c", 5); n != 2 || err != nil {
		t.Errorf("added as %d, %v", n, err)
	}
	if _, err := m.Add("a", 1); err == nil {
		t.Error("a twice")
	}
	if _, err := NewMix([]string{"a"}, []int{0}); err == nil {
		t.Error("a mix of nothing")
	}
}

// Text is 16 letters for each random word, the lowest four bits first.
func TestTextIsLetters(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 24, 240} {
		x := NewBits(1, 2, 3)
		got, want := make([]byte, n), make([]byte, n)
		x.Text(got)
		y := NewBits(1, 2, 3)
		for i, r := 0, uint64(0); i < n; i, r = i+1, r>>4 {
			if i%16 == 0 {
				r = y.Next()
			}
			want[i] = 'a' + byte(r&15)
		}
		if string(got) != string(want) || x != y {
			t.Errorf("%d letters: %s, want %s", n, got, want)
		}
	}
}

// A popularity draws as its ranks say once it is on, takes what the knob takes, and keeps what it had
// when a value is refused.
func TestPopularity(t *testing.T) {
	p, err := NewPopularity(1000, 0)
	if err != nil || p.Skewed() {
		t.Fatalf("without a constant it is on %v: %v", p.Skewed(), err)
	}
	if err := p.Set(0.99); err != nil || !p.Skewed() {
		t.Fatal(err)
	}
	for _, bad := range []any{2.0, 1, "0.5", nil} {
		if p.Set(bad) == nil || !p.Skewed() {
			t.Errorf("%v is accepted, on %v", bad, p.Skewed())
		}
	}
	r := sim.New(sim.Options{Seed: 1}).Stream("popularity", 0)
	counts := make([]int, 1000)
	for range 100_000 {
		counts[p.Draw(r)]++
	}
	if a, b := counts[p.At(0)], counts[p.At(9)]; a < 5*b || b == 0 {
		t.Errorf("the first rank was drawn %d times, the tenth %d times", a, b)
	}
	if p.At(1) == p.At(0)+1 {
		t.Error("popular ranks are neighbours")
	}
}
