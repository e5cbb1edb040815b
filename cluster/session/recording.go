package session

import (
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Recording is a segment of a session after it was run again: what happened in it and what was
// measured.
type Recording struct {
	Header  Header
	AtNS    int64
	Digest  string
	Failed  string
	Events  []Event
	Windows []result.Window // the last that are kept
	Knobs   []experiment.KnobState
	Nodes   []result.NodeInside // inside the machines, in the latest windows
}

// recording is what became of a segment that was run again.
func (g *Segment) recording(sys system.System, events []Event) Recording {
	r := Recording{Header: g.Header, AtNS: sys.NowNS(), Digest: sys.Digest(), Events: events, Windows: sys.Windows(0), Knobs: sys.Knobs(), Nodes: sys.Inside()}
	if err := sys.Err(); err != nil {
		r.Failed = words.OneLine(err.Error())
	}
	return r
}

// Digest is that of the segment's last checkpoint, "" without one.
func (g *Segment) Digest() string {
	for i := len(g.Steps) - 1; i >= 0; i-- {
		if c := g.Steps[i].Checkpoint; c != nil {
			return c.Digest
		}
	}
	return ""
}
