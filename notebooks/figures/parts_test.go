package figures

import (
	"slices"
	"strings"
	"testing"

	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
	"drtmx/notebooks/figures/prediction"
)

// TestPartsBeforeTheRuns: every figure says how it is made and what it will run before anything has.
func TestPartsBeforeTheRuns(t *testing.T) {
	for _, x := range List() {
		for _, scale := range []string{figure.Quick, figure.Paper} {
			parts := PlannedParts(Get(x.ID), scale)
			for _, p := range parts {
				figuretest.WellFormed(t, "<div>"+p.HTML+"</div>")
			}
			if made := figuretest.PartOf(t, parts, "make"); !strings.Contains(made, "drtmx figure "+x.ID+" --scale "+scale) || !strings.Contains(made, "figures.Get(&#34;"+x.ID+"&#34;)") {
				t.Errorf("%s: %s", x.ID, made)
			}
			if slices.Contains(figuretest.PartNames(parts), "claims") {
				t.Errorf("%s has verdicts before it was computed", x.ID)
			}
		}
		recorded := slices.ContainsFunc(prediction.Recorded().Rows, func(r prediction.Row) bool { return r.Figure == x.ID })
		if has := slices.Contains(figuretest.PartNames(PlannedParts(Get(x.ID), figure.Quick)), "predictions"); has != (recorded && Get(x.ID).Predicts()) {
			t.Errorf("%s: predictions on the page: %v", x.ID, has)
		}
	}
}

// TestPartsOfAFigure: a computed figure tells its claims, numbers and runs.
func TestPartsOfAFigure(t *testing.T) {
	f := Get("2-2a").Quick()
	parts := Parts(f)
	for _, p := range parts {
		figuretest.WellFormed(t, "<div>"+p.HTML+"</div>")
	}
	if got := strings.Join(figuretest.PartNames(parts), " "); got != "claims published make runs" {
		t.Error(got)
	}
	claims := figuretest.PartOf(t, parts, "claims")
	for i := range f.Claims {
		if c := &f.Claims[i]; !strings.Contains(claims, `id="claim-`+c.ID+`"`) || !strings.Contains(claims, c.Status) {
			t.Errorf("%s is not in %s", c.ID, claims)
		}
	}
	if rows := figuretest.PartOf(t, parts, "published"); !strings.Contains(rows, "<td>63 %</td>") {
		t.Error(rows)
	}
	behind := figuretest.PartOf(t, parts, "runs")
	if n := strings.Count(behind, `<th scope="row">`); n != len(f.Runs) {
		t.Errorf("%d rows for %d runs", n, len(f.Runs))
	}
	for _, want := range []string{f.Runs[0].Digest, f.Runs[0].Limit.Text, "code version", "<dt>seed</dt><dd>1</dd>", "threads=4"} {
		if !strings.Contains(behind, want) {
			t.Errorf("no %q in %s", want, behind)
		}
	}
	if strings.Contains(behind, "style=") {
		t.Error("parts leave their style to the page")
	}
}
