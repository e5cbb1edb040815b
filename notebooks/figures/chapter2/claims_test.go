package chapter2

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

// Figure 2-4a as the thesis has it: what must hold of the claims, whatever is
// fitted.
func TestFigure24a(t *testing.T) {
	if testing.Short() {
		t.Skip("30 runs of 16 machines")
	}
	r := recipe(t, "2-4a")
	f, err := r.RunWith(context.Background(), figure.Quick, nil, keep.Cache(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s\n%d ms", f, f.WallMS)
	for _, c := range f.Claims {
		switch c.ID {
		case "f2-4a-write-vs-read", "f2-4a-order", "f2-4a-read-peak", "f2-4a-write-peak", "f2-4-atomic-peak":
			if c.Status != figure.Holds {
				t.Errorf("%s: %s: %s", c.ID, c.Status, c.Why)
			}
		}
	}
	if math.Abs(f.PaperGap) > 0.05 {
		t.Errorf("%+.1f %% off paper scale: %+v", 100*f.PaperGap, f.GapAt)
	}
}

// The other figures of §2.2 as the thesis has them: what must hold of the claims. TestFiguresOfTheNotebook has those of the notebook.
func TestPrimitiveFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of 16 machines")
	}
	must := map[string][]string{
		"2-2b": {"f2-2b-ud-rpc-peak", "s2-rpc-write-peak", "f2-2b-order"},
		"2-4b": {"f2-4b-crossover", "f2-4b-knee", "f2-4b-order"},
	}
	for _, id := range []string{"2-2b", "2-4b"} {
		r := recipe(t, id)
		f, err := r.RunWith(context.Background(), figure.Quick, nil, keep.Cache(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s\n%d ms", f, f.WallMS)
		for _, want := range must[id] {
			for _, c := range f.Claims {
				if c.ID == want && c.Status != figure.Holds {
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
	threads := func(name string, ys ...float64) figure.Series {
		s := figure.Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, figure.Point{X: []float64{4, 8, 16, 24}[i], Y: y})
		}
		return s
	}
	for _, tt := range []struct {
		shared      []float64
		drop, order string
	}{
		{[]float64{10, 20, 25, 25}, figure.Holds, figure.Holds},
		{[]float64{10, 20, 15, 30}, figure.Holds, figure.Contradicted}, // the gap closes again
		{[]float64{5, 10, 15, 22}, figure.Holds, figure.Contradicted},  // slower with few threads too
		{[]float64{10, 20.3, 25, 25}, figure.Holds, figure.Holds},      // the eighth has the shared buffer to itself: a little faster by chance
		{[]float64{10, 14, 25, 25}, figure.Holds, figure.Contradicted}, // with eight it should be equal
		{[]float64{10, 20, 40, 25}, figure.Holds, figure.Undecided},    // sixteen should contend
	} {
		f := &figure.Figure{ID: "2-2a", Runs: run, Series: []figure.Series{threads(ownContexts, 10, 20, 40, 65), threads(sharedContext, tt.shared...)}}
		if c := claimsContexts(f); c[0].Status != tt.drop || c[1].Status != tt.order {
			t.Errorf("%v: %s %.0f %%, %s", tt.shared, c[0].Status, *c[0].Measured, c[1].Status)
		}
	}
	payloads := func(name string, ys ...float64) figure.Series {
		s := figure.Series{Name: name}
		for i, y := range ys {
			s.Points = append(s.Points, figure.Point{X: []float64{32, 64, 128, 256}[i], Y: y})
		}
		return s
	}
	f := &figure.Figure{ID: "2-4b", Runs: run, Series: []figure.Series{
		payloads(oneRead, 70, 70, 68, 50), payloads(twoRead, 80, 60, 55, 45), payloads(readOfFewNodes, 110, 90, 70, 50), payloads(twoSidedOfFewNodes, 80, 60, 55, 45)}}
	for i, want := range []float64{32, 128, 1.5714285714285714} {
		if c := claimsConnections(f)[i]; c.Status != figure.Holds && i == 2 || math.Abs(*c.Measured-want) > 1e-9 {
			t.Errorf("%s: %s %v, want %v", c.ID, c.Status, *c.Measured, want)
		}
	}
	f.Series[3] = payloads(twoSidedOfFewNodes, 80, 60, 55, 60)
	if c := claimsConnections(f)[2]; c.Status != figure.Contradicted {
		t.Errorf("two-sided is hurt: %s", c.Status)
	}
	for _, two := range [][]float64{{60, 50, 45, 40}, {90, 90, 90, 90}} {
		f.Series[1] = payloads(twoRead, two...)
		if c := crossover(f); c.Measured != nil || c.Status != figure.Undecided || !strings.Contains(c.Why, "no crossover") {
			t.Errorf("READ against %v: %+v", two, c)
		}
	}
}

// A verdict follows from the intervals: too wide ones leave it open, and each can come
// out either way.
func TestVerdictsFollowIntervals(t *testing.T) {
	judge := func(id, claim string, series ...figure.Series) string {
		f := &figure.Figure{ID: id, Runs: []*result.Result{{}}, Y: figure.Axis{Unit: "Gbps"}, Series: series}
		return figuretest.VerdictOn(t, recipe(t, id).Definition.Claims(f), claim)
	}
	dimm := func(last, half float64) string {
		return judge("2-14b", "f2-14b-order", figuretest.Wide(oneOnDIMM, []float64{1, 2, 144}, []float64{8, 17, last}, []float64{0, 0, half}))
	}
	if got := judge("2-14b", "f2-14b-order", figuretest.Wide(oneOnDIMM, []float64{1, 2}, []float64{17, 17}, []float64{1, 1})); got != figure.Undecided {
		t.Errorf("more clients that write no more: %s", got)
	}
	ddio := func(last, half float64) string {
		zero := []float64{0, 0, 0}
		return judge("2-16a", "f2-16-threshold", figuretest.Wide(ddioOn, []float64{4096, 64 << 10, 128 << 10}, []float64{90, 44, last}, []float64{0, 0, half}),
			figuretest.Wide(ddioOff, []float64{4096, 64 << 10, 128 << 10}, []float64{91, 91, 91}, zero))
	}
	crossing := func(at64, half float64) string {
		f := &figure.Figure{ID: "2-4b", Runs: []*result.Result{{}}, Series: []figure.Series{
			figuretest.Wide(oneRead, []float64{8, 64, 128}, []float64{73, at64, 70}, []float64{1, half, 1}),
			figuretest.Wide(twoRead, []float64{8, 64, 128}, []float64{78, 78, 55}, []float64{1, half, 1})}}
		return crossover(f).Status
	}
	batched := func(one, two, half float64) string {
		steps := []float64{stepOR, stepDB}
		f := &figure.Figure{ID: "2-5b", Runs: []*result.Result{{}}, Series: []figure.Series{
			figuretest.Wide(oneSided, steps, []float64{10, one}, []float64{half, half}), figuretest.Wide(twoSided, steps, []float64{10, two}, []float64{half, half})}}
		return scattered(f, "c").Status
	}
	hint := func(after, half float64) string {
		xs, zero := []float64{hintsNone, hintNear, hintNTStore, hintAlign, hintPad}, []float64{0, 0, half, 0, 0}
		return judge("2-13b", "f2-13b-h4", figuretest.Wide(withHints, xs, []float64{8, 19, after, 90, 90}, zero))
	}
	optimised := func(opt float64) string {
		at, none := []float64{16, 2048}, []float64{0, 0}
		return judge("2-11a", "f2-11-order", figuretest.Wide(onDRAM, at, []float64{50, 6}, none), figuretest.Wide(onNVM, at, []float64{20, 1}, none), figuretest.Wide(nvmOpt, at, []float64{opt, 5}, none))
	}
	atomic := func(v float64) string {
		at := []float64{8, 32, 64, 128}
		ys, none := []float64{70, 70, 70, 50}, []float64{0, 0, 0, 0}
		return judge("2-4a", "f2-4-atomic-order", figuretest.Wide(oneRead, at, ys, none), figuretest.Wide(oneWrite, at, ys, none), figuretest.Wide(twoRead, at, ys, none), figuretest.Wide(twoWrite, at, ys, none), figuretest.Wide(oneAtom, at[:1], []float64{v}, none))
	}
	for i, tt := range []struct{ got, want string }{
		{dimm(17, 0.2), figure.Holds}, {dimm(17, 8), figure.Undecided}, {dimm(12, 0.2), figure.Contradicted},
		{ddio(44, 1), figure.Holds}, {ddio(52, 5), figure.Undecided}, {ddio(90, 1), figure.Contradicted},
		{crossing(73, 1), figure.Holds}, {crossing(73, 9), figure.Undecided},
		{batched(10, 12, 0.1), figure.Holds}, {batched(10, 12, 3), figure.Undecided}, {batched(12, 10, 0.1), figure.Contradicted},
		{hint(80, 1), figure.Holds}, {hint(19.5, 3), figure.Undecided}, {hint(12, 1), figure.Contradicted},
		{optimised(35), figure.Holds}, {optimised(15), figure.Contradicted},
		{atomic(48), figure.Holds}, {atomic(80), figure.Contradicted},
	} {
		if tt.got != tt.want {
			t.Errorf("%d: %s, want %s", i, tt.got, tt.want)
		}
	}
}

// Where connections hurt, figure 2-4b has both READs at each payload: a line from 8 to 256
// bytes would go below the one that is hurt.
func TestBothREADsOf24b(t *testing.T) {
	for _, scale := range []string{figure.Quick, figure.Paper} {
		p := planConnections(scale)
		for _, x := range []float64{8, 64, 128, 256, 1024} {
			for _, s := range p.Series {
				both := s.Name == oneRead || s.Name == readOfFewNodes
				if both && !slices.ContainsFunc(s.Points, func(pt figure.PlannedPoint) bool { return pt.X == x }) {
					t.Errorf("%s has no point of %s at %g", scale, s.Name, x)
				}
			}
		}
	}
}

// A number about a line that one panel has is not drawn in the others.
func TestReferenceOfOnePanel(t *testing.T) {
	for id, want := range map[string]bool{"2-4a": true, "2-4b": false} {
		r := recipe(t, id)
		f := r.From(figure.Quick, make([]*result.Result, figuretest.PlannedRuns(r)))
		got := slices.ContainsFunc(f.References, func(x figure.Reference) bool { return x.ID == "f2-4-atomic-peak" })
		if got != want {
			t.Errorf("%s has the peak of ATOMIC: %v", id, got)
		}
	}
}

// Claims about a point with a name give that, not its place in the row.
func TestNamedPlaces(t *testing.T) {
	f := &figure.Figure{X: figure.Axis{Label: "Hints"}, Y: figure.Axis{Unit: "Gbps"}, Runs: []*result.Result{{}},
		Series: []figure.Series{{Name: "A", Points: []figure.Point{{X: 0, Y: 4, Name: "none"}, {X: 1, Y: 8, Name: "+ H1"}}}}}
	for _, c := range []figure.Claim{f.Value("c", "", "A", 1, 8), f.Quotient("c", "", stepPoint(f, "A", 1), stepPoint(f, "A", 0), "with", "without", 2)} {
		if !strings.Contains(c.Why, "at + H1") || strings.Contains(c.Why, "at 1") {
			t.Error(c.Why)
		}
	}
}

// A threshold is told as such.
func TestThresholdOfDDIO(t *testing.T) {
	halved := &figure.Figure{ID: "2-16a", X: figure.Axis{Unit: "bytes"}, Y: figure.Axis{Unit: "Gbps"}, Runs: []*result.Result{{}}, Series: []figure.Series{
		figuretest.Wide(ddioOn, []float64{256, 4096, 64 << 10, 128 << 10}, []float64{50, 44, 44, 44}, make([]float64, 4)),
		figuretest.Wide(ddioOff, []float64{256, 4096, 64 << 10, 128 << 10}, []float64{50, 91, 91, 91}, make([]float64, 4))}}
	if c := ddioHalves(halved); c.Says != "halves from 4 KB on; the thesis says from 64 KB on" {
		t.Error(c.Says)
	}
}
