package cluster

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"drtmx/cluster/runs"
	"drtmx/cluster/session"
	"drtmx/cluster/strictjson"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/result"
)

// silent swallows what net/http says about clients that go away or do not speak
// HTTP: anyone could fill the terminal with it.
var silent = log.New(io.Discard, "", 0)

type api struct {
	agent *Agent
	ws    chan struct{} // a slot per websocket
	mux   *http.ServeMux
}

func newAPI(a *Agent, w Web) http.Handler {
	a.figures.use(w.Figures)
	p := &api{agent: a, ws: make(chan struct{}, readersAllowed()), mux: http.NewServeMux()}
	route := func(pattern string, h func(*http.Request) (any, error)) {
		p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), answerTime)
			defer cancel()
			answer(w, r.WithContext(ctx), h)
		})
	}
	// A long one answers when the cluster is there, so the limits on the time of
	// a request do not apply once it has been read.
	long := func(pattern string, h func(*http.Request) (any, error)) {
		p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, func(r *http.Request) (any, error) {
				b, err := readBody(r)
				if err != nil {
					return nil, err
				}
				r.Body = io.NopCloser(bytes.NewReader(b))
				rc := http.NewResponseController(w)
				if err := errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})); err != nil && !errors.Is(err, http.ErrNotSupported) {
					return nil, err
				}
				return h(r)
			})
		})
	}
	route("GET /api/knobs", p.knobs)
	route("PATCH /api/knobs", p.patch)
	route("GET /api/state", p.state)
	route("GET /api/windows", p.windows)
	long("POST /api/control", p.control)
	route("GET /api/systems", p.systems)
	long("POST /api/systems", p.fork)
	route("DELETE /api/systems", p.closeSystem)
	route("GET /api/session", p.session)
	route("GET /api/spec", p.spec)
	route("GET /api/result", p.result)
	long("POST /api/run", p.runFor)
	long("POST /api/trace", p.trace)
	route("GET /api/nodes", p.nodes)
	route("GET /api/events", p.events)
	route("GET /api/figures", func(*http.Request) (any, error) { return a.Figures(), nil })
	route("GET /api/figures/{id}", a.figures.get)
	route("GET /api/figures/{id}/state", a.figures.all)
	route("POST /api/figures/{id}", a.figures.start)
	route("DELETE /api/figures/{id}", a.figures.stop)
	route("POST /api/figures", a.figures.startChapter)
	route("DELETE /api/figures", a.figures.stopChapter)
	long("POST /api/figures/{id}/live", a.figures.live)
	p.runs(route, long)
	route("GET /api/causes", a.causes.get)
	route("POST /api/causes", a.causes.start)
	route("DELETE /api/causes", a.causes.stop)
	route("GET /api/sweep", a.sweeps.get)
	route("POST /api/sweep", a.sweeps.start)
	route("DELETE /api/sweep", a.sweeps.stop)
	long("POST /api/sweep/live", a.sweeps.live)
	route("GET /api/twin", p.twin)
	route("POST /api/twin", p.setTwin)
	route("DELETE /api/tasks", p.cancelTask)
	route("GET /api/tasks", func(*http.Request) (any, error) { return a.tasks.list(), nil })
	p.mux.HandleFunc("GET /api/history", p.history)
	p.mux.HandleFunc("GET /ws", p.feed)
	p.mux.HandleFunc("/api/", p.elsewhere)
	if w.Page == nil {
		w.Page = http.HandlerFunc(plainPage)
	}
	p.mux.Handle("/", w.Page)
	return p.mux
}

// elsewhere answers what no route of the API takes, and says if one would with another method.
func (p *api) elsewhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		other := &http.Request{Method: method, Host: r.Host, URL: r.URL}
		if _, pattern := p.mux.Handler(other); pattern != "/api/" {
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

// content is an answer that is not JSON.
type content struct {
	kind string
	name string // offered as file name
	body []byte
}

// accepted is a JSON answer with another status than 200.
type accepted struct{ body any }

func answer(w http.ResponseWriter, r *http.Request, h func(*http.Request) (any, error)) {
	v, err := h(r)
	if err != nil {
		refuseError(w, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	code := http.StatusOK
	switch x := v.(type) {
	case content:
		w.Header().Set("Content-Type", x.kind)
		w.Header().Set("Content-Disposition", "attachment; filename="+x.name)
		w.Write(x.body)
		return
	case accepted:
		v, code = x.body, http.StatusAccepted
	}
	b, err := json.Marshal(v)
	if err != nil {
		refuseError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(append(b, '\n'))
}

// refuseError chooses the status of an error.
func refuseError(w http.ResponseWriter, err error) {
	var he *httpError
	var tooBig *http.MaxBytesError
	var busy *BusyError
	var failed *FailedError
	var ended *EndedError
	var untraced *UntracedError
	var fullSession *session.FullError
	var missing *NoSystemError
	var unknown *NoFigureError
	var unkept *runs.NoRunError
	code := http.StatusInternalServerError
	switch {
	case errors.As(err, &he):
		code = he.code
	case errors.As(err, &tooBig):
		code, err = http.StatusRequestEntityTooLarge, fmt.Errorf("body is over %d bytes", bodyLimit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		code, err = http.StatusRequestTimeout, fmt.Errorf("body did not arrive within %v", readTime)
	case errors.As(err, &missing), errors.As(err, &unknown), errors.As(err, &unkept):
		code = http.StatusNotFound
	case experiment.NeedsReset(err), errors.As(err, &busy), errors.As(err, &failed), errors.As(err, &ended), errors.As(err, &untraced), errors.As(err, &FullError{}), errors.As(err, &fullSession):
		code = http.StatusConflict
	case experiment.IsSpecError(err):
		code = http.StatusBadRequest
	case errors.Is(err, errClosed):
		code = http.StatusServiceUnavailable
	case errors.Is(err, context.Canceled): // by the end of the server, if anybody reads this
		code, err = http.StatusServiceUnavailable, errClosed
	case errors.Is(err, context.DeadlineExceeded):
		code, err = http.StatusServiceUnavailable, errors.New("the system did not answer in time; a transaction of yours may be in an endless loop")
	}
	refuse(w, code, err.Error())
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

func sysOf(r *http.Request) string { return r.URL.Query().Get("sys") }

// by says who asks: the page and notebooks name themselves, the rest is scripts.
func byOf(r *http.Request) string {
	switch by := r.Header.Get("Drtmx-By"); by {
	case "page", "notebook":
		return by
	}
	return "script"
}

func (p *api) knobs(r *http.Request) (any, error) { return p.agent.Knobs(r.Context(), sysOf(r)) }

func (p *api) patch(r *http.Request) (any, error) {
	b, err := readBody(r)
	if err != nil {
		return nil, err
	}
	k, err := parsePatch(b)
	if err != nil {
		return nil, err
	}
	if systems := r.URL.Query()["sys"]; len(systems) > 1 {
		list, err := p.agent.SetEach(r.Context(), systems, k, byOf(r))
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		for i, sys := range systems {
			out[sys] = took(list[i])
		}
		return out, nil
	}
	c, err := p.agent.Set(r.Context(), sysOf(r), k, byOf(r))
	if err != nil {
		return nil, err
	}
	return took(c), nil
}

// took is the answer to a change.
func took(c result.Change) map[string]any {
	return map[string]any{"version": c.Version, "virtual_ns": c.VirtualNS, "pending": c.Pending}
}

// parsePatch reads {"knob": value, ...}.
func parsePatch(b []byte) (experiment.Knobs, error) {
	var k experiment.Knobs
	return k, badBody(strictjson.DecodeOnce(b, &k))
}

// badBody is what is wrong with a body, nil if nothing is.
func badBody(err error) error {
	if err == nil {
		return nil
	}
	return &httpError{http.StatusBadRequest, "body: " + err.Error()}
}

func (p *api) state(r *http.Request) (any, error) {
	m, err := p.agent.member(sysOf(r))
	if err != nil {
		return nil, err
	}
	s := *m.snap.Load()
	return state{m.latest.Load(), s, s.KnobsVersion}, nil
}

func (p *api) systems(*http.Request) (any, error) { return p.agent.Systems(), nil }

func (p *api) windows(r *http.Request) (any, error) {
	q := r.URL.Query()
	from, err := queryNS(q.Get("from"), "from", 0)
	if err != nil {
		return nil, err
	}
	to, err := queryNS(q.Get("to"), "to", 1<<62)
	if err != nil {
		return nil, err
	}
	format := q.Get("format")
	if format != "" && format != "json" && format != "csv" {
		return nil, &experiment.SpecError{Field: "format", Value: words.Clip(format), Rule: "must be json or csv", Next: "as ?format=csv"}
	}
	ws, err := p.agent.Windows(r.Context(), sysOf(r), 0)
	if err != nil {
		return nil, err
	}
	kept := []result.Window{}
	for _, w := range ws {
		if w.T0NS >= from && w.T1NS <= to {
			kept = append(kept, w)
		}
	}
	if format == "csv" {
		b, err := windowsCSV(kept)
		return content{"text/csv; charset=utf-8", "windows.csv", b}, err
	}
	return kept, nil
}

// queryNS reads a virtual time, in nanoseconds or with a unit; no virtual time is before 0. missing is
// the answer where none is given.
func queryNS(s, field string, missing int64) (int64, error) {
	if s == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(s)
		n = d.Nanoseconds()
	}
	if err != nil || n < 0 {
		return 0, &experiment.SpecError{Field: field, Value: words.Clip(s), Rule: "must be virtual nanoseconds from 0", Next: "as ?" + field + "=2000000"}
	}
	return n, nil
}

var csvHead = []string{"t0_ns", "t1_ns", "knobs_version", "throughput", "commits", "aborts", "rollbacks", "abort_rate",
	"mean_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "round_trips_per_txn", "in_flight", "bottleneck", "bottleneck_node", "bottleneck_utilization", "failed", "lost"}

func windowsCSV(ws []result.Window) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(csvHead); err != nil {
		return nil, err
	}
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	opt := func(x float64) string { // a percentile without enough samples
		if x == 0 {
			return ""
		}
		return f(x)
	}
	n := func(x uint64) string { return strconv.FormatUint(x, 10) }
	for _, x := range ws {
		l := x.LatencyUS
		row := []string{strconv.FormatInt(x.T0NS, 10), strconv.FormatInt(x.T1NS, 10), strconv.Itoa(x.KnobsVersion), f(x.Throughput),
			n(x.Commits), n(x.Aborts), n(x.Rollbacks), f(x.AbortRate), opt(l.Mean), opt(l.P50), opt(l.P90), opt(l.P99), opt(l.P999), opt(l.Max),
			f(x.RoundTripsPerTxn), f(x.InFlight), "", "", "", n(x.Failed), n(x.Lost)}
		if x.Bottleneck != nil {
			row[16], row[17], row[18] = x.Bottleneck.Resource, strconv.Itoa(x.Bottleneck.Node), f(x.Bottleneck.Utilization)
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func (p *api) control(r *http.Request) (any, error) {
	var b controlBody
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if b.Seed != nil {
		b.Seed = knob.Known("seed", b.Seed)
	}
	if err := p.agent.control(r.Context(), sysOf(r), b, byOf(r)); err != nil {
		return nil, err
	}
	return p.state(r)
}

func (p *api) fork(r *http.Request) (any, error) {
	var b struct {
		Fork    string           `json:"fork"`
		Set     experiment.Knobs `json:"set"`
		Without *int             `json:"without"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Without != nil && len(b.Set) > 0:
		return nil, &experiment.SpecError{Field: "without", Value: fmt.Sprint(*b.Without), Rule: "cannot be combined with set", Next: "leave one out"}
	case b.Without != nil:
		return p.agent.Ghost(r.Context(), b.Fork, *b.Without, byOf(r))
	}
	return p.agent.Fork(r.Context(), b.Fork, b.Set, byOf(r))
}

func (p *api) closeSystem(r *http.Request) (any, error) {
	if err := p.agent.CloseSystem(sysOf(r)); err != nil {
		return nil, err
	}
	return p.agent.Systems(), nil
}

func (p *api) twin(*http.Request) (any, error) {
	if t := p.agent.Twin(); t != nil {
		return t, nil
	}
	return &Twin{State: "none", Why: "no page is open"}, nil
}

func (p *api) setTwin(r *http.Request) (any, error) {
	var b struct {
		On *bool `json:"on"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if b.On == nil {
		return nil, &experiment.SpecError{Field: "on", Rule: "is missing", Next: `send {"on": false} or {"on": true}`}
	}
	p.agent.SetTwin(*b.On)
	return p.twin(r)
}

// cancelTask ends long work by the name that frames give it.
func (p *api) cancelTask(r *http.Request) (any, error) {
	name := r.URL.Query().Get("name")
	if !p.agent.tasks.cancel(name) {
		return nil, &httpError{http.StatusNotFound, "task " + words.Clip(name) + " is not running, or cannot be cancelled"}
	}
	return map[string]bool{"cancelled": true}, nil
}

func (p *api) session(r *http.Request) (any, error) {
	b, err := p.agent.Session(r.Context(), sysOf(r))
	return content{"application/x-ndjson", "session.jsonl", b}, err
}

func (p *api) spec(r *http.Request) (any, error) { return p.agent.Spec(r.Context(), sysOf(r)) }

func (p *api) trace(r *http.Request) (any, error) {
	var b struct {
		Txns       int      `json:"txns"`
		Type       string   `json:"type"`
		Percentile *float64 `json:"percentile"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Percentile != nil && b.Txns != 0:
		return nil, &experiment.SpecError{Field: "txns", Value: fmt.Sprint(b.Txns), Rule: "cannot be combined with percentile, which is for one transaction", Next: "drop one"}
	case b.Percentile != nil:
		return p.agent.TraceOf(r.Context(), sysOf(r), ChoiceOf(b.Type, *b.Percentile), nil)
	case b.Type != "":
		return nil, &experiment.SpecError{Field: "percentile", Rule: "is missing beside type", Next: `send {"type": "` + words.Clip(b.Type) + `", "percentile": 99}`}
	}
	return p.agent.Trace(r.Context(), sysOf(r), b.Txns)
}

// nodes answers with the inside of the machines: over the latest windows, or ?measured=true since the
// latest run began.
func (p *api) nodes(r *http.Request) (any, error) {
	text := r.URL.Query().Get("measured")
	if text != "" && text != "true" && text != "false" {
		return nil, &experiment.SpecError{Field: "measured", Value: words.Clip(text), Rule: "must be true or false", Next: "true: since the latest run began"}
	}
	ns, err := p.agent.Inside(r.Context(), sysOf(r), text == "true")
	return append([]result.NodeInside{}, ns...), err
}

func (p *api) events(r *http.Request) (any, error) {
	ev, err := p.agent.Events(r.Context(), sysOf(r))
	return append([]session.Event{}, ev...), err
}

func (p *api) result(r *http.Request) (any, error) { return p.agent.Result(r.Context(), sysOf(r)) }

func (p *api) runFor(r *http.Request) (any, error) {
	var b struct {
		VirtualNS int64 `json:"virtual_ns"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	return p.agent.Run(r.Context(), sysOf(r), b.VirtualNS)
}
