package figures

import (
	"math"
	"strings"
	"testing"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/prediction"
)

// ratioOf is a claim that compared two lines once.
func ratioOf(id string, most, least float64) Claim {
	r := func(v float64) ratio { return ratio{pair: pair{"A", "B"}, x: v, value: v, half: 0.001} }
	peak := most
	return Claim{ID: id, Status: Holds, Peak: &peak, most: r(most), least: r(least)}
}

// The verdict on a claim of chapter 4 is about the thesis's number, in the thesis's quantity.
func TestPublishedNumbersDecide(t *testing.T) {
	for _, tt := range []struct {
		id          string
		q           quantity
		most, least float64
		measured    float64
		want, says  string
	}{
		{"f4-2b-cache-tput", times, 1.36, 1.1, 1.36, Holds, "the thesis says 1.36x, the simulator 1.36x"},
		{"f4-2b-cache-tput", times, 1.1, 1.05, 1.1, Contradicted, "the thesis says 1.36x, the simulator 1.1x"},
		{"f4-2a-cache-tput", times, 1.45, 1.26, 1.45, Holds, "the thesis says 1.26 to 1.45x, the simulator 1.26 to 1.45x"},
		{"f4-2a-cache-tput", times, 1.45, 0.99, 1.45, Contradicted, "the simulator 0.99 to 1.45x"},
		{"f4-2a-cache-lat", shareOf, 1 / 0.69, 1 / 0.89, 69, Holds, "the thesis says 69 to 89 % of it, the simulator 69 to 89 % of it"},
		{"f4-2a-cache-lat", shareOf, 1 / 0.50, 1 / 0.89, 50, Contradicted, "50 to 89 % of it"},
		{"f4-2a-peak-one", moreBy, 1.13, 1.13, 13, Holds, "13 % more, the simulator 13 % more"},
		{"f4-2a-peak-one", moreBy, 0.9, 0.9, -10, Contradicted, "the simulator 10 % less"},
		{"f4-9a-lat-fasst", lessBy, 1 / 0.67, 1 / 0.67, 33, Holds, "33 % less, the simulator 33 % less"},
		{"f4-6-cache-lat", lessBy, 2, 2, 50, Holds, "the thesis says at least 20 % less, the simulator 50 % less"},
		{"f4-6-cache-lat", lessBy, 1.1, 1.1, 100 - 100/1.1, Contradicted, "at least 20 % less"},
	} {
		c := ratioOf(tt.id, tt.most, tt.least).in(tt.q)
		says := c.sentence()
		if c.Status != tt.want || math.Abs(*c.Measured-tt.measured) > 1e-9 || !strings.Contains(says, tt.says) || c.First == "" {
			t.Errorf("%s: %s, %g: %s; want %s, %g: %s", tt.id, c.Status, *c.Measured, says, tt.want, tt.measured, tt.says)
		}
	}
	short := ratioOf("f4-2b-cache-tput", 1.36, 1.36)
	short.short = true
	if c := short.in(times); c.Status != Undecided {
		t.Errorf("a run that is too short decides: %s", c.Status)
	}
}

// Limits are no points.
func TestBoundsDecide(t *testing.T) {
	most, _ := systemResult("f4-10b-exec-drtmr")
	if most.Bound != atMost || most.judge(0.3, 0.01, most.To) != Holds || most.judge(2, 0.01, most.To) != Contradicted || most.judge(0.8, 0.2, most.To) != Undecided {
		t.Errorf("%+v", most)
	}
}

// Every number of chapter4.csv that a figure can show is beside one of its claims, and
// its id is that of one claim.
func TestEachPublishedNumberHasItsClaim(t *testing.T) {
	claimed := map[string]bool{}
	for _, d := range figures4 {
		if d.form == formTable {
			continue
		}
		r := &Recipe{def: d}
		for _, c := range r.From(Quick, make([]*result.Result, plannedRuns(r))).Claims {
			claimed[c.ID] = true
			if p, ok := systemResult(c.ID); ok && c.Reference == "" {
				t.Errorf("%s: claim %s does not say %s %s", d.id, c.ID, p.text(), p.Unit)
			}
		}
	}
	for _, p := range SystemResults() {
		if p.From != 0 && !claimed[p.ID] && p.ID != emptyRPC {
			t.Errorf("no figure has %s: %s", p.ID, p.Claim)
		}
	}
}

// A prediction is compared as the ratio that its claim measures.
func TestPredictionsAreComparedAsMeasured(t *testing.T) {
	of := map[string]float64{"": 4, "more": 300, "less": 75, "share": 25} // what a ratio of 4 is called
	for _, d := range figures4 {
		if d.form == formTable {
			continue
		}
		r := &Recipe{def: d}
		for _, c := range r.From(Quick, make([]*result.Result, plannedRuns(r))).Claims {
			p, ok := prediction.Result(c.ID)
			if ok && p.Number() && c.as.of != nil && math.Abs(c.as.of(4)-of[p.Compare]) > 1e-9 {
				t.Errorf("%s is measured as %g of 4, and compared as %q", c.ID, c.as.of(4), p.Compare)
			}
		}
	}
}

// Nothing that is run knows the published results.
func TestPredictionsAreNoInputs(t *testing.T) {
	for _, p := range SystemResults() {
		if p.Use != "predict" || p.Section == "" {
			t.Errorf("%+v", p)
		}
		if _, fitted := row(p.ID); fitted {
			t.Errorf("%s is in the calibration table", p.ID)
		}
	}
}

// A point that the thesis's ratio expects is on the axis of what is compared, and only there.
func TestExpectedPlaces(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5, 70}})
	tput, lat := f.throughputs(), f.latencies()
	one := func(load float64) bool { return load == 1 }
	for _, tt := range []struct {
		c           Claim
		x, y        float64
		base, label string
	}{
		{tput.ahead("f4-2b-cache-tput", "", pair{"A", "B"}, true, one).in(times), 1.36, 10, "B", "1.36x B"},
		{lat.ahead("f4-6-one-lat", "", pair{"B", "A"}, true, one).in(shareOf), 2, 16, "B", "80 % of B"},
		{lat.ahead("f4-9a-lat-fasst", "", pair{"B", "A"}, true, one).in(lessBy), 2, 20 * 0.67, "B", "B - 33 %"},
	} {
		refs := f.relative(tt.c)
		if len(refs) != 1 {
			t.Fatalf("%s: %d places", tt.c.ID, len(refs))
		}
		if r := refs[0]; math.Abs(*r.X-tt.x) > 1e-9 || math.Abs(*r.To-tt.y) > 1e-9 || r.Relative != tt.base || r.mark(f.X) != tt.label {
			t.Errorf("%s: %g, %g, %+v", tt.c.ID, *r.X, *r.To, r)
		}
	}
}

// Thresholds are told as such.
func TestThresholds(t *testing.T) {
	f := &Figure{X: Axis{Label: "Load", Unit: "coroutines"}, Runs: []*result.Result{{}}, Series: []Series{
		wide("A", []float64{1, 4, 12}, []float64{1, 3, 3}, []float64{0.1, 0.1, 0.1}), wide("B", []float64{1, 4, 12}, []float64{2, 2, 2}, []float64{0, 0, 0}),
		wide("late", []float64{1, 4, 12}, []float64{1, 1, 3}, []float64{0.1, 0.1, 0.1}), wide("noisy", []float64{1, 4, 12}, []float64{1, 2.1, 3}, []float64{0.1, 0.8, 0.1})}}
	for _, tt := range []struct{ line, want, says string }{
		{"A", Contradicted, "ahead from 4 coroutines on, not yet at 1; the thesis says beyond 10 coroutines"},
		{"late", Holds, "ahead from 12 coroutines on, not yet at 4"},
		{"noisy", Undecided, "ahead from 4 coroutines on"},
	} {
		if c := f.crossing("c", "", "ahead", pair{tt.line, "B"}, 10); c.Status != tt.want || !strings.HasPrefix(c.Says, tt.says) {
			t.Errorf("%s: %s: %s", tt.line, c.Status, c.Says)
		}
	}
	if c := f.crossing("c", "", "ahead", pair{"B", "late"}, 1); !strings.HasPrefix(c.Says, "never ahead, up to 12 coroutines") || c.Status != Contradicted {
		t.Errorf("%s: %s", c.Status, c.Says)
	}
	halved := &Figure{ID: "2-16a", X: Axis{Unit: "bytes"}, Y: Axis{Unit: "Gbps"}, Runs: []*result.Result{{}}, Series: []Series{
		wide(ddioOn, []float64{256, 4096, 64 << 10, 128 << 10}, []float64{50, 44, 44, 44}, make([]float64, 4)),
		wide(ddioOff, []float64{256, 4096, 64 << 10, 128 << 10}, []float64{50, 91, 91, 91}, make([]float64, 4))}}
	if c := halved.halved216(); c.Says != "halves from 4 KB on; the thesis says from 64 KB on" {
		t.Error(c.Says)
	}
}

// Both states of a claim stand side by side in text and table.
func TestBothStatesAreShown(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {1, 20, 5, 60}, "B": {2, 10, 6, 50}, "A" + abortsIgnored: {2, 10, 6, 50}, "B" + abortsIgnored: {1, 20, 5, 60}})
	tput := f.throughputs()
	f.Claims = append(f.twice(func(n func(string) string) []Claim {
		return []Claim{tput.tops("c", "A is faster", pair{n("A"), n("B")})}
	}), Claim{Claim: "one state", Status: Holds})
	if s := f.Claims[0].States; len(s) != 2 || s[0].Name != stateIgnored || s[0].Status != Holds || s[1].Name != stateCorrect || s[1].Status != Contradicted {
		t.Errorf("%+v", s)
	}
	if text := f.String(); !strings.Contains(text, "\naborts ignored  correct protocol\n✓ holds         ✗ contradicted  A is faster: ") || !strings.Contains(text, "\n✓ holds                         one state: ") {
		t.Errorf("%s", text)
	}
	if h := f.claimTable(); strings.Count(h, "<th") != 5 || !strings.Contains(h, "✓ holds</span></td>") || !strings.Contains(h, "✗ contradicted</span></td>") || !strings.Contains(h, `colspan="2"`) {
		t.Error(h)
	}
	f.Claims[0].undecided("another experiment")
	if s := f.Claims[0]; s.Status != Undecided || s.States[0].Status != Undecided || s.States[1].Status != Undecided {
		t.Errorf("%+v", s)
	}
}
