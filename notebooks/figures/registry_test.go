package figures

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"drtmx/cluster"
	"drtmx/cluster/keep"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/dashboard/charts/palette/palettetest"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
	"drtmx/notebooks/figures/record"
)

// small makes the figures' systems small enough for a test of everything
// but the numbers.
var small = cluster.Knobs{"nodes": 3, "threads": 2, "coroutines": 2}

func TestFigureJSON(t *testing.T) {
	r, err := Find("2-4a")
	if err != nil {
		t.Fatal(err)
	}
	specs, err := r.Specs(figure.Quick)
	if err != nil {
		t.Fatal(err)
	}
	calls, last := 0, 0
	f, err := r.RunWith(context.Background(), figure.Quick, small, nil, func(done, total int) {
		calls++
		if last = done; total > len(specs)+1 { // and the point at paper scale
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
		if c.Status != figure.Undecided || !strings.Contains(c.Why, "nodes = 3") {
			t.Errorf("claim of another experiment: %+v", c)
		}
	}
	if f.GapAt == nil || f.GapAt.Paper <= 0 || f.Runs[f.GapAt.Run].Spec["coroutines"] != 2 || math.Abs(f.PaperGap) > 0.3 {
		t.Errorf("gap %g of %+v", f.PaperGap, f.GapAt)
	}
	checkForms(t, f)
}

func checkForms(t *testing.T, f *figure.Figure) {
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
		text, err := json.Marshal(r.From(figure.Quick, make([]*result.Result, figuretest.PlannedRuns(r))))
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
	f, err := r.RunWith(context.Background(), figure.Quick, nil, nil, nil)
	if err != nil || f.Runs == nil {
		t.Errorf("t4-3 has runs %v, %v", f.Runs, err)
	}
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
		"a point's knob":       run(figure.Quick, experiment.Knobs{"workload.payload": 9}),
		"unknown knob":         run(figure.Quick, experiment.Knobs{"nodez": 3}),
		"value out of range":   run(figure.Paper, experiment.Knobs{"threads": 99}),
		"impossible selection": run(figure.Quick, experiment.Knobs{"workload": "cycle"}),
	} {
		if err == nil || !experiment.IsSpecError(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, _ := Find("2-4a")
	if _, err := r.RunWith(ctx, figure.Quick, small, nil, nil); err == nil {
		t.Error("a cancelled figure comes out")
	}
	defer func() {
		if f, ok := recover().(*cluster.Failure); !ok || !strings.Contains(f.Error(), "workload.payload = 9: ") {
			t.Errorf("With accepts what the figure sets itself: %v", f)
		}
	}()
	Get("2-4a").With(cluster.Knobs{"workload.payload": 9})
}

// lone makes the runs of 2-persist short.
var lone = cluster.Knobs{"duration_ns": 20_000, "warmup_ns": 5_000}

// The points come one by one, each where it will stay, and the JSON of what there is
// can be read.
func TestPointsCome(t *testing.T) {
	r, err := Find("2-persist")
	if err != nil {
		t.Fatal(err)
	}
	last, early := 0, func() *figure.Figure { return nil }
	var soFar *figure.Figure
	f, err := r.WatchWith(context.Background(), figure.Quick, lone, nil, func(done, total int, at func() *figure.Figure) {
		soFar = at()
		if done == 1 {
			early = at
		}
		n := 0
		for _, s := range soFar.Series {
			n += len(s.Points)
		}
		// The run at paper scale is no point.
		if n != done && n != done-1 || n < last || soFar.Partial == nil || soFar.Partial.Done != done || soFar.Partial.Total != total {
			t.Errorf("%d points after %d of %d runs: %+v", n, done, total, soFar.Partial)
		}
		last = n
		if text, err := json.Marshal(soFar); err != nil || !strings.Contains(string(text), `"claims":[]`) {
			t.Errorf("%v: %.200s", err, text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.Partial != nil || len(f.Claims) == 0 || last != len(f.Series)*len(f.Series[0].Points) {
		t.Errorf("the figure itself: %+v, %d points before", f.Partial, last)
	}
	for i, s := range soFar.Series {
		if !slices.Equal(s.Points, f.Series[i].Points) {
			t.Errorf("%s moved: %v, %v", s.Name, s.Points, f.Series[i].Points)
		}
	}
	if e := early(); len(e.Series) != len(f.Series) {
		t.Errorf("what was reported cannot be asked later: %+v", e)
	}
	if text := soFar.String() + soFar.HTML(); !strings.Contains(text, "of 20 runs") || strings.Contains(text, "<table") {
		t.Errorf("a partial figure shows itself as %.300s", text)
	}
}

// Published numbers are on the axes where the claims have them and the table is in the
// unit of an axis, and nowhere else.
func TestReferences(t *testing.T) {
	at := func(id string) map[string]figure.Reference {
		t.Helper()
		r, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		specs, err := r.Specs(figure.Quick)
		if err != nil {
			t.Fatal(err)
		}
		results := make([]*result.Result, len(specs))
		for i, s := range specs {
			v, err := experiment.Resolve(s)
			if err != nil {
				t.Fatal(err)
			}
			results[i] = &result.Result{Spec: v, Throughput: 1e6, NVM: &result.NVMStat{WriteAmplification: 1}}
		}
		f := r.From(figure.Quick, results)
		out := map[string]figure.Reference{}
		for _, x := range f.References {
			if x.Section == "" || x.Text == "" || x.X == nil && x.From == nil {
				t.Errorf("%s: %+v", id, x)
			}
			out[x.ID] = x
		}
		if svg := f.SVG(); len(out) > 0 != strings.Contains(svg, "thesis") {
			t.Errorf("%s: %d references, drawn: %v", id, len(out), strings.Contains(svg, "thesis"))
		}
		if f := figure.New(r.Definition).And(lone).From(figure.Quick, results); len(f.References) > 0 {
			t.Errorf("%s: another experiment than the thesis's has %v", id, f.References)
		}
		return out
	}
	p := at("2-persist")
	if r := p["s2-pwrite-h9-lat"]; len(p) != 2 || r.X == nil || *r.X != 64 || *r.To != 3 || r.Series != "WRITE+READ (H9)" || r.Section != "2.3.4.3" {
		t.Errorf("2-persist: %+v", p)
	}
	a := at("2-10a")
	if r := a["f2-10-nvm-ideal"]; r.X != nil || r.To == nil || *r.To != 52 {
		t.Errorf("a limit is a line across: %+v", r)
	}
	if _, ok := a["f2-10-write16-frac"]; ok {
		t.Error("a share of something is on an axis of requests")
	}
	d := at("2-16a")
	if r := d["f2-16-threshold"]; r.From != nil || r.X == nil || *r.X != 65536 || r.Mark(figure.Axis{Unit: "bytes"}) != "≤64 Ki §2.3.4.1" {
		t.Errorf("a payload is upright: %+v %s", r, r.Mark(figure.Axis{Unit: "bytes"}))
	}
	if n := len(at("4-best")); n > 0 {
		t.Errorf("a ranking has %d numbers on its axes", n)
	}
}

func TestListDrawsItself(t *testing.T) {
	for _, text := range []string{List().String(), List().HTML()} {
		if !strings.Contains(text, "Chapter 2") || !strings.Contains(text, "2-persist") || !strings.Contains(text, "§2.3.4.3") {
			t.Errorf("%.200s", text)
		}
	}
	if b, err := json.Marshal(List()); err != nil || !strings.HasPrefix(string(b), `[{"id":"2-2a"`) {
		t.Errorf("%.80s %v", b, err)
	}
}

// Knobs that contradict each other are refused before anything runs.
func TestCheckRefusesBeforeItRuns(t *testing.T) {
	if err := (Runner{}).Check("2-persist", figure.Quick, experiment.Knobs{"ddio": "true"}); err == nil || !strings.Contains(err.Error(), "nvm.h3") {
		t.Errorf("2-persist with DDIO: %v", err)
	}
	if err := (Runner{}).Check("2-persist", figure.Paper, experiment.Knobs{"ddio": "false"}); err != nil {
		t.Error(err)
	}
}

// Interrupted, a figure ends with an error and what it told of stays.
func TestInterrupted(t *testing.T) {
	r, err := Find("2-persist")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var once sync.Once
	told := 0
	_, err = r.WatchWith(ctx, figure.Quick, lone, nil, func(done, _ int, _ func() *figure.Figure) {
		told = done
		once.Do(cancel)
	})
	if err == nil || told == 0 || told > 5 {
		t.Errorf("%v after %d runs", err, told)
	}
}

// Every figure has a small picture before it is computed; those with published numbers
// show them, in grey.
func TestSketchesOfWhatIsPublished(t *testing.T) {
	shown := 0
	for _, d := range definitions() {
		svg := Runner{}.Sketch(d.ID)
		figuretest.WellFormed(t, svg)
		if len(svg) > 20_000 { // a chapter's predictions have up to eighty rows
			t.Errorf("%s: %d bytes", d.ID, len(svg))
		}
		if strings.Contains(svg, palette.Thesis) {
			shown++
		}
		if strings.Contains(svg, charts.Colour(0)) {
			t.Errorf("%s: the colour of something measured", d.ID)
		}
	}
	if shown < 24 { // of the others the thesis gives an order
		t.Errorf("%d of %d figures show a published number", shown, len(definitions()))
	}
	for id, mark := range map[string]string{"2-4a": "l4 4", "4-9a": "l4 4", "4-6": "stroke-dasharray"} {
		if svg := (Runner{}).Sketch(id); !strings.Contains(svg, mark) {
			t.Errorf("%s: no published number in %s", id, svg)
		}
	}
	if (Runner{}).Sketch("9-9") != "" {
		t.Error("a picture of no figure")
	}
}

// The point that is compared with paper scale is another run there: else its gap would
// be 0 whatever quick scale does.
func TestPaperScaleIsAnotherRun(t *testing.T) {
	for _, d := range definitions() {
		r := figure.New(d)
		quick, paper := r.Plan(figure.Quick), r.Plan(figure.Paper)
		if quick.Gap.Series == "" {
			continue
		}
		here, err := comparedSpec(quick)
		if err != nil {
			t.Fatal(err)
		}
		there, err := comparedSpec(paper)
		if err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(here, there) {
			t.Errorf("figure %s compares %s with itself", d.ID, quick.Gap.Series)
		}
	}
}

// A computed figure is sketched in its own form.
func TestSketchesOfFigures(t *testing.T) {
	points := []figure.Point{{X: 8, Y: 2, Name: "a"}, {X: 64, Y: 3, Name: "b"}}
	for form, want := range map[string]string{figure.FormLines: "<circle", figure.FormCurves: "<circle", figure.FormBars: "h", figure.FormStacked: "h", figure.FormTable: "<rect"} {
		f := &figure.Figure{ID: "t", Form: form, X: figure.Axis{Log: true}, Series: []figure.Series{{Name: "A", Points: points}, {Name: "A" + figure.AbortsIgnored, Points: points}}}
		svg := f.Sketch()
		figuretest.WellFormed(t, svg)
		if !strings.Contains(svg, want) {
			t.Errorf("%s: %s", form, svg)
		}
		figuretest.WellFormed(t, (&figure.Figure{Form: form, Series: []figure.Series{{Name: "A"}}}).Sketch())
	}
}

// Every figure about a system is asked for its predictions, whoever adds it.
func TestPredictingFigures(t *testing.T) {
	for chapter := range 7 {
		for _, d := range definitions() {
			got := slices.ContainsFunc(Predicting(chapter), func(r *figure.Recipe) bool { return r.ID() == d.ID })
			if want := d.Form != figure.FormDots && d.Chapter >= 3 && (chapter == 0 || chapter == d.Chapter); got != want {
				t.Errorf("%s for chapter %d: %v", d.ID, chapter, got)
			}
		}
	}
}

// A figure with panels is found without a letter.
func TestFirstPanelIsFound(t *testing.T) {
	for id, want := range map[string]string{"3-12": "3-12a", "3-13": "3-13a", "3-14b": "3-14b", "3-22a": "3-22a"} {
		if r, err := Find(id); err != nil || r.ID() != want {
			t.Errorf("%s is %v, %v", id, r, err)
		}
	}
}

// comparedSpec is the run of the point that is compared with paper scale.
func comparedSpec(p figure.Plan) (experiment.Spec, error) {
	for _, s := range p.Series {
		for _, pt := range s.Points {
			if s.Name == p.Gap.Series && pt.X == p.Gap.X {
				return p.Base.With(pt.Set)
			}
		}
	}
	return experiment.Spec{}, fmt.Errorf("no point of %s at %g", p.Gap.Series, p.Gap.X)
}

// A table takes no run: what it says is read from the code and from profiles, in each form.
func TestTablesTakeNoRun(t *testing.T) {
	for _, id := range []string{"t4-1", "t4-2", "t4-3", "t5-1"} {
		f, err := Get(id).RunWith(context.Background(), figure.Quick, nil, keep.Cache(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Series) == 0 || len(f.Claims) == 0 || len(f.Runs) != 0 {
			t.Errorf("%s: %+v", id, f)
		}
		for _, c := range f.Claims {
			if c.Measured == nil || id != "t4-2" && c.Status != figure.Holds {
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
}

// recordedSpecs is the digest of the specs that a record is of.
func recordedSpecs(t *testing.T, id string) string {
	t.Helper()
	packed, err := os.ReadFile("record/quick/" + id + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var head struct{ Specs string }
	if err := json.NewDecoder(text).Decode(&head); err != nil {
		t.Fatal(err)
	}
	return head.Specs
}

// Every figure has a record, but for those that take no run, so that a gallery is full at first sight.
func TestRecordsAreComplete(t *testing.T) {
	for _, d := range definitions() {
		f, err := record.Find(figure.New(d))
		switch {
		case err != nil:
			t.Errorf("%s: %v", d.ID, err)
		case d.Form == figure.FormDots:
			if f != nil {
				t.Errorf("%s is recorded, and takes no run", d.ID)
			}
		case f == nil:
			t.Errorf("%s is not recorded: make gallery FIGURE=%s", d.ID, d.ID)
		default:
			figuretest.WellFormed(t, f.Sketch())
			known, ok := Runner{}.Known(d.ID)
			if !ok || f.Made == nil || f.Scale != figure.Quick || f.Partial != nil || len(f.Series) == 0 || f.Title != d.Title || f.Section != d.Section || (known.Made == nil || !known.Made.Kept) && known.Claims != f.Verdicts() {
				t.Errorf("%s: %+v, %+v", d.ID, known, f)
			}
			if noRun := len(f.Runs) == 0 && d.Compute == nil; noRun != (known.Made == nil) {
				t.Errorf("%s: a table without runs is of this program, others say what made them: %+v", d.ID, known.Made)
			}
			if _, specs := figure.New(d).Version(figure.Quick); !f.Made.Differs && specs != recordedSpecs(t, d.ID) {
				t.Errorf("%s takes other runs than are recorded: make gallery FIGURE=%s", d.ID, d.ID)
			}
		}
	}
}
