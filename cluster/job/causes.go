package job

import (
	"context"

	"drtmx/cluster/words"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// CausesState is what an agent has measured of what limits a system.
type CausesState struct {
	Sys          string        `json:"sys"`
	Task         string        `json:"task"`
	Running      bool          `json:"running"`
	Done         int           `json:"done"` // thousandths
	Failed       string        `json:"failed,omitempty"`
	KnobsVersion int           `json:"knobs_version"` // that they were measured for
	Epoch        string        `json:"epoch"`
	Causes       *batch.Causes `json:"causes,omitempty"`
}

// CausesOrder asks for the causes of a group, of all groups if it is "".
type CausesOrder struct {
	Group string `json:"group"`
	Seeds int    `json:"seeds"`
}

// seedsMost bounds what one click may cost.
const seedsMost = 50

func causesTask(sys string) string { return "causes of " + sys }

// StartCauses begins to measure what limits the spec that a system has now, and returns the name of the task.
func (j *Jobs) StartCauses(ctx context.Context, sys string, order CausesOrder) (string, error) {
	if _, err := j.State(sys); err != nil {
		return "", err
	}
	if order.Seeds < 0 || order.Seeds > seedsMost {
		return "", &experiment.SpecError{Field: "seeds", Rule: "must be from 1 to 50", Next: "leave it out for 5"}
	}
	b, err := j.basis(ctx, sys, "causes", "measure")
	if err != nil {
		return "", err
	}
	d := &j.causes
	state := &CausesState{Sys: b.Sys, Task: causesTask(b.Sys), Running: true, KnobsVersion: b.KnobsVersion, Epoch: b.Epoch}
	_, err = j.start(job{
		task: state.Task, busy: "the causes of system " + b.Sys + " are being measured already", slot: d.slot,
		begun: func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.have[b.Sys] = state
		},
		work: func(ctx context.Context, progress func(done, total int)) error {
			c, err := batch.MeasureCauses(ctx, b.Spec, batch.CausesOptions{Group: order.Group, Seeds: order.Seeds, Progress: func(done, total int) {
				d.mu.Lock()
				state.Done = done
				d.mu.Unlock()
				progress(done, total)
			}})
			d.mu.Lock()
			defer d.mu.Unlock()
			state.Causes = c // of a cancelled one, what there is
			return err
		},
		ended: func(err error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			state.Running = false
			if err != nil && err != context.Canceled {
				state.Failed = words.OneLine(err.Error())
			}
		}})
	return state.Task, err
}

// Causes is what was measured of a system.
func (j *Jobs) Causes(sys string) (CausesState, error) {
	s, err := j.State(sys)
	if err != nil {
		return CausesState{}, err
	}
	if c, ok := j.causes.of(s.Sys); ok {
		return c, nil
	}
	return CausesState{Sys: s.Sys, Task: causesTask(s.Sys)}, nil
}

// StopCauses cancels a measurement.
func (j *Jobs) StopCauses(sys string) error {
	s, err := j.State(sys)
	if err != nil {
		return err
	}
	return j.stop(causesTask(s.Sys), "there is no measurement of causes of system "+s.Sys+" to cancel")
}
