package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// pastHistory is what a system did so far, ready to be replayed.
type pastHistory struct {
	sys     string
	segment session.Segment
	file    string // its ending says the form
}

func historyTask(sys string) string { return "history of " + sys }

// historyForms are the media types of a history, by the ending of its file.
var historyForms = map[string]string{"jsonl": "application/x-ndjson", "edn": "application/edn"}

// history streams what every transaction of a system read and wrote, from virtual time 0 to ?to=, or to
// now. The system itself records nothing: another one replays its session on spare CPU, so the history is
// exact and the system goes on.
//
// It is made to be safe as a GET. Pages of other sites cannot start it, there is one at a time, the replay
// needs no more memory than a system, and a reader that takes nothing for writeTime ends it. A stream that
// is not whole ends in an error of the connection, so that nobody takes it for the whole.
func (p *api) history(w http.ResponseWriter, r *http.Request) {
	h, err := p.historyAsked(r)
	if err == nil {
		err = p.agent.roomForHistory(h)
	}
	if err != nil {
		refuseError(w, err)
		return
	}
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Type", historyForms[strings.TrimPrefix(h.file, "history.")])
	head.Set("Content-Disposition", "attachment; filename="+h.file)
	if r.Method == http.MethodHead {
		return
	}
	out := &byParts{w: w, rc: http.NewResponseController(w)}
	err = p.agent.replayHistory(r.Context(), h, out)
	switch {
	case err == nil:
	case out.begun:
		panic(http.ErrAbortHandler)
	default:
		head.Del("Content-Disposition")
		refuseError(w, err)
	}
}

// historyAsked reads a request for a history and says what is wrong with it.
func (p *api) historyAsked(r *http.Request) (*pastHistory, error) {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return nil, &httpError{http.StatusForbidden, "cross-origin request refused: a history takes CPU time; ask for it from the page on this server itself"}
	}
	q := r.URL.Query()
	format := q.Get("format")
	if format == "" {
		format = "jsonl"
	}
	if _, ok := historyForms[format]; !ok {
		return nil, &experiment.SpecError{Field: "format", Value: words.Clip(format), Rule: "must be jsonl (lines of JSON) or edn (a Jepsen history)", Next: "as ?format=edn"}
	}
	to, err := queryNS(q.Get("to"), "to", -1)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	h, err := fetch(ctx, p.agent, sysOf(r), func(m *member) (*pastHistory, error) { return m.pastHistory(to) })
	if err != nil {
		return nil, err
	}
	h.file = "history." + format
	return h, engine.CheckHistory(h.segment.Header.Spec, h.file)
}

// pastHistory is the session up to a virtual time, up to now if it is negative.
func (m *member) pastHistory(to int64) (*pastHistory, error) {
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
	h := &pastHistory{sys: m.id, segment: m.rec.SoFar()}
	last := session.Step{VirtualNS: to}
	if to < 0 || to == now.VirtualNS {
		last = session.Step{VirtualNS: now.VirtualNS, Checkpoint: &now}
	}
	h.segment.Steps = slices.DeleteFunc(h.segment.Steps, func(st session.Step) bool { return st.VirtualNS > last.VirtualNS })
	h.segment.Steps = append(h.segment.Steps, last)
	return h, nil
}

var errSecondHistory = &httpError{http.StatusConflict, "history: another one is being written; wait until it ends, or cancel its task"}

// roomForHistory says why no history can be written now.
func (a *Agent) roomForHistory(h *pastHistory) error {
	if why := a.shortOfMemory(h.segment.Header.Spec); why != "" {
		return &httpError{http.StatusConflict, "history: " + why + "; close a system first"}
	}
	if len(a.histories) > 0 {
		return errSecondHistory
	}
	return nil
}

// replayHistory replays a session and writes its history to out. It takes the CPU time that the shown
// systems leave, and ends with the first error of out.
func (a *Agent) replayHistory(ctx context.Context, h *pastHistory, out io.Writer) error {
	select {
	case a.histories <- struct{}{}:
		defer func() { <-a.histories }()
	default:
		return errSecondHistory
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.ctx, func() { cancel(errClosed) })()
	task := historyTask(h.sys)
	a.tasks.start(task, func() { cancel(&httpError{http.StatusConflict, "history: was cancelled"}) })
	a.announce()
	told := time.Now()
	var done session.Replayed
	done.OK = true
	err := h.segment.Rerun(ctx, session.ReplayOptions{Open: a.open, Turn: a.spareTurn, Slice: hiddenSlice, HistoryName: h.file, History: untilFails{out, cancel}},
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
		case <-time.After(hiddenWait):
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

// byParts writes an answer of any length: each part has writeTime, however long all of them take.
type byParts struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	begun bool
}

func (p *byParts) Write(b []byte) (int, error) {
	if err := p.rc.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	p.begun = true
	return p.w.Write(b)
}
