package figures

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// wide is a line whose points have intervals of their own.
func wide(name string, xs []float64, ys, halves []float64) Series {
	s := Series{Name: name}
	for i, x := range xs {
		s.Points = append(s.Points, Point{X: x, Y: ys[i], CI95: halves[i]})
	}
	return s
}

func verdictOn(t *testing.T, claims []Claim, id string) string {
	t.Helper()
	i := slices.IndexFunc(claims, func(c Claim) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no claim %s", id)
	}
	return claims[i].Status
}

// A verdict follows from the intervals: too wide ones leave it open, and each can come
// out either way.
func TestVerdictsFollowIntervals(t *testing.T) {
	recipe := func(id string) *Recipe { r, _ := Find(id); return r }
	judge := func(id, claim string, series ...Series) string {
		f := &Figure{ID: id, Runs: []*result.Result{{}}, Y: Axis{Unit: "Gbps"}, Series: series}
		return verdictOn(t, recipe(id).def.claims(f), claim)
	}
	dimm := func(last, half float64) string {
		return judge("2-14b", "f2-14b-order", wide(oneOnDIMM, []float64{1, 2, 144}, []float64{8, 17, last}, []float64{0, 0, half}))
	}
	if got := judge("2-14b", "f2-14b-order", wide(oneOnDIMM, []float64{1, 2}, []float64{17, 17}, []float64{1, 1})); got != Undecided {
		t.Errorf("more clients that write no more: %s", got)
	}
	ddio := func(last, half float64) string {
		zero := []float64{0, 0, 0}
		return judge("2-16a", "f2-16-threshold", wide(ddioOn, []float64{4096, 64 << 10, 128 << 10}, []float64{90, 44, last}, []float64{0, 0, half}),
			wide(ddioOff, []float64{4096, 64 << 10, 128 << 10}, []float64{91, 91, 91}, zero))
	}
	crossing := func(at64, half float64) string {
		f := &Figure{ID: "2-4b", Runs: []*result.Result{{}}, Series: []Series{
			wide(oneRead, []float64{8, 64, 128}, []float64{73, at64, 70}, []float64{1, half, 1}),
			wide(twoRead, []float64{8, 64, 128}, []float64{78, 78, 55}, []float64{1, half, 1})}}
		return f.crossover24b().Status
	}
	batched := func(one, two, half float64) string {
		steps := []float64{stepOR, stepDB}
		f := &Figure{ID: "2-5b", Runs: []*result.Result{{}}, Series: []Series{
			wide(oneSided, steps, []float64{10, one}, []float64{half, half}), wide(twoSided, steps, []float64{10, two}, []float64{half, half})}}
		return f.scattered25("c").Status
	}
	hint := func(after, half float64) string {
		xs, zero := []float64{hintsNone, hintH1, hintH3, hintH5, hintH6}, []float64{0, 0, half, 0, 0}
		return judge("2-13b", "f2-13b-h4", wide(withHints, xs, []float64{8, 19, after, 90, 90}, zero))
	}
	optimised := func(opt float64) string {
		at, none := []float64{16, 2048}, []float64{0, 0}
		return judge("2-11a", "f2-11-order", wide(onDRAM, at, []float64{50, 6}, none), wide(onNVM, at, []float64{20, 1}, none), wide(nvmOpt, at, []float64{opt, 5}, none))
	}
	atomic := func(v float64) string {
		at := []float64{8, 32, 64, 128}
		ys, none := []float64{70, 70, 70, 50}, []float64{0, 0, 0, 0}
		return judge("2-4a", "f2-4-atomic-order", wide(oneRead, at, ys, none), wide(oneWrite, at, ys, none), wide(twoRead, at, ys, none), wide(twoWrite, at, ys, none), wide(oneAtom, at[:1], []float64{v}, none))
	}
	for i, tt := range []struct{ got, want string }{
		{dimm(17, 0.2), Holds}, {dimm(17, 8), Undecided}, {dimm(12, 0.2), Contradicted},
		{ddio(44, 1), Holds}, {ddio(52, 5), Undecided}, {ddio(90, 1), Contradicted},
		{crossing(73, 1), Holds}, {crossing(73, 9), Undecided},
		{batched(10, 12, 0.1), Holds}, {batched(10, 12, 3), Undecided}, {batched(12, 10, 0.1), Contradicted},
		{hint(80, 1), Holds}, {hint(19.5, 3), Undecided}, {hint(12, 1), Contradicted},
		{optimised(35), Holds}, {optimised(15), Contradicted},
		{atomic(48), Holds}, {atomic(80), Contradicted},
	} {
		if tt.got != tt.want {
			t.Errorf("%d: %s, want %s", i, tt.got, tt.want)
		}
	}
}

// Core time is compared by its intervals too.
func TestCycles(t *testing.T) {
	run := func(busy, half float64) *result.Result {
		return &result.Result{Spec: experiment.Knobs{"nodes": 16, "threads": 24}, Throughput: 1e6, ThroughputCI95: half,
			Utilization: map[string]result.Util{"cpu": {Mean: busy}}}
	}
	for _, tt := range []struct {
		less, half float64
		want       string
	}{{0.4, 0.01, Holds}, {0.58, 0.2, Undecided}, {0.8, 0.01, Contradicted}} {
		f := &Figure{Runs: []*result.Result{run(tt.less, tt.half), run(0.6, tt.half)}}
		if c := f.cycles(Claim{ID: "c"}, Point{Run: 0}, Point{Run: 1}); c.Status != tt.want || math.Abs(*c.Measured-0.6/tt.less) > 1e-9 {
			t.Errorf("%+v: %s, %s", tt, c.Status, c.Why)
		}
	}
}

// A number about a line that one panel has is not drawn in the others.
func TestReferenceOfOnePanel(t *testing.T) {
	for id, want := range map[string]bool{"2-4a": true, "2-4b": false} {
		r, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		f := r.From(Quick, make([]*result.Result, plannedRuns(r)))
		got := slices.ContainsFunc(f.References, func(x Reference) bool { return x.ID == "f2-4-atomic-peak" })
		if got != want {
			t.Errorf("%s has the peak of ATOMIC: %v", id, got)
		}
	}
}

// The point that is compared with paper scale is another run there: else its gap would
// be 0 whatever quick scale does.
func TestPaperScaleIsAnotherRun(t *testing.T) {
	for _, d := range definitions {
		r := &Recipe{def: d}
		quick, paper := r.plan(Quick), r.plan(Paper)
		if quick.gap.series == "" {
			continue
		}
		a, _ := quick.find(quick.gap)
		b, _ := paper.find(paper.gap)
		here, err := r.spec(&quick, a)
		if err != nil {
			t.Fatal(err)
		}
		there, err := r.spec(&paper, b)
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(here, there) {
			t.Errorf("figure %s compares %s with itself", d.id, quick.gap.series)
		}
	}
}

// A picture of bars says what a reader of its numbers has to know, as one of lines does.
func TestBarsSayTheirNote(t *testing.T) {
	for _, form := range []string{formBars, formStacked} {
		f := &Figure{ID: "t", Title: "bars", Form: form, Note: "half machines", Set: experiment.Knobs{"coroutines": 3},
			Series: []Series{{Name: "A", Points: []Point{{Y: 1, Name: "E"}}}}}
		if title, _, _, _ := f.barred(nil); title != f.pictured() {
			t.Errorf("%s: %q over the picture, want %q", form, title, f.pictured())
		}
	}
}

// Where connections hurt, figure 2-4b has both READs at each payload: a line from 8 to 256
// bytes would go below the one that is hurt.
func TestBothREADsOf24b(t *testing.T) {
	for _, scale := range []string{Quick, Paper} {
		p := plan24b(scale)
		for _, x := range []float64{8, 64, 128, 256, 1024} {
			p.find(gapPoint{oneRead, x}) // fails if there is none
			p.find(gapPoint{real16Read, x})
		}
	}
}
