package twin

import (
	"math"
	"sync/atomic"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
)

// Member is a system of an agent, shown or hidden, as a twin sees it.
type Member interface {
	ID() string
	Snapshot() *system.Snapshot
	Recorder() *session.Recorder
	WindowNS() int64
}

// Follower is how a hidden system goes the way of a shown one: the same changes at the
// same virtual times, never ahead of it. As a twin it takes all of them. As a ghost it
// stops at one: from there on it goes on as if nothing had been changed any more.
type Follower struct {
	of      Member
	epoch   string // epoch of that system
	segment int    // number of its segment
	next    int    // steps done
	limit   atomic.Int64
	stop    atomic.Pointer[session.Checkpoint] // how of was before the change that a ghost has not got
}

// noLimit is the limit of a twin, which takes every step.
const noLimit = math.MaxInt64

func newFollower(of Member, epoch string, segment int) *Follower {
	f := &Follower{of: of, epoch: epoch, segment: segment}
	f.limit.Store(noLimit)
	return f
}

// stopBefore makes a ghost of a twin: the change that is about to be recorded after so many
// steps is not for it, nor is what comes later.
func (f *Follower) stopBefore(steps int, before session.Checkpoint) {
	f.stop.Store(&before)
	f.limit.Store(int64(steps))
}

// Ghost says that it stops at a change.
func (f *Follower) Ghost() bool { return f.limit.Load() != noLimit }

// Origin is how the system is that it follows; false if that began again, so that this one is about to be closed.
func (f *Follower) Origin() (*system.Snapshot, bool) {
	s := f.of.Snapshot()
	return s, s.Epoch == f.epoch
}

// Step is what is to be done next, if that is known. A change is recorded after the
// limit is set, so a goroutine that finds it finds the limit too.
func (f *Follower) Step() (session.Step, bool) {
	st, ok := f.of.Recorder().Step(f.segment, f.next)
	switch limit := f.limit.Load(); {
	case int64(f.next) < limit:
		return st, ok
	case int64(f.next) == limit:
		c := f.stop.Load()
		return session.Step{VirtualNS: c.VirtualNS, Checkpoint: c}, true
	}
	return session.Step{}, false
}

// StepDone counts a step that was done.
func (f *Follower) StepDone() { f.next++ }

// Steps is how many were done.
func (f *Follower) Steps() int { return f.next }
