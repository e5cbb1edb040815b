package cluster

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"

	"drtmx/cluster/keep"
	"drtmx/cluster/words"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// SweepState is the latest sweep of a system that an agent ran, or runs.
type SweepState struct {
	Sys          string             `json:"sys"`
	Task         string             `json:"task"`
	Running      bool               `json:"running"`
	Cancelled    bool               `json:"cancelled,omitempty"` // the points that were finished are there
	Failed       string             `json:"failed,omitempty"`
	KnobsVersion int                `json:"knobs_version"` // whose spec it was
	Epoch        string             `json:"epoch"`
	Number       int                `json:"number"` // tells the sweeps of an agent apart
	Spec         experiment.Spec    `json:"spec"`
	Sweep        *batch.SweepResult `json:"sweep,omitempty"`
}

// Result is what was swept, nil if there is nothing yet.
func (s *SweepState) Result() *SweepResult {
	if s.Sweep == nil {
		return nil
	}
	return &SweepResult{s.Sweep}
}

// Point is a point of the sweep by its place.
func (s *SweepState) Point(i int) (batch.SweepPoint, error) {
	if s.Sweep == nil || i < 0 || i >= len(s.Sweep.Points) {
		return batch.SweepPoint{}, &experiment.SpecError{Field: "point", Value: fmt.Sprint(i), Rule: "the latest sweep of system " + s.Sys + " has no such point", Next: "look at its points again"}
	}
	return s.Sweep.Points[i], nil
}

// sweepPointsMost bounds what one click may cost.
const sweepPointsMost = 400

// sweepJobs sweeps the specs of systems in the background. It shares its turn with the causes, so
// that the live systems have no more beside them than one of the two.
type sweepJobs struct {
	agent *Agent
	mu    sync.Mutex
	have  map[string]*SweepState // by system
	last  int                    // number of the latest
	slot  chan struct{}
}

func newSweepJobs(a *Agent, slot chan struct{}) *sweepJobs {
	return &sweepJobs{agent: a, have: map[string]*SweepState{}, slot: slot}
}

func sweepTask(sys string) string { return "sweep of " + sys }

// sweepBody is what a caller asks for: two knobs or any other number, and their values.
type sweepBody struct {
	Axes []struct {
		Knob   string `json:"knob"`
		Values any    `json:"values"` // a list, or text with commas
	} `json:"axes"`
	Seeds int `json:"seeds"`
}

// axes checks what was asked for.
func (b *sweepBody) axes() ([]experiment.Axis, error) {
	if len(b.Axes) == 0 {
		return nil, &experiment.SpecError{Field: "axes", Rule: "none given", Next: `as {"axes": [{"knob": "coroutines", "values": [1, 2, 4]}]}`}
	}
	if b.Seeds < 0 || b.Seeds > causesSeedsMost {
		return nil, &experiment.SpecError{Field: "seeds", Value: fmt.Sprint(b.Seeds), Rule: fmt.Sprintf("must be from 1 to %d", causesSeedsMost), Next: "leave it out for 1"}
	}
	points := max(b.Seeds, 1)
	var out []experiment.Axis
	for _, a := range b.Axes {
		axis, err := experiment.NewAxis(a.Knob, a.Values)
		if err != nil {
			return nil, err
		}
		for _, other := range out {
			if other.Knob == axis.Knob {
				return nil, &experiment.SpecError{Field: axis.Knob, Rule: "is an axis twice", Next: "choose another knob for one of them"}
			}
		}
		out, points = append(out, axis), min(points, sweepPointsMost+1)*len(axis.Values)
	}
	if points > sweepPointsMost {
		return nil, &experiment.SpecError{Field: "axes", Rule: fmt.Sprintf("make more than %d runs", sweepPointsMost), Next: "use fewer values, or `drtmx sweep`"}
	}
	return out, nil
}

// start begins to sweep the spec that a system has now.
func (d *sweepJobs) start(r *http.Request) (any, error) {
	m, err := d.agent.member(sysOf(r))
	if err != nil {
		return nil, err
	}
	var b sweepBody
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	axes, err := b.axes()
	if err != nil {
		return nil, err
	}
	state := &SweepState{Sys: m.id, Task: sweepTask(m.id), Running: true}
	return d.agent.background(r, m, job{task: state.Task, field: "sweep", verb: "sweep", busy: "a sweep of system " + m.id + " is running already; cancel it or wait", slot: d.slot,
		begun: func(spec experiment.Spec, version int, epoch string) {
			d.mu.Lock()
			d.last++
			state.Spec, state.KnobsVersion, state.Epoch, state.Number, d.have[m.id] = spec, version, epoch, d.last, state
			d.mu.Unlock()
		},
		work: func(ctx context.Context, spec experiment.Spec, progress func(done, total int)) error {
			o := batch.SweepOptions{Seeds: b.Seeds, Cache: keep.Cache(), Progress: progress, Parallel: max(1, runtime.GOMAXPROCS(0)-1)} // a core is the live systems'
			swept, err := batch.Sweep(ctx, spec, axes, o)
			d.mu.Lock()
			state.Sweep = swept
			d.mu.Unlock()
			if err == nil {
				keep.OwnSweep("", spec, swept)
			}
			return err
		},
		ended: func(err error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			state.Running, state.Cancelled = false, err == context.Canceled
			if err != nil && !state.Cancelled {
				state.Failed = words.OneLine(err.Error())
			}
		}})
}

// Sweep is the latest sweep of a system.
func (a *Agent) Sweep(sys string) (SweepState, error) {
	m, err := a.member(sys)
	if err != nil {
		return SweepState{}, err
	}
	d := a.sweeps
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.have[m.id]; s != nil {
		return *s, nil
	}
	return SweepState{Sys: m.id, Task: sweepTask(m.id)}, nil
}

func (d *sweepJobs) get(r *http.Request) (any, error) { return d.agent.Sweep(sysOf(r)) }

func (d *sweepJobs) stop(r *http.Request) (any, error) {
	return d.agent.stopTask(r, sweepTask, "there is no sweep")
}

// live opens the system of a point beside the others, or in place of one.
func (d *sweepJobs) live(r *http.Request) (any, error) {
	s, err := d.agent.Sweep(sysOf(r))
	if err != nil {
		return nil, err
	}
	var b struct {
		Point   int    `json:"point"`
		Number  int    `json:"number"` // of the sweep that the caller looks at
		Replace string `json:"replace"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if b.Number != 0 && b.Number != s.Number {
		return nil, &httpError{http.StatusConflict, "another sweep has taken the place of that one; look at its points"}
	}
	point, err := s.Point(b.Point)
	if err != nil {
		return nil, err
	}
	spec, err := s.Spec.With(point.Set)
	if err != nil {
		return nil, err
	}
	return d.agent.addInPlaceOf(r.Context(), b.Replace, spec)
}
