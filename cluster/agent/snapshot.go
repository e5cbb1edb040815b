package agent

import (
	"time"

	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/result"
)

// state names what frames report.
func (m *member) state() string {
	switch {
	case m.err != nil:
		return system.StateFailed
	case m.paused && (m.goal == nil || m.goal.held) && m.replay == nil && !m.chase:
		return system.StatePaused
	case m.Sys.State() == engine.StateDraining:
		return system.StateDraining
	}
	return system.StateRunning
}

// store publishes the snapshot that other goroutines read.
func (m *member) store() {
	s := &system.Snapshot{
		Sys: m.id, Name: m.name, Of: m.of, Epoch: m.epoch, State: m.state(), VirtualNS: m.Sys.NowNS(), Pace: m.pace,
		Speed: m.speed, KnobsVersion: m.Sys.KnobsVersion(), ForkedFrom: m.forkOf, ForkEpoch: m.forkEpoch, ForkNS: m.forkNS,
		Without: m.without, CatchingUp: m.replay != nil, Behind: m.chase, Held: m.goal != nil && m.goal.held, Unrecorded: m.rec.Broken(),
	}
	if s.State == system.StatePaused {
		s.Speed = 0
	}
	if m.err != nil {
		s.Error, s.Speed = words.OneLine(m.err.Error()), 0
	}
	m.snap.Store(s)
}

// publish sends a frame with what happened since the last one.
func (m *member) publish(now time.Time) {
	m.sent = now
	m.store()
	if m.twin != nil { // it is hidden
		m.windows, m.events = nil, nil
		return
	}
	ws := m.windows
	if len(ws) > frameWindows {
		ws = ws[:frameWindows]
	}
	f := m.frame()
	f.Windows, f.Events = ws, m.events
	m.windows = append([]result.Window(nil), m.windows[len(ws):]...)
	m.events = nil
	m.agent.hub.publish(f)
}

// frame is a frame with the snapshot and the tasks, and nothing else yet.
func (m *member) frame() *Frame {
	s := m.snap.Load()
	return &Frame{
		Sys: s.Sys, Epoch: s.Epoch, State: s.State, Error: s.Error, VirtualNS: s.VirtualNS, Pace: s.Pace,
		Speed: s.Speed, KnobsVersion: s.KnobsVersion, Unrecorded: s.Unrecorded, Tasks: m.agent.tasks.list(),
		Twin: m.agent.standby.Now(),
	}
}
