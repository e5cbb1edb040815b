package chapter4

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

func recipe(t *testing.T, id string) *figure.Recipe {
	t.Helper()
	return figuretest.RecipeOf(t, Figures(), id)
}

// resolved are the knobs of a figure's points by series and planned X.
func resolved(t *testing.T, id, scale string) map[string]map[float64]experiment.Knobs {
	t.Helper()
	r := recipe(t, id)
	specs, err := r.Specs(scale)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	out := map[string]map[float64]experiment.Knobs{}
	n := 0
	for _, s := range r.Plan(scale).Series {
		out[s.Name] = map[float64]experiment.Knobs{}
		for _, p := range s.Points {
			v, err := experiment.Resolve(specs[n])
			if err != nil {
				t.Fatalf("%s %s at %g: %v", id, s.Name, p.X, err)
			}
			out[s.Name][p.X] = v
			n++
		}
	}
	return out
}

// Quick scale takes half of the threads and RNICs and a share of the rows, and nothing else of what
// the thesis has.
func TestScales4(t *testing.T) {
	smaller := strings.Fields("threads nics workload.scale warmup_ns duration_ns")
	for _, d := range Figures() {
		if d.Form == figure.FormTable || d.Form == figure.FormRanking { // a ranking has smaller clusters
			continue
		}
		quick, paper := resolved(t, d.ID, figure.Quick), resolved(t, d.ID, figure.Paper)
		if len(quick) != len(paper) || len(quick) == 0 {
			t.Errorf("%s: %d lines, %d at paper scale", d.ID, len(quick), len(paper))
		}
		for name, line := range quick {
			for x, q := range line {
				p, ok := paper[name][x]
				if !ok {
					t.Errorf("%s: no %s at %g at paper scale", d.ID, name, x)
					continue
				}
				for knob, v := range q {
					if v != p[knob] && !slices.Contains(smaller, knob) {
						t.Errorf("%s %s at %g: %s is %v, %v at paper scale", d.ID, name, x, knob, v, p[knob])
					}
				}
				if p["threads"] != 24 || p["workload.scale"] != 1.0 || p["replicas"] != 3 || !strings.HasPrefix(d.ID, "4-7") && p["nodes"] != 16 {
					t.Errorf("%s %s at %g: not the thesis's cluster: %v", d.ID, name, x, p)
				}
				if ignores := p["workload.variant"] == "as-published"; ignores != strings.HasSuffix(name, figure.AbortsIgnored) {
					t.Errorf("%s %s: aborts ignored: %v", d.ID, name, ignores)
				}
			}
		}
	}
}

// Set-ups that are the thesis's same are the same runs.
func TestShared4(t *testing.T) {
	same := func(a, nameA string, xa float64, b, nameB string, xb float64) {
		t.Helper()
		x, y := resolved(t, a, figure.Quick)[nameA][xa], resolved(t, b, figure.Quick)[nameB][xb]
		if x == nil || len(x) != len(y) {
			t.Fatalf("no points: %s of %s at %g, %s of %s at %g", nameA, a, xa, nameB, b, xb)
		}
		for knob, v := range x {
			if y[knob] != v {
				t.Errorf("%s of %s and %s of %s: %s is %v and %v", nameA, a, nameB, b, knob, v, y[knob])
			}
		}
	}
	same("4-2b", oneSidedCached, 8, "4-3b", oneSided, 8)
	same("4-2b", oneSidedCached, 8, "4-5b", oneSided, 8)
	same("4-3b", twoSided, 8, "4-4b", oneSidedPA, 8)
	same("4-10a", drtmH+figure.AbortsIgnored, 0, "4-9a", drtmH+figure.AbortsIgnored, 1)
	same("4-10b", fasst+figure.AbortsIgnored, 0, "4-9a", fasst+figure.AbortsIgnored, 16)
	same("4-8a", manyCoroutines+figure.AbortsIgnored, 4, "4-9a", drtmR+figure.AbortsIgnored, 16)
	same("4-8a", oneCoroutine+figure.AbortsIgnored, 6, "4-8b", tailName+figure.AbortsIgnored, 6)
}

// READs for a record in figure 4-2: two without the cache, one with it, and more than is said are
// no one.
func TestReads42(t *testing.T) {
	for _, workload := range []string{tpccNo, smallBank} {
		k := figure.With(primitivesBase, experiment.Knobs{"workload": workload, "nodes": 4, "threads": 2, "workload.scale": 0.02})
		if workload == tpccNo {
			k["workload.scale"] = 0.1
		}
		f := figuretest.Planted(2, map[string][4]float64{oneSided: {1, 1, 1, 1}, oneSidedCached: {1, 1, 1, 1}})
		f.Runs[f.Line(oneSided).Points[0].Run].Spec = figure.With(k, experiment.Knobs{"cache.enabled": false})
		f.Runs[f.Line(oneSidedCached).Points[0].Run].Spec = k
		for i, want := range []float64{2, 1} {
			if c := executionReads(f, func(line string) string { return line })[i]; c.Status != figure.Holds || *c.Measured < want || *c.Measured > 1.1*want {
				t.Errorf("%s: %g, %+v", workload, *c.Measured, c)
			}
		}
		f.Series[0].Name, f.Series[1].Name = f.Series[1].Name, f.Series[0].Name
		for _, c := range executionReads(f, func(line string) string { return line }) {
			if c.Status != figure.Contradicted {
				t.Errorf("%s, the lines exchanged: %+v", workload, c)
			}
		}
	}
}

func TestLinear47(t *testing.T) {
	f := figuretest.Planted(2, map[string][4]float64{"A": {1, 1, 1, 1}})
	f.Y.Unit = "Mtxn/s"
	line := func(y float64) {
		f.Series[0].Points[0].X, f.Series[0].Points[0].Y, f.Series[0].Points[1].X, f.Series[0].Points[1].Y = 4, 10, 16, y
	}
	for y, want := range map[float64]string{40: figure.Holds, 36: figure.Holds, 30: figure.Contradicted, 34: figure.Undecided} {
		if line(y); linear(f, "A").Status != want {
			t.Errorf("10 on 4 machines, %g on 16: %+v", y, linear(f, "A"))
		}
	}
}

func TestTables4(t *testing.T) {
	if f := recipe(t, "t4-1").From(figure.Quick, nil); f.Draw(charts.Size{}).Option() == "" || f.Chart().Option() != "" {
		t.Error("a page gets no bars, or a notebook no table")
	}
	if accepted([]string{"logging"}, "one-sided", "db") || !accepted([]string{"logging"}, "two-sided", "db") {
		t.Error("the registry's word on doorbell batching of logging is not what is read")
	}
}

// tiny makes the systems of TPC-C/no small enough for a test of everything but numbers.
var tiny = cluster.Knobs{"nodes": 3, "threads": 1, "workload.items": 1000, "workload.customers": 100}

func TestBreakdown410(t *testing.T) {
	f, err := recipe(t, "4-10a").RunWith(context.Background(), figure.Quick, tiny, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Series {
		sum := 0.0
		for _, p := range s.Points {
			sum += p.Y
		}
		r := f.Runs[s.Points[0].Run]
		if len(s.Points) != 4 || math.Abs(sum-r.LatencyUS.Mean) > 0.02*r.LatencyUS.Mean {
			t.Errorf("%s: phases of %.4g µs, latency %.4g", s.Name, sum, r.LatencyUS.Mean)
		}
		if commit, _ := s.Named("C"); (commit.Y == 0) != (strings.HasPrefix(s.Name, drtmH)) {
			t.Errorf("%s: commit of %g µs", s.Name, commit.Y)
		}
	}
	text, err := json.Marshal(f)
	if err != nil || !strings.Contains(string(text), `"form":"stacked"`) {
		t.Errorf("%v %.200s", err, text)
	}
	_, _, parts, bars := f.Bars([]*figure.Figure{f})
	if len(parts) != 4 || len(bars) != 16 {
		t.Errorf("%d parts, %d bars", len(parts), len(bars))
	}
	if png, err := f.PNG(); err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
		t.Error(err)
	}
	if f.GapAt == nil || f.GapAt.Paper <= 0 {
		t.Errorf("%+v", f.GapAt)
	}
}

// The published numbers of figure 4-10 are beside its piles: each goes from where its phase begins to
// where the phase would end.
func TestExpectedPhases410(t *testing.T) {
	r := figure.New(breakdown("4-10b", 16))
	var results []*result.Result
	for range figuretest.PlannedRuns(r) {
		results = append(results, &result.Result{Steady: true, Throughput: 1, ThroughputCI95: 0.01, Spec: experiment.Knobs{"nodes": 16, "threads": 12},
			Phases: map[string]result.PhaseStat{"execution": {MeanUS: 100}, "lock": {MeanUS: 30}, "logging": {MeanUS: 20}, "commit": {MeanUS: 10}}})
	}
	_, _, _, bars := r.From(figure.Quick, results).Bars(nil)
	want := map[string][]charts.Expected{ // chapter4.csv: 22 %, 69 % and 75 % less, and at most 0.7 ms
		fasst + figure.AbortsIgnored: {{Text: "E: FaRM - 22 %", From: 0, To: 78}},
		drtmR + figure.AbortsIgnored: {{Text: "E: ≤700 §4.4.3", From: 0, To: 700}, {Text: "L: FaSST - 69 %", From: 130, To: 136.2}},
		farm + figure.AbortsIgnored:  {{Text: "L: FaSST - 75 %", From: 130, To: 135}},
	}
	for _, b := range bars {
		w := want[b.Name]
		if len(b.Expected) != len(w) {
			t.Errorf("%s: %+v, want %+v", b.Name, b.Expected, w)
			continue
		}
		for i, e := range b.Expected {
			if e.Text != w[i].Text || e.From != w[i].From || math.Abs(e.To-w[i].To) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", b.Name, e, w[i])
			}
		}
	}
}

// Curves have their loads, whatever is measured along X, and are drawn while points are
// still to come.
func TestCurves4(t *testing.T) {
	r := recipe(t, "4-5b").And(cluster.Knobs{"nodes": 3, "threads": 1, "nics": 1})
	var half *figure.Figure
	f, err := r.WatchWith(context.Background(), figure.Quick, nil, nil, func(done, total int, soFar func() *figure.Figure) {
		if done == total/2 {
			half = soFar()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Series {
		for i, p := range s.Points {
			if want := []int{1, 4, 8, 16}[i]; p.Load != want || p.X <= 0 || p.Y <= 0 || f.Runs[p.Run].Throughput != p.X*1e6 || f.Runs[p.Run].Spec["coroutines"] != want {
				t.Errorf("%s: %+v", s.Name, p)
			}
		}
	}
	if half == nil || half.Partial == nil || !strings.Contains(half.SVG(), "<svg") || !strings.Contains(half.String(), "coroutines") {
		t.Errorf("half of it: %+v", half)
	}
	if !strings.Contains(f.String(), "at 1 coroutine ") || f.GapAt.Load != 1 || f.GapAt.PaperX <= 0 {
		t.Errorf("%+v: %s", f.GapAt, f)
	}
}

// Bars stand in groups: the first of a group has its name.
func TestGroups(t *testing.T) {
	f := &figure.Figure{Form: figure.FormBars, Y: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Series: []figure.Series{
		{Name: oneCoroutine, Points: []figure.Point{{Name: "a", Y: 1, CI95: 0.5}, {Name: "b", Y: 2}}}, {Name: manyCoroutines, Points: []figure.Point{{Name: "a", Y: 3, CI95: 0.25}}}}}
	if text := f.String(); !strings.Contains(text, "\nb") {
		t.Error(text)
	}
	_, _, parts, bars := f.Bars(nil)
	if len(parts) != 2 || len(bars) != 3 || bars[0].Name != "a" || bars[1].Name != "" || bars[1].Values[1] != 3 || bars[0].CI != 0.5 || bars[1].CI != 0.25 || bars[2].Name != "b" || bars[2].Values[0] != 2 {
		t.Errorf("%v %v", parts, bars)
	}
}

// By the released code's formats SmallBank's execution requests and all commit messages have the published bytes; locks and TPC-C's
// execution requests have others.
func TestFormats42(t *testing.T) {
	for _, row := range phaseRows {
		m := tracePhases(row.workload, false)
		got := m.released(row.alone, row.mutable)
		for i, p := range tablePhases {
			b, published := got[p.phase].mean(), row.bytes[i]
			near := b > 0.95*published && b < 1.05*published
			switch {
			case p.id == "log":
				if b != 0 {
					t.Errorf("%s, %s: %g bytes of a format that is not known", row.name, p.name, b)
				}
			case near != (p.id == "commit" || p.id == "exec" && row.id == "sb"):
				t.Errorf("%s, %s: %.1f bytes, %g published", row.name, p.name, b, published)
			}
			if own := m.bytes[p.phase].mean(); own == 0 || p.id == "exec" && own >= published {
				t.Errorf("%s, %s: %g bytes without padding", row.name, p.name, own)
			}
		}
	}
}
