package job

import (
	"context"
	"fmt"
	"runtime"

	"drtmx/cluster/agent"
	"drtmx/cluster/keep"
	"drtmx/cluster/system"
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

// Point is a point of the sweep by its place.
func (s *SweepState) Point(i int) (batch.SweepPoint, error) {
	if s.Sweep == nil || i < 0 || i >= len(s.Sweep.Points) {
		return batch.SweepPoint{}, &experiment.SpecError{Field: "point", Value: fmt.Sprint(i), Rule: "the latest sweep of system " + s.Sys + " has no such point", Next: "look at its points again"}
	}
	return s.Sweep.Points[i], nil
}

// sweepPointsMost bounds what one click may cost.
const sweepPointsMost = 400

func sweepTask(sys string) string { return "sweep of " + sys }

// SweepOrder is what a caller asks for: two knobs or any other number, and their values.
type SweepOrder struct {
	Axes []struct {
		Knob   string `json:"knob"`
		Values any    `json:"values"` // a list, or text with commas
	} `json:"axes"`
	Seeds int `json:"seeds"`
}

// axes checks what was asked for.
func (b *SweepOrder) axes() ([]experiment.Axis, error) {
	if len(b.Axes) == 0 {
		return nil, &experiment.SpecError{Field: "axes", Rule: "none given", Next: `as {"axes": [{"knob": "coroutines", "values": [1, 2, 4]}]}`}
	}
	if b.Seeds < 0 || b.Seeds > seedsMost {
		return nil, &experiment.SpecError{Field: "seeds", Value: fmt.Sprint(b.Seeds), Rule: fmt.Sprintf("must be from 1 to %d", seedsMost), Next: "leave it out for 1"}
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

// StartSweep begins to sweep the spec that a system has now, and returns the name of the task.
func (j *Jobs) StartSweep(ctx context.Context, sys string, order SweepOrder) (string, error) {
	if _, err := j.State(sys); err != nil {
		return "", err
	}
	axes, err := order.axes()
	if err != nil {
		return "", err
	}
	b, err := j.basis(ctx, sys, "sweep", "sweep")
	if err != nil {
		return "", err
	}
	d := &j.sweeps
	state := &SweepState{Sys: b.Sys, Task: sweepTask(b.Sys), Running: true, Spec: b.Spec, KnobsVersion: b.KnobsVersion, Epoch: b.Epoch}
	_, err = j.start(job{
		task: state.Task, busy: "a sweep of system " + b.Sys + " is running already; cancel it or wait", slot: d.slot,
		begun: func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			j.sweep++
			state.Number, d.have[b.Sys] = j.sweep, state
		},
		work: func(ctx context.Context, progress func(done, total int)) error {
			o := batch.SweepOptions{Seeds: order.Seeds, Cache: keep.Cache(), Share: progress, Parallel: max(1, runtime.GOMAXPROCS(0)-1)} // a core is the live systems'
			swept, err := batch.Sweep(ctx, b.Spec, axes, o)
			d.mu.Lock()
			state.Sweep = swept
			d.mu.Unlock()
			if err == nil {
				keep.OwnSweep("", b.Spec, swept)
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
	return state.Task, err
}

// Sweep is the latest sweep of a system.
func (j *Jobs) Sweep(sys string) (SweepState, error) {
	s, err := j.State(sys)
	if err != nil {
		return SweepState{}, err
	}
	if swept, ok := j.sweeps.of(s.Sys); ok {
		return swept, nil
	}
	return SweepState{Sys: s.Sys, Task: sweepTask(s.Sys)}, nil
}

// StopSweep cancels a sweep.
func (j *Jobs) StopSweep(sys string) error {
	s, err := j.State(sys)
	if err != nil {
		return err
	}
	return j.stop(sweepTask(s.Sys), "there is no sweep of system "+s.Sys+" to cancel")
}

// SweepPoint names a point of the sweep with a number (0: the latest), to be opened in place of a system ("": beside all).
type SweepPoint struct {
	Point   int    `json:"point"`
	Number  int    `json:"number"`
	Replace string `json:"replace"`
}

// OpenSweepPoint opens the system of a point.
func (j *Jobs) OpenSweepPoint(ctx context.Context, sys string, p SweepPoint) (system.Snapshot, error) {
	s, err := j.Sweep(sys)
	if err != nil {
		return system.Snapshot{}, err
	}
	if p.Number != 0 && p.Number != s.Number {
		return system.Snapshot{}, &agent.ConflictError{Line: "another sweep has taken the place of that one; look at its points"}
	}
	point, err := s.Point(p.Point)
	if err != nil {
		return system.Snapshot{}, err
	}
	spec, err := s.Spec.With(point.Set)
	if err != nil {
		return system.Snapshot{}, err
	}
	return j.AddInPlaceOf(ctx, p.Replace, spec)
}
