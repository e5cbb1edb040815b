package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/job"
	"drtmx/cluster/session"
	"drtmx/cluster/strictjson"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// web serves an agent over a fake system and returns its address.
func web(t *testing.T, a *agent.Agent, w Options) *httptest.Server {
	t.Helper()
	return served(t, job.For(a), w)
}

// served serves an agent and its jobs.
func served(t *testing.T, j *job.Jobs, w Options) *httptest.Server {
	t.Helper()
	h, err := Handler(j, w)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

type reply struct {
	code int
	body string
	head http.Header
}

func ask(t *testing.T, s *httptest.Server, method, path, body string, head ...string) reply {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(head); i += 2 {
		if head[i] == "Host" {
			req.Host = head[i+1]
		}
		req.Header.Set(head[i], head[i+1])
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, string(b), resp.Header}
}

// want checks the status, and that a refusal is one line of text.
func (r reply) want(t *testing.T, code int, says string) reply {
	t.Helper()
	if r.code != code || !strings.Contains(r.body, says) {
		t.Errorf("got %d %.300q, want %d with %q", r.code, r.body, code, says)
	}
	if r.code >= 400 && strings.Count(strings.TrimSpace(r.body), "\n") > 0 {
		t.Errorf("more than one line: %q", r.body)
	}
	return r
}

func into[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%v in %.300q", err, r.body)
	}
	return v
}

func TestRoutes(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	get := func(path string) reply { t.Helper(); return ask(t, s, "GET", path, "") }
	post := func(path, body string) reply { t.Helper(); return ask(t, s, "POST", path, body) }

	get("/").want(t, 200, "drtmx")
	if ks := into[[]experiment.KnobState](t, get("/api/knobs").want(t, 200, "")); len(ks) < 10 {
		t.Errorf("%d knobs", len(ks))
	}
	post("/api/control", `{"action":"step","virtual_ns":1000000}`).want(t, 200, `"state":"paused"`)
	st := into[map[string]any](t, get("/api/state?sys=a").want(t, 200, ""))
	for _, k := range []string{"virtual_ns", "pace", "knobs_version", "state", "throughput", "latency_us", "t0_ns", "t1_ns", "phases"} {
		if _, ok := st[k]; !ok {
			t.Errorf("state has no %s: %v", k, st)
		}
	}
	if st["virtual_ns"] != 1e6 || st["state"] != "paused" {
		t.Errorf("%v", st)
	}
	if ws := into[[]result.Window](t, get("/api/windows?from=200000&to=700000").want(t, 200, "")); len(ws) != 5 || ws[0].T0NS != 200_000 {
		t.Errorf("%d windows", len(ws))
	}
	csv := get("/api/windows?format=csv").want(t, 200, "t0_ns,t1_ns")
	if strings.Count(csv.body, "\n") != 11 || !strings.HasPrefix(csv.head.Get("Content-Type"), "text/csv") {
		t.Errorf("%s: %.200q", csv.head.Get("Content-Type"), csv.body)
	}
	c := into[map[string]any](t, ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 4}`).want(t, 200, ""))
	if c["version"] != 2.0 || c["virtual_ns"] != 1e6 || c["pending"] != false || len(c) != 3 {
		t.Errorf("%v", c)
	}
	r := into[result.Result](t, post("/api/run", `{"virtual_ns":300000}`).want(t, 200, ""))
	if r.VirtualNS != 300_000 || r.FromNS != 1_000_000 {
		t.Errorf("%+v", r)
	}
	get("/api/result").want(t, 200, r.Digest)
	get("/api/spec").want(t, 200, `"coroutines":4`)
	f := into[system.Snapshot](t, post("/api/systems", `{"fork":"a","set":{"coroutines":2}}`).want(t, 200, ""))
	if f.Sys != "b" {
		t.Errorf("%+v", f)
	}
	systemtest.Eventually(t, "b has caught up", func() bool { return !agenttest.State(t, a, "b").CatchingUp })
	if all := into[[]system.Snapshot](t, get("/api/systems").want(t, 200, "")); len(all) != 2 || all[1].ForkedFrom != "a" {
		t.Errorf("%+v", all)
	}
	post("/api/control", `{"action":"step","virtual_ns":100000}`).want(t, 200, "")
	if x, y := agenttest.State(t, a, "a").VirtualNS, agenttest.State(t, a, "b").VirtualNS; x != y {
		t.Errorf("a at %d, b at %d", x, y)
	}
	recorded := get("/api/session?sys=b").want(t, 200, `{"session":`)
	if rep, err := session.Replay(context.Background(), strings.NewReader(recorded.body), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})}); err != nil || !rep.OK || rep.Changes != 2 {
		t.Errorf("%+v, %v", rep, err)
	}
	ask(t, s, "DELETE", "/api/systems?sys=b", "").want(t, 200, `"sys":"a"`)
	get("/api/state?sys=b").want(t, 404, "no such system")
	post("/api/control", `{"action":"pace","virtual_ns":5000000}`).want(t, 200, `"pace":5000000`)
	post("/api/control", `{"action":"resume"}`).want(t, 200, "")
	systemtest.Eventually(t, "running", func() bool { return agenttest.State(t, a, "").State == system.StateRunning })
	post("/api/control", `{"action":"pause","virtual_ns":0,"set":{},"seed":0}`).want(t, 200, `"state":"paused"`)
	post("/api/control", `{"action":"reset","set":{"nodes":5},"seed":3}`).want(t, 200, `"virtual_ns":0`)
	get("/api/tasks").want(t, 200, "[")
}

func TestBadRequestsSayWhatIsWrong(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	for _, c := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"PATCH", "/api/knobs", `{"coroutine": 4}`, 400, "no such knob"},
		{"PATCH", "/api/knobs", `{"coroutines": 4, "coroutine": 4}`, 400, "no such knob"},
		{"PATCH", "/api/knobs", `{"nodes": 4}`, 409, "not live"},
		{"PATCH", "/api/knobs", `{"coroutines": 4`, 400, "JSON"},
		{"PATCH", "/api/knobs", `[1]`, 400, "must be an object, not array"},
		{"POST", "/api/control", `{"action":"step","virtual_ns":"5us"}`, 400, "virtual_ns must be a whole number, not string"},
		{"POST", "/api/control", `{"action":["step"]}`, 400, "action must be a string, not array"},
		{"POST", "/api/control", `{"action":"reset","set":[]}`, 400, "set must be an object, not array"},
		{"PATCH", "/api/knobs", `null`, 400, "none given"},
		{"PATCH", "/api/knobs", ``, 400, "empty"},
		{"PATCH", "/api/knobs", `{}`, 400, "none given"},
		{"PATCH", "/api/knobs", `{"coroutines": 4}{"coroutines": 5}`, 400, "follows"},
		{"PATCH", "/api/knobs", `{"coroutines": 4, "coroutines": 5}`, 400, "twice"},
		{"PATCH", "/api/knobs", `{"coroutines": [` + strings.Repeat(`[`, 20_000), 400, "JSON"},
		{"PATCH", "/api/knobs", `{"coroutines": "` + strings.Repeat(`x`, bodyLimit) + `"}`, 413, "over"},
		{"PATCH", "/api/knobs?sys=c", `{"coroutines": 4}`, 404, "no such system"},
		{"POST", "/api/control", `{"action":"stop"}`, 400, "pause, resume"},
		{"POST", "/api/control", `{"action":"step"}`, 400, "virtual_ns"},
		{"POST", "/api/control", `{"action":"step","virtual_ns":-4}`, 400, "above 0"},
		{"POST", "/api/control", `{"action":"step","virtual_ns":1.5}`, 400, "JSON"},
		{"POST", "/api/control", `{"action":"pace","virtual_ns":-4}`, 400, "must be"},
		{"POST", "/api/control", `{"action":"pause","extra":1}`, 400, "extra"},
		{"POST", "/api/control", `{"action":"reset","set":{"nodes":1000000}}`, 400, "nodes"},
		{"POST", "/api/systems", `{"fork":"z"}`, 404, "no such system"},
		{"POST", "/api/systems", `{"fork":"a","set":{"nodes":8}}`, 409, "not live"},
		{"POST", "/api/control", `{"action":"pause","action":"resume"}`, 400, "action is given twice"},
		{"POST", "/api/control", `{"action":"reset","set":{"nodes":5,"coroutines":2,"nodes":6}}`, 400, "nodes is given twice"},
		{"POST", "/api/control", `{"action":"pause","Action":"resume"}`, 400, "Action is given twice"},
		{"POST", "/api/control", `{"action":"reset","set":{"nodes":5},"\u017fet":{"nodes":6}}`, 400, "given twice"},
		{"POST", "/api/control", `{"action":"reset","set":{"seed":3},"seed":7}`, 400, "seed = 7: set says 3; give it once"},
		{"POST", "/api/control", `{"action":"reset","seed":9007199254740992,"set":{"seed":9007199254740993}}`, 400, "seed = 9007199254740992: set says 9007199254740993"},
		{"POST", "/api/control", `{"action":"reset","seed":9007199254740993.0}`, 400, "seed"},
		{"GET", "/api/history?to=-1", "", 400, "to = -1: must be virtual nanoseconds from 0"},
		{"GET", "/api/history?to=-1ms", "", 400, "to = -1ms: must be virtual nanoseconds from 0"},
		{"GET", "/api/windows?from=-1", "", 400, "from = -1: must be virtual nanoseconds from 0"},
		{"GET", "/api/windows?to=-2us", "", 400, "to = -2us: must be virtual nanoseconds from 0"},
		{"POST", "/api/control", `{"action":"pause","set":{"coroutines":4}}`, 400, "set: goes with the action reset alone"},
		{"POST", "/api/control", `{"action":"resume","seed":4}`, 400, "seed: goes with the action reset alone"},
		{"POST", "/api/systems", `{"fork":"a","set":{"coroutines":2,"coroutines":3}}`, 400, "coroutines is given twice"},
		{"POST", "/api/control", `{"action":"action","set":{"x":[{"x":["x","x"]},{"x":"set"}],"set":"x"}}`, 400, "must be pause"},
		{"POST", "/api/run", `{"virtual_ns":0}`, 400, "above 0"},
		{"POST", "/api/figures/4-9a", `{}`, 404, "no such figure"},
		{"DELETE", "/api/figures/4-9a", ``, 404, "not being computed"},
		{"DELETE", "/api/systems", ``, 400, "stays"},
		{"GET", "/api/windows?from=x", ``, 400, "from"},
		{"GET", "/api/windows?format=xml", ``, 400, "json or csv"},
		{"GET", "/api/nothing", ``, 404, "no such route"},
		{"PUT", "/api/knobs", `{}`, 405, "use GET, HEAD, PATCH"},
		{"POST", "/api/state?sys=a", `{}`, 405, "use GET, HEAD"},
		{"GET", "/api/control", ``, 405, "use POST"},
		{"POST", "/api/figures/2-4a/state", `{}`, 405, "use GET, HEAD"},
		{"GET", "/api/knobs/", ``, 404, "no such route"},
		{"GET", "/ws?sys=c", ``, 404, "no such system"},
		{"GET", "/ws?since=-1", ``, 400, "since"},
		{"GET", "/../../etc/passwd", ``, 0, ""},
	} {
		r := ask(t, s, c.method, c.path, c.body)
		if c.code == 0 {
			if r.code < 300 && strings.Contains(r.body, "root:") {
				t.Errorf("%s: %q", c.path, r.body)
			}
			continue
		}
		if strings.Contains(r.body, "Go ") || strings.Contains(r.body, "json:") {
			t.Errorf("%s %s %.60q: speaks of Go: %q", c.method, c.path, c.body, r.body)
		}
		if r.code != c.code || !strings.Contains(r.body, c.says) || strings.Count(strings.TrimSpace(r.body), "\n") > 0 {
			t.Errorf("%s %s %.60q: got %d %.200q, want %d with %q", c.method, c.path, c.body, r.code, r.body, c.code, c.says)
		}
	}
	if st := agenttest.State(t, a, ""); st.KnobsVersion != 1 || st.VirtualNS != 0 || len(a.Systems()) != 1 {
		t.Errorf("a refused request did something: %+v", st)
	}
}

func TestFailedSystemAnswersConflict(t *testing.T) {
	a := agenttest.New(t, agent.Options{}, systemtest.Options{FailAt: 1000})
	s := web(t, a, Options{})
	systemtest.Eventually(t, "fails", func() bool { return agenttest.State(t, a, "").State == system.StateFailed })
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 4}`).want(t, 409, "reset")
	ask(t, s, "GET", "/api/state", "").want(t, 200, `"state":"failed"`).want(t, 200, "fake failure")
	ask(t, s, "POST", "/api/control", `{"action":"reset"}`).want(t, 200, `"virtual_ns"`)
}

// TestWhoAsks: the page and notebooks say so; whoever says nothing is a script.
func TestWhoAsks(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	for i, x := range [][2]string{{"page", "page"}, {"notebook", "notebook"}, {"script", "script"}, {"", "script"}, {"<b>", "script"}} {
		ask(t, s, "PATCH", "/api/knobs", fmt.Sprintf(`{"coroutines": %d}`, i+2), "Drtmx-By", x[0]).want(t, 200, "")
		ev, err := a.Events(context.Background(), "")
		if err != nil || len(ev) != i+1 || ev[i].By != x[1] {
			t.Errorf("%q: %+v, %v", x[0], ev, err)
		}
	}
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte(`{"coroutines": 4, "phase.commit": "two-sided", "x": 1.5, "y": null, "z": [1]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte(`{"a":{"a":1},"b":[{"a":1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var k experiment.Knobs
		err := strictjson.DecodeOnce(b, &k)
		if err != nil {
			if strings.Contains(words.OneLine(err.Error()), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		for name, v := range k {
			if _, ok := v.(json.Number); ok {
				t.Errorf("%s is still a JSON number", name)
			}
		}
		// The registry takes it or refuses it with one line.
		if _, err := (experiment.Spec{}).With(k); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q", err)
		}
	})
}

// A body that comes too slowly or in chunks that are none is the sender's fault, not
// the server's.
func TestBodyThatDoesNotArrive(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	h, err := Handler(job.For(a), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, http.StatusRequestTimeout, "did not arrive"},
		{io.ErrUnexpectedEOF, http.StatusBadRequest, "body: cannot be read"},
		{errors.New("malformed chunked encoding"), http.StatusBadRequest, "malformed chunked encoding"},
	} {
		for _, ask := range []string{"POST /api/control", "POST /api/systems", "PATCH /api/knobs", "POST /api/figures/4-9a/live"} {
			method, path, _ := strings.Cut(ask, " ")
			r := httptest.NewRequest(method, "http://localhost"+path, iotest.ErrReader(c.err))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%s, %v: %d %q", ask, c.err, w.Code, w.Body)
			}
		}
	}
}

// A session that has no room for a change is a conflict, which a reset helps.
func TestFullSessionAnswersConflict(t *testing.T) {
	w := httptest.NewRecorder()
	refuseError(w, &session.FullError{})
	if w.Code != 409 || !strings.Contains(w.Body.String(), "reset the system") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
