package result

import (
	"math"
	"strings"
	"testing"
)

// A comparison has intervals for the headline numbers, and where a side has none it says why.
func TestCompareIntervals(t *testing.T) {
	a := &Result{Throughput: 100, LatencyUS: Latency{P50: 10, P99: 40}, AbortRate: 0.1, RoundTripsPerTxn: 3,
		CI95: map[string]float64{"throughput": 0.03, "p50": 0.02, "p99": 0.1, "round_trips": 0}, NoCI95: map[string]string{"abort_rate": "still drifting: so it is"}}
	b := &Result{Throughput: 120, LatencyUS: Latency{P50: 12, P99: 44}, AbortRate: 0.2, RoundTripsPerTxn: 6,
		CI95: map[string]float64{"throughput": 0.04, "p50": 0.02, "abort_rate": 0.1, "round_trips": 0}, NoCI95: map[string]string{"p99": "too few independent batches: 3.1"}}
	c := Compare(a, b)
	want := map[string]Diff{
		"throughput": {Half95: 1.2 * 0.05}, "latency_us.p50": {Half95: 1.2 * math.Hypot(0.02, 0.02)}, "latency_us.p99": {Why: "of the second, too few independent batches: 3.1"},
		"abort_rate": {Why: "of the first, still drifting: so it is"}, "round_trips_per_txn": {},
	}
	for _, d := range c.Metrics {
		if w, ok := want[d.Metric]; ok {
			delete(want, d.Metric)
			if math.Abs(d.Half95-w.Half95) > 1e-12 || d.Why != w.Why {
				t.Errorf("%+v, want %+v", d, w)
			}
		}
	}
	a.CI95["abort_rate"], b.AbortRate, b.CI95["abort_rate"] = 0.1, 0, 0
	if text := Compare(a, b).String(); !strings.Contains(text, "-100.0 % (no interval: the second has none of it)") {
		t.Errorf("of no aborts:\n%s", text)
	}
	text := c.String()
	if len(want) > 0 || !strings.Contains(text, "+20.0 % (± 6.0)") || !strings.Contains(text, "+100.0 % (± 0.0)") || !strings.Contains(text, "no interval: of the first, still drifting") {
		t.Errorf("missing %v in\n%s", want, text)
	}
}
