package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/diagram"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// Trace is some transactions as they went: phases, requests, and where each
// request's time was spent.
type Trace struct {
	Raw []engine.TxnTrace
	// Picked says how the transaction was chosen, if TraceOf did.
	Picked *engine.Picked
}

// Trace advances until n transactions that begin from now on have ended, and
// returns them. It ends with ctx, and with the agent.
func (a *Agent) Trace(ctx context.Context, sys string, n int) ([]engine.TxnTrace, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.ctx, stop)()
	return fetch(ctx, a, sys, func(m *member) ([]engine.TxnTrace, error) {
		if err := m.free(); err != nil {
			return nil, err
		}
		for m.Sys.State() == engine.StateDraining && m.err == nil {
			m.advance(settleStep) // else it shows transactions that wait for the drain
		}
		if m.err != nil {
			return nil, m.failedError()
		}
		ts, err := m.Sys.TraceWith(ctx, n, nil)
		m.collect()
		m.anchor(time.Now())
		switch {
		case m.Sys.State() == engine.StateFailed:
			m.fail(err)
		case err != nil && ctx.Err() == nil && !experiment.IsSpecError(err):
			err = m.untraced(err)
		}
		m.publish(time.Now())
		return ts, err
	})
}

// UntracedError says that too few transactions of a system end to show as many as
// were asked for (HTTP 409).
type UntracedError struct {
	Sys  string
	Err  error
	Next string
}

func (e *UntracedError) Error() string {
	return fmt.Sprintf("system %s: %s; %s", e.Sys, words.OneLine(e.Err.Error()), e.Next)
}

func (e *UntracedError) Unwrap() error { return e.Err }

// untraced names what helps: a machine that is down, or time, which has gone by.
func (m *member) untraced(err error) error {
	next := fmt.Sprintf("it is at %d ns now: ask again, or for fewer", m.Sys.NowNS())
	if n, ok := m.Sys.Values()["fault.crash"].(int); ok && n >= 0 {
		next = fmt.Sprintf("it is at %d ns now and machine %d is down: set fault.restart=%d and ask again", m.Sys.NowNS(), n, n)
	}
	return &UntracedError{m.id, err, next}
}

// Trace returns n transactions that begin from now on.
func (c *Client) Trace(n int) (*Trace, error) {
	ts, err := c.d.trace(c.context(), c.sys, n)
	if err != nil {
		return nil, err
	}
	return &Trace{Raw: ts}, nil
}

// Trace returns n transactions that begin from now on. As last value of a cell
// the first of them draws itself.
func (c *Cluster) Trace(n int) *Trace {
	t, err := c.c.Trace(n)
	must(err)
	return t
}

// String is a line per phase and request.
func (t *Trace) String() string {
	var b strings.Builder
	if t.Picked != nil {
		b.WriteString(t.Words() + "\n")
	}
	for i, x := range t.Raw {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s on machine %d thread %d, %s after %s, %s", x.Type, x.Machine, x.Thread, x.Outcome, words.Counted(x.Attempts, "attempt"), words.Micros((x.EndNS-x.BeginNS)/1e3))
		at := func(ns float64) string { return fmt.Sprintf("%8.3f", (ns-x.BeginNS)/1e3) }
		for _, p := range x.Phases {
			fmt.Fprintf(&b, "\n  %s .. %s us  %s", at(p.BeginNS), at(p.EndNS), p.Phase)
			for _, v := range x.Verbs {
				if v.BeginNS >= p.BeginNS && v.BeginNS < p.EndNS {
					fmt.Fprintf(&b, "\n  %s .. %s us    %s", at(v.BeginNS), at(v.EndNS), verbText(v))
				}
			}
		}
	}
	return b.String()
}

func verbText(v engine.VerbTrace) string {
	s := fmt.Sprintf("%s to machine %d, %d bytes", v.Verb, v.To, v.Bytes)
	if v.Passive {
		s += ", passive"
	}
	return s
}

// HTML draws the first transaction; the text of all of them is folded up.
func (t *Trace) HTML() string {
	out := ""
	if t.Picked != nil {
		out = "<p>" + esc(t.Words()) + "</p>"
	}
	if len(t.Raw) > 0 {
		out += charts.New("a transaction", nil, t.SVG()).HTML()
	}
	return out + "<details><summary>As text</summary><pre>" + esc(t.String()) + "</pre></details>"
}

// SVG draws the first transaction on a time line: the phases above, a lane for each machine that it
// asks below, requests coloured by where their time was spent.
func (t *Trace) SVG() string {
	if len(t.Raw) == 0 {
		return ""
	}
	return diagram.Timeline(&t.Raw[0], diagram.Options{})
}
