package dashboard

import (
	"context"
	"encoding/json"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drtmx/cluster"
	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// plainFigure is a figure of two points.
type plainFigure struct {
	Series []drawnSeries    `json:"series"`
	GapAt  map[string]any   `json:"paper_gap_at"`
	Runs   []*result.Result `json:"runs"`
}

func (f *plainFigure) Draw(_ charts.Size, over ...job.Figure) *charts.Chart {
	return charts.New("", nil, strings.Repeat("<svg/>", 1+len(over)))
}

func (f *plainFigure) Sketch() string         { return "<svg>computed</svg>" }
func (f *plainFigure) Verdicts() job.Verdicts { return job.Verdicts{Holds: 2, Undecided: 1} }

func (f *plainFigure) parts() []job.FigurePart {
	return []job.FigurePart{{Name: "claims", Title: "Claims", HTML: "<p>two hold</p>"}}
}

func (f *plainFigure) Result(run int) *result.Result {
	if run < 0 || run >= len(f.Runs) {
		return nil
	}
	return f.Runs[run]
}

func measured(t *testing.T, k experiment.Knobs) *result.Result {
	t.Helper()
	spec, err := experiment.Spec{Preset: "drtm+h", Workload: "smallbank"}.With(k)
	if err != nil {
		t.Fatal(err)
	}
	v, err := experiment.Resolve(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &result.Result{Spec: v, VirtualNS: 200_000, WallMS: 4000}
}

// figureSource has one figure in some state.
type figureSource struct {
	*fakeSource
	state job.FigureState
}

func (f *figureSource) Figures() []job.FigureInfo {
	return []job.FigureInfo{f.state.FigureInfo}
}

func (f *figureSource) Figure(id string) (job.FigureState, error) {
	if id != f.state.ID {
		return job.FigureState{}, &job.NoFigureError{ID: id}
	}
	return f.state, nil
}

func (f *figureSource) FigureBrief(id string) (job.FigureState, error) { return f.Figure(id) }

func (f *figureSource) Sketch(string) (string, error) {
	if f.state.Base != nil {
		return f.state.Base.Figure.Sketch(), nil
	}
	return "<svg>published</svg>", nil
}

func (f *figureSource) FigureParts(id string) ([]job.FigurePart, error) {
	if s, err := f.Figure(id); err != nil || s.Base == nil {
		return []job.FigurePart{}, err
	}
	return f.state.Base.Figure.(*plainFigure).parts(), nil
}

func (f *figureSource) ask(t *testing.T, path string, into any) (code int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(f).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s: %v in %s", path, err, w.Body)
		}
	}
	return w.Code, w.Body.String()
}

func TestFigureOnThePage(t *testing.T) {
	s := &figureSource{newFake(t), job.FigureState{FigureInfo: job.FigureInfo{ID: "2-1"}}}
	if code, _ := s.ask(t, "/page/figure/chart?id=2-1&w=400", nil); code != 204 {
		t.Errorf("a figure without points: %d", code)
	}
	var rows []figureRow
	if s.ask(t, "/page/figures", &rows); len(rows) != 1 || rows[0].Status != "" {
		t.Errorf("%+v", rows)
	}
	base := &plainFigure{Series: []drawnSeries{{"READ", []drawnPoint{{X: 1, Run: 0}, {X: 2, Run: 1}}}}, GapAt: map[string]any{"run": 2},
		Runs: []*result.Result{measured(t, experiment.Knobs{"coroutines": 1}), measured(t, experiment.Knobs{"coroutines": 2}), measured(t, experiment.Knobs{"nodes": 16})}}
	set := experiment.Knobs{"ddio": false}
	with := &plainFigure{Series: base.Series, Runs: []*result.Result{measured(t, experiment.Knobs{"coroutines": 1, "ddio": false}), nil}}
	var parts []job.FigurePart
	if code, _ := s.ask(t, "/page/figure/parts?id=2-1", &parts); code != 200 || len(parts) != 0 {
		t.Errorf("parts of a figure that is not there: %d %v", code, parts)
	}
	if code, _ := s.ask(t, "/page/figure/parts?id=9-9", nil); code != 404 {
		t.Errorf("parts of no figure: %d", code)
	}
	s.state.Base = &job.FigureRun{N: 1, Scale: "quick", WallMS: 1234, Figure: base}
	s.state.Variants = []job.FigureRun{{N: 2, Scale: "quick", Set: set, Figure: with}}
	var f struct {
		Drawn   []drawnFigure
		Hidden  []string
		PaperMS int64 `json:"paper_ms"`
	}
	if s.ask(t, "/page/figure?id=2-1", &f); len(f.Drawn) != 2 || f.Drawn[1].Name != "ddio=false" || len(f.Drawn[0].Runs) > 0 || f.PaperMS <= 0 || f.PaperMS > 8000 {
		t.Errorf("%+v", f)
	}
	if s.ask(t, "/page/figure/parts?id=2-1", &parts); len(parts) != 1 || parts[0].HTML != "<p>two hold</p>" {
		t.Errorf("%+v", parts)
	}
	if s.ask(t, "/page/figure?id=2-1&hide=2", &f); len(f.Drawn) != 1 || len(f.Hidden) != 1 || f.Hidden[0] != "ddio=false" {
		t.Errorf("%+v", f)
	}
	if s.ask(t, "/page/figures", &rows); rows[0].Status != "computed" || rows[0].WallMS != 1234 {
		t.Errorf("%+v", rows)
	}
	if _, body := s.ask(t, "/page/figure/chart?id=2-1", nil); body != "<svg/><svg/>" {
		t.Errorf("drawn as %s", body)
	}
	var p struct {
		Live  string
		Knobs []knobDiff
		Cell  string
	}
	base.Runs[1].Throughput, base.Runs[1].LatencyUS.P50 = 1.39e9, 2.2
	if s.ask(t, "/page/figure/point?id=2-1&n=1&run=1", &p); p.Live != "1.39 G/s of the whole cluster, p50 2.2 µs" {
		t.Errorf("on the live page: %q", p.Live)
	}
	s.state.Variants = append(s.state.Variants, job.FigureRun{N: 3, Set: experiment.Knobs{"window_ns": "0.2ms"},
		Figure: &plainFigure{Series: base.Series, Runs: []*result.Result{measured(t, experiment.Knobs{"coroutines": 1, "window_ns": "0.2ms"}), nil}}})
	for path, want := range map[string]string{"n=1&run=1": "coroutines=2", "n=2&run=0": "ddio=false", "n=3&run=0": "window_ns=0.2ms"} {
		if s.ask(t, "/page/figure/point?id=2-1&"+path, &p); len(p.Knobs) != 1 || p.Knobs[0].Name+"="+p.Knobs[0].A.(string) != want {
			t.Errorf("%s: %+v, want %s", path, p.Knobs, want)
		}
	}
	for path, want := range map[string]string{"id=2-1&n=1&run=9": "no run 9", "id=2-1&n=9&run=0": "none of number 9", "id=9&n=1&run=0": "no such figure", "id=2-1&n=2&run=1": "no run 1", "id=2-1&n=x&run=0": "whole number"} {
		if code, body := s.ask(t, "/page/figure/point?"+path, nil); code < 400 || code > 404 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

// A figure whose last run has ended is drawn anew once it has its claims and references, at a size that was asked for before too.
func TestFigureIsDrawnAnewAtItsEnd(t *testing.T) {
	partial := &plainFigure{Series: []drawnSeries{{"READ", []drawnPoint{{X: 1}}}}}
	s := &figureSource{newFake(t), job.FigureState{FigureInfo: job.FigureInfo{ID: "2-1"}, Running: &job.FigureRun{N: 1, Scale: "quick", Done: 2, Total: 2, Figure: partial}}}
	h := Handler(s)
	chart := func() string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/page/figure/chart?id=2-1&w=1020", nil))
		return w.Body.String()
	}
	before := chart()
	s.state.Running, s.state.Base = nil, &job.FigureRun{N: 1, Scale: "quick", Done: 2, Total: 2, Figure: &endedFigure{partial}}
	if after := chart(); before != "<svg/>" || after != "<svg>with references</svg>" {
		t.Errorf("%q, then %q", before, after)
	}
}

// endedFigure is drawn with what a figure has at its end.
type endedFigure struct{ *plainFigure }

func (f *endedFigure) Draw(charts.Size, ...job.Figure) *charts.Chart {
	return charts.New("", nil, "<svg>with references</svg>")
}

// A browser that kept the pictures of one program does not show them for another one's.
func TestSketchesOfPrograms(t *testing.T) {
	state := job.FigureState{Base: &job.FigureRun{N: 1}}
	one, other := &page{born: "a"}, &page{born: "b"}
	if one.stampOf(&state) == other.stampOf(&state) || one.stampOf(&state) == one.stampOf(&job.FigureState{}) {
		t.Errorf("%s, %s, %s", one.stampOf(&state), other.stampOf(&state), one.stampOf(&job.FigureState{}))
	}
}

// A copied cell measures what the figure measured, to the last request.
func TestPointCellRepeatsItsRun(t *testing.T) {
	for _, k := range []experiment.Knobs{
		{"nodes": 3, "threads": 2, "coroutines": 3, "workload.accounts": 10_000, "warmup_ns": 50_000, "duration_ns": 123_450, "check": "off"},
		{"profile": "r74v", "servers": 1, "clients": 1, "server.threads": 2, "client.threads": 1, "coroutines": 1, "workload": "micro-write", "nvm.persist": true, "nvm.h3": true, "check": "off", "warmup_ns": 0, "duration_ns": 0},
	} {
		spec, err := experiment.Spec{}.With(k)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Run(context.Background(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if spec, err = experiment.SpecOf("", r.Spec); err != nil {
			t.Fatal(err)
		}
		cell := pointCell(spec, r, "what it is")
		c, err := cluster.Start(readCell(t, cell))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if !strings.HasPrefix(cell, "// what it is\nimport") || !strings.Contains(cell, duration(r.FromNS)+") // warm-up") || !strings.Contains(cell, "c.Run("+duration(r.VirtualNS)+")\n") {
			t.Errorf("%s", cell)
		}
		if r.FromNS > 0 {
			if _, err := c.Run(time.Duration(r.FromNS)); err != nil {
				t.Fatal(err)
			}
		}
		again, err := c.Run(time.Duration(r.VirtualNS))
		if err != nil {
			t.Fatal(err)
		}
		if again.Raw.Commits != r.Commits || math.Abs(again.Throughput/r.Throughput-1) > 1e-12 || again.LatencyUS.Mean != r.LatencyUS.Mean {
			t.Errorf("%d commits at %g/s and %g µs, the figure has %d at %g/s and %g µs", again.Raw.Commits, again.Throughput, again.LatencyUS.Mean, r.Commits, r.Throughput, r.LatencyUS.Mean)
		}
	}
}
