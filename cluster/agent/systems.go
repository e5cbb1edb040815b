package agent

import (
	"context"
	"fmt"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// Fork opens another system that replays the session of one up to now and then
// differs in the given knobs only. It returns at once with the name of the new
// system, which catches up while the others run.
func (a *Agent) Fork(ctx context.Context, from string, k experiment.Knobs, by string) (system.Snapshot, error) {
	p, err := a.reserve()
	if err != nil {
		return system.Snapshot{}, err
	}
	defer p.release()
	var g session.Segment
	var at session.Checkpoint
	var code []addedCode
	var pace int64
	var paused bool
	var epoch string
	var origin *member
	err = a.call(ctx, from, func(m *member) error {
		if err := m.live(); err != nil {
			return err
		}
		set, err := m.Sys.Accept(k)
		if err == nil {
			err = m.refuseIdle(set)
		}
		if err != nil {
			return err // now, rather than after the replay
		}
		g, at, code = m.rec.SoFar(), m.Mark(), append([]addedCode(nil), m.added...)
		pace, paused, from, epoch, origin = m.pace, m.paused, m.id, m.epoch, m
		return nil
	})
	if err != nil {
		return system.Snapshot{}, err
	}
	if err := g.Header.SameInputs(); err != nil {
		return system.Snapshot{}, err
	}
	sys, err := a.openTask(ctx, g.Header.Spec, "fork of "+from)
	if err != nil {
		return system.Snapshot{}, err
	}
	g.Steps = append(g.Steps, session.Step{VirtualNS: at.VirtualNS, Checkpoint: &at})
	m, err := a.add(p, func(id string) *member {
		m := newMember(a, id, sys, session.Continue(&g, nil))
		m.pace, m.paused, m.origin, m.forkOf, m.forkEpoch, m.forkNS = pace, paused, origin, from, epoch, at.VirtualNS
		m.replay = &replay{steps: g.Steps, target: at.VirtualNS, code: code, task: catchUpTask(id)}
		a.catchesUp(m)
		m.replay.then = func() error {
			m.event(session.Event{Kind: "fork", By: by, Set: k, Text: "from " + from})
			if len(k) == 0 {
				return nil
			}
			set, err := m.Sys.Accept(k)
			if err == nil {
				_, err = m.apply(set, by)
			}
			return err
		}
		return m
	})
	if err != nil {
		system.Close(sys)
		return system.Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// Add opens another system from 0, beside the others.
func (a *Agent) Add(spec experiment.Spec) (system.Snapshot, error) {
	return a.AddFor(context.Background(), spec, nil)
}

// AddInPlaceOf is AddFor, once the system old is closed; "" closes none.
func (a *Agent) AddInPlaceOf(ctx context.Context, old string, spec experiment.Spec) (system.Snapshot, error) {
	if old != "" {
		if err := a.CloseSystem(old); err != nil {
			return system.Snapshot{}, err
		}
	}
	return a.AddFor(ctx, spec, nil)
}

// AddFor is Add for a caller that may give up waiting, and sees its progress.
func (a *Agent) AddFor(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.Snapshot, error) {
	p, err := a.reserve()
	if err != nil {
		return system.Snapshot{}, err
	}
	defer p.release()
	sys, err := a.open(ctx, spec, progress)
	if err != nil {
		return system.Snapshot{}, err
	}
	m, err := a.add(p, func(id string) *member {
		m := newMember(a, id, sys, session.NewRecorder(session.HeaderOf(id, sys), nil))
		m.pace, m.paused = a.opts.Pace, a.opts.Paused
		return m
	})
	if err != nil {
		system.Close(sys)
		return system.Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// FullError refuses a fifth system (HTTP 409).
type FullError struct{}

func (FullError) Error() string {
	return fmt.Sprintf("systems: at most %d at once; close one first", MaxSystems)
}

// reservation is room for one more system, from before it is opened: a fifth is refused at
// once, and however many ask at the same time, no more are opened than there is room for.
type reservation struct {
	agent *Agent
	id    string
	used  bool
}

func (a *Agent) reserve() (*reservation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, ErrClosed
	}
	for _, id := range SystemNames {
		if a.members[id] == nil && !a.held[id] {
			a.held[id] = true
			return &reservation{agent: a, id: id}, nil
		}
	}
	return nil, FullError{}
}

// release gives a place back that no system has come to.
func (p *reservation) release() {
	p.agent.mu.Lock()
	defer p.agent.mu.Unlock()
	if !p.used {
		delete(p.agent.held, p.id)
	}
}

// add brings a system to its place and starts it.
func (a *Agent) add(p *reservation, build func(id string) *member) (*member, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	m := build(p.id)
	a.attach(p, m)
	m.start()
	return m, nil
}

// attach gives a system its name; a.mu is held.
func (a *Agent) attach(p *reservation, m *member) {
	p.used = true
	delete(a.held, p.id)
	a.members[p.id] = m
}

// CloseSystem ends one of the systems; a stays.
func (a *Agent) CloseSystem(sys string) error {
	if sys == "" || sys == "a" {
		return &experiment.SpecError{Field: "sys", Value: "a", Rule: "stays as long as the agent", Next: "reset it or end the agent"}
	}
	m, err := a.member(sys)
	if err != nil {
		return err
	}
	return a.closeMember(m)
}

// closeMember ends a system that may have been closed meanwhile.
func (a *Agent) closeMember(m *member) error {
	sys := m.id
	if err := a.drop(m); err != nil {
		return err
	}
	<-m.done
	a.taskDone(catchUpTask(sys), ErrClosed)
	a.standby.Drop(m)
	a.announce(session.Event{Kind: "close", Text: "system " + sys}) // others may look at it
	return nil
}

// drop takes a system's name and tells its loop to end. Code that removes a system from
// the agent's, or ends the agent, does so under its lock: a loop is told once.
func (a *Agent) drop(m *member) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return ErrClosed
	case a.members[m.id] != m:
		return &NoSystemError{m.id, a.idsLocked()}
	}
	delete(a.members, m.id)
	close(m.quit)
	return nil
}

// lead is how far a system may be ahead of the slowest one that runs.
func (m *member) lead() int64 {
	if m.pace > 0 {
		return max(m.pace/10, 1)
	}
	return max(4*m.window, 1)
}

// room keeps the systems together: it says how far m may advance until it has
// to wait for another. One that is stuck, paused or failed is not waited for,
// nor, at a pace that someone watches, one that is seconds behind; it catches
// up flat out (behind). A fork on its way to m is not waited for (others).
func (a *Agent) room(m *member) int64 {
	room := session.SliceLimit
	lead, now := m.lead(), m.Sys.NowNS()
	for _, o := range a.others(m) {
		s := o.snap.Load()
		gap := now - s.VirtualNS
		if (m.pace == 0 || gap < 20*lead) && time.Now().UnixNano()-o.moved.Load() < int64(2*time.Second) {
			room = min(room, lead-gap)
		}
	}
	return room
}

// behind is true for a system that others are ahead of.
func (a *Agent) behind(m *member) bool {
	lead, now := m.lead(), m.Sys.NowNS()
	for _, o := range a.others(m) {
		if o.snap.Load().VirtualNS-now > lead {
			return true
		}
	}
	return false
}

// others are the systems that run along with m. One that replays, or is on its way to the
// system that it was forked from, does not yet.
func (a *Agent) others(m *member) []*member {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.members) < 2 {
		return nil
	}
	var out []*member
	for _, o := range a.members {
		s := o.snap.Load()
		if o != m && s != nil && (s.State == system.StateRunning || s.State == system.StateDraining) && !s.CatchingUp && !s.Behind {
			out = append(out, o)
		}
	}
	return out
}
