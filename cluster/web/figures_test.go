package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/job"
	"drtmx/cluster/system/systemtest"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// fakeFigure has a point for each of its runs.
type fakeFigure struct {
	ID   string           `json:"figure"`
	Set  experiment.Knobs `json:"set,omitempty"`
	Runs []*result.Result `json:"runs"`
}

func (f *fakeFigure) Draw(charts.Size, ...job.Figure) *charts.Chart { return charts.New(f.ID, nil, "") }

func (f *fakeFigure) Sketch() string         { return "<svg/>" }
func (f *fakeFigure) Verdicts() job.Verdicts { return job.Verdicts{Holds: 1} }

func (f *fakeFigure) parts() []job.FigurePart {
	return []job.FigurePart{{Name: "make", HTML: fmt.Sprint("computed with ", f.Set)}}
}

func (f *fakeFigure) Result(run int) *result.Result {
	if run < 0 || run >= len(f.Runs) {
		return nil
	}
	return f.Runs[run]
}

// fakeFigures has a figure of three runs, each of which ends when it is told to.
type fakeFigures struct {
	next  chan error
	known map[string]job.KnownFigure
}

func (f fakeFigures) List() []job.FigureInfo {
	return []job.FigureInfo{{ID: "2-4a", Title: "x", Chapter: 2, Section: "2.2.4", State: "ok"}, {ID: "2-4b", Title: "y", Chapter: 2, Section: "2.2.4", State: "ok"}}
}

func (f fakeFigures) Sketch(string) string { return "<svg><!-- published --></svg>" }

func (f fakeFigures) Parts(_ string, of job.Figure) []job.FigurePart {
	if computed, ok := of.(*fakeFigure); ok {
		return computed.parts()
	}
	return []job.FigurePart{{Name: "make", HTML: "planned"}}
}

func (f fakeFigures) Known(id string) (job.KnownFigure, bool) {
	r, ok := f.known[id]
	return r, ok
}

func (f fakeFigures) Check(_, _ string, set experiment.Knobs) error {
	_, err := systemtest.Spec().With(set)
	return err
}

func (f fakeFigures) Run(ctx context.Context, id, scale string, set experiment.Knobs, report job.FigureReport) (job.Figure, error) {
	fig := &fakeFigure{ID: id, Set: set}
	for i := range 3 {
		select {
		case err := <-f.next:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("figure %s: %w", id, ctx.Err())
		}
		spec, err := systemtest.Spec().With(experiment.Knobs{"coroutines": i + 1})
		if err != nil {
			return nil, err
		}
		values, err := experiment.Resolve(spec)
		if err != nil {
			return nil, err
		}
		fig = &fakeFigure{ID: id, Set: set, Runs: append(fig.Runs, &result.Result{Spec: values, Throughput: float64(i)})}
		there := fig
		report(i+1, 3, func() job.Figure { return there })
	}
	return fig, nil
}

// figureReader is an agent with the figure, and what a reader is told of it.
type figureReader struct {
	*testing.T
	fakeFigures
	jobs  *job.Jobs
	ask   func(method, path, body string) reply
	askOf func(id, method, body string) reply
}

func newFigureReader(t *testing.T) *figureReader {
	f := fakeFigures{next: make(chan error), known: map[string]job.KnownFigure{}}
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	j := job.With(a, f)
	s := served(t, j, Options{})
	return &figureReader{t, f, j,
		func(method, path, body string) reply { return ask(t, s, method, "/api/figures/2-4a"+path, body) },
		func(id, method, body string) reply { return ask(t, s, method, "/api/figures/"+id, body) }}
}

func (d *figureReader) task() agent.Task {
	for _, x := range d.jobs.Tasks() {
		if x.Name == "figure 2-4a" {
			return x
		}
	}
	return agent.Task{}
}

// ends lets the rest of the runs end and waits for the figure.
func (d *figureReader) ends(runs int) {
	d.Helper()
	for range runs {
		d.next <- nil
	}
	systemtest.Eventually(d.T, "done", func() bool { return d.task().State == "done" })
}

// state is that of the figure as JSON has it.
func (d *figureReader) state() (s struct {
	Running *struct {
		N, Done, Total int
		Figure         *fakeFigure
	}
	Failed   string
	Base     *struct{ N int }
	Variants []struct {
		N      int
		Set    experiment.Knobs
		Figure *fakeFigure
	}
}) {
	d.Helper()
	if err := json.Unmarshal([]byte(d.ask("GET", "/state", "").body), &s); err != nil {
		d.Fatal(err)
	}
	return s
}

func TestFiguresRunAndAreCancelled(t *testing.T) {
	d := newFigureReader(t)
	d.ask("GET", "", "").want(t, 404, "has not been computed")
	d.ask("POST", "", `{"scale":"huge"}`).want(t, 400, "quick or paper")
	d.ask("POST", "", `{"set":{"coroutinez":9}}`).want(t, 400, "coroutinez")
	d.ask("POST", "", `{"scale":"quick"}`).want(t, 202, `"task":"figure 2-4a"`)
	d.ask("POST", "", `{}`).want(t, 409, "already")
	d.next <- nil
	systemtest.Eventually(t, "progress", func() bool { return d.task().Done == 1 && d.task().Total == 3 })
	d.ask("DELETE", "", "").want(t, 200, "cancelled")
	systemtest.Eventually(t, "cancelled", func() bool { return d.task().State == "cancelled" })
	if s := d.state(); s.Running != nil || s.Failed != "" || s.Base != nil {
		t.Errorf("after a cancellation: %+v", s)
	}
	d.ask("POST", "", `{"set":{"coroutines":4}}`).want(t, 202, "")
	d.ends(3)
	d.ask("GET", "", "").want(t, 200, `"set":{"coroutines":4}`)
}

// The points of a figure are there as its runs end, for whoever asks, and a page that
// comes later finds the figure running.
func TestFigurePointsCome(t *testing.T) {
	d := newFigureReader(t)
	d.ask("POST", "", `{}`).want(t, 202, "")
	if s := d.state(); s.Running == nil || s.Running.Figure != nil {
		t.Errorf("before the first run: %+v", s)
	}
	for n := 1; n < 3; n++ {
		d.next <- nil
		systemtest.Eventually(t, "a point more", func() bool {
			r := d.state().Running
			return r != nil && r.Done == n && r.Total == 3 && r.Figure != nil && len(r.Figure.Runs) == n
		})
		d.ask("GET", "", "").want(t, 404, "has not been computed")
	}
	first := d.state().Running.N
	d.ends(1)
	if s := d.state(); s.Running != nil || s.Base == nil || s.Base.N != first {
		t.Errorf("at the end: %+v", s)
	}
	d.ask("POST", "", `{}`).want(t, 202, "")
	d.next <- errors.New("a planted failure\nwith a second line")
	systemtest.Eventually(t, "failed", func() bool { return strings.HasPrefix(d.task().State, "failed") })
	if s := d.state(); !strings.HasPrefix(s.Failed, "a planted failure") || strings.Contains(s.Failed, "\n") || s.Base == nil || s.Base.N != first {
		t.Errorf("after a failure: %+v", s)
	}
	d.ask("GET", "", "").want(t, 200, `"figure":"2-4a"`)
}

// Variants are kept beside the figure, the latest few, one for each set of knobs.
// Of two figures that are asked for at once one begins and the other says that it waits,
// before the first has told how many runs it has; it goes on when that has ended.
func TestOneFigureWaits(t *testing.T) {
	d := newFigureReader(t)
	waiting := func() (n, running int) {
		for _, info := range d.jobs.Figures() {
			s, err := d.jobs.Figure(info.ID)
			if err != nil {
				t.Fatal(err)
			}
			if s.Running != nil {
				running++
				if s.Running.Waits {
					n++
				}
			}
		}
		return n, running
	}
	d.ask("POST", "", `{}`).want(t, 202, "")
	d.askOf("2-4b", "POST", `{}`).want(t, 202, "")
	systemtest.Eventually(t, "one waits", func() bool { n, running := waiting(); return n == 1 && running == 2 })
	for range 3 {
		d.next <- nil
	}
	systemtest.Eventually(t, "nobody waits", func() bool { n, running := waiting(); return n == 0 && running == 1 })
	for range 3 {
		d.next <- nil
	}
	systemtest.Eventually(t, "both are there", func() bool { _, running := waiting(); return running == 0 })
}

func TestFigureVariantsAreKept(t *testing.T) {
	d := newFigureReader(t)
	run := func(body string) {
		t.Helper()
		d.ask("POST", "", body).want(t, 202, "")
		d.ends(3)
	}
	run(`{}`)
	for _, n := range []int{1, 2, 3, 2, 4} {
		run(fmt.Sprintf(`{"set":{"coroutines":%d}}`, n))
	}
	s := d.state()
	var sets []any
	for _, v := range s.Variants {
		sets = append(sets, v.Set["coroutines"])
	}
	if fmt.Sprint(sets) != "[3 2 4]" || s.Base == nil {
		t.Errorf("kept %v, base %+v", sets, s.Base)
	}
	run(`{"scale":"paper"}`)
	if s := d.state(); len(s.Variants) != 0 {
		t.Errorf("variants at quick scale beside a figure at paper scale: %+v", s.Variants)
	}
}

// What is told of a figure is of what is drawn first: with the thesis's knobs if that is there, and of none while that is computed.
func TestFigureParts(t *testing.T) {
	d := newFigureReader(t)
	parts := func(want string) {
		t.Helper()
		if got, err := d.jobs.FigureParts("2-4a"); err != nil || len(got) != 1 || got[0].HTML != want {
			t.Errorf("%+v %v, want %s", got, err, want)
		}
	}
	run := func(body string) { d.ask("POST", "", body).want(t, 202, "") }
	if _, err := d.jobs.FigureParts("9-9"); err == nil {
		t.Error("parts of no figure")
	}
	parts("planned")
	run(`{"set":{"coroutines":1}}`)
	d.ends(3)
	parts("computed with map[coroutines:1]")
	run(`{}`)
	parts("planned")
	d.ends(3)
	parts("computed with map[]")
	run(`{"set":{"coroutines":2}}`)
	parts("computed with map[]")
	d.ends(3)
	parts("computed with map[]")
}

// A point opens live as the system that it was measured on, in place of another when
// there are four.
func TestFigurePointOpensLive(t *testing.T) {
	d := newFigureReader(t)
	d.ask("POST", "", `{}`).want(t, 202, "")
	d.ends(3)
	n := d.state().Base.N
	open := func(run int, replace string) reply {
		return d.ask("POST", "/live", fmt.Sprintf(`{"n":%d,"run":%d,"replace":%q}`, n, run, replace))
	}
	open(7, "").want(t, 404, "no run 7")
	d.ask("POST", "/live", `{"n":99,"run":0}`).want(t, 404, "none of number 99")
	open(2, "").want(t, 200, `"sys":"b"`)
	if v, err := d.jobs.Spec(context.Background(), "b"); err != nil || v.Set["coroutines"] != 3 || v.Preset != "drtm+h" || v.Set["seed"] != 7 {
		t.Errorf("%v, %v", v, err)
	}
	open(0, "").want(t, 200, `"sys":"c"`)
	open(0, "").want(t, 200, `"sys":"d"`)
	open(1, "").want(t, 409, "at most 4")
	open(1, "a").want(t, 400, "stays as long as the agent")
	open(1, "c").want(t, 200, `"sys":"c"`)
	if v, err := d.jobs.Spec(context.Background(), "c"); err != nil || v.Set["coroutines"] != 2 || len(d.jobs.Systems()) != agent.MaxSystems {
		t.Errorf("%v, %v", v, err)
	}
}
