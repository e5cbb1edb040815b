package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"drtmx/cluster/job"
)

// route is an endpoint of the API. The table of them is all that server and client know of each other: the server
// decodes an In, serves and encodes the Out, the client does the reverse.
type route[In, Out any] struct {
	method, path string // with {id} where one belongs
	// long answers when the cluster is there, so the limits on the time of a request do not apply once it has been read.
	long  bool
	code  int // of the answer; 0: OK
	serve func(s *server, c call, in In) (Out, error)
	file  func(in In, out Out) (f file, ok bool, err error) // the answer as a file; nil: it is JSON
}

// call is what a request says besides its body.
type call struct {
	context.Context
	sys     string
	systems []string // all that are named
	by      string
	id      string // of the path
}

// inQuery is an In that stands in the query and not in the body.
type inQuery interface {
	params() Params
	read(q url.Values) // which is as params say
	write(q url.Values)
}

// none is the In of what asks for nothing more.
type none struct{}

func (none) params() Params   { return nil }
func (none) read(url.Values)  {}
func (none) write(url.Values) {}

// file is an answer that is not JSON.
type file struct {
	kind string
	name string // that it is offered under
	body []byte
}

// row is a route of whatever types.
type row interface {
	pattern() string
	handle(s *server, w http.ResponseWriter, r *http.Request)
}

func (t *route[In, Out]) pattern() string { return t.method + " " + t.path }

// handle answers a request.
func (t *route[In, Out]) handle(s *server, w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if !t.long {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	out, err := t.answer(s, w, r.WithContext(ctx))
	if err != nil {
		refuseError(w, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if f, ok := any(out).(file); ok {
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("Content-Disposition", "attachment; filename="+f.name)
		w.Write(f.body)
		return
	}
	b, err := json.Marshal(out)
	if err != nil {
		refuseError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if t.code != 0 {
		w.WriteHeader(t.code)
	}
	w.Write(append(b, '\n'))
}

// answer is an Out, or a file.
func (t *route[In, Out]) answer(s *server, w http.ResponseWriter, r *http.Request) (any, error) {
	in, q, err := t.read(r)
	if err != nil {
		return nil, err
	}
	if t.long {
		rc := http.NewResponseController(w)
		if err := errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, err
		}
	}
	out, err := t.serve(s, call{Context: r.Context(), sys: q.Get("sys"), systems: q["sys"], by: byOf(r), id: r.PathValue("id")}, in)
	if err == nil && t.file != nil {
		if f, ok, err := t.file(in, out); ok || err != nil {
			return f, err
		}
	}
	return out, err
}

// read decodes what is asked for.
func (t *route[In, Out]) read(r *http.Request) (in In, q url.Values, err error) {
	asked, ok := any(&in).(inQuery)
	if q, err = t.params(asked).Check(r); err != nil {
		return in, nil, err
	}
	if ok {
		asked.read(q)
		return in, q, nil
	}
	return in, q, readJSON(r, &in)
}

// params are those of the route. A change may be of several systems.
func (t *route[In, Out]) params(in inQuery) Params {
	sys := System()
	sys.Many = t.method == http.MethodPatch
	if in == nil {
		return Params{sys}
	}
	return append(in.params(), sys)
}

// ask sends a request and decodes the answer. A []byte takes the answer as it is.
func (t *route[In, Out]) ask(ctx context.Context, c *Remote, sys, by string, in In) (out Out, err error) {
	q := url.Values{}
	var body io.Reader
	if asked, ok := any(&in).(inQuery); ok {
		asked.write(q)
	} else {
		b, err := json.Marshal(in)
		if err != nil {
			return out, err
		}
		body = bytes.NewReader(b)
	}
	if sys != "" {
		q.Set("sys", sys)
	}
	address := t.path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	answer, err := c.send(ctx, t.method, address, by, body)
	if err != nil {
		return out, err
	}
	if raw, ok := any(&out).(*[]byte); ok {
		*raw = answer
		return out, nil
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, c.misfit(err)
	}
	return out, nil
}

// server has the API of an agent and its jobs.
type server struct {
	jobs    *job.Jobs
	readers chan struct{} // a slot per websocket
	mux     *http.ServeMux
}

func newServer(j *job.Jobs, page http.Handler) http.Handler {
	s := &server{jobs: j, readers: make(chan struct{}, readersAllowed()), mux: http.NewServeMux()}
	for _, t := range table {
		s.mux.HandleFunc(t.pattern(), func(w http.ResponseWriter, r *http.Request) { t.handle(s, w, r) })
	}
	s.mux.HandleFunc("GET /api/history", s.history)
	s.mux.HandleFunc("GET /ws", s.feed)
	s.mux.HandleFunc("/api/", s.elsewhere)
	if page == nil {
		page = http.HandlerFunc(plainPage)
	}
	s.mux.Handle("/", page)
	return s.mux
}
