package engine

import (
	"testing"

	"drtmx/engine/experiment"
)

// What parts show of themselves is in every window and, by part, in the result; raw requests show nothing.
func TestGaugesOfParts(t *testing.T) {
	s := open(t, small(experiment.Knobs{"coroutines": 2, "cache.bytes": "64KiB"}))
	advance(t, s, 200_000)
	r := s.Result()
	if x := r.Parts["cache"]["hits"]; x <= 0 || x >= 100 { // of a cache that is too small
		t.Errorf("cache hits %g %%", x)
	}
	if r.Parts["locks"]["tried"] <= 0 || r.Parts["locks"]["local"] <= 0 {
		t.Errorf("locks: %v", r.Parts["locks"])
	}
	if _, ok := r.Metric("parts.cache.hits"); !ok {
		t.Error("a gauge is no metric")
	}
	tried := 0.0
	for _, w := range s.Windows(0) {
		tried += w.Gauges["locks.tried"] * float64(w.T1NS-w.T0NS) / 1e9
	}
	if got := r.Parts["locks"]["tried"] * float64(r.VirtualNS) / 1e9; tried < 0.99*got || tried > 1.01*got {
		t.Errorf("%.0f locks were tried in all windows, %.0f in the result", tried, got)
	}
	raw := open(t, small(experiment.Knobs{"workload": "micro-read", "workload.keys": 1000}))
	advance(t, raw, 50_000)
	if r := raw.Result(); r.Parts != nil {
		t.Errorf("raw requests show %v", r.Parts)
	}
}
