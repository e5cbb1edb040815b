package cluster

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/job"
	"drtmx/cluster/system/systemtest"
	"drtmx/cluster/web"
	"drtmx/engine/experiment"
)

// behind serves an agent at an address.
func behind(t *testing.T, a *agent.Agent) *httptest.Server {
	t.Helper()
	h, err := web.Handler(job.For(a), web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestClientDrivesAnAgent(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := behind(t, a)
	c, err := Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if r.Raw.VirtualNS != 1_000_000 || len(r.Windows) != 10 || r.Digest == "" {
		t.Errorf("%+v, %d windows", r.Raw, len(r.Windows))
	}
	if _, err := c.Set("coroutines", 3); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Set("coroutine", 3); err == nil || !strings.Contains(err.Error(), "no such knob") {
		t.Errorf("%v", err)
	}
	ev, err := a.Events(context.Background(), "")
	if err != nil || len(ev) != 1 || ev[0].By != "script" || ev[0].Kind != "knob" || ev[0].Set["coroutines"] != 3 {
		t.Errorf("%+v, %v", ev, err)
	}
	if spec, err := c.Spec(); err != nil || spec.Set["coroutines"] != 3 {
		t.Errorf("%v, %v", spec, err)
	}
	f, err := c.Fork(Knobs{"coroutines": 9})
	if err != nil || f.Sys() != "b" {
		t.Fatal(err)
	}
	for _, err := range []error{c.Step(time.Millisecond), c.Pace(time.Millisecond), c.Resume(), c.Pause(), c.Reset(Knobs{"nodes": 5})} {
		if err != nil {
			t.Error(err)
		}
	}
	if b, err := c.Session(); err != nil || !bytes.Contains(b, []byte(`"session"`)) {
		t.Errorf("%s %v", b, err)
	}
	if _, err := Dial("127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "is drtmx up") {
		t.Errorf("%v", err)
	}
	if _, err := Dial("ftp://x"); !experiment.IsSpecError(err) {
		t.Errorf("%v", err)
	}
}

// Whoever asks for one from elsewhere gets the same, and afterwards another may be looked for.
func TestTraceOfByHTTP(t *testing.T) {
	a, err := agent.New(systemtest.Contended(), agent.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := behind(t, a)
	c, err := Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0.5, 0.99} {
		tr, err := c.TraceOf("rotate", q)
		if err != nil {
			t.Fatal(err)
		}
		if p := tr.Picked; p.Quantile != q || len(tr.Raw) != 1 || !strings.Contains(tr.HTML(), "percentile of") || !strings.Contains(tr.String(), "rotate") {
			t.Errorf("%+v", p)
		}
	}
	for _, q := range []float64{0, 1.5} {
		if _, err := c.TraceOf("rotate", q); err == nil || !strings.Contains(err.Error(), "percentile") {
			t.Error(err)
		}
	}
	if _, err := c.TraceOf("nope", 0.5); err == nil || !strings.Contains(err.Error(), "rotate") {
		t.Error(err)
	}
}
