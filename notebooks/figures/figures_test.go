package figures

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/dashboard/charts/palette/palettetest"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// small makes the figures' systems small enough for a test of everything
// but the numbers.
var small = cluster.Knobs{"nodes": 3, "threads": 2, "coroutines": 2}

func TestFigureJSON(t *testing.T) {
	r, err := Find("2-4a")
	if err != nil {
		t.Fatal(err)
	}
	specs, err := r.specs(Quick)
	if err != nil {
		t.Fatal(err)
	}
	calls, last := 0, 0
	f, err := r.RunWith(context.Background(), Quick, small, nil, func(done, total int) {
		calls++
		if last = done; total > len(specs) {
			t.Errorf("%d runs, at most %d expected", total, len(specs))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls == 0 || last != calls {
		t.Errorf("%d calls of progress, the last with %d", calls, last)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("figure title scale scope x y series claims runs paper_gap wall_ms") {
		if m[key] == nil {
			t.Errorf("no %s in %.200s", key, text)
		}
	}
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.Y <= 0 || p.Load != 2 || p.Run >= len(f.Runs) {
				t.Errorf("%s: %+v", s.Name, p)
			}
			if got := f.Runs[p.Run].Spec["workload.payload"]; got != int(p.X) {
				t.Errorf("%s at %g comes from a run with payload %v", s.Name, p.X, got)
			}
		}
	}
	for _, c := range f.Claims {
		if c.Status != Undecided || !strings.Contains(c.Why, "nodes = 3") {
			t.Errorf("claim of another experiment: %+v", c)
		}
	}
	if f.GapAt == nil || f.GapAt.Paper <= 0 || f.Runs[f.GapAt.Run].Spec["coroutines"] != 2 || math.Abs(f.PaperGap) > 0.3 {
		t.Errorf("gap %g of %+v", f.PaperGap, f.GapAt)
	}
	checkForms(t, f)
}

func checkForms(t *testing.T, f *Figure) {
	t.Helper()
	png, err := f.PNG()
	if err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
		t.Errorf("png: %v", err)
	}
	pdf, err := f.PDF()
	if err != nil || !strings.HasPrefix(string(pdf), "%PDF") {
		t.Errorf("pdf: %v", err)
	}
	for _, s := range f.Series {
		palettetest.Check(t, f.ID, f.SVG()+f.Chart().Option(), 2)
		for form, text := range map[string]string{"svg": f.SVG(), "csv": f.CSV(), "text": f.String(), "html": f.HTML()} {
			if !strings.Contains(text, s.Name) {
				t.Errorf("%s without %s", form, s.Name)
			}
		}
	}
	if n := strings.Count(f.CSV(), "\n"); n != 1+7*4+1 {
		t.Errorf("%d rows of csv", n)
	}
}

// A figure without runs, or without claims, has empty lists of them and not null.
func TestEmptyListsInJSON(t *testing.T) {
	for id, list := range map[string]string{"t4-3": "runs", "2-8b": "claims"} {
		r, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r.From(Quick, make([]*result.Result, plannedRuns(r))))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if l, ok := m[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s: %s is %v", id, list, m[list])
		}
	}
	r, _ := Find("t4-3")
	f, err := r.RunWith(context.Background(), Quick, nil, nil, nil)
	if err != nil || f.Runs == nil {
		t.Errorf("t4-3 has runs %v, %v", f.Runs, err)
	}
}

func plannedRuns(r *Recipe) (n int) {
	for _, s := range r.plan(Quick).series {
		n += len(s.points)
	}
	return n
}

func TestBadRequests(t *testing.T) {
	if _, err := Find("9-99"); err == nil || !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "2-4a") {
		t.Error(err)
	}
	run := func(scale string, set experiment.Knobs) error {
		_, err := Runner{}.Run(context.Background(), "2-4a", scale, set, nil)
		return err
	}
	for what, err := range map[string]error{
		"scale":                run("huge", nil),
		"a point's knob":       run(Quick, experiment.Knobs{"workload.payload": 9}),
		"unknown knob":         run(Quick, experiment.Knobs{"nodez": 3}),
		"value out of range":   run(Paper, experiment.Knobs{"threads": 99}),
		"impossible selection": run(Quick, experiment.Knobs{"workload": "cycle"}),
	} {
		if err == nil || !experiment.IsSpecError(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, _ := Find("2-4a")
	if _, err := r.RunWith(ctx, Quick, small, nil, nil); err == nil {
		t.Error("a cancelled figure comes out")
	}
	defer func() {
		if f, ok := recover().(*cluster.Failure); !ok || !strings.Contains(f.Error(), "workload.payload = 9: ") {
			t.Errorf("With accepts what the figure sets itself: %v", f)
		}
	}()
	Get("2-4a").With(cluster.Knobs{"workload.payload": 9})
}

// line is a series over payloads 8, 64, 1024.
func line(name string, half float64, ys ...float64) Series {
	s := Series{Name: name}
	for i, y := range ys {
		s.Points = append(s.Points, Point{X: []float64{8, 64, 1024}[i], Y: y, CI95: half})
	}
	return s
}

// Claims about a point with a name give that, not its place in the row.
func TestNamedPlaces(t *testing.T) {
	f := &Figure{X: Axis{Label: "Hints"}, Y: Axis{Unit: "Gbps"}, Runs: []*result.Result{{}},
		Series: []Series{{Name: "A", Points: []Point{{X: 0, Y: 4, Name: "none"}, {X: 1, Y: 8, Name: "+ H1"}}}}}
	for _, c := range []Claim{f.value("c", "", "A", 1, 8), f.quotient("c", "", f.step("A", 1), f.step("A", 0), "with", "without", 2)} {
		if !strings.Contains(c.Why, "at + H1") || strings.Contains(c.Why, "at 1") {
			t.Error(c.Why)
		}
	}
}

// The verdicts, on invented points.
func TestVerdicts(t *testing.T) {
	everywhere := func(float64) bool { return true }
	nowhere := func(float64) bool { return false }
	f := &Figure{ID: "t", X: Axis{Unit: "bytes"}, Y: Axis{Unit: "Mreq/s"}, Runs: []*result.Result{{Bottleneck: &result.Bottleneck{Resource: "nic_tx", Utilization: 0.99}}},
		Series: []Series{line("a", 0.1, 160, 100, 20), line("b", 0.1, 100, 80, 19), line("noisy", 30, 100, 80, 19)}}
	tests := []struct {
		c    Claim
		want string
	}{
		{f.upTo("c", "", "a", "b", everywhere, 1.6), Holds},
		{f.upTo("c", "", "a", "b", everywhere, 1.3), Contradicted},
		{f.upTo("c", "", "a", "noisy", everywhere, 1.5), Undecided},
		{f.upTo("c", "", "a", "b", nowhere, 1.6), Undecided},
		{f.between("c", "", "a", "b", everywhere, 1.05, 1.6), Holds},
		{f.between("c", "", "a", "b", everywhere, 1.3, 1.6), Contradicted},
		{f.above("c", "", everywhere, pair{"a", "b"}), Holds},
		{f.above("c", "", everywhere, pair{"a", "b"}, pair{"b", "a"}), Contradicted},
		{f.above("c", "", everywhere, pair{"a", "noisy"}), Undecided},
		{f.value("c", "", "a", 64, 99), Holds},
		{f.value("c", "", "a", 64, 50), Contradicted},
		{f.value("c", "", "a", 65, 50), Undecided},
		{f.highest("c", "", "b", func(x float64) bool { return x >= 64 }, 80), Holds},
	}
	for i, tt := range tests {
		if tt.c.Status != tt.want {
			t.Errorf("%d: %s, want %s: %s", i, tt.c.Status, tt.want, tt.c.Why)
		}
	}
	c := tests[0].c
	if *c.Measured != 1.6 || *c.Largest != 1.6 || *c.Smallest != 20.0/19 || *c.Peak != 1.6 || !strings.Contains(c.Why, "RNIC send pipeline 99 % busy") {
		t.Errorf("%v %v %v %v %s", *c.Measured, *c.Largest, *c.Smallest, *c.Peak, c.Why)
	}
}

// Figure 2-4a as the thesis has it: what must hold of the claims, whatever is
// fitted.
func TestFigure24a(t *testing.T) {
	if testing.Short() {
		t.Skip("30 runs of 16 machines")
	}
	r, err := Find("2-4a")
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.RunWith(context.Background(), Quick, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s\n%d ms", f, f.WallMS)
	for _, c := range f.Claims {
		switch c.ID {
		case "f2-4a-write-vs-read", "f2-4a-order", "f2-4a-read-peak", "f2-4a-write-peak", "f2-4-atomic-peak":
			if c.Status != Holds {
				t.Errorf("%s: %s: %s", c.ID, c.Status, c.Why)
			}
		}
	}
	if math.Abs(f.PaperGap) > 0.05 {
		t.Errorf("%+.1f %% off paper scale: %+v", 100*f.PaperGap, f.GapAt)
	}
}

// The figures of §2.2 as the thesis has them: what must hold of the claims.
func TestPrimitiveFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of 16 machines")
	}
	must := map[string][]string{
		"2-2a": {"f2-2a-shared-drop", "f2-2a-order"},
		"2-2b": {"f2-2b-ud-rpc-peak", "s2-rpc-write-peak", "f2-2b-order"},
		"2-4b": {"f2-4b-crossover", "f2-4b-knee", "f2-4b-order"},
		"2-5a": {"f2-5-co-one", "f2-5-co-two", "f2-5-or-order", "f2-5a-reads-peak", "s2-mmio-order"},
		"2-5b": nil,
	}
	for _, id := range []string{"2-2a", "2-2b", "2-4b", "2-5a", "2-5b"} {
		r, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.RunWith(context.Background(), Quick, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s\n%d ms", f, f.WallMS)
		for _, want := range must[id] {
			for _, c := range f.Claims {
				if c.ID == want && c.Status != Holds {
					t.Errorf("%s: %s: %s", c.ID, c.Status, c.Why)
				}
			}
		}
		if math.Abs(f.PaperGap) > 0.05 {
			t.Errorf("%s: %+.1f %% off paper scale: %+v", id, 100*f.PaperGap, f.GapAt)
		}
	}
}

// No step of an order is taken for one that it is not, on invented points.
func TestSection22Verdicts(t *testing.T) {
	run := []*result.Result{{Bottleneck: &result.Bottleneck{Resource: "nic_tx", Utilization: 0.99}}}
	threads := func(name string, ys ...float64) Series {
		s := Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, Point{X: []float64{4, 8, 16, 24}[i], Y: y})
		}
		return s
	}
	for _, tt := range []struct {
		shared      []float64
		drop, order string
	}{
		{[]float64{10, 20, 25, 25}, Holds, Holds},
		{[]float64{10, 20, 15, 30}, Holds, Contradicted}, // the gap closes again
		{[]float64{5, 10, 15, 22}, Holds, Contradicted},  // slower with few threads too
		{[]float64{10, 20.3, 25, 25}, Holds, Holds},      // the eighth has the shared buffer to itself: a little faster by chance
		{[]float64{10, 14, 25, 25}, Holds, Contradicted}, // with eight it should be equal
		{[]float64{10, 20, 40, 25}, Holds, Undecided},    // sixteen should contend
	} {
		f := &Figure{ID: "2-2a", Runs: run, Series: []Series{threads(ownContexts, 10, 20, 40, 65), threads(sharedContext, tt.shared...)}}
		if c := claims22a(f); c[0].Status != tt.drop || c[1].Status != tt.order {
			t.Errorf("%v: %s %.0f %%, %s", tt.shared, c[0].Status, *c[0].Measured, c[1].Status)
		}
	}
	payloads := func(name string, ys ...float64) Series {
		s := Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, Point{X: []float64{32, 64, 128, 256}[i], Y: y})
		}
		return s
	}
	f := &Figure{ID: "2-4b", Runs: run, Series: []Series{
		payloads(oneRead, 70, 70, 68, 50), payloads(twoRead, 80, 60, 55, 45), payloads(real16Read, 110, 90, 70, 50), payloads(real16Two, 80, 60, 55, 45)}}
	for i, want := range []float64{32, 128, 1.5714285714285714} {
		if c := claims24b(f)[i]; c.Status != Holds && i == 2 || math.Abs(*c.Measured-want) > 1e-9 {
			t.Errorf("%s: %s %v, want %v", c.ID, c.Status, *c.Measured, want)
		}
	}
	f.Series[3] = payloads(real16Two, 80, 60, 55, 60)
	if c := claims24b(f)[2]; c.Status != Contradicted {
		t.Errorf("two-sided is hurt: %s", c.Status)
	}
	for _, two := range [][]float64{{60, 50, 45, 40}, {90, 90, 90, 90}} {
		f.Series[1] = payloads(twoRead, two...)
		if c := f.crossover24b(); c.Measured != nil || c.Status != Undecided || !strings.Contains(c.Why, "no crossover") {
			t.Errorf("READ against %v: %+v", two, c)
		}
	}
}

// A gain holds only if its interval is above 1, however near the number is.
func TestGain(t *testing.T) {
	for _, x := range []struct {
		value, half, reference float64
		want                   string
	}{
		{1.06, 0.07, 1.13, Undecided}, {1.06, 0.01, 1.13, Holds}, {0.9, 0.02, 1.03, Contradicted}, {0.9, 0.02, 0.95, Holds}, {2, 0.1, 1.1, Contradicted},
	} {
		if got := gain(x.value, x.half, x.reference); got != x.want {
			t.Errorf("%g ± %g for %g: %s, want %s", x.value, x.half, x.reference, got, x.want)
		}
	}
}

// For what two numbers are published for, either is accepted.
func TestValueOfTwo(t *testing.T) {
	for y, want := range map[float64]string{8.1: Holds, 13.2: Holds, 10.2: Contradicted, 20: Contradicted} {
		f := &Figure{Y: Axis{Unit: "Gbps"}, Series: []Series{{Name: "a", Points: []Point{{X: 0, Y: y, CI95: 0.1}}}}, Runs: []*result.Result{{}}}
		c := f.value("f2-13b-h1-before", "", "a", 0, 8)
		if c.Status != want || c.Reference != "8 or 12.5" {
			t.Errorf("%g: %s of %s, want %s: %s", y, c.Status, c.Reference, want, c.Why)
		}
	}
}

// A claim about something counted in thousands says how many.
func TestMeasuredInFull(t *testing.T) {
	for v, want := range map[float64]string{1100.4: "1100 bytes", 48.94: "48.9 bytes", 0: "0 bytes"} {
		if got := (&Claim{Measured: &v, Unit: "bytes"}).measured(); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}
