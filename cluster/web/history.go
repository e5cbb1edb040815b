package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"drtmx/cluster/agent"
)

// historyParams are what a history may be asked for by.
var historyParams = Params{System(), Moment("to"), {Name: "format", Rule: "must be jsonl (lines of JSON) or edn (a Jepsen history)", Next: "as ?format=edn", valid: func(text string) bool {
	_, ok := historyForms[text]
	return ok
}}}

// historyForms are the media types of a history, by the ending of its file.
var historyForms = map[string]string{"jsonl": "application/x-ndjson", "edn": "application/edn"}

// history streams what every transaction of a system read and wrote, from virtual time 0 to ?to=, or to
// now. The system itself records nothing: another one replays its session on spare CPU, so the history is
// exact and the system goes on.
//
// It is made to be safe as a GET. Pages of other sites cannot start it, there is one at a time, the replay
// needs no more memory than a system, and a reader that takes nothing for writeTime ends it. A stream that
// is not whole ends in an error of the connection, so that it is not taken for the whole.
func (s *server) history(w http.ResponseWriter, r *http.Request) {
	h, err := s.historyAsked(r)
	if err == nil {
		err = s.jobs.RoomForHistory(h)
	}
	if err != nil {
		refuseError(w, err)
		return
	}
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Type", historyForms[strings.TrimPrefix(h.File, "history.")])
	head.Set("Content-Disposition", "attachment; filename="+h.File)
	if r.Method == http.MethodHead {
		return
	}
	out := &byParts{w: w, rc: http.NewResponseController(w)}
	err = s.jobs.WriteHistory(r.Context(), h, out)
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
func (s *server) historyAsked(r *http.Request) (*agent.PastHistory, error) {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return nil, &httpError{http.StatusForbidden, "cross-origin request refused: a history takes CPU time; ask for it from the page on this server itself"}
	}
	q, err := historyParams.Check(r)
	if err != nil {
		return nil, err
	}
	format := cmp.Or(q.Get("format"), "jsonl")
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	return s.jobs.PastHistory(ctx, q.Get("sys"), moment(q.Get("to"), agent.UntilNow), "history."+format)
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
