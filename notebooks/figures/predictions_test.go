package figures

import (
	"slices"
	"testing"

	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
	"drtmx/notebooks/figures/prediction"
)

// What is predicted: numbers, orders, and no row of the calibration table.
func TestPredictions(t *testing.T) {
	v, low, high := 104.0, 90.0, 120.0
	f := &figure.Figure{ID: "t4-3", Scale: figure.Quick, Claims: []figure.Claim{
		{ID: "s3-tt-bytes", Reference: "100", Measured: &v, Unit: "MB", Status: figure.Holds},
		{ID: "far", Reference: "50..100", Measured: &high, Largest: &high, Smallest: &low, Status: figure.Contradicted},
		{ID: "o", Claim: "a above b", Status: figure.Holds},
		{ID: "f3-3a-srkv", Reference: "24", Measured: &v, Status: figure.Contradicted}, // verify has it
	}}
	table := PredictionsOf("now", f)
	value := func(text, span, verdict string) prediction.Value {
		return prediction.Value{Name: "now", Scale: figure.Quick, Code: Get("t4-3").Code(figure.Quick), Command: "drtmx predict --run --figures t4-3 --scale quick", Value: text, Range: span, Verdict: verdict}
	}
	want := []prediction.Value{value("104", "", figure.Holds), value("120", "90..120", figure.Contradicted), value("", "", figure.Holds)}
	if len(table.Rows) != len(want) {
		t.Fatalf("%+v", table.Rows)
	}
	for i, r := range table.Rows {
		if len(r.Predictions) != 1 || r.Predictions[0] != want[i] {
			t.Errorf("%+v, want %+v", r, want[i])
		}
	}
	r := Report(table, "now")
	if *r.Rows[1].Error != 0.8 || r.Rows[1].Predictions[0].Stale {
		t.Errorf("%+v", r)
	}
}

// A row is stale if its figure takes other runs than those that made it.
func TestPredictionsOfOtherRuns(t *testing.T) {
	_, quick := Get("4-9b").Version(figure.Quick)
	if _, fewer := Get("4-9b").ForClaims().Version(figure.Quick); fewer != quick {
		t.Errorf("quick scale has no points to leave out: %s, %s", fewer, quick)
	}
	_, paper := Get("4-9b").Version(figure.Paper)
	if quick == paper || quick == "" {
		t.Errorf("runs at quick scale are %q, at paper scale %q", quick, paper)
	}
	claims := []figure.Claim{{ID: "f4-9b-order", Status: figure.Holds}}
	table := PredictionsOf("now", &figure.Figure{ID: "4-9b", Scale: figure.Quick, Claims: claims})
	if Report(table, "now").Rows[0].Predictions[1].Stale {
		t.Error("stale at once")
	}
	table.Rows[0].Predictions[0].Runs = paper
	if !Report(table, "now").Rows[0].Predictions[1].Stale {
		t.Error("other runs are not noticed")
	}
}

// Every figure with a recorded row is one whose predictions are asked for.
func TestRecordedFigures(t *testing.T) {
	for _, r := range prediction.Recorded().Rows {
		if !slices.ContainsFunc(Predicting(0), func(x *figure.Recipe) bool { return x.ID() == r.Figure }) {
			t.Errorf("%s is of %s, which predicts nothing", r.ID, r.Figure)
		}
	}
}

// At paper scale the claims are measured on the points that quick scale has too, on the thesis's machines.
func TestPointsForClaims(t *testing.T) {
	for _, id := range []string{"4-2a", "4-2b", "4-7a", "4-8a", "4-9a", "4-9b", "4-10b"} {
		r := Get(id).ForClaims()
		quick, paper, all := figuretest.PlannedRuns(r), 0, 0
		for _, s := range r.Plan(figure.Paper).Series {
			paper += len(s.Points)
		}
		for _, s := range Get(id).Plan(figure.Paper).Series {
			all += len(s.Points)
		}
		if paper != quick || all < paper {
			t.Errorf("%s: %d points at quick scale, %d for claims at paper scale of %d", id, quick, paper, all)
		}
		specs, err := r.Specs(figure.Paper)
		if err != nil || len(specs) != paper || specs[0].Set["threads"] != 24 {
			t.Errorf("%s: %d specs: %v %v", id, len(specs), err, specs[0])
		}
	}
}
