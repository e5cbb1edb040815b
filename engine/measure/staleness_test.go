package measure

import "testing"

func TestStaleness(t *testing.T) {
	s := NewStaleness(1)
	if s.Measured(0, false) != nil || s.Cut(1, 0, false) != nil || s.Recent() != nil {
		t.Error("a stat of no reads")
	}
	for i := range int64(2000) {
		s.Add(0, i*1000)
	}
	got := s.Cut(1, 3000, true)
	if got.Reads != 2000 || *got.P50 < 995 || *got.P50 > 1010 || *got.P99 < 1960 || *got.P99 > 2000 || got.Max != 1999 || *got.Bound != 3000 {
		t.Errorf("%+v: %d %d %d", got, *got.P50, *got.P99, *got.Bound)
	}
	if h := s.Recent(); h.Count() != 2000 {
		t.Errorf("%d reads in the latest windows", h.Count())
	}
	s.Mark()
	s.Add(0, 5_000)
	s.Close()
	s.Add(0, 9_000_000)
	if m := s.Measured(0, false); m.Reads != 1 || m.Max != 5 || m.P50 != nil || m.P99 != nil || m.Bound != nil {
		t.Errorf("of the measured interval: %+v", m)
	}
	if got := s.Cut(2, 0, false); got.Reads != 2 || got.Max != 9000 {
		t.Errorf("of the window after: %+v", got)
	}
	if h := s.Recent(); h.Count() != 2 {
		t.Errorf("%d reads under the new knobs", h.Count())
	}
	if s.Cut(2, 0, false) != nil {
		t.Error("a stat of an empty window")
	}
}
