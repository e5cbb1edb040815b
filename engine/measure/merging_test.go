package measure

import (
	"testing"

	"drtmx/engine/metrics"
)

// some is a distribution of n requests of us each.
func some(n int, us int64) *metrics.Hist {
	h := &metrics.Hist{}
	for range n {
		h.Record(us * 1e6)
	}
	return h
}

// Windows of 300 requests have a p99 in every fourth; one with enough has its own and is left alone, and
// windows before and after a change are not taken together.
func TestMergingTakesNeighbours(t *testing.T) {
	var m Merging
	for i, tt := range []struct {
		version, requests int
		us                int64
		p99               float64
		windows           int
	}{
		{1, 2000, 5, 0, 0}, {1, 300, 7, 0, 0}, {1, 300, 7, 0, 0}, {1, 300, 7, 0, 0}, {1, 300, 7, 7, 4},
		{1, 300, 7, 0, 0}, {1, 2000, 7, 7, 2}, // the one before it is not lost
		{1, 300, 7, 0, 0}, {2, 300, 9, 0, 0}, {2, 300, 9, 0, 0}, {2, 0, 0, 0, 0}, {2, 400, 9, 9, 4},
		{2, 0, 0, 0, 0}, {2, 1000, 9, 0, 0}, // what is empty has nothing to add
	} {
		got := m.Add(tt.version, some(tt.requests, tt.us))
		if got.P99Windows != tt.windows || got.P99US < tt.p99*0.999 || got.P99US > tt.p99*1.001 {
			t.Errorf("window %d: p99 %g of %d windows, not %g of %d", i, got.P99US, got.P99Windows, tt.p99, tt.windows)
		}
		if got.P50Windows != 0 {
			t.Errorf("window %d: has requests enough for its own p50", i)
		}
	}
}
