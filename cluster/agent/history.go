package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/twin"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// PastHistory is what a system did so far, ready to be replayed.
type PastHistory struct {
	sys     string
	segment session.Segment
	File    string // its ending says the form
}

func historyTask(sys string) string { return "history of " + sys }

// UntilNow is the virtual time up to which a history is that is not cut.
const UntilNow = -1

// PastHistory is what a system did up to a virtual time, or UntilNow. The ending of the file's name says the form.
func (a *Agent) PastHistory(ctx context.Context, sys string, to int64, file string) (*PastHistory, error) {
	h, err := fetch(ctx, a, sys, func(m *member) (*PastHistory, error) { return m.pastHistory(to) })
	if err != nil {
		return nil, err
	}
	h.File = file
	return h, engine.CheckHistory(h.segment.Header.Spec, file)
}

// pastHistory is the session up to a virtual time.
func (m *member) pastHistory(to int64) (*PastHistory, error) {
	if err := m.live(); err != nil {
		return nil, err
	}
	if names := userCode(m.added); len(names) > 0 {
		return nil, &experiment.SpecError{Field: "history", Value: strings.Join(names, ", "), Rule: "the system has transactions of a user's, whose code no replay has", Next: "call c.History(FILE) in the notebook before its first run"}
	}
	now := m.Mark()
	if to > now.VirtualNS {
		return nil, &experiment.SpecError{Field: "to", Value: fmt.Sprint(to), Rule: fmt.Sprintf("is later than now, %d ns", now.VirtualNS), Next: "leave it out for all until now"}
	}
	h := &PastHistory{sys: m.id, segment: m.rec.SoFar()}
	last := session.Step{VirtualNS: to}
	if to == UntilNow || to == now.VirtualNS {
		last = session.Step{VirtualNS: now.VirtualNS, Checkpoint: &now}
	}
	h.segment.Steps = slices.DeleteFunc(h.segment.Steps, func(st session.Step) bool { return st.VirtualNS > last.VirtualNS })
	h.segment.Steps = append(h.segment.Steps, last)
	return h, nil
}

var errSecondHistory = &ConflictError{"history: another one is being written; wait until it ends, or cancel its task"}

// RoomForHistory says why no history can be written now.
func (a *Agent) RoomForHistory(h *PastHistory) error {
	if why := a.shortOfMemory(h.segment.Header.Spec); why != "" {
		return &ConflictError{"history: " + why + "; close a system first"}
	}
	if len(a.histories) > 0 {
		return errSecondHistory
	}
	return nil
}

// WriteHistory replays a session and writes its history to out. It takes the CPU time that the shown
// systems leave, and ends with the first error of out.
func (a *Agent) WriteHistory(ctx context.Context, h *PastHistory, out io.Writer) error {
	select {
	case a.histories <- struct{}{}:
		defer func() { <-a.histories }()
	default:
		return errSecondHistory
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.ctx, func() { cancel(ErrClosed) })()
	task := historyTask(h.sys)
	a.tasks.start(task, func() { cancel(&ConflictError{"history: was cancelled"}) })
	a.announce()
	told := time.Now()
	var done session.Replayed
	done.OK = true
	err := h.segment.Rerun(ctx, session.ReplayOptions{Open: a.open, Turn: a.spareTurn, Slice: twin.HiddenSlice, HistoryName: h.File, History: untilFails{out, cancel}},
		func(now int64) {
			if time.Since(told) > frameEvery {
				told = time.Now()
				a.tasks.progress(task, now, h.segment.EndNS())
				a.announce()
			}
		}, &done)
	switch cause := context.Cause(ctx); {
	case cause != nil:
		err = cause
	case err == nil && !done.OK:
		err = errors.New("history: the replay differs from the system: " + done.Why)
	case err == nil && done.Result.History != nil && done.Result.History.Error != "":
		err = errors.New("history: " + done.Result.History.Error)
	}
	a.tasks.end(task, err)
	a.announce()
	return err
}

// spareTurn waits for a slice that no shown system needs.
func (a *Agent) spareTurn(ctx context.Context) (done func(), err error) {
	for {
		if done := a.slot(time.Now(), true); done != nil {
			return done, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(twin.HiddenWait):
		}
	}
}

// untilFails tells of the first error of a writer.
type untilFails struct {
	io.Writer
	failed func(error)
}

func (u untilFails) Write(b []byte) (int, error) {
	n, err := u.Writer.Write(b)
	if err != nil {
		u.failed(err)
	}
	return n, err
}
