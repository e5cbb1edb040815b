package cluster

import (
	"context"
	"fmt"
	"time"

	"drtmx/engine"
)

// some runs f on the goroutines of one system, or of all if sys is empty.
func (a *Agent) some(ctx context.Context, sys string, f func(m *member) error) error {
	if sys != "" {
		return a.call(ctx, sys, f)
	}
	for _, m := range a.all() {
		if err := a.call(ctx, m.id, f); err != nil {
			return err
		}
	}
	return nil
}

// Pause stops a system, or all if sys is empty, between two slices.
func (a *Agent) Pause(ctx context.Context, sys string) error {
	return a.some(ctx, sys, func(m *member) error {
		m.paused = true
		m.publish(time.Now())
		return nil
	})
}

// Resume lets a paused system, or all if sys is empty, run on.
func (a *Agent) Resume(ctx context.Context, sys string) error {
	return a.some(ctx, sys, func(m *member) error {
		if m.err != nil {
			return m.failedError()
		}
		m.paused = false
		m.anchor(time.Now())
		m.publish(time.Now())
		return nil
	})
}

// Pace sets virtual nanoseconds per second of wall time, 0 for flat out, of one
// system or of all.
func (a *Agent) Pace(ctx context.Context, sys string, ns int64) error {
	if ns < 0 || ns > int64(time.Hour) {
		return &engine.SpecError{Field: "virtual_ns", Value: fmt.Sprint(ns), Rule: "must be from 0 (flat out) to an hour per second"}
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
		s, err := m.beginStep(d, nil)
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
		return errClosed
	case <-ctx.Done():
	}
	select { // the loop may be inside a slice of user code that does not end
	case m.cmds <- func() { m.cancelStep(s, ctx.Err()) }:
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
// first: what is measured is the cluster with it.
func (a *Agent) Run(ctx context.Context, sys string, d int64, progress func(done, total int)) (*engine.Result, error) {
	m, err := a.member(sys)
	if err != nil {
		return nil, err
	}
	var s *step
	err = a.call(ctx, sys, func(m *member) (err error) {
		if s, err = m.beginStep(d, progress); err == nil {
			s.settle = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := a.await(ctx, m, s); err != nil {
		return nil, err
	}
	return a.Result(ctx, m.id)
}

// Reset begins a system again at 0 with some knobs changed; any knob, live or
// not. The old system goes on if the new one cannot be opened.
func (a *Agent) Reset(ctx context.Context, sys string, k engine.Knobs, seed any, by string) error {
	return a.call(ctx, sys, func(m *member) error { return m.reset(k, seed, by) })
}

// controlBody is POST /api/control.
type controlBody struct {
	Action    string       `json:"action"`
	VirtualNS *int64       `json:"virtual_ns,omitempty"`
	Set       engine.Knobs `json:"set,omitempty"`
	Seed      any          `json:"seed,omitempty"`
}

// control does what a control body asks for.
func (a *Agent) control(ctx context.Context, sys string, b controlBody, by string) error {
	if (b.Action == "step" || b.Action == "pace") && b.VirtualNS == nil {
		return &engine.SpecError{Field: "virtual_ns", Rule: "is missing", Next: `as {"action": "` + b.Action + `", "virtual_ns": 1000000}`}
	}
	switch b.Action {
	case "pause":
		return a.Pause(ctx, sys)
	case "resume":
		return a.Resume(ctx, sys)
	case "step":
		return a.Step(ctx, sys, *b.VirtualNS)
	case "pace":
		return a.Pace(ctx, sys, *b.VirtualNS)
	case "reset":
		return a.Reset(ctx, sys, b.Set, b.Seed, by)
	}
	return &engine.SpecError{Field: "action", Value: clip(b.Action), Rule: "must be pause, resume, step, pace or reset"}
}
