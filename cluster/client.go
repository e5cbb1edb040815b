package cluster

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// driver is what an agent of this process (local) and one behind an address (Remote) have in common.
type driver interface {
	Set(ctx context.Context, sys string, k Knobs, by string) (result.Change, error)
	Run(ctx context.Context, sys string, d int64) (*result.Result, error)
	WindowsFrom(ctx context.Context, sys string, fromNS int64) ([]result.Window, error)
	Knobs(ctx context.Context, sys string) ([]experiment.KnobState, error)
	Spec(ctx context.Context, sys string) (Spec, error)
	State(ctx context.Context, sys string) (system.Snapshot, error)
	Systems(ctx context.Context) ([]system.Snapshot, error)
	Trace(ctx context.Context, sys string, n int) ([]engine.TxnTrace, error)
	TraceOf(ctx context.Context, sys string, c engine.Choice, progress func(done, total int)) (*engine.Picked, error)
	Inside(ctx context.Context, sys string, measured bool) ([]result.NodeInside, error)
	Session(ctx context.Context, sys string) ([]byte, error)
	SessionPage(ctx context.Context, sys string) ([]byte, error)
	Control(ctx context.Context, sys string, c agent.Command, by string) error
	Fork(ctx context.Context, sys string, k Knobs, by string) (system.Snapshot, error)
	CloseSystem(ctx context.Context, sys string) error // one that is gone is closed
	Page(ctx context.Context) (string, error)          // where it is
	Close() error
}

var _, _ driver = (*local)(nil), (*web.Remote)(nil)

// A cluster of this process is closed once no client of it can be reached: in a notebook a cell is run again, and its old
// cluster has no name left. So every method keeps its client alive to its end: c.Fork(k).Run(d) names the fork no more.

// Client drives a system of a cluster, in this process (Start) or behind an
// address (Dial). Its methods return errors; a Cluster's fail the cell.
type Client struct {
	d     driver
	sys   string
	by    string
	fork  *forked         // nil: its Close ends all
	ctx   context.Context // nil: that of the notebook's cell
	polls *pollIntervals  // nil: usualAsks
}

// Start opens a cluster in this process: of a spec that lists several systems the first, with the
// others in Systems. Its virtual time moves only when asked
// for, so that a program, or a notebook, run twice gives the same numbers.
func Start(spec Spec) (*Client, error) { return start(spec, "script") }

func start(spec Spec, by string) (*Client, error) {
	l, _, err := newLocal(spec)
	if err != nil {
		return nil, err
	}
	return &Client{d: l, sys: "a", by: by}, nil
}

// Dial drives a running agent, as "127.0.0.1:7070" or "http://host:port".
func Dial(addr string) (*Client, error) { return DialToken(addr, "") }

// DialToken is Dial for an agent that wants a token.
func DialToken(addr, token string) (*Client, error) {
	r, err := web.Dial(addr, token)
	if err != nil {
		return nil, err
	}
	c := &Client{d: r, sys: "a", by: "script"}
	if _, err := c.State(); err != nil {
		return nil, err
	}
	return c, nil
}

// WithContext is the same cluster with calls that end with ctx.
func (c *Client) WithContext(ctx context.Context) *Client {
	d := *c
	d.ctx = ctx
	return &d
}

func (c *Client) context() context.Context {
	if c.ctx != nil {
		return c.ctx
	}
	return charts.Context()
}

// Sys is the name of the system that this client drives, "a" to "d".
func (c *Client) Sys() string { return c.sys }

// Run measures d of virtual time and returns what it measured.
func (c *Client) Run(d time.Duration) (*Result, error) {
	defer runtime.KeepAlive(c) // c.Fork(k).Run(d) names the fork no more
	ctx := c.context()
	r, err := c.watched(ctx, d)
	if err != nil {
		return nil, err
	}
	ws, err := c.d.WindowsFrom(ctx, c.sys, r.FromNS)
	if err != nil {
		return nil, err
	}
	if r.Inside == nil { // it came as JSON
		if r.Inside, err = c.d.Inside(ctx, c.sys, true); err != nil {
			return nil, err
		}
	}
	return newResult(r, ws), nil
}

// Set changes a knob now.
func (c *Client) Set(name string, value any) (*Changed, error) {
	return c.SetAll(Knobs{name: value})
}

// SetAll changes knobs now: all of them or none.
func (c *Client) SetAll(k Knobs) (*Changed, error) {
	defer runtime.KeepAlive(c)
	ch, err := c.d.Set(c.context(), c.sys, k, c.by)
	if err != nil {
		return nil, err
	}
	ch.Set = k
	return &Changed{Change: ch, idle: c.idle(k)}, nil
}

// idle says of those knobs that do nothing in this cluster as it is why they do not.
func (c *Client) idle(k Knobs) []string {
	states, err := c.Knobs()
	if err != nil {
		return nil // the change was made all the same
	}
	var out []string
	for _, s := range states {
		if _, set := k[s.Name]; set && !s.Active {
			out = append(out, s.Idle())
		}
	}
	return out
}

// Spec is what the cluster was opened with, every change applied.
func (c *Client) Spec() (Spec, error) {
	defer runtime.KeepAlive(c)
	return c.d.Spec(c.context(), c.sys)
}

// Systems are all that run side by side here, this one included, in the order of their names: those that a spec
// lists, and forks.
func (c *Client) Systems() ([]*Client, error) {
	defer runtime.KeepAlive(c)
	all, err := c.d.Systems(c.context())
	var out []*Client
	for _, s := range all {
		x := *c
		if s.Sys != c.sys {
			x.sys, x.fork = s.Sys, nil
			if s.Sys != agent.SystemNames[0] {
				x.fork = &forked{sys: s.Sys, epoch: s.Epoch}
			}
		}
		out = append(out, &x)
	}
	return out, err
}

// Knobs is the registry as it stands in this cluster.
func (c *Client) Knobs() ([]experiment.KnobState, error) {
	defer runtime.KeepAlive(c)
	return c.d.Knobs(c.context(), c.sys)
}

// State is how the cluster stands.
func (c *Client) State() (system.Snapshot, error) {
	defer runtime.KeepAlive(c)
	return c.d.State(c.context(), c.sys)
}

// Windows are the kept windows from a virtual time on.
func (c *Client) Windows(from time.Duration) ([]result.Window, error) {
	defer runtime.KeepAlive(c)
	return c.d.WindowsFrom(c.context(), c.sys, from.Nanoseconds())
}

// Session is the recording so far, as a session file.
func (c *Client) Session() ([]byte, error) {
	defer runtime.KeepAlive(c)
	return c.d.Session(c.context(), c.sys)
}

// Pause, Resume, Step and Pace control a running agent.
func (c *Client) Pause() error { return c.control(agent.Command{Action: "pause"}) }

// Resume lets the cluster run on; then virtual time moves with wall time.
func (c *Client) Resume() error { return c.control(agent.Command{Action: "resume"}) }

// Step advances by d and pauses there.
func (c *Client) Step(d time.Duration) error {
	ns := d.Nanoseconds()
	return c.control(agent.Command{Action: "step", VirtualNS: &ns})
}

// Pace sets how much virtual time passes in a second; 0 runs flat out.
func (c *Client) Pace(perSecond time.Duration) error {
	ns := perSecond.Nanoseconds()
	return c.control(agent.Command{Action: "pace", VirtualNS: &ns})
}

// Reset begins again at 0 with some knobs changed, live ones or not.
func (c *Client) Reset(k Knobs) error { return c.control(agent.Command{Action: "reset", Set: k}) }

func (c *Client) control(b agent.Command) error {
	defer runtime.KeepAlive(c)
	return c.d.Control(c.context(), c.sys, b, c.by)
}

// Close ends a cluster of this process, or the connection to another. That of a
// fork ends the fork and nothing else.
func (c *Client) Close() error {
	defer runtime.KeepAlive(c)
	if c.fork != nil {
		return c.fork.close(c.d)
	}
	return c.d.Close()
}

// Changed is a change that was accepted.
type Changed struct {
	Change result.Change

	idle []string // of the knobs that do nothing here, why
}

func (c *Changed) String() string {
	s := fmt.Sprintf("%s from %s on", words.Knobs(c.Change.Set), words.NS(c.Change.VirtualNS))
	if c.Change.Pending {
		s += ", once the transactions in flight have ended"
	}
	return strings.Join(append([]string{s}, c.idle...), "\n")
}
