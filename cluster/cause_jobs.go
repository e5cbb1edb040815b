package cluster

import (
	"context"
	"net/http"
	"sync"

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

// causeJobs measures causes in the background, one system of the agent at a time: each
// measurement takes every core.
type causeJobs struct {
	agent *Agent
	mu    sync.Mutex
	have  map[string]*CausesState // by system
	slot  chan struct{}
}

func newCauseJobs(a *Agent) *causeJobs {
	return &causeJobs{agent: a, have: map[string]*CausesState{}, slot: make(chan struct{}, 1)}
}

func causesTask(sys string) string { return "causes of " + sys }

// start begins to measure the spec that a system has now.
func (d *causeJobs) start(r *http.Request) (any, error) {
	m, err := d.agent.member(sysOf(r))
	if err != nil {
		return nil, err
	}
	var b struct {
		Group string `json:"group"`
		Seeds int    `json:"seeds"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if b.Seeds < 0 || b.Seeds > causesSeedsMost {
		return nil, &experiment.SpecError{Field: "seeds", Rule: "must be from 1 to 50", Next: "leave it out for 5"}
	}
	state := &CausesState{Sys: m.id, Task: causesTask(m.id), Running: true}
	o := batch.CausesOptions{Group: b.Group, Seeds: b.Seeds}
	return d.agent.background(r, m, job{task: state.Task, field: "causes", verb: "measure", busy: "the causes of system " + m.id + " are being measured already", slot: d.slot,
		begun: func(_ experiment.Spec, version int, epoch string) {
			d.mu.Lock()
			state.KnobsVersion, state.Epoch, d.have[m.id] = version, epoch, state
			d.mu.Unlock()
		},
		work: func(ctx context.Context, spec experiment.Spec, progress func(done, total int)) error {
			o.Progress = func(done, total int) {
				d.mu.Lock()
				state.Done = done
				d.mu.Unlock()
				progress(done, total)
			}
			c, err := batch.MeasureCauses(ctx, spec, o)
			d.mu.Lock()
			state.Causes = c // of a cancelled one, what there is
			d.mu.Unlock()
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
}

// causesSeedsMost bounds what one click may cost.
const causesSeedsMost = 50

// get is what there is of a system.
func (d *causeJobs) get(r *http.Request) (any, error) {
	m, err := d.agent.member(sysOf(r))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.have[m.id]; s != nil {
		return *s, nil
	}
	return CausesState{Sys: m.id, Task: causesTask(m.id)}, nil
}

func (d *causeJobs) stop(r *http.Request) (any, error) {
	return d.agent.stopTask(r, causesTask, "there is no measurement of causes")
}
