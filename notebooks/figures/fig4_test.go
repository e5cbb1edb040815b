package figures

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
)

func recipe(t *testing.T, id string) *Recipe {
	t.Helper()
	r, err := Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
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
	for _, s := range r.plan(scale).series {
		out[s.name] = map[float64]experiment.Knobs{}
		for _, p := range s.points {
			v, err := experiment.Resolve(specs[n])
			if err != nil {
				t.Fatalf("%s %s at %g: %v", id, s.name, p.x, err)
			}
			out[s.name][p.x] = v
			n++
		}
	}
	return out
}

// Quick scale takes half of the threads and RNICs and a share of the rows, and nothing else of what
// the thesis has.
func TestScales4(t *testing.T) {
	smaller := strings.Fields("threads nics workload.scale warmup_ns duration_ns")
	for _, d := range figures4 {
		if d.form == formTable {
			continue
		}
		quick, paper := resolved(t, d.id, Quick), resolved(t, d.id, Paper)
		if len(quick) != len(paper) || len(quick) == 0 {
			t.Errorf("%s: %d lines, %d at paper scale", d.id, len(quick), len(paper))
		}
		for name, line := range quick {
			for x, q := range line {
				p, ok := paper[name][x]
				if !ok {
					t.Errorf("%s: no %s at %g at paper scale", d.id, name, x)
					continue
				}
				for knob, v := range q {
					if v != p[knob] && !slices.Contains(smaller, knob) {
						t.Errorf("%s %s at %g: %s is %v, %v at paper scale", d.id, name, x, knob, v, p[knob])
					}
				}
				if p["threads"] != 24 || p["workload.scale"] != 1.0 || p["replicas"] != 3 || !strings.HasPrefix(d.id, "4-7") && p["nodes"] != 16 {
					t.Errorf("%s %s at %g: not the thesis's cluster: %v", d.id, name, x, p)
				}
				if ignores := p["workload.variant"] == "as-published"; ignores != strings.HasSuffix(name, abortsIgnored) {
					t.Errorf("%s %s: aborts ignored: %v", d.id, name, ignores)
				}
			}
		}
	}
}

// Set-ups that are the thesis's same are the same runs.
func TestShared4(t *testing.T) {
	same := func(a, nameA string, xa float64, b, nameB string, xb float64) {
		t.Helper()
		x, y := resolved(t, a, Quick)[nameA][xa], resolved(t, b, Quick)[nameB][xb]
		if x == nil || len(x) != len(y) {
			t.Fatalf("no points: %s of %s at %g, %s of %s at %g", nameA, a, xa, nameB, b, xb)
		}
		for knob, v := range x {
			if y[knob] != v {
				t.Errorf("%s of %s and %s of %s: %s is %v and %v", nameA, a, nameB, b, knob, v, y[knob])
			}
		}
	}
	same("4-2b", cached42, 8, "4-3b", oneSided4, 8)
	same("4-2b", cached42, 8, "4-5b", oneSided4, 8)
	same("4-3b", twoSided4, 8, "4-4b", oneSidedPA, 8)
	same("4-10a", drtmH+abortsIgnored, 0, "4-9a", drtmH+abortsIgnored, 1)
	same("4-10b", fasst+abortsIgnored, 0, "4-9a", fasst+abortsIgnored, 16)
	same("4-8a", sixteen48+abortsIgnored, 4, "4-9a", drtmR+abortsIgnored, 16)
	same("4-8a", one48+abortsIgnored, 6, "4-8b", tail48+abortsIgnored, 6)
}

// planted is a figure of curves with points at 1 and 16 coroutines, half of the interval
// in per cent.
func planted(percent float64, lines map[string][4]float64) *Figure {
	f := &Figure{ID: "t", Form: formCurves, X: Axis{Label: "Throughput", Unit: "Mtxn/s"}, Y: Axis{Label: "Median latency", Unit: "us"}}
	for _, name := range sortedLines(lines) {
		v := lines[name]
		s := Series{Name: name}
		for i, load := range []int{1, 16} {
			s.Points = append(s.Points, Point{X: v[2*i], XCI95: v[2*i] * percent / 100, Y: v[2*i+1], CI95: v[2*i+1] * percent / 100, Load: load, Run: len(f.Runs)})
			f.Runs = append(f.Runs, &result.Result{Spec: experiment.Knobs{"nodes": 16, "threads": 24}, Throughput: v[2*i] * 1e6, RoundTripsPerTxn: 3,
				Utilization: map[string]result.Util{"cpu": {Mean: 0.5}}, Bottleneck: &result.Bottleneck{Resource: "nic_tx", Utilization: 0.9},
				Phases: map[string]result.PhaseStat{"execution": {MeanUS: v[2*i+1], RoundTrips: v[2*i+1]}}})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func sortedLines(m map[string][4]float64) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestClaims4(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5.9, 62}, "C": {2.2, 9, 4, 90}})
	tput, lat := f.throughputs(), f.latencies()
	sixteen := func(load float64) bool { return load == 16 }
	for i, tt := range []struct {
		c    Claim
		want string
	}{
		{tput.ahead("c", "", pair{"A", "B"}, true, everywhere), Undecided}, // alike under 16
		{tput.ahead("c", "", pair{"A", "B"}, false, everywhere), Holds},
		{tput.ahead("c", "", pair{"C", "A"}, true, everywhere), Contradicted},
		{lat.ahead("c", "", pair{"C", "A"}, true, sixteen), Holds},
		{lat.ahead("c", "", pair{"C", "A"}, true, everywhere), Contradicted},
		{lat.ahead("c", "", pair{"C", "A"}, true, func(float64) bool { return false }), Undecided},
		{tput.tops("c", "", pair{"A", "C"}), Holds},
		{tput.tops("c", "", pair{"C", "A"}), Contradicted},
		{f.trips("c", "", "A", "execution", 10), Holds},
		{f.trips("c", "", "A", "execution", 5), Contradicted},
		{f.trips("c", "", "A", "logging", 1), Contradicted}, // none at all
		{all("c", "", Claim{Status: Holds}, Claim{Status: Undecided}), Undecided},
		{all("c", "", Claim{Status: Contradicted}, Claim{Status: Undecided}), Contradicted},
	} {
		if tt.c.Status != tt.want {
			t.Errorf("%d: %s, want %s: %s", i, tt.c.Status, tt.want, tt.c.Why)
		}
	}
	c := tput.ahead("c", "", pair{"A", "B"}, true, everywhere)
	if c.Reference != "" || *c.Largest != 2 || math.Abs(*c.Smallest-6/5.9) > 1e-9 || math.Abs(*c.Peak-6/5.9) > 1e-9 || *c.Measured != 2 {
		t.Errorf("%+v", c)
	}
	// 384 cores half busy at 2 Mtxn/s are 96 us each.
	if !strings.Contains(c.Why, "96 us of cores") || !strings.Contains(c.Why, "RNIC send pipeline 90 % busy") {
		t.Error(c.Why)
	}
}

// What is its parts together has their ratios: of C and B, and of C and A.
func TestRatiosOfParts(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5, 70}, "C": {4, 9, 9, 50}})
	tput := f.throughputs()
	c := all("c", "", tput.ahead("", "B", pair{"C", "B"}, true, everywhere), tput.ahead("", "A", pair{"C", "A"}, true, everywhere))
	if c.Status != Holds || *c.Largest != 4 || *c.Smallest != 1.5 || *c.Peak != 1.5 {
		t.Errorf("largest %g, smallest %g, peak over peak %g: %+v", *c.Largest, *c.Smallest, *c.Peak, c)
	}
	if c := all("c", "", Claim{Status: Undecided}); c.Largest != nil || c.Peak != nil {
		t.Errorf("ratios of nothing: %+v", c)
	}
}

// A number that nothing is published for is measured, and decides nothing.
func TestPeakWithoutReference(t *testing.T) {
	c := planted(2, map[string][4]float64{"A": {2, 10, 6, 60}}).throughputs().peak("c", "", "A")
	if *c.Measured != 6 || c.Unit != "Mtxn/s" || c.Status != Undecided || !strings.Contains(c.Why, "6 ± 0.12 Mtxn/s at 16 coroutines") {
		t.Errorf("%g %+v", *c.Measured, c)
	}
	if c := (&Figure{Series: []Series{{Name: "A"}}}).peak("c", "", "A"); c.Measured != nil || c.Status != Undecided {
		t.Errorf("%+v", c)
	}
}

// READs for a record in figure 4-2: two without the cache, one with it, and more than is said are
// no one.
func TestReads42(t *testing.T) {
	for _, workload := range []string{tpccNo, smallBank} {
		k := with(base43, experiment.Knobs{"workload": workload, "nodes": 4, "threads": 2, "workload.scale": 0.02})
		if workload == tpccNo {
			k["workload.scale"] = 0.1
		}
		f := planted(2, map[string][4]float64{oneSided4: {1, 1, 1, 1}, cached42: {1, 1, 1, 1}})
		f.Runs[f.series(oneSided4).Points[0].Run].Spec = with(k, experiment.Knobs{"cache.enabled": false})
		f.Runs[f.series(cached42).Points[0].Run].Spec = k
		for i, want := range []float64{2, 1} {
			if c := f.reads42(func(line string) string { return line })[i]; c.Status != Holds || *c.Measured < want || *c.Measured > 1.1*want {
				t.Errorf("%s: %g, %+v", workload, *c.Measured, c)
			}
		}
		f.Series[0].Name, f.Series[1].Name = f.Series[1].Name, f.Series[0].Name
		for _, c := range f.reads42(func(line string) string { return line }) {
			if c.Status != Contradicted {
				t.Errorf("%s, the lines exchanged: %+v", workload, c)
			}
		}
	}
}

// Who is counted when the run ends are the quick ones, if Little's law is off.
func TestSettled(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {2, 10, 6, 60}, "B": {1, 20, 5, 70}})
	claim := func() Claim { return f.throughputs().tops("c", "", pair{"A", "B"}) }
	if c := claim(); c.Status != Holds {
		t.Errorf("%+v", c)
	}
	f.Runs[3].Little, f.Runs[3].AbortRate = &result.Little{Error: -0.3}, 0.4
	if c := claim(); c.Status != Undecided || !strings.Contains(c.Why, "off by -30 %, 40 % of its attempts abort") {
		t.Errorf("%+v", c)
	}
}

// What is said of the variant is measured of it, and the correct protocol told beside.
func TestTwice(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {1, 20, 5, 60}, "B": {2, 10, 6, 50}, "A" + abortsIgnored: {2, 10, 6, 50}, "B" + abortsIgnored: {1, 20, 5, 60}})
	tput := f.throughputs()
	c := f.twice(func(n func(string) string) []Claim { return []Claim{tput.tops("c", "", pair{n("A"), n("B")})} })[0]
	if c.Status != Holds || *c.Measured != 1.2 || !strings.HasPrefix(c.Why, "aborts ignored: 1.2x") || !strings.Contains(c.Why, "Correct protocol: contradicted, 0.833x") {
		t.Errorf("%+v", c)
	}
}

func TestLinear47(t *testing.T) {
	f := planted(2, map[string][4]float64{"A": {1, 1, 1, 1}})
	f.Y.Unit = "Mtxn/s"
	line := func(y float64) {
		f.Series[0].Points[0].X, f.Series[0].Points[0].Y, f.Series[0].Points[1].X, f.Series[0].Points[1].Y = 4, 10, 16, y
	}
	for y, want := range map[float64]string{40: Holds, 36: Holds, 30: Contradicted, 34: Undecided} {
		if line(y); f.linear47("A").Status != want {
			t.Errorf("10 on 4 machines, %g on 16: %+v", y, f.linear47("A"))
		}
	}
}

func TestTables4(t *testing.T) {
	for _, id := range []string{"t4-1", "t4-2", "t4-3", "t5-1"} {
		f, err := recipe(t, id).RunWith(context.Background(), Quick, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Series) == 0 || len(f.Claims) == 0 || len(f.Runs) != 0 {
			t.Errorf("%s: %+v", id, f)
		}
		for _, c := range f.Claims {
			if c.Measured == nil || id != "t4-2" && c.Status != Holds {
				t.Errorf("%+v", c)
			}
		}
		if png, err := f.PNG(); err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
			t.Errorf("%s: %v", id, err)
		}
		if text := f.String(); !strings.Contains(text, f.Series[0].Name) || !strings.Contains(f.SVG(), "<svg") {
			t.Error(text)
		}
	}
	if f := recipe(t, "t4-1").From(Quick, nil); f.Draw(charts.Size{}).Option() == "" || f.Chart().Option() != "" {
		t.Error("a page gets no bars, or a notebook no table")
	}
	if accepted([]string{"logging"}, "one-sided", "db") || !accepted([]string{"logging"}, "two-sided", "db") {
		t.Error("the registry's word on doorbell batching of logging is not what is read")
	}
}

// tiny4 makes the systems of TPC-C/no small enough for a test of everything but numbers.
var tiny4 = cluster.Knobs{"nodes": 3, "threads": 1, "workload.items": 1000, "workload.customers": 100}

func TestBreakdown410(t *testing.T) {
	f, err := recipe(t, "4-10a").RunWith(context.Background(), Quick, tiny4, nil, nil)
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
			t.Errorf("%s: phases of %.4g us, latency %.4g", s.Name, sum, r.LatencyUS.Mean)
		}
		if commit, _ := s.named("C"); (commit.Y == 0) != (strings.HasPrefix(s.Name, drtmH)) {
			t.Errorf("%s: commit of %g us", s.Name, commit.Y)
		}
	}
	text, err := json.Marshal(f)
	if err != nil || !strings.Contains(string(text), `"form":"stacked"`) {
		t.Errorf("%v %.200s", err, text)
	}
	_, _, parts, bars := f.barred([]*Figure{f})
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
	r := &Recipe{def: breakdown410("4-10b", 16)}
	var results []*result.Result
	for range plannedRuns(r) {
		results = append(results, &result.Result{Steady: true, Throughput: 1, ThroughputCI95: 0.01, Spec: experiment.Knobs{"nodes": 16, "threads": 12},
			Phases: map[string]result.PhaseStat{"execution": {MeanUS: 100}, "lock": {MeanUS: 30}, "logging": {MeanUS: 20}, "commit": {MeanUS: 10}}})
	}
	_, _, _, bars := r.From(Quick, results).barred(nil)
	want := map[string][]charts.Expected{ // chapter4.csv: 22 %, 69 % and 75 % less, and at most 0.7 ms
		fasst + abortsIgnored: {{Text: "E: FaRM - 22 %", From: 0, To: 78}},
		drtmR + abortsIgnored: {{Text: "E: ≤700 §4.4.3", From: 0, To: 700}, {Text: "L: FaSST - 69 %", From: 130, To: 136.2}},
		farm + abortsIgnored:  {{Text: "L: FaSST - 75 %", From: 130, To: 135}},
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
	r := &Recipe{def: recipe(t, "4-5b").def, set: cluster.Knobs{"nodes": 3, "threads": 1, "nics": 1}}
	var half *Figure
	f, err := r.run(context.Background(), Quick, nil, nil, func(done, total int, soFar func() *Figure) {
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
	f := &Figure{Form: formBars, Y: Axis{Label: "Throughput", Unit: "Mtxn/s"}, Series: []Series{
		{Name: one48, Points: []Point{{Name: "a", Y: 1, CI95: 0.5}, {Name: "b", Y: 2}}}, {Name: sixteen48, Points: []Point{{Name: "a", Y: 3, CI95: 0.25}}}}}
	if text := f.String(); !strings.Contains(text, "\nb") {
		t.Error(text)
	}
	_, _, parts, bars := f.barred(nil)
	if len(parts) != 2 || len(bars) != 3 || bars[0].Name != "a" || bars[1].Name != "" || bars[1].Values[1] != 3 || bars[0].CI != 0.5 || bars[1].CI != 0.25 || bars[2].Name != "b" || bars[2].Values[0] != 2 {
		t.Errorf("%v %v", parts, bars)
	}
}

// By the released code's formats SmallBank's execution requests and all commit messages have the published bytes; locks and TPC-C's
// execution requests have others.
func TestFormats42(t *testing.T) {
	for _, row := range rows42 {
		m := trace42(row.workload, false)
		got := m.released(row.alone, row.mutable)
		for i, p := range phases42 {
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
