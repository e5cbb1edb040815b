package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"

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

// remember keeps a change that is about to be made.
func (m *member) remember(c *Change) {
	m.past = append(m.past, Event{VirtualNS: c.VirtualNS, Kind: kindOf(c.Set), By: c.By, Version: c.Version, Set: c.Set, Was: valuesOf(m.sys, c.Set)})
}

func (m *member) recording(g *Segment) Recording {
	r := Recording{Header: g.Header, AtNS: m.sys.NowNS(), Digest: m.sys.Digest(), Events: m.past, Windows: m.sys.Windows(0), Knobs: m.sys.Knobs(), Nodes: m.sys.Inside()}
	if err := m.sys.Err(); err != nil {
		r.Failed = oneLine(err.Error())
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

// sessionPage is the session of a system as one HTML file.
func (a *Agent) sessionPage(ctx context.Context, sys string) ([]byte, error) {
	registry.mu.Lock()
	f := registry.session
	registry.mu.Unlock()
	if f == nil {
		return nil, errors.New("this program has no pages: import drtmx/dashboard to have a session as HTML")
	}
	return f(ctx, a, sys)
}

// SessionHTML is the session so far as one HTML file, which needs no network: lines, cards, knobs and
// the code version.
func (c *Client) SessionHTML() ([]byte, error) { return c.d.sessionPage(c.context(), c.sys) }

// SessionHTML writes the session so far to a file as one HTML page, which needs no network: lines,
// cards, knobs and the code version.
func (c *Cluster) SessionHTML(file string) *Written {
	b, err := c.c.SessionHTML()
	must(err)
	must(os.WriteFile(file, b, 0o644))
	return &Written{file, len(b)}
}

// Written says what was written where.
type Written struct {
	File  string
	Bytes int
}

func (w *Written) String() string {
	return fmt.Sprintf("wrote %d kB to %s", (w.Bytes+999)/1000, w.File)
}
