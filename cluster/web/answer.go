package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/runs"
	"drtmx/cluster/session"
	"drtmx/cluster/strictjson"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
)

// silent swallows what net/http says about clients that go away or do not speak
// HTTP: anyone could fill the terminal with it.
var silent = log.New(io.Discard, "", 0)

// elsewhere answers what no route of the API takes, and says if one would with another method.
func (s *server) elsewhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		other := &http.Request{Method: method, Host: r.Host, URL: r.URL}
		if _, pattern := s.mux.Handler(other); pattern != "/api/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		refuse(w, http.StatusNotFound, "no such route: "+r.Method+" "+words.Clip(r.URL.Path))
		return
	}
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	refuse(w, http.StatusMethodNotAllowed, r.Method+" "+words.Clip(r.URL.Path)+": no such method here; use "+list)
}

func plainPage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		refuse(w, http.StatusNotFound, "no such page")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "drtmx runs here without a page. Routes: /api/state /api/knobs /api/windows /api/systems /api/session /api/result /ws")
}

// httpError is an error with its status.
type httpError struct {
	code int
	line string
}

func (e *httpError) Error() string { return e.line }

// refuseError chooses the status of an error.
func refuseError(w http.ResponseWriter, err error) {
	var he *httpError
	var tooBig *http.MaxBytesError
	code := http.StatusInternalServerError
	switch {
	case errors.As(err, &he):
		code = he.code
	case errors.As(err, &tooBig):
		code, err = http.StatusRequestEntityTooLarge, fmt.Errorf("body is over %d bytes", bodyLimit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		code, err = http.StatusRequestTimeout, fmt.Errorf("body did not arrive within %v", readTime)
	case is[*agent.NoSystemError](err), is[*agent.NotFoundError](err), is[*job.NoFigureError](err), is[*runs.NoRunError](err):
		code = http.StatusNotFound
	case experiment.NeedsReset(err), is[*agent.BusyError](err), is[*agent.ConflictError](err), is[*agent.FailedError](err), is[*agent.EndedError](err),
		is[*agent.UntracedError](err), is[agent.FullError](err), is[*session.FullError](err):
		code = http.StatusConflict
	case experiment.IsSpecError(err):
		code = http.StatusBadRequest
	case errors.Is(err, agent.ErrClosed):
		code = http.StatusServiceUnavailable
	case errors.Is(err, context.Canceled): // by the end of the server, if a client still reads this
		code, err = http.StatusServiceUnavailable, agent.ErrClosed
	case errors.Is(err, context.DeadlineExceeded):
		code, err = http.StatusServiceUnavailable, errors.New("the system did not answer in time; a transaction of yours may be in an endless loop")
	}
	refuse(w, code, err.Error())
}

// is says whether an error is one of a type, or wraps one.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// readBody reads a request to its end. What keeps it from that is the sender's doing.
func readBody(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	var tooBig *http.MaxBytesError
	if err == nil || errors.As(err, &tooBig) || errors.Is(err, os.ErrDeadlineExceeded) {
		return b, err
	}
	return nil, &httpError{http.StatusBadRequest, "body: cannot be read to its end: " + words.OneLine(err.Error())}
}

// readJSON decodes a body of one JSON value with known fields only.
func readJSON(r *http.Request, into any) error {
	b, err := readBody(r)
	if err != nil {
		return err
	}
	return badBody(strictjson.DecodeOnce(b, into))
}

// badBody is what is wrong with a body, nil if nothing is.
func badBody(err error) error {
	if err == nil {
		return nil
	}
	return &httpError{http.StatusBadRequest, "body: " + err.Error()}
}

// by says who asks: the page and notebooks name themselves, the rest is scripts.
func byOf(r *http.Request) string {
	switch by := r.Header.Get("Drtmx-By"); by {
	case "page", "notebook":
		return by
	}
	return "script"
}
