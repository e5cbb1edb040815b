package chapter4

import (
	"math"
	"strings"
	"testing"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
	"drtmx/notebooks/figures/prediction"
	"drtmx/notebooks/figures/published"
)

// Every number of chapter4.csv that a figure can show is beside one of its claims, and
// its id is that of one claim.
func TestEachPublishedNumberHasItsClaim(t *testing.T) {
	claimed := map[string]bool{}
	for _, d := range Figures() {
		if d.Form == figure.FormTable {
			continue
		}
		r := figure.New(d)
		for _, c := range r.From(figure.Quick, make([]*result.Result, figuretest.PlannedRuns(r))).Claims {
			claimed[c.ID] = true
			if p, ok := published.FindSystem(c.ID); ok && c.Reference == "" {
				t.Errorf("%s: claim %s does not say %s %s", d.ID, c.ID, p.Text(), p.Unit)
			}
		}
	}
	for _, p := range published.Systems() {
		if strings.HasPrefix(p.ID[1:], "4-") && p.From != 0 && !claimed[p.ID] && p.ID != figure.EmptyRPC {
			t.Errorf("no figure has %s: %s", p.ID, p.Claim)
		}
	}
}

// A prediction is compared as the ratio that its claim measures.
func TestPredictionsAreComparedAsMeasured(t *testing.T) {
	of := map[string]float64{"": 4, "more": 300, "less": 75, "share": 25} // what a ratio of 4 is called
	for _, d := range Figures() {
		if d.Form == figure.FormTable {
			continue
		}
		r := figure.New(d)
		for _, c := range r.From(figure.Quick, make([]*result.Result, figuretest.PlannedRuns(r))).Claims {
			p, ok := prediction.Result(c.ID)
			if ok && p.Number() && c.Quantity.Of != nil && math.Abs(c.Quantity.Of(4)-of[p.Compare]) > 1e-9 {
				t.Errorf("%s is measured as %g of 4, and compared as %q", c.ID, c.Quantity.Of(4), p.Compare)
			}
		}
	}
}

// Thresholds are told as such.
func TestThresholds(t *testing.T) {
	f := &figure.Figure{X: figure.Axis{Label: "Load", Unit: "coroutines"}, Runs: []*result.Result{{}}, Series: []figure.Series{
		figuretest.Wide("A", []float64{1, 4, 12}, []float64{1, 3, 3}, []float64{0.1, 0.1, 0.1}), figuretest.Wide("B", []float64{1, 4, 12}, []float64{2, 2, 2}, []float64{0, 0, 0}),
		figuretest.Wide("late", []float64{1, 4, 12}, []float64{1, 1, 3}, []float64{0.1, 0.1, 0.1}), figuretest.Wide("noisy", []float64{1, 4, 12}, []float64{1, 2.1, 3}, []float64{0.1, 0.8, 0.1})}}
	for _, tt := range []struct{ line, want, says string }{
		{"A", figure.Contradicted, "ahead from 4 coroutines on, not yet at 1; the thesis says beyond 10 coroutines"},
		{"late", figure.Holds, "ahead from 12 coroutines on, not yet at 4"},
		{"noisy", figure.Undecided, "ahead from 4 coroutines on"},
	} {
		if c := f.Crossing("c", "", "ahead", figure.Pair{Above: tt.line, Below: "B"}, 10); c.Status != tt.want || !strings.HasPrefix(c.Says, tt.says) {
			t.Errorf("%s: %s: %s", tt.line, c.Status, c.Says)
		}
	}
	if c := f.Crossing("c", "", "ahead", figure.Pair{Above: "B", Below: "late"}, 1); !strings.HasPrefix(c.Says, "never ahead, up to 12 coroutines") || c.Status != figure.Contradicted {
		t.Errorf("%s: %s", c.Status, c.Says)
	}
}
