package cluster

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The types of a result are drawn by name, and one that there is not is refused with those that there are.
func TestCDFOfTypes(t *testing.T) {
	r := &Result{Raw: &result.Result{ByType: map[string]result.TypeStat{
		"balance": {Commits: 2, Histogram: &result.Histogram{UpperUS: []float64{2, 4}, Counts: []uint64{1, 1}}},
		"payment": {Commits: 1, Histogram: &result.Histogram{UpperUS: []float64{9}, Counts: []uint64{1}}},
		"nothing": {},
	}}}
	svg := r.CDF("payment", "balance").SVG()
	for _, want := range []string{"payment", "balance", "share of requests"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	for name, want := range map[string]string{"transfer": "use one of balance, nothing, payment", "nothing": "measure longer"} { // order-free: cases of their own
		func() {
			defer func() {
				if x := recover(); x == nil || !strings.Contains(x.(error).Error(), want) {
					t.Errorf("%s: %v, want %q", name, x, want)
				}
			}()
			r.CDF(name)
		}()
	}
}

// Results over each other are named by the knobs that differ.
func TestCDFOfResults(t *testing.T) {
	withCoroutines := func(coroutines int) *Result {
		return &Result{Raw: &result.Result{Spec: experiment.Knobs{"coroutines": coroutines, "nodes": 4, "duration_ns": coroutines},
			Histogram: &result.Histogram{UpperUS: []float64{2, 4}, Counts: []uint64{1, 1}}}}
	}
	svg := CDF(withCoroutines(4), withCoroutines(8), withCoroutines(4)).SVG()
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
	(&Result{Raw: &result.Result{}}).CDF()
}
