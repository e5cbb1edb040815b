package charts

import (
	"math"
	"strings"
	"testing"
)

// A band is drawn in both forms: a line across each of its points, and one along each end of neighbours.
func TestBand(t *testing.T) {
	nan := math.NaN()
	s := Series{Name: "a", X: []float64{1, 2, 3}, Y: []float64{4, 5, 6}, CI: []float64{1, 1, 1},
		Band: []Between{{1.5, 3, 0.5, 5}, {2.5, 4, 1.5, 6}, {nan, nan, nan, nan}}}
	if got := s.edges(false, false); len(got) != 4 {
		t.Errorf("%d edges: %v", len(got), got)
	}
	if got := s.edges(true, true); len(got) != 4 {
		t.Errorf("%d edges on log axes", len(got))
	}
	with := Lines("t", Axis{}, Axis{}, []Series{s})
	s.Band = nil
	without := Lines("t", Axis{}, Axis{}, []Series{s})
	if a, b := strings.Count(with.SVG(), "<path"), strings.Count(without.SVG(), "<path"); a == b {
		t.Errorf("%d paths with and without a band", a)
	}
	if got := strings.Count(with.Option(), `"coord"`); got != 8 {
		t.Errorf("%d ends of marks in the interactive form, want 8: %s", got, with.Option())
	}
	if got := strings.Count(with.Option(), `"opacity":0.6`); got != 1 {
		t.Errorf("the band is as strong as the lines: %s", with.Option())
	}
}

// The band of a bar is drawn across its end in place of its interval, and the axis has room for it.
func TestBandOfBars(t *testing.T) {
	b := Bars{Values: []float64{10}, CI: 1, Low: 14, High: 8}
	if low, high, ok := b.interval(); low != 8 || high != 14 || !ok || b.reach() != 14 {
		t.Errorf("%g to %g, %v; reaches %g", low, high, ok, b.reach())
	}
	b.Low, b.High = 0, 0
	if low, high, ok := b.interval(); low != 9 || high != 11 || !ok {
		t.Errorf("%g to %g, %v", low, high, ok)
	}
}
