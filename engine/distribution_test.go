package engine

import (
	"encoding/json"
	"math"
	"testing"
)

// The histogram of a result is of all its commits, and says what its percentiles say; JSON keeps it.
func TestResultHasItsHistogram(t *testing.T) {
	r := mustRun(t, small(nil))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	h := back.Histogram
	if h.Count() != r.Commits {
		t.Errorf("%d latencies of %d commits", h.Count(), r.Commits)
	}
	if below := h.Below(1.02 * r.LatencyUS.P50); math.Abs(below-0.5) > 0.06 {
		t.Errorf("%g of the latencies are below the median", below)
	}
	if last := h.UpperUS[len(h.UpperUS)-1]; last != r.LatencyUS.Max {
		t.Errorf("the longest took %g us, by the histogram %g", r.LatencyUS.Max, last)
	}
}

// The latest windows, and of those only what ran under the present knobs.
func TestRecentLatencyIsUnderThePresentKnobs(t *testing.T) {
	s, err := Open(small(Knobs{"window_ns": 100_000}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.RecentLatency() != nil {
		t.Error("a system that has not begun has latencies")
	}
	commits := func(from int) (n uint64) {
		for _, w := range s.Windows(from) {
			n += w.Commits
		}
		return n
	}
	if err := s.Advance(1_200_000); err != nil {
		t.Fatal(err)
	}
	if n := s.RecentLatency().Count(); n != commits(2) {
		t.Errorf("%d latencies in the latest ten windows with %d commits", n, commits(2))
	}
	if _, err := s.Set(Knobs{"coroutines": 1}, "test"); err != nil {
		t.Fatal(err)
	}
	if err := s.Advance(300_000); err != nil {
		t.Fatal(err)
	}
	if n := s.RecentLatency().Count(); n != commits(12) {
		t.Errorf("%d latencies since the change, with %d commits", n, commits(12))
	}
}
