package prediction

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// today is a code that made everything that is recorded.
func today(string, string) (code, runs string) { return "src-a", "" }

func countOf(t *testing.T, r *Report, name string) Count {
	t.Helper()
	i := slices.IndexFunc(r.Columns, func(c Counted) bool { return c.Column == Column{Name: name} })
	if i < 0 {
		t.Fatalf("no column %s: %+v", name, r.Columns)
	}
	return r.Columns[i].Count
}

// The rule of comparison gives the counts of the first predictions that were published with them. Of the ranges of chapters 3 and 5
// both ends count here, where the largest alone was told.
func TestFirstCounts(t *testing.T) {
	for chapter, want := range map[int]struct{ systems, models Count }{
		3: {Count{Numbers: 64, Within10: 7, Within20: 16, Within35: 37, Orders: 6, OrdersHold: 2, OrdersContradicted: 1, OrdersUndecided: 3}, Count{Numbers: 16, Within10: 2, Within20: 2, Within35: 3}},
		4: {Count{Numbers: 35, Within10: 4, Within20: 14, Within35: 25, Orders: 16, OrdersHold: 8, OrdersContradicted: 2, OrdersUndecided: 6}, Count{}},
		5: {Count{Numbers: 31, Within10: 1, Within20: 8, Within35: 15, Orders: 5, OrdersHold: 1, OrdersUndecided: 4}, Count{}},
	} {
		r := Of(Recorded().Only(func(r *Row) bool {
			return strings.Contains(r.Figure, fmt.Sprintf("%d-", chapter)) && !strings.HasPrefix(r.Figure, "2-")
		}), Now, "src-a", today)
		if got := countOf(t, r, First); got != want.systems {
			t.Errorf("chapter %d: %+v, want %+v", chapter, got, want.systems)
		}
		models := Count{}
		if len(r.Models) > 0 {
			models = r.Models[0].Count
		}
		if models != want.models {
			t.Errorf("models of chapter %d: %+v, want %+v", chapter, models, want.models)
		}
	}
}

// A number is compared as the ratio that it tells, of a range the end that is farther off.
func TestOff(t *testing.T) {
	for _, tt := range []struct {
		id, predicted string
		want          float64
	}{
		{"f4-2a-peak-one", "13", 0},
		{"f4-2a-peak-one", "-0.66", 0.9934/1.13 - 1},
		{"f4-9a-lat-fasst", "21.4", 0.786/0.67 - 1},
		{"f4-10a-exec-farm", "-12.3", 1.123/0.87 - 1},
		{"f4-2a-cache-lat", "81.6..100", 81.6/69 - 1},
		{"f4-9a-fasst", "1.13..1.99", 1.99/2.96 - 1},
		{"f4-2a-lat-crossover", "2..4", -0.8},
		{"f4-10b-exec-drtmr", "0.35", -0.5}, // a limit counts as a number
		{"f3-15-d-uni", "1.956..3.362", 1.956/2.7 - 1},
		{"t3-3-drop", "70.67", 0.2933/0.76 - 1},
		{"f5-11b-vts", "1.172..1.477", 1.172/1.47 - 1},
		{"f5-15a-overhead", "0.2641", 1.002641/1.83 - 1},
	} {
		p, ok := Result(tt.id)
		if got, compared := p.Off(tt.predicted); !ok || !compared || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s of %s: %g, want %g", tt.predicted, tt.id, got, tt.want)
		}
	}
	order, _ := Result("f4-2-order")
	if _, ok := order.Off("1.2"); ok {
		t.Error("an order has an error")
	}
}

// The published file says of every share how it is compared, and its orders consist of something.
func TestPublishedFile(t *testing.T) {
	compares := []string{"", compareMore, compareLess, compareShare}
	for _, p := range Results() {
		if !slices.Contains(compares, p.Compare) || (p.Unit == "%") != (p.Compare != "") || p.Order() && p.From != 0 || p.Number() && p.From == 0 || len(p.Claims) == 0 || p.Chapter == 0 {
			t.Errorf("%+v", p)
		}
		if p.Order() && p.First != "" && verdictOf[p.FirstVerdict] == "" {
			t.Errorf("%s: first verdict %q", p.ID, p.FirstVerdict)
		}
	}
}

// What drtmx predict printed before columns had names is a column.
func TestReadsUnnamed(t *testing.T) {
	table, err := Read([]byte(`{"rows": [{"id": "a", "figure": "f", "claim": "c", "published": "1..2", "predictions": [{"code": "first", "value": "1"}, {"code": "src-b", "value": "3", "range": "2..3"}], "error": 1, "verdict": "holds"},
		{"id": "b", "figure": "f", "claim": "c", "published": null, "predictions": [], "verdict": "undecided"}], "within_10": 1}`), "before")
	if err != nil || len(table.Rows) != 2 {
		t.Fatal(table, err)
	}
	want := Value{Name: "before", Code: "src-b", Value: "3", Range: "2..3", Verdict: "holds"}
	if got := table.Rows[0].Predictions; len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	if got := table.Rows[1].Predictions; len(got) != 1 || got[0] != (Value{Name: "before", Code: "src-b", Verdict: "undecided"}) {
		t.Errorf("%+v", got)
	}
	if _, err := Read([]byte("{"), "x"); err == nil {
		t.Error("half a file is a table")
	}
}

func rowOf(id, figure string, values ...Value) Row {
	return Row{ID: id, Figure: figure, Predictions: values}
}

// A figure that was computed again replaces its own column and nothing else.
func TestPut(t *testing.T) {
	base, old, now := Value{Name: Baseline, Value: "1"}, Value{Name: Now, Value: "2"}, Value{Name: Now, Value: "3"}
	table := &Table{Rows: []Row{rowOf("a", "f", base, old), rowOf("gone", "f", old), rowOf("was", "f", base, old), rowOf("a", "g", old)}}
	table.Put(&Table{Rows: []Row{rowOf("a", "f", now), rowOf("new", "f", now)}})
	var got []string
	for _, r := range table.Rows {
		text := r.ID + r.Figure
		for _, v := range r.Predictions {
			text += " " + v.Name + v.Value
		}
		got = append(got, text)
	}
	if want := []string{"af baseline1 now3", "wasf baseline1", "ag now2", "newf now3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	table.Put(&Table{Rows: []Row{rowOf("a", "g", Value{Name: Now, Scale: paper, Value: "4"})}})
	if r := table.Rows[2]; len(r.Predictions) != 2 {
		t.Errorf("paper scale replaces quick scale: %+v", r)
	}
}

// What was computed again without a band, and comes out as it was, keeps it; the band says if other code made it.
func TestPutKeepsBands(t *testing.T) {
	band := Band{Factor: 2, Fewer: "1", More: "3"}
	was := Value{Name: Now, Code: "src-a", Runs: "runs-a", Value: "2", Band: &band}
	by := func(code string) *Band { b := band; b.Code = code; return &b }
	for _, x := range []struct {
		change func(v *Value)
		want   *Band
	}{
		{func(*Value) {}, &band},
		{func(v *Value) { v.Code = "src-b" }, by("src-a")}, {func(v *Value) { v.Runs = "runs-b" }, by("src-a")}, {func(v *Value) { v.Value = "2.1" }, nil},
		{func(v *Value) { v.Scale = paper }, nil},
	} {
		now := was
		now.Band = nil
		x.change(&now)
		table := &Table{Rows: []Row{rowOf("a", "f", was)}}
		other := &Table{Rows: []Row{rowOf("a", "f", now)}}
		table.Put(other)
		p := table.Rows[0].Predictions
		if got := p[len(p)-1].Band; (got == nil) != (x.want == nil) || got != nil && *got != *x.want || other.Rows[0].Predictions[0].Band != nil {
			t.Errorf("%+v: %+v, want %+v", now, got, x.want)
		}
	}
}

// A report has what follows: errors of each column, the worst verdict of an order's panels, and what is stale.
func TestReport(t *testing.T) {
	at := func(code, value, verdict string) Value {
		return Value{Name: Now, Scale: "quick", Code: code, Value: value, Verdict: verdict}
	}
	r := Of(&Table{Rows: []Row{
		rowOf("f4-2b-cache-tput", "4-2b", at("src-a", "1.36", holds)), rowOf("f4-3-order", "4-3a", at("src-a", "1.1", holds)),
		rowOf("f4-3-order", "4-3b", at("src-b", "0.9", contradicted)), rowOf("f3-22a-tt", "3-22a", at("src-a", "98", holds)),
	}}, Now, "src-a", today)
	if *r.Rows[0].Error != 0 || r.Rows[0].Verdict != holds || r.Rows[0].Predictions[0].Value != "1.16" || !r.Rows[0].Counted || r.Rows[3].Counted || len(r.Models) != 2 || r.Models[1].Count != (Count{Numbers: 1, Within10: 1, Within20: 1, Within35: 1}) {
		t.Errorf("%+v", r)
	}
	if r.Rows[1].Predictions[1].Stale || !r.Rows[2].Predictions[1].Stale {
		t.Errorf("stale: %+v", r.Rows)
	}
	// 4-3 is contradicted in one panel, and so is the order that it is a part of.
	if want := (Count{Numbers: 1, Within10: 1, Within20: 1, Within35: 1, Orders: 2, OrdersContradicted: 2}); r.Count != want {
		t.Errorf("%+v, want %+v", r.Count, want)
	}
	if l := r.Rows[len(r.Rows)-1]; l.ID != "s4-order-same-rtt" || l.Verdict != contradicted {
		t.Errorf("%+v", l)
	}
	text := r.String()
	for _, says := range []string{"0.9*", "recorded with code src-b", "today, models alone", "+0 %"} {
		if !strings.Contains(text, says) {
			t.Errorf("no %q in\n%s", says, text)
		}
	}
}

// Where nothing is recorded a reader is told what to do.
func TestNothingRecorded(t *testing.T) {
	r := Of(&Table{}, Now, "src-a", today)
	if r.Rows == nil || r.Columns == nil || !strings.Contains(r.String(), "predict --run") {
		t.Errorf("%+v: %s", r, r)
	}
}

// The recorded file is as it would be written: no derived number in it, and each row once.
func TestRecordedFile(t *testing.T) {
	text, err := Recorded().JSON()
	if err != nil || string(text) != string(recordedFile) {
		t.Errorf("recorded.json is not as it would be written: %v", err)
	}
	seen := map[string]bool{}
	for _, r := range Recorded().Rows {
		key, _ := json.Marshal([]string{r.ID, r.Figure})
		if seen[string(key)] || len(r.Predictions) == 0 {
			t.Errorf("%+v", r)
		}
		seen[string(key)] = true
	}
}
