package cluster

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"drtmx/engine"
)

// CausesState is what an agent has measured of what limits a system.
type CausesState struct {
	Sys          string         `json:"sys"`
	Task         string         `json:"task"`
	Running      bool           `json:"running"`
	Done         int            `json:"done"` // thousandths
	Failed       string         `json:"failed,omitempty"`
	KnobsVersion int            `json:"knobs_version"` // that they were measured for
	Epoch        string         `json:"epoch"`
	Causes       *engine.Causes `json:"causes,omitempty"`
}

// causesDesk measures causes in the background, one system of the agent at a time: each
// measurement takes every core.
type causesDesk struct {
	agent *Agent
	mu    sync.Mutex
	have  map[string]*CausesState // by system
	slot  chan struct{}
}

func newCausesDesk(a *Agent) *causesDesk {
	return &causesDesk{agent: a, have: map[string]*CausesState{}, slot: make(chan struct{}, 1)}
}

func causesTask(sys string) string { return "causes of " + sys }

// start begins to measure the spec that a system has now.
func (d *causesDesk) start(r *http.Request) (any, error) {
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
		return nil, &engine.SpecError{Field: "seeds", Rule: "must be from 1 to 50", Next: "leave it out for 5"}
	}
	var spec engine.Spec
	state := &CausesState{Sys: m.id, Task: causesTask(m.id), Running: true}
	if err := m.call(r.Context(), func(m *member) error {
		if names := userCode(m.added); len(names) > 0 {
			return &engine.SpecError{Field: "causes", Value: strings.Join(names, ", "), Rule: "the system has transactions of a user's, whose code no other system has", Next: "measure a system without them"}
		}
		spec, state.KnobsVersion, state.Epoch = m.sys.Spec(), m.sys.KnobsVersion(), m.epoch
		return nil
	}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(d.agent.life)
	if !d.agent.tasks.start(state.Task, cancel) {
		cancel()
		return nil, &httpError{http.StatusConflict, "the causes of system " + m.id + " are being measured already"}
	}
	d.mu.Lock()
	d.have[m.id] = state
	d.mu.Unlock()
	go d.run(ctx, cancel, state, spec, engine.CausesOptions{Group: b.Group, Seeds: b.Seeds})
	d.agent.announce()
	return accepted{map[string]string{"task": state.Task}}, nil
}

// causesSeedsMost bounds what one click may cost.
const causesSeedsMost = 50

func (d *causesDesk) run(ctx context.Context, cancel context.CancelFunc, state *CausesState, spec engine.Spec, o engine.CausesOptions) {
	defer cancel()
	o.Progress = func(done, total int) {
		d.mu.Lock()
		state.Done = done
		d.mu.Unlock()
		d.agent.tasks.progress(state.Task, int64(done), int64(total))
		d.agent.announce()
	}
	var c *engine.Causes
	err := inTurn(ctx, d.slot, state.Task, func() (err error) {
		c, err = engine.MeasureCauses(ctx, spec, o)
		return err
	})
	d.mu.Lock()
	state.Running, state.Causes = false, c // of a cancelled one, what there is
	if err != nil && err != context.Canceled {
		state.Failed = oneLine(err.Error())
	}
	d.mu.Unlock()
	d.agent.tasks.end(state.Task, err)
	d.agent.announce()
}

// get is what there is of a system.
func (d *causesDesk) get(r *http.Request) (any, error) {
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

func (d *causesDesk) stop(r *http.Request) (any, error) {
	m, err := d.agent.member(sysOf(r))
	if err != nil {
		return nil, err
	}
	if !d.agent.tasks.cancel(causesTask(m.id)) {
		return nil, &httpError{http.StatusNotFound, "the causes of system " + m.id + " are not being measured"}
	}
	return map[string]bool{"cancelled": true}, nil
}
