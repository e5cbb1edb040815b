package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// figureJobs runs one figure at a time, for each takes every core, and keeps what
// comes out as long as the agent lives: pages may come and go meanwhile.
type figureJobs struct {
	agent *Agent
	slot  chan struct{}

	mu      sync.Mutex
	runner  FigureRunner
	last    int // number of the latest FigureRun
	figures map[string]*keptFigure
}

// keptFigure is what there is of a figure: what was computed last, and variants of it.
type keptFigure struct {
	running *FigureRun
	soFar   func() Figure // of the running one, nil before its first run has ended
	failed  string
	base    *FigureRun
	variant []FigureRun
	latest  Figure
}

// variantsKept bounds what is kept, and drawn, over one figure.
const variantsKept = 3

func newFigureJobs(a *Agent) *figureJobs {
	return &figureJobs{agent: a, slot: make(chan struct{}, 1), figures: map[string]*keptFigure{}}
}

func (d *figureJobs) use(r FigureRunner) {
	d.mu.Lock()
	d.runner = r
	d.mu.Unlock()
}

func (d *figureJobs) by() FigureRunner {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runner
}

// Figures lists the figures that this agent can compute, none if it was started
// without them.
func (a *Agent) Figures() []FigureInfo {
	out := []FigureInfo{}
	if r := a.figures.by(); r != nil {
		out = append(out, r.List()...)
	}
	return out
}

// Figure is what the agent has of a figure.
func (a *Agent) Figure(id string) (FigureState, error) {
	info, err := a.figures.known(id)
	if err != nil {
		return FigureState{}, err
	}
	return a.figures.state(info), nil
}

// NoFigureError names a figure that does not exist (HTTP 404).
type NoFigureError struct{ ID string }

func (e *NoFigureError) Error() string {
	return "figure = " + words.Clip(e.ID) + ": no such figure; see /api/figures"
}

// known checks an id before anything is started.
func (d *figureJobs) known(id string) (FigureInfo, error) {
	for _, f := range d.agent.Figures() {
		if f.ID == id {
			return f, nil
		}
	}
	return FigureInfo{}, &NoFigureError{id}
}

// place is what there is of a figure; d.mu is held.
func (d *figureJobs) place(id string) *keptFigure {
	if d.figures[id] == nil {
		d.figures[id] = &keptFigure{}
	}
	return d.figures[id]
}

func (d *figureJobs) state(info FigureInfo) FigureState {
	d.mu.Lock()
	k := *d.place(info.ID)
	s := FigureState{FigureInfo: info, Failed: k.failed, Base: k.base, Variants: slices.Clone(k.variant)}
	if k.running != nil {
		running := *k.running
		s.Running = &running
	}
	d.mu.Unlock()
	if s.Running != nil && k.soFar != nil { // outside of the lock: it may be large
		s.Running.Figure = k.soFar()
	}
	return s
}

// Sketch is a small picture of a figure: of what was computed with the thesis's knobs,
// else of what is published.
func (a *Agent) Sketch(id string) (string, error) {
	s, err := a.Figure(id)
	switch {
	case err != nil:
		return "", err
	case s.Base != nil:
		return s.Base.Figure.Sketch(), nil
	}
	return a.figures.by().Sketch(id), nil
}

// FigureParts are what is known of a figure beside its picture: of what is drawn first on the page once it is there.
func (a *Agent) FigureParts(id string) ([]FigurePart, error) {
	s, err := a.Figure(id)
	switch {
	case err != nil:
		return nil, err
	case s.Base != nil && (s.Running == nil || len(s.Running.Set) > 0):
		return a.figures.by().Parts(id, s.Base.Figure), nil
	case s.Base == nil && s.Running == nil && len(s.Variants) > 0:
		return a.figures.by().Parts(id, s.Variants[0].Figure), nil
	}
	return a.figures.by().Parts(id, nil), nil
}

func taskOf(id string) string { return "figure " + id }

func (d *figureJobs) start(r *http.Request) (any, error) {
	info, err := d.known(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var b struct {
		Scale string           `json:"scale"`
		Set   experiment.Knobs `json:"set"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if err := settleScale(&b.Scale); err != nil {
		return nil, err
	}
	set := b.Set
	if err := system.Guard(taskOf(info.ID), func() error { return d.by().Check(info.ID, b.Scale, set) }); err != nil {
		return nil, err
	}
	_, run, ok := d.enter(info.ID, b.Scale, set)
	if !ok {
		return nil, &httpError{http.StatusConflict, "figure " + info.ID + " is being computed already"}
	}
	go run()
	d.agent.announce()
	return accepted{map[string]string{"task": taskOf(info.ID)}}, nil
}

// settleScale makes quick of no scale and refuses what is none.
func settleScale(scale *string) error {
	if *scale == "" {
		*scale = "quick"
	}
	if *scale != "quick" && *scale != "paper" {
		return &experiment.SpecError{Field: "scale", Value: words.Clip(*scale), Rule: "must be quick or paper", Next: `as {"scale": "quick"}`}
	}
	return nil
}

// enter takes note of a computation, which run does; false if there is one of that
// figure already.
func (d *figureJobs) enter(id, scale string, set experiment.Knobs) (ctx context.Context, run func(), ok bool) {
	ctx, cancel := context.WithCancel(context.Background()) // outlives the request
	if !d.agent.tasks.start(taskOf(id), cancel) {
		cancel()
		return nil, nil, false
	}
	d.mu.Lock()
	d.last++
	k := d.place(id)
	k.running, k.soFar, k.failed = &FigureRun{N: d.last, Scale: scale, Set: set}, nil, ""
	d.mu.Unlock()
	return ctx, func() { d.run(ctx, cancel, id, scale, set) }, true
}

func (d *figureJobs) run(ctx context.Context, cancel context.CancelFunc, id, scale string, set experiment.Knobs) {
	defer cancel()
	var f Figure
	began := time.Now()
	err := system.Guard(taskOf(id), func() (err error) {
		if err := d.turn(ctx, id); err != nil {
			return err
		}
		defer func() { <-d.slot }()
		began = time.Now()
		f, err = d.by().Run(ctx, id, scale, set, func(done, total int, soFar func() Figure) { d.report(id, done, total, soFar) })
		return err
	})
	if errors.Is(err, context.Canceled) {
		err = context.Canceled
	}
	d.end(id, f, time.Since(began), err)
	d.agent.tasks.end(taskOf(id), err)
	d.agent.announce()
}

// turn takes the slot, and says meanwhile that the figure waits for it.
func (d *figureJobs) turn(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case d.slot <- struct{}{}:
		d.waits(id, false)
		return nil
	default:
	}
	d.waits(id, true)
	defer d.waits(id, false)
	select {
	case d.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *figureJobs) waits(id string, yes bool) {
	d.mu.Lock()
	d.place(id).running.Waits = yes
	d.mu.Unlock()
	d.agent.announce()
}

func (d *figureJobs) report(id string, done, total int, soFar func() Figure) {
	d.mu.Lock()
	k := d.place(id)
	k.running.Done, k.running.Total, k.soFar = done, total, soFar
	d.mu.Unlock()
	d.agent.tasks.progress(taskOf(id), int64(done), int64(total))
	d.agent.announce()
}

// end keeps a figure, or the reason why there is none. What was there
// before a try that failed stays.
func (d *figureJobs) end(id string, f Figure, took time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.place(id)
	run := k.running
	k.running, k.soFar = nil, nil
	if err != nil || f == nil {
		if err != nil && err != context.Canceled {
			k.failed = words.OneLine(err.Error())
		}
		return
	}
	run.Figure, run.WallMS, k.latest = f, took.Milliseconds(), f
	if len(run.Set) == 0 {
		if k.base != nil && k.base.Scale != run.Scale {
			k.variant = nil // nothing to compare them with
		}
		k.base = run
		return
	}
	k.variant = slices.DeleteFunc(k.variant, func(v FigureRun) bool { return reflect.DeepEqual(v.Set, run.Set) || v.Scale != run.Scale })
	k.variant = append(k.variant, *run)
	k.variant = slices.Clone(k.variant[max(0, len(k.variant)-variantsKept):])
}

// get answers with the figure that was computed last.
func (d *figureJobs) get(r *http.Request) (any, error) {
	info, err := d.known(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	f := d.place(info.ID).latest
	d.mu.Unlock()
	if f == nil {
		return nil, &httpError{http.StatusNotFound, "figure " + info.ID + " has not been computed here; POST /api/figures/" + info.ID}
	}
	return f, nil
}

// all answers with what there is of a figure, the points of a running one included.
func (d *figureJobs) all(r *http.Request) (any, error) { return d.agent.Figure(r.PathValue("id")) }

func (d *figureJobs) stop(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if !d.agent.tasks.cancel(taskOf(id)) {
		return nil, &httpError{http.StatusNotFound, "figure " + words.Clip(id) + " is not being computed"}
	}
	return map[string]bool{"cancelled": true}, nil
}

// Run is the figure of that number, the running one included.
func (s *FigureState) Run(n int) (*FigureRun, bool) {
	all := slices.Clone(s.Variants)
	for _, r := range []*FigureRun{s.Base, s.Running} {
		if r != nil {
			all = append(all, *r)
		}
	}
	for i := range all {
		if all[i].N == n && all[i].Figure != nil {
			return &all[i], true
		}
	}
	return nil, false
}

// PointSpec is the system behind a point: run of the figure with number n.
func (s *FigureState) PointSpec(n, run int) (experiment.Spec, *result.Result, error) {
	r, ok := s.Run(n)
	if !ok {
		return experiment.Spec{}, nil, &httpError{http.StatusNotFound, fmt.Sprintf("figure %s has none of number %d; see /api/figures/%s/state", s.ID, n, s.ID)}
	}
	result := r.Figure.Result(run)
	if result == nil {
		return experiment.Spec{}, nil, &httpError{http.StatusNotFound, fmt.Sprintf("figure %s has no run %d", s.ID, run)}
	}
	spec, err := experiment.SpecOf("", result.Spec)
	return spec, result, err
}

// live opens the system behind a point beside the others, in place of one of them
// if that is asked for.
func (d *figureJobs) live(r *http.Request) (any, error) {
	s, err := d.agent.Figure(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var b struct {
		N       int    `json:"n"`
		Run     int    `json:"run"`
		Replace string `json:"replace"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	spec, _, err := s.PointSpec(b.N, b.Run)
	if err != nil {
		return nil, err
	}
	return d.agent.addInPlaceOf(r.Context(), b.Replace, spec)
}
