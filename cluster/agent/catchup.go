package agent

import (
	"fmt"
	"time"

	"drtmx/cluster/session"
)

// replay is a session that a member catches up with: a fork with the session of
// another system, a resumed one with its file.
type replay struct {
	steps  []session.Step
	next   int
	target int64
	code   []addedCode  // of the steps that add transactions, in order
	then   func() error // at the target; nil: nothing
	task   string
}

// catchUp does the next slice or step of the replay.
func (m *member) catchUp() {
	r := m.replay
	now := m.Sys.NowNS()
	to := r.target
	if r.next < len(r.steps) {
		to = r.steps[r.next].VirtualNS
	}
	if now < to {
		m.advance(min(m.Slice(), to-now))
		m.agent.taskProgress(r.task, m.Sys.NowNS(), r.target)
		return
	}
	if r.next < len(r.steps) {
		st := r.steps[r.next]
		r.next++
		if err := m.redo(st, r); err != nil {
			m.fail(err)
		}
		return
	}
	m.replay = nil
	if r.then != nil {
		if err := r.then(); err != nil {
			m.fail(err)
			return
		}
	}
	// Only an origin that has gone on meanwhile is caught up with: one that stood, as a notebook's, moves when it is
	// told to, and the fork stays where it was forked.
	if m.chase = m.origin != nil && m.origin.snap.Load().VirtualNS > m.Sys.NowNS(); !m.chase {
		m.agent.taskDone(r.task, nil)
	}
	m.anchor(time.Now())
	m.publish(time.Now())
}

// redo repeats a recorded step on the loop.
func (m *member) redo(st session.Step, r *replay) error {
	switch {
	case st.Change != nil:
		was := session.ValuesOf(m.Sys, st.Change.Set)
		c, err := m.Sys.Set(st.Change.Set, st.Change.By)
		if err != nil {
			return fmt.Errorf("replay at %d ns: %w", st.VirtualNS, err)
		}
		m.event(session.Event{Kind: session.KindOf(st.Change.Set), By: st.Change.By, Version: c.Version, Set: st.Change.Set, Was: was, Pending: c.Pending})
	case st.Transaction != nil:
		if len(r.code) == 0 {
			return session.NotReplayable(st.Transaction)
		}
		t := r.code[0]
		r.code = r.code[1:]
		m.added = append(m.added, t)
		return t.apply(m.Sys)
	case st.Checkpoint != nil:
		return session.Differs(*st.Checkpoint, m.Mark())
	case st.Failed != nil:
		return fmt.Errorf("the session failed here: %s", st.Failed.Error)
	}
	return nil
}
