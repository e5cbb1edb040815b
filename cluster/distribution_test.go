package cluster

import (
	"strings"
	"testing"

	"drtmx/engine"
)

// Results over each other are named by the knobs that differ.
func TestCDFOfResults(t *testing.T) {
	result := func(coroutines int) *Result {
		return &Result{Raw: &engine.Result{Spec: engine.Knobs{"coroutines": coroutines, "nodes": 4, "duration_ns": coroutines},
			Histogram: &engine.Histogram{UpperUS: []float64{2, 4}, Counts: []uint64{1, 1}}}}
	}
	svg := CDF(result(4), result(8), result(4)).SVG()
	for _, want := range []string{"first", "coroutines = 8", "result 3", "share of requests"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if strings.Contains(svg, "duration_ns") {
		t.Error("a line is named by how long was measured")
	}
	defer func() {
		if x := recover(); x == nil || !strings.Contains(x.(error).Error(), "measure longer") {
			t.Errorf("a result without commits: %v", x)
		}
	}()
	(&Result{Raw: &engine.Result{}}).CDF()
}
