package result

import (
	"encoding/json"
	"strings"
	"testing"

	"drtmx/engine/metrics"

	"drtmx/engine/experiment"
)

// Results come from files, which hold what they like: a list where a knob is, or
// numbers whose quotient is none.
func TestCompareTakesWhatAFileHolds(t *testing.T) {
	a := &Result{Spec: experiment.Knobs{"nodes": []any{1}, "later": map[string]any{"x": 1}}, Throughput: 1e-308, ThroughputCI95: 1}
	b := &Result{Spec: experiment.Knobs{"nodes": []any{2}, "later": map[string]any{"x": 1}}, Throughput: 1e308, ThroughputCI95: 1}
	c := Compare(a, b)
	if len(c.Spec) != 1 || c.Spec[0].Knob != "nodes" {
		t.Errorf("%+v", c.Spec)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
	if d := c.Metrics[0]; d.Metric != "throughput" || d.Change != nil || d.Half95 != 0 {
		t.Errorf("%+v", d)
	}
	a.Throughput, b.ThroughputCI95 = 1e300, 1e308
	if _, err := json.Marshal(Compare(a, b)); err != nil {
		t.Error(err)
	}
	if d := Compare(&Result{}, b).Metrics[0]; d.Change != nil {
		t.Errorf("%+v", d)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1e-9: "1e-09", 12.345: "12.35", 1234.5: "1234", 9999.7: "10 k", 12345: "12.3 k", -999_700: "-1 M", 999_700_000: "1 G", 1e12: "1 T",
	} {
		if got := Number(v); got != want {
			t.Errorf("number(%g) = %q, want %q", v, got, want)
		}
	}
}

// TestCompareOfOneRun: whoever compares a run with itself, as after setting a knob to its default, is told so.
func TestWindowInALine(t *testing.T) {
	w := Window{T0NS: 350_000, T1NS: 400_000, Throughput: 3.47e6, LatencyUS: metrics.Latency{P50: 34.3, P99: 57.2}}
	if s, want := w.String(), "350us to 400us: 3.47 M/s, p50 34.3 µs, p99 57.2 µs"; s != want {
		t.Errorf("%q, want %q", s, want)
	}
	if s, want := (Window{T1NS: 50_000}).String(), "0 to 50us: 0/s"; s != want {
		t.Errorf("%q, want %q", s, want)
	}
}

func TestCompareOfOneRun(t *testing.T) {
	const same = "no knob differs: the same run twice\n"
	r := &Result{Spec: experiment.Knobs{"nodes": 3}, Throughput: 1}
	if text := Compare(r, r).String(); !strings.HasPrefix(text, same) {
		t.Errorf("%q", text)
	}
	if text := Compare(r, &Result{Spec: experiment.Knobs{"nodes": 4}}).String(); strings.Contains(text, same) {
		t.Errorf("%q", text)
	}
}
