package calibration

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/published"
)

// The peaks of the primitives and the latency of a lone READ on VAL.
func TestPeaks(t *testing.T) {
	v, err := Verify(context.Background(), Options{Only: []string{
		"f2-4a-read-peak", "f2-4a-write-peak", "f2-4-atomic-peak", "f2-2b-ud-rpc-peak", "s2-rdma-lat",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Rows) != 5 {
		t.Fatalf("%d rows", len(v.Rows))
	}
	for _, r := range v.Rows {
		t.Logf("%s: %.2f %s, published %.2f (%+.1f %%)", r.ID, *r.Measured, r.Unit, *r.Reference, 100**r.Error)
		if !r.Pass || math.Abs(*r.Error) > 0.15 {
			t.Errorf("%s is more than 15 %% off", r.ID)
		}
	}
	if v.Err() != nil {
		t.Error(v.Err())
	}
}

// What is asked of the hardware model without a run.
func TestProbes(t *testing.T) {
	var ids []string
	for _, m := range measures() {
		if m.profile != "" {
			ids = append(ids, m.id)
		}
	}
	v, err := Verify(context.Background(), Options{Only: ids})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range v.Rows {
		if r.Configured && !r.Pass {
			t.Errorf("%s: %g, published %g", r.ID, *r.Measured, *r.Reference)
		}
	}
	if v.Err() != nil {
		t.Error(v.Err())
	}
}

// Ablation: where a socket tracks any number of lines, cores of the other one write
// as fast as its own.
func TestRemoteStoresUntracked(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	p.NVM.RemoteWrites.Value = 4096
	if share, err := crossSocket(p); err != nil || share < 95 {
		t.Errorf("%.3g %% of the local bandwidth, %v", share, err)
	}
}

func TestTable(t *testing.T) {
	uses := map[string]int{}
	ids := map[string]bool{}
	for _, p := range published.Table() {
		uses[p.Use]++
		if ids[p.ID] {
			t.Errorf("%s twice", p.ID)
		}
		ids[p.ID] = true
		if (p.Use == Order) != (p.To == 0) {
			t.Errorf("%s is %s with the value %g", p.ID, p.Use, p.To)
		}
		if p.From > p.To {
			t.Errorf("%s runs from %g to %g", p.ID, p.From, p.To)
		}
	}
	for _, u := range []string{Fit, Constant, Check, Order} {
		if uses[u] == 0 {
			t.Errorf("no %s rows", u)
		}
	}
	for _, p := range published.Table() {
		if (p.Contradicts != "" || p.Also != 0) && (p.Note == "" || !ids[p.Contradicts]) {
			t.Errorf("%s contradicts %q, because %q", p.ID, p.Contradicts, p.Note)
		}
	}
	if _, err := Verify(context.Background(), Options{Only: []string{"f9-9"}}); err == nil {
		t.Error("a row that does not exist is measured")
	}
}

// Every row is measured in one way, or it is said why not, and reasons are for rows.
func TestEveryRowIsMeasuredOrExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range measures() {
		if seen[m.id] {
			t.Errorf("%s is measured twice", m.id)
		}
		seen[m.id] = true
		if _, err := find(published.Table(), m.id); err != nil {
			t.Error(err)
		}
		ways := 0
		for _, how := range []bool{m.read != nil, m.figure != "", m.probe != nil, m.given != nil} {
			if how {
				ways++
			}
		}
		if ways != 1 || (m.read != nil) != (len(m.runs) > 0) || (m.profile != "") != (m.probe != nil || m.given != nil) {
			t.Errorf("%s is measured in %d ways", m.id, ways)
		}
	}
	reasons := map[string]bool{}
	for _, w := range unmeasured() {
		if w.Why == "" {
			t.Errorf("%s is neither measured nor explained", w.ID)
		}
		reasons[w.Why] = true
	}
	for _, w := range waits {
		if !reasons[w.reason] {
			t.Errorf("no row is left for which %s: %q", w.id, w.reason)
		}
	}
}

// What the record says to have passed is measured.
func TestRecordIsOfMeasuredRows(t *testing.T) {
	passed := passedBefore(passedFile)
	if len(passed) < 60 {
		t.Errorf("%d rows are recorded", len(passed))
	}
	for _, m := range measures() {
		delete(passed, m.id)
	}
	for id := range passed {
		t.Errorf("%s passed and is not measured any more", id)
	}
}

// With a table in which a number is another, its row fails if it passed before,
// and is named first.
func TestStepBackFails(t *testing.T) {
	doctored := slices.Clone(published.Table())
	for i := range doctored {
		if id := doctored[i].ID; id == "t2-2-uc" || id == "t2-2-ud" {
			doctored[i].From, doctored[i].To = 9, 9
		}
	}
	o := Options{Only: []string{"t2-2-rc", "t2-2-uc", "t2-2-ud"}}
	v, err := verify(context.Background(), o, doctored, "t2-2-rc\nt2-2-ud\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Err(); err == nil || !strings.HasSuffix(err.Error(), ": t2-2-ud") {
		t.Errorf("%v", err)
	}
	text := v.String()
	if first, _, _ := strings.Cut(text, "\n"); !strings.HasSuffix(first, ": t2-2-ud") {
		t.Errorf("begins with %q", first)
	}
	if !strings.Contains(text, "LOST  t2-2-ud") || !strings.Contains(text, "OFF   t2-2-uc") || string(v.Record()) != "t2-2-rc\n" {
		t.Errorf("%s\nrecord %q", text, v.Record())
	}
	if v, err = verify(context.Background(), o, published.Table(), "t2-2-rc\nt2-2-ud\n"); err != nil || v.Err() != nil {
		t.Errorf("with the right table: %v %v", err, v.Err())
	}
}

// Inside a range there is no error, of two published numbers the nearer counts,
// and only rows fail that passed before.
func TestJudging(t *testing.T) {
	num := func(x float64) *float64 { return &x }
	p := published.Row{ID: "r", Use: Fit, From: 1, To: 2}
	r := Row{Use: Fit}
	r.claimed(p, figure.Claim{Status: figure.Contradicted, Measured: num(2.1), Largest: num(2.1), Smallest: num(1.5), Why: "wide"})
	if r.Pass || *r.Reference != 2 || *r.Measured != 2.1 || math.Abs(*r.Error-0.05) > 1e-12 || r.Note != "the figure's claim is contradicted: wide" {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		p      published.Row
		c      figure.Claim
		passes bool
	}{
		{published.Row{From: 8, To: 8, Also: 12.5}, figure.Claim{Status: figure.Holds, Measured: num(13.2)}, true}, // of 12.5
		{published.Row{From: 8, To: 8}, figure.Claim{Status: figure.Contradicted, Measured: num(13.2)}, false},
		{published.Row{From: 8, To: 8}, figure.Claim{Status: figure.Holds, Measured: num(13.2)}, false},
		{published.Row{From: 37, To: 37}, figure.Claim{Status: figure.Undecided, Measured: num(38.5)}, false},
		{published.Row{From: 37, To: 37}, figure.Claim{Status: figure.Holds, Measured: num(38.5)}, true},
		{published.Row{From: 37, To: 37}, figure.Claim{Status: figure.Holds, Measured: num(45)}, false},
		{published.Row{Use: Order}, figure.Claim{Status: figure.Undecided, Measured: num(1.2)}, false},
		{published.Row{Use: Order}, figure.Claim{Status: figure.Holds, Measured: num(1.2)}, true},
	} {
		var r Row
		r.claimed(tt.p, tt.c)
		if r.Pass != tt.passes || r.Error != nil && r.Pass && math.Abs(*r.Error) > tolerance || (r.Error == nil) != (tt.p.Use == Order) {
			t.Errorf("%+v of %+v: %+v", tt.c, tt.p, r)
		}
	}
	for x, want := range map[float64]float64{1.5: 1.5, 0.9: 1, 3.8: 4, 2.5: 2} {
		p := published.Row{From: 1, To: 2, Also: 4}
		if got := p.Nearest(x); got != want {
			t.Errorf("%g is compared with %g, want %g", x, got, want)
		}
	}
	v := Report{Rows: []Row{r, {ID: "a", Use: Fit, Error: num(0.2)}, {ID: "b", Use: Fit, Error: num(-0.05)}, {ID: "c", Use: Order}}}
	v.count()
	if *v.FitWithin10 != 2.0/3 || *v.FitWithin25 != 1 {
		t.Errorf("%g %g", *v.FitWithin10, *v.FitWithin25)
	}
	none := Report{Rows: []Row{{ID: "c", Use: Order}}} // a share of nothing is none
	none.count()
	if text, err := json.Marshal(&none); err != nil || !strings.Contains(string(text), `"fit_within_10":null`) || !strings.Contains(none.String(), "none of these rows is counted") {
		t.Errorf("%s, %v\n%s", text, err, &none)
	}
	if v.Err() != nil {
		t.Error(v.Err())
	}
	v.Rows[3].Before = true
	if err := v.Err(); err == nil || !strings.Contains(err.Error(), "now: c") {
		t.Error(err)
	}
	r.judge(published.Row{Use: Constant, Unit: "count", From: 24, To: 24}, 25)
	if r.Pass {
		t.Error("25 is not 24")
	}
}
