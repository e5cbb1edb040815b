package job

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// figures are what there is of each. One is computed at a time.
type figures struct {
	slot   chan struct{}
	runner FigureRunner // nil: there are none

	mu   sync.Mutex
	last int // number of the latest FigureRun
	kept map[string]*keptFigure
}

// keptFigure is what there is of a figure: what was computed last, and variants of it.
type keptFigure struct {
	running *FigureRun
	soFar   func() Figure // of the running one, nil before its first run has ended
	failed  string
	base    *FigureRun
	variant []FigureRun
	latest  Figure
	recall  *sync.Once // looks for what was computed before
	load    func() (Figure, error)
}

// variantsKept bounds what is kept, and drawn, over one figure.
const variantsKept = 3

// Figures lists the figures that this agent can compute, none if it was started
// without them.
func (j *Jobs) Figures() []FigureInfo {
	out := []FigureInfo{}
	if r := j.figures.runner; r != nil {
		out = append(out, r.List()...)
	}
	return out
}

// Figure is what the agent has of a figure.
func (j *Jobs) Figure(id string) (FigureState, error) {
	info, err := j.known(id)
	if err != nil {
		return FigureState{}, err
	}
	j.figures.read(id)
	return j.figures.state(info), nil
}

// FigureBrief is that for a list: a figure that was computed before the agent began need not have been read.
func (j *Jobs) FigureBrief(id string) (FigureState, error) {
	info, err := j.known(id)
	if err != nil {
		return FigureState{}, err
	}
	j.figures.recall(id)
	return j.figures.state(info), nil
}

// NoFigureError names a figure that does not exist (HTTP 404).
type NoFigureError struct{ ID string }

func (e *NoFigureError) Error() string {
	return "figure = " + words.Clip(e.ID) + ": no such figure; see /api/figures"
}

// known checks an id before anything is started.
func (j *Jobs) known(id string) (FigureInfo, error) {
	for _, f := range j.Figures() {
		if f.ID == id {
			return f, nil
		}
	}
	return FigureInfo{}, &NoFigureError{id}
}

// of is what there is of a figure; d.mu is held.
func (d *figures) of(id string) *keptFigure {
	if d.kept[id] == nil {
		d.kept[id] = &keptFigure{recall: &sync.Once{}}
	}
	return d.kept[id]
}

// recall takes what was computed before, unless there is something already.
func (d *figures) recall(id string) {
	d.mu.Lock()
	once := d.of(id).recall
	d.mu.Unlock()
	once.Do(func() { // outside of the lock: it is read from files
		f, ok := d.runner.Known(id)
		if !ok {
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if k := d.of(id); k.base == nil {
			d.last++
			k.base, k.load = &FigureRun{N: d.last, Scale: f.Scale, WallMS: f.WallMS, Made: f.Made, Claims: &f.Claims}, sync.OnceValues(f.Load)
		}
	})
}

// read reads the figure that recall has found. One that cannot be read is none.
func (d *figures) read(id string) {
	d.recall(id)
	d.mu.Lock()
	k := d.of(id)
	base, load := k.base, k.load
	d.mu.Unlock()
	if base == nil || base.Figure != nil || load == nil {
		return
	}
	f, err := load()
	d.mu.Lock()
	defer d.mu.Unlock()
	if k.base != base { // another reader, or a computation, was faster
		return
	}
	if err != nil {
		k.base, k.failed = nil, words.OneLine(err.Error())
		return
	}
	whole := *base
	whole.Figure = f
	if k.base = &whole; k.latest == nil {
		k.latest = f
	}
}

func (d *figures) state(info FigureInfo) FigureState {
	d.mu.Lock()
	k := *d.of(info.ID)
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
func (j *Jobs) Sketch(id string) (string, error) {
	s, err := j.Figure(id)
	switch {
	case err != nil:
		return "", err
	case s.Base != nil:
		return s.Base.Figure.Sketch(), nil
	}
	return j.figures.runner.Sketch(id), nil
}

// ReadFigure is a figure from the JSON of one that was kept; nil where the figures of this program cannot read it.
func (j *Jobs) ReadFigure(text []byte) Figure {
	reader, ok := j.figures.runner.(interface {
		Read(text []byte) (Figure, error)
	})
	if !ok {
		return nil
	}
	f, err := reader.Read(text)
	if err != nil {
		return nil
	}
	return f
}

// FigureParts are what is known of a figure beside its picture: of what is drawn first on the page once it is there.
func (j *Jobs) FigureParts(id string) ([]FigurePart, error) {
	s, err := j.Figure(id)
	switch {
	case err != nil:
		return nil, err
	case s.Base != nil && (s.Running == nil || len(s.Running.Set) > 0):
		return j.figures.runner.Parts(id, s.Base.Figure), nil
	case s.Base == nil && s.Running == nil && len(s.Variants) > 0:
		return j.figures.runner.Parts(id, s.Variants[0].Figure), nil
	}
	return j.figures.runner.Parts(id, nil), nil
}

func taskOf(id string) string { return "figure " + id }

// FigureOrder asks for a figure, with knobs of all its runs changed.
type FigureOrder struct {
	Scale string           `json:"scale"`
	Set   experiment.Knobs `json:"set"`
}

// StartFigure begins to compute a figure, and returns the name of the task.
func (j *Jobs) StartFigure(id string, order FigureOrder) (string, error) {
	info, err := j.known(id)
	if err != nil {
		return "", err
	}
	if err := defaultScale(&order.Scale); err != nil {
		return "", err
	}
	if err := system.Guard(taskOf(info.ID), func() error { return j.figures.runner.Check(info.ID, order.Scale, order.Set) }); err != nil {
		return "", err
	}
	_, err = j.startFigure(info.ID, order, nil)
	return taskOf(info.ID), err
}

// defaultScale makes quick of no scale and refuses what is none.
func defaultScale(scale *string) error {
	if *scale == "" {
		*scale = "quick"
	}
	if *scale != "quick" && *scale != "paper" {
		return &experiment.SpecError{Field: "scale", Value: words.Clip(*scale), Rule: "must be quick or paper", Next: `as {"scale": "quick"}`}
	}
	return nil
}

// startFigure begins to compute a figure that was checked, once another has ended unless after is nil.
func (j *Jobs) startFigure(id string, order FigureOrder, after <-chan struct{}) (<-chan struct{}, error) {
	d := &j.figures
	var f Figure
	began := time.Now()
	return j.start(job{
		task: taskOf(id), busy: "figure " + id + " is being computed already", slot: d.slot, after: after,
		begun: func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.last++
			k := d.of(id)
			k.running, k.soFar, k.failed = &FigureRun{N: d.last, Scale: order.Scale, Set: order.Set, Waits: after != nil}, nil, ""
		},
		waits: func(yes bool) {
			d.mu.Lock()
			d.of(id).running.Waits = yes
			d.mu.Unlock()
			j.Announce()
		},
		work: func(ctx context.Context, progress func(done, total int)) (err error) {
			began = time.Now()
			f, err = d.runner.Run(ctx, id, order.Scale, order.Set, func(done, total int, soFar func() Figure) {
				d.mu.Lock()
				k := d.of(id)
				k.running.Done, k.running.Total, k.soFar = done, total, soFar
				d.mu.Unlock()
				progress(done, total)
			})
			return err
		},
		ended: func(err error) { d.end(id, f, time.Since(began), err) }})
}

// end keeps a figure, or the reason why there is none. What was there
// before a try that failed stays.
func (d *figures) end(id string, f Figure, took time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.of(id)
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

// Latest is the figure that was computed last.
func (j *Jobs) Latest(id string) (Figure, error) {
	info, err := j.known(id)
	if err != nil {
		return nil, err
	}
	j.figures.read(info.ID)
	j.figures.mu.Lock()
	f := j.figures.of(info.ID).latest
	j.figures.mu.Unlock()
	if f == nil {
		return nil, &agent.NotFoundError{Line: "figure " + info.ID + " has not been computed here; POST /api/figures/" + info.ID}
	}
	return f, nil
}

// StopFigure cancels the computation of a figure.
func (j *Jobs) StopFigure(id string) error {
	return j.stop(taskOf(id), "figure "+words.Clip(id)+" is not being computed")
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
		return experiment.Spec{}, nil, &agent.NotFoundError{Line: fmt.Sprintf("figure %s has none of number %d; see /api/figures/%s/state", s.ID, n, s.ID)}
	}
	result := r.Figure.Result(run)
	if result == nil {
		return experiment.Spec{}, nil, &agent.NotFoundError{Line: fmt.Sprintf("figure %s has no run %d", s.ID, run)}
	}
	spec, err := experiment.SpecOf("", result.Spec)
	return spec, result, err
}

// FigurePoint names a point of a figure: a run of the figure with a number, to be opened in place of a system ("": beside all).
type FigurePoint struct {
	N       int    `json:"n"`
	Run     int    `json:"run"`
	Replace string `json:"replace"`
}

// OpenFigurePoint opens the system behind a point.
func (j *Jobs) OpenFigurePoint(ctx context.Context, id string, p FigurePoint) (system.Snapshot, error) {
	s, err := j.Figure(id)
	if err != nil {
		return system.Snapshot{}, err
	}
	spec, _, err := s.PointSpec(p.N, p.Run)
	if err != nil {
		return system.Snapshot{}, err
	}
	return j.AddInPlaceOf(ctx, p.Replace, spec)
}
