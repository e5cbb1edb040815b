package cluster

import "testing"

// What did not happen takes no time, which is known.
func TestQuantities(t *testing.T) {
	for metric, want := range map[string]string{"phases.commit.mean_us": "0 µs", "latency_us.p50": "0 µs", "throughput": "0 /s", "abort_rate": "0 %", "commits": "0"} {
		if got := quantity(metric, 0); got != want {
			t.Errorf("%s of 0: %q, want %q", metric, got, want)
		}
	}
}
