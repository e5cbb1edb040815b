package agent

import (
	"context"
	"fmt"
	"time"

	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

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
			m.advance(drainStep) // else it shows transactions that wait for the drain
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
