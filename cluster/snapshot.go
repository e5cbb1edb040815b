package cluster

import (
	"time"

	"drtmx/engine"
	"drtmx/engine/result"
)

// Snapshot is how a system stood after its latest slice.
type Snapshot struct {
	Sys          string  `json:"sys"`
	Name         string  `json:"name,omitempty"` // of its spec
	Of           string  `json:"of,omitempty"`   // the spec that lists it beside others
	Epoch        string  `json:"epoch"`
	State        string  `json:"state"`
	Error        string  `json:"error,omitempty"`
	Unrecorded   string  `json:"unrecorded,omitempty"` // why the session file is no longer written
	VirtualNS    int64   `json:"virtual_ns"`
	Pace         int64   `json:"pace"`
	Speed        float64 `json:"speed"`
	KnobsVersion int     `json:"knobs_version"`
	ForkedFrom   string  `json:"forked_from,omitempty"`
	ForkEpoch    string  `json:"fork_epoch,omitempty"` // of the system it was forked from, then
	ForkNS       int64   `json:"fork_ns,omitempty"`
	Without      int     `json:"without,omitempty"`     // the version of the knobs, and all after it, that a ghost has not got
	CatchingUp   bool    `json:"catching_up,omitempty"` // with what was recorded
	Behind       bool    `json:"behind,omitempty"`      // on its way to the system that it was forked from, which does not wait
	Held         bool    `json:"held,omitempty"`        // paused in a run, which goes on when resumed
}

// state is GET /api/state: the latest window and how the system stands.
type state struct {
	*result.Window
	Snapshot
	KnobsVersion int `json:"knobs_version"` // of now; the window's may be older
}

// state names what frames report.
func (m *member) state() string {
	switch {
	case m.err != nil:
		return StateFailed
	case m.paused && (m.goal == nil || m.goal.held) && m.replay == nil && !m.chase:
		return StatePaused
	case m.sys.State() == engine.StateDraining:
		return StateDraining
	}
	return StateRunning
}

// store publishes the snapshot that other goroutines read.
func (m *member) store() {
	s := &Snapshot{
		Sys: m.id, Name: m.name, Of: m.of, Epoch: m.epoch, State: m.state(), VirtualNS: m.sys.NowNS(), Pace: m.pace,
		Speed: m.speed, KnobsVersion: m.sys.KnobsVersion(), ForkedFrom: m.forkOf, ForkEpoch: m.forkEpoch, ForkNS: m.forkNS,
		Without: m.without, CatchingUp: m.replay != nil, Behind: m.chase, Held: m.goal != nil && m.goal.held, Unrecorded: m.rec.broken(),
	}
	if s.State == StatePaused {
		s.Speed = 0
	}
	if m.err != nil {
		s.Error, s.Speed = oneLine(m.err.Error()), 0
	}
	m.snap.Store(s)
}

// publish sends a frame with what happened since the last one.
func (m *member) publish(now time.Time) {
	m.sent = now
	m.store()
	if m.twin != nil { // nobody sees it
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
		Twin: m.agent.standby.now(),
	}
}
