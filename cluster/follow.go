package cluster

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
)

// follower is how a hidden system goes the way of a shown one: the same changes at the
// same virtual times, never ahead of it. As a twin it takes all of them. As a ghost it
// stops at one: from there on it goes on as if nothing had been changed any more.
type follower struct {
	of    *member
	epoch string // epoch of that system
	begun int    // number of its segment
	next  int    // steps done
	limit atomic.Int64
	stop  atomic.Pointer[session.Checkpoint] // how of was before the change that a ghost has not got
}

// noLimit is the limit of a twin, which takes every step.
const noLimit = math.MaxInt64

func newFollower(of *member, epoch string, begun int) *follower {
	f := &follower{of: of, epoch: epoch, begun: begun}
	f.limit.Store(noLimit)
	return f
}

// stay makes a ghost of a twin: the change that is about to be recorded after so many
// steps is not for it, nor is what comes later.
func (f *follower) stay(steps int, before session.Checkpoint) {
	f.stop.Store(&before)
	f.limit.Store(int64(steps))
}

// step is what is to be done next, if that is known. A change is recorded after the
// limit is set, so whoever finds it finds the limit too.
func (f *follower) step() (session.Step, bool) {
	st, ok := f.of.rec.Step(f.begun, f.next)
	switch limit := f.limit.Load(); {
	case int64(f.next) < limit:
		return st, ok
	case int64(f.next) == limit:
		c := f.stop.Load()
		return session.Step{VirtualNS: c.VirtualNS, Checkpoint: c}, true
	}
	return session.Step{}, false
}

// follow does the next slice or step of a hidden system, or returns how long to wait.
// Where the other is, is read before its steps: what happens until there is recorded.
func (m *member) follow(now time.Time) time.Duration {
	f := m.twin
	origin := f.of.snap.Load()
	if origin.Epoch != f.epoch {
		return idleWait // it began again: this one is about to be closed
	}
	to := origin.VirtualNS
	st, ok := f.step()
	if ok {
		to = min(to, st.VirtualNS)
	}
	switch at := m.Sys.NowNS(); {
	case at < to:
		done := m.agent.slot(now, f.limit.Load() != noLimit)
		if done == nil {
			return hiddenWait
		}
		m.advance(min(m.Slice(), to-at))
		done()
	case ok && st.VirtualNS == at:
		f.next++
		if err := m.redo(st, &replay{}); err != nil {
			m.fail(err)
		}
	default:
		return hiddenSlice
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
	return a.spare.slot(now, runtime.GOMAXPROCS(0), shown, ghost)
}

// pursue brings a fork to where the system is that it was forked from. That one goes on
// meanwhile and does not wait.
func (m *member) pursue(now time.Time) time.Duration {
	o := m.origin.snap.Load()
	gap, near := o.VirtualNS-m.Sys.NowNS(), m.lead()
	if o.State == system.StatePaused || o.State == system.StateFailed {
		near = 0 // it does not come closer by itself
	}
	if gap <= near || o.Epoch != m.forkEpoch {
		m.leaveBe()
		m.anchor(now)
		m.publish(now)
		return 0
	}
	m.agent.spare.press(now)
	m.advance(min(m.Slice(), gap))
	m.agent.taskProgress(catchUpTask(m.id), m.Sys.NowNS(), o.VirtualNS)
	return 0
}

// leaveBe ends a pursuit.
func (m *member) leaveBe() {
	if m.chase {
		m.chase = false
		m.agent.taskDone(catchUpTask(m.id), nil)
	}
}

// catchUpTask names the task of a system that replays.
func catchUpTask(id string) string { return "catch up " + id }
