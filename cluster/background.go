package cluster

import (
	"context"
	"net/http"
	"strings"

	"drtmx/engine/experiment"
)

// job is long work on the spec that a system has now, such as a sweep. It runs beside the live
// systems and takes nothing from the one whose spec it is.
type job struct {
	task string // its name among the agent's tasks
	// field, verb and busy are the words of refusals: what was asked for, what is done with a system,
	// and why there is no second one at a time.
	field, verb, busy string
	slot              chan struct{} // held while it works, for it takes every core
	// begun takes note of the job before anybody can ask for it; ended of what came out of it, an
	// error of context.Canceled if it was cancelled.
	begun func(spec experiment.Spec, knobsVersion int, epoch string)
	work  func(ctx context.Context, spec experiment.Spec, progress func(done, total int)) error
	ended func(err error)
}

// background starts a job on the spec of a member and answers with the name of its task. A system
// with a user's code is refused: no other system has that code.
func (a *Agent) background(r *http.Request, m *member, j job) (any, error) {
	var spec experiment.Spec
	var version int
	var epoch string
	if err := m.call(r.Context(), func(m *member) error {
		if names := userCode(m.added); len(names) > 0 {
			return &experiment.SpecError{Field: j.field, Value: strings.Join(names, ", "), Rule: "the system has transactions of a user's, whose code no other system has", Next: j.verb + " a system without them"}
		}
		spec, version, epoch = m.Sys.Spec(), m.Sys.KnobsVersion(), m.epoch
		return nil
	}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(a.ctx)
	if !a.tasks.start(j.task, cancel) {
		cancel()
		return nil, &httpError{http.StatusConflict, j.busy}
	}
	j.begun(spec, version, epoch)
	go func() {
		defer cancel()
		err := inTurn(ctx, j.slot, j.task, func() error {
			return j.work(ctx, spec, func(done, total int) {
				a.tasks.progress(j.task, int64(done), int64(total))
				a.announce()
			})
		})
		j.ended(err)
		a.tasks.end(j.task, err)
		a.announce()
	}()
	a.announce()
	return accepted{map[string]string{"task": j.task}}, nil
}

// stopTask cancels a task of the system that a request names, and says what there is none of.
func (a *Agent) stopTask(r *http.Request, taskOf func(sys string) string, none string) (any, error) {
	m, err := a.member(sysOf(r))
	if err != nil {
		return nil, err
	}
	if !a.tasks.cancel(taskOf(m.id)) {
		return nil, &httpError{http.StatusNotFound, none + " of system " + m.id + " to cancel"}
	}
	return map[string]bool{"cancelled": true}, nil
}
