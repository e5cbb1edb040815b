package agent

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/twin"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// follow does the next slice or step of a hidden system, or returns how long to wait.
// Where the other is, is read before its steps: what happens until there is recorded.
func (m *member) follow(now time.Time) time.Duration {
	f := m.twin
	origin, same := f.Origin()
	if !same {
		return idleWait
	}
	to := origin.VirtualNS
	st, ok := f.Step()
	if ok {
		to = min(to, st.VirtualNS)
	}
	switch at := m.Sys.NowNS(); {
	case at < to:
		done := m.agent.slot(now, f.Ghost())
		if done == nil {
			return twin.HiddenWait
		}
		m.advance(min(m.Slice(), to-at))
		done()
	case ok && st.VirtualNS == at:
		f.StepDone()
		if err := m.redo(st, &replay{}); err != nil {
			m.fail(err)
		}
	default:
		return twin.HiddenSlice
	}
	return 0
}

// slot asks for a slice of a hidden system.
func (a *Agent) slot(now time.Time, ghost bool) (done func()) {
	if a.tasks.busy() {
		return nil
	}
	shown := 0
	for _, m := range a.all() {
		if s := m.snap.Load().State; s == system.StateRunning || s == system.StateDraining {
			shown++
		}
	}
	return a.spare.Slot(now, runtime.GOMAXPROCS(0), shown, ghost)
}

// approach brings a fork to where the system is that it was forked from. That one goes on
// meanwhile and does not wait.
func (m *member) approach(now time.Time) time.Duration {
	o := m.origin.snap.Load()
	gap, near := o.VirtualNS-m.Sys.NowNS(), m.lead()
	if o.State == system.StatePaused || o.State == system.StateFailed {
		near = 0 // it does not come closer by itself
	}
	if gap <= near || o.Epoch != m.forkEpoch {
		m.stopCatchUp()
		m.anchor(now)
		m.publish(now)
		return 0
	}
	m.agent.spare.Busy(now)
	m.advance(min(m.Slice(), gap))
	m.agent.taskProgress(catchUpTask(m.id), m.Sys.NowNS(), o.VirtualNS)
	return 0
}

// stopCatchUp ends the way to another system: from now on the fork goes by itself.
func (m *member) stopCatchUp() {
	if m.chase {
		m.chase = false
		m.agent.taskDone(catchUpTask(m.id), nil)
	}
}

// catchUpTask names the task of a system that replays.
func catchUpTask(id string) string { return "catch up " + id }

// twinHost is the agent for the standby twin.
type twinHost struct{ *Agent }

func (h twinHost) Member(sys string) (twin.Member, error) {
	m, err := h.member(sys)
	if err != nil {
		return nil, err // not a nil *member in a Member
	}
	return m, nil
}

func (h twinHost) Open(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
	return h.open(ctx, spec, progress)
}

func (h twinHost) Hide(of twin.Member, sys system.System, f *twin.Follower) (twin.Member, func()) {
	m := newMember(h.Agent, "twin of "+of.ID(), sys, session.NewRecorder(of.Recorder().Head(), nil))
	m.twin = f
	m.start()
	return m, func() { close(m.quit) }
}

func (h twinHost) Go(f func(ctx context.Context)) {
	h.loops.Add(1)
	go func() {
		defer h.loops.Done()
		f(h.ctx)
	}()
}

// memoryFor is for how many more systems there must be memory: a hidden one, and what the
// shown ones still grow.
const memoryFor = 2

func (h twinHost) ShortOfMemory(spec experiment.Spec) string { return h.shortOfMemory(spec) }

// shortOfMemory says why there is no room for a hidden system, "" if there is.
func (a *Agent) shortOfMemory(spec experiment.Spec) string {
	free := experiment.AvailableMemory
	if a.opts.Memory != nil {
		free = a.opts.Memory
	}
	e, err := experiment.EstimateOf(spec)
	if err != nil {
		return words.OneLine(err.Error())
	}
	if n := free(); n > 0 && memoryFor*e.MaxMemoryBytes > n {
		return fmt.Sprintf("memory is short: it may need %d MB, and %d MB are available", e.MaxMemoryBytes/1e6, n/1e6)
	}
	return ""
}

// SetTwin switches the standby twin on or off.
func (a *Agent) SetTwin(on bool) { a.standby.Switch(on) }

// Twin is how the standby twin is, nil while no page is open.
func (a *Agent) Twin() *twin.Twin { return a.standby.Now() }

// Viewer notes a page, for whose system a twin is kept.
func (a *Agent) Viewer() *twin.Viewer { return a.standby.Open() }
