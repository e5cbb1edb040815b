package web

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// Where all places are taken the ghost stays hidden, and is there once there is room.
func TestGhostWaitsForAPlace(t *testing.T) {
	a := agenttest.New(t, agent.Options{Pace: 5_000_000}, systemtest.Options{})
	page := a.Viewer()
	defer page.Leave()
	page.Show("a")
	systemtest.Eventually(t, "the twin is level", func() bool { t := a.Twin(); return t != nil && t.State == "ready" })
	c, err := a.Set(context.Background(), "a", experiment.Knobs{"coroutines": 4}, "page")
	if err != nil {
		t.Fatal(err)
	}
	version := c.Version
	for range agent.MaxSystems - 1 {
		if _, err := a.Add(systemtest.Spec()); err != nil {
			t.Fatal(err)
		}
	}
	s := web(t, a, Options{})
	body := `{"fork":"a","without":` + itoa(version) + `}`
	ask(t, s, "POST", "/api/systems", body).want(t, 409, "at most 4 at once; close one first")
	systemtest.Eventually(t, "the ghost is still there", func() bool { g := a.Twin().Ghost; return g != nil && g.FirstVersion == version && g.Level })
	if err := a.CloseSystem("c"); err != nil {
		t.Fatal(err)
	}
	r := ask(t, s, "POST", "/api/systems", body)
	for _, want := range []string{`"sys":"c"`, `"forked_from":"a"`, `"without":` + itoa(version)} {
		r.want(t, 200, want)
	}
	if g := a.Twin().Ghost; agenttest.State(t, a, "c").CatchingUp {
		t.Errorf("it replays, though there was %+v", g)
	}
	ask(t, s, "POST", "/api/systems", `{"fork":"a","without":99}`).want(t, 400, "without = 99: is no version that a change of system a made")
	ask(t, s, "POST", "/api/systems", `{"fork":"a","without":2,"set":{"coroutines":2}}`).want(t, 400, "cannot be combined with set")
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// A page says over its websocket which system it shows; the frames say how the twin is.
func TestPageSaysWhatItShows(t *testing.T) {
	a := agenttest.New(t, agent.Options{Pace: 5_000_000}, systemtest.Options{})
	s := web(t, a, Options{})
	c := dialFeed(t, s)
	time.Sleep(2 * (100 * time.Millisecond))
	if a.Twin() != nil {
		t.Error("a reader that shows nothing has a twin")
	}
	for _, text := range []string{"x", "[]", `{"show":3}`, `{"show":"d"}`, `{"show":"a"}`} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		var f agent.Frame
		if err := c.ReadJSON(&f); err != nil {
			t.Fatal(err)
		}
		if f.Twin != nil && f.Twin.State == "ready" && f.Twin.Sys == "a" {
			break
		}
	}
	c.Close()
	systemtest.Eventually(t, "it is gone", func() bool { return a.Twin() == nil })
}

func dialFeed(t *testing.T, s *httptest.Server) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// The twin is switched off and on again by name.
func TestTwinIsSwitched(t *testing.T) {
	a := agenttest.New(t, agent.Options{Pace: 5_000_000}, systemtest.Options{})
	s := web(t, a, Options{})
	ask(t, s, "GET", "/api/twin", "").want(t, 200, "no page is open")
	page := a.Viewer()
	defer page.Leave()
	page.Show("a")
	ask(t, s, "POST", "/api/twin", `{"on":false}`).want(t, 200, `{"state":"off"}`)
	ask(t, s, "POST", "/api/twin", `{}`).want(t, 400, "on: is missing")
	ask(t, s, "POST", "/api/twin", `{"on":true}`).want(t, 200, `"state":"building"`)
}
