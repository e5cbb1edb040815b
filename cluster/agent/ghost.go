package agent

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/twin"
	"drtmx/engine/experiment"
)

// sessionPrefix is the session of a system up to a change: what its ghost is made of.
type sessionPrefix struct {
	of      *member
	id      string
	epoch   string
	segment session.Segment // up to the change
	changes int             // steps of it, without the checkpoint at the end
	code    []addedCode
	first   int   // the version that the change made
	at      int64 // when
	pace    int64
	paused  bool
}

// Ghost shows what would have happened without a change, and without those after it: the
// system goes on as before, from there on. version is what the change made of the knobs;
// changes that followed each other within a second are one. If the ghost of that change is
// on standby it takes one of the places at once. Otherwise it replays the session in the
// background, and nothing waits for it.
func (a *Agent) Ghost(ctx context.Context, from string, version int, by string) (system.Snapshot, error) {
	g, err := fetch(ctx, a, from, func(m *member) (sessionPrefix, error) { return m.before(version) })
	if err != nil {
		return system.Snapshot{}, err
	}
	if s, ok := a.ghostOf(&g); ok {
		return s, nil
	}
	p, err := a.reserve()
	if err != nil {
		return system.Snapshot{}, err
	}
	defer p.release()
	if m := a.standby.TakeGhost(g.change()); m != nil {
		if s, err := a.adopt(ctx, p, m.(*member), &g, by); err == nil || ctx.Err() != nil {
			return s, err
		}
	}
	return a.replayGhost(ctx, p, &g, by)
}

// before is what a ghost without a change begins with.
func (m *member) before(version int) (sessionPrefix, error) {
	if err := m.live(); err != nil {
		return sessionPrefix{}, err
	}
	g := sessionPrefix{of: m, id: m.id, epoch: m.epoch, segment: m.rec.SoFar(), first: m.rec.FirstOf(version), pace: m.pace, paused: m.paused}
	made := func(s session.Step) bool { return s.Change != nil && s.Change.Version == version }
	if !slices.ContainsFunc(g.segment.Steps, made) {
		return sessionPrefix{}, &experiment.SpecError{Field: "without", Value: fmt.Sprint(version), Rule: "is no version that a change of system " + m.id + " made", Next: "GET /api/events lists them"}
	}
	for i, st := range g.segment.Steps {
		if st.Transaction != nil {
			g.code = m.added[:len(g.code)+1]
		}
		if c := st.Change; c != nil && c.Version == g.first {
			g.changes, g.at = i, st.VirtualNS
			g.segment.Steps = g.segment.Steps[:i]
			break
		}
	}
	if at, ok := m.rec.Before(g.first); ok {
		g.segment.Steps = append(g.segment.Steps, session.Step{VirtualNS: g.at, Checkpoint: &at})
	}
	return g, nil
}

// change is what a ghost stops before.
func (g *sessionPrefix) change() twin.Change {
	c := twin.Change{Of: g.of, Epoch: g.epoch, First: g.first, AtNS: g.at, Steps: g.changes}
	if n := len(g.segment.Steps); n > g.changes {
		c.Mark = g.segment.Steps[n-1].Checkpoint
	}
	return c
}

// ghostOf finds the ghost that is asked for among those that are shown, unless it was changed since.
func (a *Agent) ghostOf(g *sessionPrefix) (system.Snapshot, bool) {
	for _, s := range a.Systems() {
		if s.Without == g.first && s.ForkedFrom == g.id && s.ForkEpoch == g.epoch && s.State != system.StateFailed && (s.CatchingUp || s.KnobsVersion == g.first-1) {
			return s, true
		}
	}
	return system.Snapshot{}, false
}

// become makes a fork of a system that has no place yet.
func (m *member) become(id string, g *sessionPrefix, by string) {
	m.id, m.pace, m.paused, m.origin, m.forkOf, m.forkEpoch, m.forkNS, m.without = id, g.pace, g.paused, g.of, g.id, g.epoch, g.at, g.first
	m.rec = session.Continue(&g.segment, nil)
	m.keep(session.Event{VirtualNS: g.at, Kind: "fork", By: by, Text: fmt.Sprintf("from %s, without change %d", g.id, g.first-1)})
}

// adopt gives a place to a system that was on standby.
func (a *Agent) adopt(ctx context.Context, p *reservation, m *member, g *sessionPrefix, by string) (system.Snapshot, error) {
	err := m.call(ctx, func(m *member) error {
		if m.err != nil {
			return m.failedError()
		}
		done := m.twin.Steps()
		m.become(p.id, g, by)
		m.twin = nil
		if m.chase = done > g.changes; !m.chase {
			m.replay = &replay{steps: g.segment.Steps, next: done, target: g.at, code: g.code, task: catchUpTask(p.id)}
		}
		if !m.chase || g.of.snap.Load().VirtualNS-m.Sys.NowNS() > m.lead() {
			a.catchesUp(m)
		}
		m.anchor(time.Now())
		m.store()
		return nil
	})
	if err == nil {
		a.mu.Lock()
		if a.closed {
			err = ErrClosed
		} else {
			a.attach(p, m)
		}
		a.mu.Unlock()
	}
	if err != nil {
		close(m.quit)
		return system.Snapshot{}, err
	}
	if err := m.do(ctx, func() { m.publish(time.Now()) }); err != nil {
		return system.Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// catchesUp begins the task of a system that replays. To cancel it closes the system.
func (a *Agent) catchesUp(m *member) {
	a.tasks.start(catchUpTask(m.id), func() { go a.closeMember(m) })
}

// replayGhost opens a system and lets it replay. Its task can be cancelled from the
// beginning.
func (a *Agent) replayGhost(ctx context.Context, p *reservation, g *sessionPrefix, by string) (system.Snapshot, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var opened atomic.Pointer[member]
	task := catchUpTask(p.id)
	a.tasks.start(task, func() {
		stop()
		if m := opened.Load(); m != nil {
			go a.closeMember(m)
		}
	})
	a.announce()
	var sys system.System
	var m *member
	err := g.segment.Header.SameInputs()
	if err == nil {
		sys, err = a.open(ctx, g.segment.Header.Spec, nil)
	}
	if err == nil {
		m, err = a.add(p, func(id string) *member {
			m := newMember(a, id, sys, nil)
			m.become(id, g, by)
			m.replay = &replay{steps: g.segment.Steps, target: g.at, code: g.code, task: task}
			opened.Store(m)
			return m
		})
		if err != nil {
			system.Close(sys)
		}
	}
	if err != nil {
		a.tasks.end(task, err)
		a.announce()
		return system.Snapshot{}, err
	}
	s := *m.snap.Load()
	if ctx.Err() != nil { // given up in between
		a.closeMember(m)
		return system.Snapshot{}, ctx.Err()
	}
	return s, nil
}
