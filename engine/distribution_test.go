package engine

import (
	"encoding/json"
	"math"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The histogram of a result is of all its commits, and says what its percentiles say; JSON keeps it.
func TestResultHasItsHistogram(t *testing.T) {
	r := mustRun(t, small(nil))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back result.Result
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
		t.Errorf("the longest took %g µs, by the histogram %g", r.LatencyUS.Max, last)
	}
}

// Each type has its own histogram, and together they are that of the result; the only type's is not repeated.
func TestTypesHaveTheirHistograms(t *testing.T) {
	r := mustRun(t, small(nil))
	all := map[float64]uint64{}
	var n uint64
	for name, x := range r.ByType { // order-free: sums
		h := r.HistogramOf(name)
		if h.Count() != x.Commits {
			t.Errorf("%s: %d latencies of %d commits", name, h.Count(), x.Commits)
		}
		n += h.Count()
		for i, c := range h.Counts {
			all[h.UpperUS[i]] += c
		}
	}
	if n != r.Commits || len(r.ByType) < 2 {
		t.Errorf("%d latencies of %d types, %d commits", n, len(r.ByType), r.Commits)
	}
	for i, c := range r.Histogram.Counts[:len(r.Histogram.Counts)-1] { // the last interval ends at the longest of all
		if got := all[r.Histogram.UpperUS[i]]; got > c {
			t.Errorf("below %g µs: %d of the types, %d of all", r.Histogram.UpperUS[i], got, c)
		}
	}
	one := mustRun(t, small(experiment.Knobs{"workload": "cycle", "workload.keys": 1000}))
	for name, x := range one.ByType { // order-free: there is one
		if x.Histogram != nil || one.HistogramOf(name).Count() != one.Commits {
			t.Errorf("%s: the only type's histogram is repeated, or has %d of %d commits", name, one.HistogramOf(name).Count(), one.Commits)
		}
	}
	if r.HistogramOf("nobody") != nil || r.HistogramOf("").Count() != r.Commits {
		t.Error("a type that there is not has latencies, or all together have none")
	}
}

// The latest windows, and of those only what ran under the present knobs.
func TestRecentLatencyIsUnderThePresentKnobs(t *testing.T) {
	s, err := Open(small(experiment.Knobs{"window_ns": 100_000}))
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
	if _, err := s.Set(experiment.Knobs{"coroutines": 1}, "test"); err != nil {
		t.Fatal(err)
	}
	if err := s.Advance(300_000); err != nil {
		t.Fatal(err)
	}
	if n := s.RecentLatency().Count(); n != commits(12) {
		t.Errorf("%d latencies since the change, with %d commits", n, commits(12))
	}
}
