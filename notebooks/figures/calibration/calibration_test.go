package calibration

import (
	"context"
	"math"
	"strings"
	"testing"

	"drtmx/notebooks/figures"
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
		if m.probe != nil {
			ids = append(ids, m.id)
		}
	}
	v, err := Verify(context.Background(), Options{Only: ids})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range v.Rows {
		if !r.Pass {
			t.Errorf("%s: %g, published %g", r.ID, *r.Measured, *r.Reference)
		}
	}
}

func TestTable(t *testing.T) {
	uses := map[string]int{}
	ids := map[string]bool{}
	for _, p := range Table() {
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
	for _, m := range measures() {
		if !ids[m.id] {
			t.Errorf("%s is measured but not in rows.csv", m.id)
		}
		if p, _ := published(m.id); p.Use == Check && m.required {
			t.Errorf("%s is only compared, so it cannot be required", m.id)
		}
		for i, how := range []bool{m.read != nil, m.figure != "", m.probe != nil} {
			if how && (i != 0 && m.read != nil || i != 2 && m.probe != nil) {
				t.Errorf("%s is measured in two ways", m.id)
			}
		}
	}
	if _, err := Verify(context.Background(), Options{Only: []string{"f9-9"}}); err == nil {
		t.Error("a row that does not exist is measured")
	}
}

// Inside a range there is no error, of two published numbers the nearer counts,
// and only required rows fail.
func TestJudging(t *testing.T) {
	num := func(x float64) *float64 { return &x }
	p := Published{ID: "r", Use: Fit, From: 1, To: 2}
	r := Row{Use: Fit}
	r.claimed(p, figures.Claim{Status: figures.Contradicted, Measured: num(2.1), Largest: num(2.1), Smallest: num(1.5), Why: "wide"})
	if r.Pass || *r.Reference != 2 || *r.Measured != 2.1 || math.Abs(*r.Error-0.05) > 1e-12 || r.Note != "wide" {
		t.Errorf("%+v", r)
	}
	for x, want := range map[float64]float64{1.5: 1.5, 0.9: 1, 3.8: 4, 2.5: 2} {
		p := Published{From: 1, To: 2, Also: 4}
		if got := p.nearest(x); got != want {
			t.Errorf("%g is compared with %g, want %g", x, got, want)
		}
	}
	v := Report{Rows: []Row{r, {ID: "a", Use: Fit, Error: num(0.2)}, {ID: "b", Use: Fit, Error: num(-0.05)}, {ID: "c", Use: Order}}}
	v.count()
	if v.FitWithin10 != 2.0/3 || v.FitWithin25 != 1 {
		t.Errorf("%g %g", v.FitWithin10, v.FitWithin25)
	}
	if v.Err() != nil {
		t.Error(v.Err())
	}
	v.Rows[3].Required = true
	if err := v.Err(); err == nil || !strings.Contains(err.Error(), "off: c") {
		t.Error(err)
	}
	r.judge(Published{Use: Constant, Unit: "count", From: 24, To: 24}, 25)
	if r.Pass {
		t.Error("25 is not 24")
	}
}
