package job

import (
	"context"
	"errors"
	"strings"
	"sync"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/engine/experiment"
)

// Jobs is an agent with the long work that it does beside its systems: figures, sweeps, causes. What comes out is
// kept as long as the agent lives: pages may come and go meanwhile.
type Jobs struct {
	*agent.Agent
	figures figures
	sweeps  bySystem[SweepState]
	causes  bySystem[CausesState]
	sweep   int // number of the latest; sweeps.mu is held
}

// For makes the jobs of an agent, with the figures that were registered (SetFigures).
func For(a *agent.Agent) *Jobs { return With(a, registered()) }

// With makes the jobs of an agent, with figures that r runs; nil if there are none.
func With(a *agent.Agent, r FigureRunner) *Jobs {
	slot := make(chan struct{}, 1) // sweeps and causes share it, so that live systems have no more beside them than one of the two
	return &Jobs{
		Agent:   a,
		figures: figures{slot: make(chan struct{}, 1), runner: r, kept: map[string]*keptFigure{}},
		sweeps:  bySystem[SweepState]{slot: slot, have: map[string]*SweepState{}},
		causes:  bySystem[CausesState]{slot: slot, have: map[string]*CausesState{}},
	}
}

// bySystem is the latest work of one kind for each system.
type bySystem[State any] struct {
	slot chan struct{}
	mu   sync.Mutex
	have map[string]*State
}

// of is a copy of what there is of a system.
func (b *bySystem[State]) of(sys string) (State, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.have[sys]; s != nil {
		return *s, true
	}
	var none State
	return none, false
}

// job is one piece of long work. It takes every core, so it holds a slot while it works.
type job struct {
	task  string // its name among the agent's tasks
	busy  string // why there is no second one at a time
	slot  chan struct{}
	after <-chan struct{} // it begins when this is closed; nil: at once
	begun func()          // takes note of it before a request can ask for it
	waits func(yes bool)  // unless nil, is told whether it waits for its turn
	work  func(ctx context.Context, progress func(done, total int)) error
	ended func(err error) // takes note of what came of it: context.Canceled if it was cancelled
}

// start begins a job. The channel is closed at its end.
func (j *Jobs) start(x job) (<-chan struct{}, error) {
	ctx, cancel := context.WithCancel(j.Context()) // outlives the request
	if !j.StartTask(x.task, cancel) {
		cancel()
		return nil, &agent.ConflictError{Line: x.busy}
	}
	x.begun()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		err := system.Guard(x.task, func() error {
			if err := x.turn(ctx); err != nil {
				return err
			}
			defer func() { <-x.slot }()
			return x.work(ctx, func(done, total int) { j.TaskProgress(x.task, int64(done), int64(total)) })
		})
		if errors.Is(err, context.Canceled) {
			err = context.Canceled // however that came out of the work
		}
		x.ended(err)
		j.EndTask(x.task, err)
	}()
	j.Announce()
	return over, nil
}

// turn waits for what has to end before, and takes the slot.
func (x *job) turn(ctx context.Context) error {
	waits := x.waits
	if waits == nil {
		waits = func(bool) {}
	}
	if x.after != nil {
		waits(true)
		select {
		case <-x.after:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case x.slot <- struct{}{}:
		waits(false)
		return nil
	default:
	}
	waits(true)
	defer waits(false)
	select {
	case x.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop cancels a job; none says what there is none of.
func (j *Jobs) stop(task, none string) error {
	if !j.CancelTask(task) {
		return &agent.NotFoundError{Line: none}
	}
	return nil
}

// basis is what work on the spec of a system begins with. One with a user's code is refused: no other system has that
// code. field and verb are the words of the refusal.
func (j *Jobs) basis(ctx context.Context, sys, field, verb string) (agent.Basis, error) {
	b, err := j.Basis(ctx, sys)
	if err == nil && len(b.UserCode) > 0 {
		err = &experiment.SpecError{Field: field, Value: strings.Join(b.UserCode, ", "), Rule: "the system has transactions of a user's, whose code no other system has", Next: verb + " a system without them"}
	}
	return b, err
}
