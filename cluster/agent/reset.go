package agent

import (
	"context"
	"maps"
	"reflect"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/twin"
	"drtmx/engine/experiment"
)

// Reset begins a system again at 0 with some knobs changed; any knob, live or
// not. The old system goes on if the new one cannot be opened, or ctx ends before it is.
func (a *Agent) Reset(ctx context.Context, sys string, k experiment.Knobs, seed any, by string) error {
	return a.call(ctx, sys, func(m *member) error { return m.reset(ctx, k, seed, by) })
}

// reset replaces the system by a new one at 0. The old one stays if the new one
// cannot be opened.
func (m *member) reset(ctx context.Context, k experiment.Knobs, seed any, by string) error {
	set := experiment.Knobs{}
	for name, v := range k {
		set[name] = v
	}
	if seed != nil {
		set["seed"] = seed
	}
	spec, err := m.Sys.Spec().With(m.uncrashed(set))
	if err != nil {
		return err
	}
	if err := refuseIdleReset(m.Sys.Spec(), spec, k); err != nil {
		return err
	}
	ctx, cancel := m.untilQuit(ctx)
	defer cancel()
	sys, err := m.agent.openTask(ctx, spec, "reset of "+m.id)
	select {
	case <-m.quit: // the opening was given up, or no request waits for it
		if err == nil {
			system.Close(sys)
		}
		return m.closedError()
	default:
	}
	if err != nil {
		return err
	}
	if m.goal != nil {
		m.goal.done <- resetError(m.id)
		m.goal = nil
	}
	m.agent.standby.Drop(m)
	m.endRecording()
	m.endHistory()
	system.Close(m.Sys)
	m.Track, m.epoch, m.err, m.replay, m.added = session.NewTrack(sys), newEpoch(), nil, nil, nil
	m.window = session.WindowNS(sys.Values())
	m.burst = twin.Burst{}
	m.windows, m.events, m.recentEvents, m.autos = nil, nil, nil, 0
	m.origin, m.chase, m.forkOf, m.forkEpoch, m.forkNS, m.without, m.speed = nil, false, "", "", 0, 0, 0
	m.latest.Store(nil)
	m.agent.taskDone(catchUpTask(m.id), nil)
	m.rec.Begin(session.HeaderOf(m.id, sys))
	m.anchor(time.Now())
	m.event(session.Event{Kind: "reset", By: by, Set: set})
	m.store()
	m.publish(time.Now())
	return nil
}

// uncrashed adds to the knobs of a reset that machines are up, or down, as when the
// system began. A crash is no setting that the next one inherits: it has happened to
// this one, and where several are down the knob names but one of them.
func (m *member) uncrashed(set experiment.Knobs) experiment.Knobs {
	const crash = "fault.crash"
	began, ok := m.rec.Opened()[crash]
	if _, asked := set[crash]; asked || !ok || reflect.DeepEqual(began, m.Sys.Values()[crash]) {
		return set
	}
	out := maps.Clone(set)
	out[crash] = began
	return out
}

// untilQuit is ctx that also ends when the loop is told to.
func (m *member) untilQuit(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-m.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func resetError(sys string) error {
	return &EndedError{sys, "was reset before its step or run was over"}
}
