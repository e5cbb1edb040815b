package web

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/session"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// agentOf is an agent over the real engine that stands at 100 us.
func agentOf(t *testing.T, spec experiment.Spec) *agent.Agent {
	t.Helper()
	a, err := agent.New(spec, agent.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// TestHistoryOverHTTP: a live system's history is what a replay of its session writes, in both forms, and
// the system stays where it is.
func TestHistoryOverHTTP(t *testing.T) {
	a := agentOf(t, systemtest.Tiny())
	s := web(t, a, Options{})
	step := func() {
		t.Helper()
		ask(t, s, "POST", "/api/control", `{"action":"step","virtual_ns":100000}`).want(t, 200, "")
	}
	step()
	ask(t, s, "PATCH", "/api/knobs", `{"phase.commit": "two-sided"}`).want(t, 200, "")
	step()
	recorded := ask(t, s, "GET", "/api/session", "").want(t, 200, "")
	for format, kind := range map[string]string{"jsonl": "application/x-ndjson", "edn": "application/edn"} {
		var want bytes.Buffer
		r, err := session.Replay(t.Context(), strings.NewReader(recorded.body), session.ReplayOptions{History: &want, HistoryName: "h." + format})
		if err != nil || !r.OK {
			t.Fatal(err, r)
		}
		got := ask(t, s, "GET", "/api/history?sys=a&format="+format, "").want(t, 200, "")
		if got.body != want.String() || strings.Count(got.body, "\n") < 50 {
			t.Errorf("%s: %d bytes, the replay wrote %d", format, len(got.body), want.Len())
		}
		if got.head.Get("Content-Type") != kind || got.head.Get("Content-Disposition") != "attachment; filename=history."+format {
			t.Errorf("%v", got.head)
		}
	}
	all := ask(t, s, "GET", "/api/history", "").want(t, 200, `"begin_ns"`).body
	half := ask(t, s, "GET", "/api/history?to=100us", "").want(t, 200, `"begin_ns"`).body
	if !strings.HasPrefix(all, half) || 10*len(half) > 8*len(all) {
		t.Errorf("up to the half: %d bytes of %d", len(half), len(all))
	}
	if now, err := a.State("a"); err != nil || now.VirtualNS != 200_000 {
		t.Errorf("%v, it is %d ns", err, now.VirtualNS)
	}
	if head := ask(t, s, "HEAD", "/api/history", "").want(t, 200, ""); head.head.Get("Content-Type") != "application/x-ndjson" {
		t.Error(head.head)
	}
}

// TestHistoryIsGuarded: what cannot be had is refused before a byte is sent, other sites cannot start it, and
// there is one at a time.
func TestHistoryIsGuarded(t *testing.T) {
	a := agentOf(t, systemtest.Tiny())
	s := web(t, a, Options{})
	get := func(query string, head ...string) reply {
		t.Helper()
		return ask(t, s, "GET", "/api/history"+query, "", head...)
	}
	get("?format=csv").want(t, 400, "format = csv: must be jsonl (lines of JSON) or edn")
	get("?to=1ms").want(t, 400, "to = 1000000: is later than now, 0 ns")
	get("?to=x").want(t, 400, "to = x: must be virtual nanoseconds")
	get("?sys=d").want(t, 404, "")
	get("", "Sec-Fetch-Site", "cross-site").want(t, 403, "cross-origin request refused")
	get("", "Sec-Fetch-Site", "same-origin").want(t, 200, "")
	if err := a.Step(t.Context(), "a", 200_000); err != nil {
		t.Fatal(err)
	}
	h, err := a.PastHistory(t.Context(), "a", agent.UntilNow, "history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { ended <- a.WriteHistory(t.Context(), h, &held{begun: begun, goOn: goOn}) }()
	<-begun
	get("").want(t, 409, "another one is being written")
	ask(t, s, "HEAD", "/api/history", "").want(t, 409, "")
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	small, err := agent.New(systemtest.Tiny(), agent.Options{Paused: true, Memory: func() int64 { return 1 << 20 }})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	ask(t, web(t, small, Options{}), "GET", "/api/history", "").want(t, 409, "memory is short")
	micro := agentOf(t, experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1}})
	ask(t, web(t, micro, Options{}), "GET", "/api/history", "").want(t, 400, "runs no transactions")
}

// TestHistoryCanBeCancelled, and a stream that is cut short is an error of the connection. Then there is room for
// the next one.
func TestHistoryCanBeCancelled(t *testing.T) {
	a := agentOf(t, systemtest.Tiny())
	s := web(t, a, Options{})
	ask(t, s, "POST", "/api/control", `{"action":"step","virtual_ns":40000000}`).want(t, 200, "")
	resp, err := http.Get(s.URL + "/api/history")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"id":`) {
		t.Fatal(err, line)
	}
	ask(t, s, "DELETE", "/api/tasks?name=history+of+a", "{}").want(t, 200, "cancelled")
	if _, err := in.WriteTo(discard{}); err == nil {
		t.Error("the reader takes a part for the whole")
	}
	h, err := a.PastHistory(t.Context(), "a", 50_000, "history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "the replay has ended", func() bool { return a.RoomForHistory(h) == nil })
	ask(t, s, "GET", "/api/history?to=50us", "").want(t, 200, `"begin_ns"`)
}

// held is a writer that waits with the first bytes.
type held struct {
	begun, goOn chan struct{}
	once        sync.Once
}

func (h *held) Write(b []byte) (int, error) {
	h.once.Do(func() { close(h.begun) })
	<-h.goOn
	return len(b), nil
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// TestHistoryOutlastsTheLimitsOfRequests: a stream may take longer than a server gives to a request.
func TestHistoryOutlastsTheLimitsOfRequests(t *testing.T) {
	a := agentOf(t, systemtest.Tiny())
	h, err := Handler(job.For(a), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.ReadTimeout, s.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	ask(t, s, "POST", "/api/control", `{"action":"step","virtual_ns":200000}`).want(t, 200, "")
	want := ask(t, s, "GET", "/api/history", "").want(t, 200, `"begin_ns"`).body
	a.StartTask("figure x", func() {}) // takes all spare CPU time for a while
	go func() {
		time.Sleep(900 * time.Millisecond)
		a.EndTask("figure x", nil)
	}()
	if got := ask(t, s, "GET", "/api/history", "").want(t, 200, `"begin_ns"`).body; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}
