package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drtmx/engine/result"
)

// some runs f on the goroutines of one system, or of all if sys is empty. Of all,
// those that cannot follow are left as they are: one that has failed does not
// hold up the others. Only if none can follow, it is an error, the first one's.
func (a *Agent) some(ctx context.Context, sys string, f func(m *member) error) error {
	if sys != "" {
		return a.call(ctx, sys, f)
	}
	var first error
	followed := false
	for _, m := range a.all() {
		err := m.call(ctx, f)
		switch {
		case err == nil:
			followed = true
		case !cannotFollow(err):
			return err
		case first == nil:
			first = err
		}
	}
	if followed {
		return nil
	}
	return first
}

// cannotFollow is true for reasons that are a system's own, not the command's.
func cannotFollow(err error) bool {
	var failed *FailedError
	var busy *BusyError
	var ended *EndedError
	return errors.As(err, &failed) || errors.As(err, &busy) || errors.As(err, &ended)
}

// EndedError says that someone else ended what was waited for, a step or a run,
// or the system itself (HTTP 409).
type EndedError struct{ Sys, Why string }

func (e *EndedError) Error() string { return fmt.Sprintf("system %s %s", e.Sys, e.Why) }

// closedError says why a loop has ended: with the agent or alone.
func (m *member) closedError() error {
	m.agent.mu.Lock()
	defer m.agent.mu.Unlock()
	if m.agent.closed {
		return ErrClosed
	}
	return &EndedError{m.id, "was closed meanwhile"}
}

// Pause stops a system, or all if sys is empty, between two slices. A run is held
// there until it is resumed: the request that measures gets what it asked for, only later. A
// step, which is to end with the system paused, ends there, and any request that waits for
// it is told.
func (a *Agent) Pause(ctx context.Context, sys string) error {
	return a.some(ctx, sys, func(m *member) error {
		g := m.goal
		if g != nil && g.run && !g.held {
			g.held, g.stood = true, m.paused
		}
		m.paused = true
		if g != nil && !g.run {
			why := fmt.Sprintf("was paused at %d ns, before the end of its step at %d ns", m.Sys.NowNS(), g.to)
			m.cancelStep(g, &EndedError{m.id, why})
			return nil
		}
		m.publish(time.Now())
		return nil
	})
}

// Resume lets a paused system, or all if sys is empty, run on. A run that was held
// goes on where it was, and after it the system does what it would have done.
func (a *Agent) Resume(ctx context.Context, sys string) error {
	return a.some(ctx, sys, func(m *member) error {
		if m.err != nil {
			return m.failedError()
		}
		m.paused = false
		if g := m.goal; g != nil && g.held {
			g.held, m.paused = false, g.stood
		}
		m.anchor(time.Now())
		m.publish(time.Now())
		return nil
	})
}

// Pace sets virtual nanoseconds per second of wall time, 0 for flat out, of one
// system or of all.
func (a *Agent) Pace(ctx context.Context, sys string, ns int64) error {
	if err := CheckPace("virtual_ns", fmt.Sprint(ns), ns); err != nil {
		return err
	}
	return a.some(ctx, sys, func(m *member) error {
		m.pace = ns
		m.anchor(time.Now())
		m.publish(time.Now())
		return nil
	})
}

// Step advances a system, or all if sys is empty, by d and pauses it there. It
// returns when all have arrived.
func (a *Agent) Step(ctx context.Context, sys string, d int64) error {
	type begun struct {
		m *member
		s *step
	}
	var bs []begun
	err := a.some(ctx, sys, func(m *member) error {
		s, err := m.beginStep(d)
		if err == nil {
			m.paused = true
			bs = append(bs, begun{m, s})
		}
		return err
	})
	for _, b := range bs {
		if werr := a.await(ctx, b.m, b.s); err == nil {
			err = werr
		}
	}
	return err
}

// await waits for a step; when the context ends, so does the step.
func (a *Agent) await(ctx context.Context, m *member, s *step) error {
	select {
	case err := <-s.done:
		return err
	case <-m.done:
		select {
		case err := <-s.done: // it arrived, and then the system was closed
			return err
		default:
		}
		return m.closedError()
	case <-ctx.Done():
	}
	select { // the loop may be inside a slice of user code that does not end
	case m.cmds <- func() { _ = m.attempt(func() { m.cancelStep(s, ctx.Err()) }) }:
		select {
		case err := <-s.done:
			if err == nil { // it arrived meanwhile
				return nil
			}
		case <-m.done:
		case <-time.After(time.Second):
		}
	case <-m.done:
	case <-time.After(time.Second):
	}
	return ctx.Err()
}

// Run measures d of virtual time, flat out, and returns what it measured; then
// the system goes on as before. A change that waits for its drain takes effect
// first: what is measured is the cluster with it. While someone has it paused, it
// waits.
func (a *Agent) Run(ctx context.Context, sys string, d int64) (*result.Result, error) {
	m, err := a.member(sys)
	if err != nil {
		return nil, err
	}
	var s *step
	var epoch string
	err = m.call(ctx, func(m *member) (err error) {
		m.stopCatchUp() // the request that measures it decides from now on how far it goes
		if s, err = m.beginStep(d); err == nil {
			s.run, s.awaitDrain, epoch = true, true, m.epoch
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := a.await(ctx, m, s); err != nil {
		return nil, err
	}
	var r *result.Result
	err = m.call(ctx, func(m *member) error {
		if m.epoch != epoch {
			return resetError(m.id)
		}
		r = m.Sys.Result()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}
