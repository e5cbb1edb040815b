package figure

import (
	"strings"
	"testing"

	"drtmx/engine/result"
)

// line is a series over payloads 8, 64, 1024.
func line(name string, half float64, ys ...float64) Series {
	s := Series{Name: name}
	for i, y := range ys {
		s.Points = append(s.Points, Point{X: []float64{8, 64, 1024}[i], Y: y, CI95: half})
	}
	return s
}

// The verdicts, on invented points.
func TestVerdicts(t *testing.T) {
	everywhere := func(float64) bool { return true }
	nowhere := func(float64) bool { return false }
	f := &Figure{ID: "t", X: Axis{Unit: "bytes"}, Y: Axis{Unit: "Mreq/s"}, Runs: []*result.Result{{Bottleneck: &result.Bottleneck{Resource: "nic_tx", Utilization: 0.99}}},
		Series: []Series{line("a", 0.1, 160, 100, 20), line("b", 0.1, 100, 80, 19), line("noisy", 30, 100, 80, 19)}}
	tests := []struct {
		c    Claim
		want string
	}{
		{f.UpTo("c", "", "a", "b", everywhere, 1.6), Holds},
		{f.UpTo("c", "", "a", "b", everywhere, 1.3), Contradicted},
		{f.UpTo("c", "", "a", "noisy", everywhere, 1.5), Undecided},
		{f.UpTo("c", "", "a", "b", nowhere, 1.6), Undecided},
		{f.Between("c", "", "a", "b", everywhere, 1.05, 1.6), Holds},
		{f.Between("c", "", "a", "b", everywhere, 1.3, 1.6), Contradicted},
		{f.Above("c", "", everywhere, Pair{"a", "b"}), Holds},
		{f.Above("c", "", everywhere, Pair{"a", "b"}, Pair{"b", "a"}), Contradicted},
		{f.Above("c", "", everywhere, Pair{"a", "noisy"}), Undecided},
		{f.Value("c", "", "a", 64, 99), Holds},
		{f.Value("c", "", "a", 64, 50), Contradicted},
		{f.Value("c", "", "a", 65, 50), Undecided},
		{f.Highest("c", "", "b", func(x float64) bool { return x >= 64 }, 80), Holds},
	}
	for i, tt := range tests {
		if tt.c.Status != tt.want {
			t.Errorf("%d: %s, want %s: %s", i, tt.c.Status, tt.want, tt.c.Why)
		}
	}
	c := tests[0].c
	if *c.Measured != 1.6 || *c.Largest != 1.6 || *c.Smallest != 20.0/19 || *c.Peak != 1.6 || !strings.Contains(c.Why, "RNIC send pipeline 99 % busy") {
		t.Errorf("%v %v %v %v %s", *c.Measured, *c.Largest, *c.Smallest, *c.Peak, c.Why)
	}
}

// A gain holds only if its interval is above 1, however near the number is.
func TestGain(t *testing.T) {
	for _, x := range []struct {
		value, half, reference float64
		want                   string
	}{
		{1.06, 0.07, 1.13, Undecided}, {1.06, 0.01, 1.13, Holds}, {0.9, 0.02, 1.03, Contradicted}, {0.9, 0.02, 0.95, Holds}, {2, 0.1, 1.1, Contradicted},
	} {
		if got := Gain(x.value, x.half, x.reference); got != x.want {
			t.Errorf("%g ± %g for %g: %s, want %s", x.value, x.half, x.reference, got, x.want)
		}
	}
}

// For what two numbers are published for, either is accepted.
func TestValueOfTwo(t *testing.T) {
	for y, want := range map[float64]string{8.1: Holds, 13.2: Holds, 10.2: Contradicted, 20: Contradicted} {
		f := &Figure{Y: Axis{Unit: "Gbps"}, Series: []Series{{Name: "a", Points: []Point{{X: 0, Y: y, CI95: 0.1}}}}, Runs: []*result.Result{{}}}
		c := f.Value("f2-13b-h1-before", "", "a", 0, 8)
		if c.Status != want || c.Reference != "8 or 12.5" {
			t.Errorf("%g: %s of %s, want %s: %s", y, c.Status, c.Reference, want, c.Why)
		}
	}
}

// A claim about something counted in thousands says how many.
func TestMeasuredInFull(t *testing.T) {
	for v, want := range map[float64]string{1100.4: "1100 bytes", 48.94: "48.9 bytes", 0: "0 bytes"} {
		if got := (&Claim{Measured: &v, Unit: "bytes"}).MeasuredText(); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}
