package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/system/systemtest"
)

func dial(t *testing.T, s *httptest.Server, query string, head http.Header) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	c, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/ws"+query, head)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, resp, err
}

func connect(t *testing.T, s *httptest.Server, query string) *websocket.Conn {
	t.Helper()
	c, _, err := dial(t, s, query, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func next(t *testing.T, c *websocket.Conn) agent.Frame {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, b, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	var f agent.Frame
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFramesAreComplete(t *testing.T) {
	a := agenttest.New(t, agent.Options{Pace: 20_000_000}, systemtest.Options{})
	s := web(t, a, Options{})
	c := connect(t, s, "")
	var seq uint64
	seen, last := 0, int64(-1)
	for range 30 {
		f := next(t, c)
		if f.V != 1 || f.Sys != "a" || f.State == "" || f.Epoch == "" || f.KnobsVersion < 1 {
			t.Fatalf("%+v", f)
		}
		if f.Seq <= seq && seq > 0 {
			t.Fatalf("seq %d after %d", f.Seq, seq)
		}
		if seq > 0 && f.Seq != seq+1 && seen > 0 {
			t.Fatalf("seq %d after %d", f.Seq, seq)
		}
		seq = f.Seq
		for _, w := range f.Windows {
			if last >= 0 && w.T0NS != last {
				t.Fatalf("window from %d after one to %d", w.T0NS, last)
			}
			last = w.T1NS
			seen++
		}
	}
	if seen < 5 {
		t.Errorf("%d windows in 30 frames", seen)
	}
	// The fields are those of the contract, always there.
	_, b, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	json.Unmarshal(b, &raw)
	for _, k := range []string{"v", "seq", "sys", "state", "virtual_ns", "pace", "knobs_version", "windows", "events", "tasks"} {
		if raw[k] == nil {
			t.Errorf("no %s in %s", k, b)
		}
	}
}

// A change shows within 300 ms: in one of the next frames, which come every 33 ms.
func TestChangeShowsAtOnce(t *testing.T) {
	for name, o := range map[string]agent.Options{"paced": {Pace: agent.DefaultPace}, "flat out": {}, "paused": {Paused: true}} {
		a := agenttest.New(t, o, systemtest.Options{})
		s := web(t, a, Options{})
		c := connect(t, s, "")
		next(t, c)
		for i := range 5 {
			ask(t, s, "PATCH", "/api/knobs", fmt.Sprintf(`{"coroutines": %d}`, i+1), "Drtmx-By", "notebook").want(t, 200, "")
			now := a.Subscribe(0)
			seq := now.At
			now.End()
			for found := false; !found; {
				f := next(t, c)
				if f.Seq > seq+3 {
					t.Fatalf("%s: the change is not in the next frames", name)
				}
				for _, e := range f.Events {
					if e.Kind == "knob" && fmt.Sprint(e.Set["coroutines"]) == fmt.Sprint(i+1) {
						found = true
						if e.By != "notebook" || f.KnobsVersion != e.Version || e.Was == nil {
							t.Errorf("%+v", e)
						}
					}
				}
			}
		}
		a.Close()
	}
}

func TestReconnectFillsTheGap(t *testing.T) {
	a := agenttest.New(t, agent.Options{Pace: 20_000_000}, systemtest.Options{})
	s := web(t, a, Options{})
	c := connect(t, s, "")
	var f agent.Frame
	for len(f.Windows) == 0 {
		f = next(t, c)
	}
	last := f.Windows[len(f.Windows)-1].T1NS
	seq := f.Seq
	c.Close()
	time.Sleep(300 * time.Millisecond)
	c = connect(t, s, fmt.Sprintf("?since=%d", seq))
	for range 15 {
		f = next(t, c)
		if f.Gap || f.Seq != seq+1 {
			t.Fatalf("seq %d after %d, gap %v", f.Seq, seq, f.Gap)
		}
		seq = f.Seq
		for _, w := range f.Windows {
			if w.T0NS != last {
				t.Fatalf("window from %d after one to %d", w.T0NS, last)
			}
			last = w.T1NS
		}
	}
	for _, since := range []uint64{seq + 1_000_000} { // of another agent
		c = connect(t, s, fmt.Sprintf("?since=%d", since))
		if f := next(t, c); !f.Gap {
			t.Errorf("since %d: no gap announced: %+v", since, f)
		}
	}
	// What fell out of the ring is a gap, too.
	for range 1100 { // more than the ring has room for
		a.Announce()
	}
	c = connect(t, s, "?since=1")
	if f := next(t, c); !f.Gap {
		t.Errorf("no gap announced: %+v", f)
	}
}

func TestFeedOfOneSystem(t *testing.T) {
	a := agenttest.New(t, agent.Options{Pace: 20_000_000}, systemtest.Options{})
	if _, err := a.Add(systemtest.Spec()); err != nil {
		t.Fatal(err)
	}
	s := web(t, a, Options{})
	c := connect(t, s, "?sys=b")
	for range 10 {
		if f := next(t, c); f.Sys != "b" {
			t.Fatalf("a frame of %s", f.Sys)
		}
	}
	if err := a.CloseSystem("b"); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
				t.Errorf("the feed of a system that was closed: %v", err)
			}
			return
		}
	}
}

func TestStalledReadersDoNotStopTheRun(t *testing.T) {
	// Of 100 readers half never read: what they do not take is held back for none
	// of the others, and the run goes on.
	a := agenttest.New(t, agent.Options{Pace: 50_000_000}, systemtest.Options{})
	s := web(t, a, Options{})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	read := make([]atomic.Int64, 100)
	for i := range 100 {
		c := connect(t, s, "")
		if i%2 == 1 {
			continue // stalled: connected, never reads
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				c.SetReadDeadline(time.Now().Add(5 * time.Second))
				if _, _, err := c.ReadMessage(); err != nil {
					return
				}
				read[i].Add(1)
			}
		}()
	}
	defer wg.Wait()
	defer close(stop)
	from := agenttest.State(t, a, "").VirtualNS
	systemtest.Eventually(t, "the run goes on", func() bool { return agenttest.State(t, a, "").VirtualNS > from+25_000_000 })
	for i := 0; i < 100; i += 2 {
		systemtest.Eventually(t, fmt.Sprintf("reader %d gets its frames", i), func() bool { return read[i].Load() >= 5 })
	}
}
