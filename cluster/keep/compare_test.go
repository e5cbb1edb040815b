package keep

import (
	"math"
	"testing"

	"drtmx/cluster/runs/runstest"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Rows of several seeds are compared by their means, whose intervals are those over the seeds; a single run has its own.
func TestCompareOfSeeds(t *testing.T) {
	s := runstest.Own(t)
	of := func(digest string, throughput ...float64) *batch.SeedsResult {
		r := &batch.SeedsResult{Means: map[string]batch.Mean{}}
		sum := 0.0
		for i, x := range throughput {
			sum += x
			r.Runs = append(r.Runs, &result.Result{Digest: digest, Code: "c", Spec: experiment.Knobs{"workload": "smallbank", "preset": "drtm+h", "seed": i + 1}, Throughput: x})
		}
		r.Means["throughput"] = batch.Mean{Mean: sum / float64(len(throughput)), Half95: 3, N: len(throughput)}
		return r
	}
	for _, r := range []*batch.SeedsResult{of("a", 99, 101), of("b", 118, 122), of("c", 50)} {
		if _, err := Seeds(s, "", r); err != nil {
			t.Fatal(err)
		}
	}
	diff := func(a, b string) result.Diff {
		t.Helper()
		c, err := Compare(s, a, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Metrics {
			if d.Metric == "throughput" {
				return d
			}
		}
		t.Fatal("no throughput")
		return result.Diff{}
	}
	d := diff("r1", "r2")
	if d.A != 100 || d.B != 120 || math.Abs(*d.Change-0.2) > 1e-9 || math.Abs(d.Half95-1.2*math.Hypot(0.03, 0.025)) > 1e-9 {
		t.Errorf("%+v, change %g", d, *d.Change)
	}
	if d := diff("r1", "r3"); d.B != 50 || d.Half95 != 0 || d.Why != "of the second, there is one seed" {
		t.Errorf("%+v", d)
	}
	if d := diff("r1", "r2.1"); d.B != 118 || d.Half95 != 0 || d.Why == "" {
		t.Errorf("against a single run without an interval: %+v", d)
	}
}
