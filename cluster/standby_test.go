package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/txn"
)

// shows is a page that shows a system.
func shows(t *testing.T, a *Agent, sys string) *watcher {
	t.Helper()
	w := &watcher{}
	a.standby.show(w, sys)
	t.Cleanup(func() { a.standby.leave(w) })
	return w
}

func twinIs(a *Agent, state string) func() bool {
	return func() bool { t := a.Twin(); return t != nil && t.State == state }
}

// turned turns a knob of system a, whose twin is level, and returns the version.
func turned(t *testing.T, a *Agent, coroutines int) int {
	t.Helper()
	systemtest.Eventually(t, "the twin is level", twinIs(a, "ready"))
	c, err := a.Set(bg, "a", experiment.Knobs{"coroutines": coroutines}, "page")
	if err != nil {
		t.Fatal(err)
	}
	return c.Version
}

// level waits until a system is where a stands.
func level(t *testing.T, a *Agent, sys string) {
	t.Helper()
	systemtest.Eventually(t, sys+" is level", func() bool {
		s := stateOf(t, a, sys)
		return s.State == system.StatePaused && s.VirtualNS == stateOf(t, a, "a").VirtualNS
	})
}

// A ghost that was on standby is what a replay of the session without the change gives,
// windows and digest. So is one that a twin on its way there was made of.
func TestGhostOnStandbyEqualsAReplay(t *testing.T) {
	var opened atomic.Int32
	spec := tiny()
	spec.Set = experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 1000, "window_ns": 20_000, "seed": 5}
	a, err := NewAgent(spec, Options{Pace: 300_000, Open: func(ctx context.Context, s experiment.Spec, p engine.Progress) (system.System, error) {
		opened.Add(1)
		return system.OpenEngine(ctx, s, p)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Set(bg, "a", experiment.Knobs{"phase.validation": "two-sided"}, "page"); err != nil {
		t.Fatal(err)
	}
	shows(t, a, "a")
	time.Sleep(dragTime) // else the two changes are one
	version := turned(t, a, 4)
	at := stateOf(t, a, "a").VirtualNS
	systemtest.Eventually(t, "some windows", func() bool { return stateOf(t, a, "a").VirtualNS > at+200_000 })
	if err := a.Pause(bg, ""); err != nil {
		t.Fatal(err)
	}
	a.standby.mu.Lock()
	h := a.standby.ghost
	a.standby.mu.Unlock()
	ghost, err := a.Ghost(bg, "a", version, "page")
	if err != nil || h == nil {
		t.Fatalf("%v, on standby %v", err, h)
	}
	if m, _ := a.member(ghost.Sys); m != h.m {
		t.Error("the ghost is not the one that was on standby")
	}
	if again, err := a.Ghost(bg, "a", version, "page"); err != nil || again.Sys != ghost.Sys {
		t.Errorf("asked for twice: %+v, %v", again, err)
	}
	level(t, a, "b")
	seen := func(sys string) string {
		t.Helper()
		ws, err := a.Windows(bg, sys, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Result(bg, sys)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(ws)
		if err != nil {
			t.Fatal(err)
		}
		return r.Digest + string(b)
	}
	instant := seen("b")
	if err := a.CloseSystem("b"); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "the next twin is level", func() bool { return opened.Load() == 3 && twinIs(a, "ready")() })
	before := opened.Load()
	a.SetTwin(false)
	if _, err := a.Ghost(bg, "a", version, "page"); err != nil {
		t.Fatal(err)
	}
	level(t, a, "b")
	if opened.Load() != before+1 {
		t.Errorf("%d systems were opened for a replay", opened.Load()-before)
	}
	if replayed := seen("b"); replayed != instant {
		t.Errorf("the replay gives\n%.300s\nthe ghost on standby\n%.300s", replayed, instant)
	}
	if seen("a") == instant {
		t.Error("the change does nothing: nothing was compared")
	}
}

// A twin changes nothing of the system that it follows, and is never ahead of it.
func TestTwinIsNeverAhead(t *testing.T) {
	a := newFake(t, Options{Pace: 20_000_000}, systemtest.Options{})
	shows(t, a, "a")
	systemtest.Eventually(t, "the twin is level", twinIs(a, "ready"))
	a.standby.mu.Lock()
	h := a.standby.twin
	a.standby.mu.Unlock()
	for range 200 {
		own := h.m.snap.Load().VirtualNS
		if of := stateOf(t, a, "a").VirtualNS; own > of {
			t.Fatalf("the twin is at %d, its system at %d", own, of)
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 3}, "page"); err != nil {
		t.Fatal(err)
	}
	if err := a.Pause(bg, ""); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "the next twin is level", func() bool {
		return twinIs(a, "ready")() && a.Twin().VirtualNS == stateOf(t, a, "a").VirtualNS
	})
	a.standby.mu.Lock()
	h = a.standby.twin
	a.standby.mu.Unlock()
	var want, got session.Checkpoint
	m, _ := a.member("a")
	if err := errors.Join(m.do(bg, func() { want = m.Mark() }), h.m.do(bg, func() { got = h.m.Mark() })); err != nil {
		t.Fatal(err)
	}
	if want != got {
		t.Errorf("the twin has %+v, its system %+v", got, want)
	}
}

// Where all places are taken the ghost stays hidden, and is there once there is room.
func TestGhostWaitsForAPlace(t *testing.T) {
	a := newFake(t, Options{Pace: 5_000_000}, systemtest.Options{})
	shows(t, a, "a")
	version := turned(t, a, 4)
	for range MaxSystems - 1 {
		if _, err := a.Add(systemtest.Spec()); err != nil {
			t.Fatal(err)
		}
	}
	s := web(t, a, Web{})
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
	if g := a.standby.now().Ghost; stateOf(t, a, "c").CatchingUp {
		t.Errorf("it replays, though there was %+v", g)
	}
	ask(t, s, "POST", "/api/systems", `{"fork":"a","without":99}`).want(t, 400, "without = 99: is no version that a change of system a made")
	ask(t, s, "POST", "/api/systems", `{"fork":"a","without":2,"set":{"coroutines":2}}`).want(t, 400, "cannot be combined with set")
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// Changes within a second are one, for a ghost on standby and for one that replays.
func TestDragIsOneChange(t *testing.T) {
	var d drag
	now := time.Now()
	for i, x := range []struct {
		after time.Duration
		want  int
	}{{0, 2}, {900 * time.Millisecond, 2}, {900 * time.Millisecond, 2}, {1100 * time.Millisecond, 5}, {0, 5}} {
		now = now.Add(x.after)
		if got := d.first(2+i, now); got != x.want {
			t.Errorf("version %d belongs to %d, want %d", 2+i, got, x.want)
		}
	}
	a := newFake(t, Options{Pace: 5_000_000}, systemtest.Options{})
	shows(t, a, "a")
	first := turned(t, a, 4)
	for n := range 3 {
		if _, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 5 + n}, "page"); err != nil {
			t.Fatal(err)
		}
	}
	systemtest.Eventually(t, "one ghost for all", func() bool {
		g := a.Twin().Ghost
		return g != nil && g.FirstVersion == first && g.LastVersion == first+3
	})
	for range 2 {
		g, err := a.Ghost(bg, "a", first+2, "page")
		if err != nil {
			t.Fatal(err)
		}
		if g.Without != first {
			t.Errorf("the ghost of a drag is without %d, want %d", g.Without, first)
		}
		systemtest.Eventually(t, "it has replayed", func() bool { return !stateOf(t, a, g.Sys).CatchingUp })
		if spec, err := a.Spec(bg, g.Sys); err != nil || spec.Set["coroutines"] != nil {
			t.Errorf("the ghost has the change: %v, %v", spec.Set, err)
		}
		if err := a.CloseSystem(g.Sys); err != nil {
			t.Fatal(err)
		}
		a.SetTwin(false)
	}
}

// slowFork opens the first system as a fast one and all others as slow ones.
func slowFork(closed *atomic.Int32) system.Opener {
	var n atomic.Int32
	return func(ctx context.Context, s experiment.Spec, p engine.Progress) (system.System, error) {
		o := systemtest.Options{Closed: closed}
		if n.Add(1) > 1 {
			o.Slow = 40 * time.Millisecond
		}
		return systemtest.Opener(o)(ctx, s, p)
	}
}

// Nothing waits for a ghost that replays: at a pace as flat out, and once it has replayed
// and is still behind.
func TestNothingWaitsForAGhostThatReplays(t *testing.T) {
	for _, pace := range []int64{200_000_000, 0} {
		a, err := NewAgent(systemtest.Spec(), Options{Pace: pace, Open: slowFork(nil)})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		systemtest.Eventually(t, "time passes", func() bool { return stateOf(t, a, "a").VirtualNS > 2_000_000 })
		c, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 4}, "page")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Ghost(bg, "a", c.Version, "page"); err != nil {
			t.Fatal(err)
		}
		from := stateOf(t, a, "a").VirtualNS
		systemtest.Eventually(t, "a is far ahead", func() bool { return stateOf(t, a, "a").VirtualNS > from+60_000_000 })
		if b := stateOf(t, a, "b"); !b.CatchingUp && !b.Behind {
			t.Errorf("pace %d: b %+v: too early to be of use here", pace, b)
		}
	}
}

// A ghost that replays can be given up: while its system is opened, and later.
func TestGhostIsCancelled(t *testing.T) {
	var closed atomic.Int32
	begun := make(chan struct{}, 1)
	for name, open := range map[string]system.Opener{"opening": stubborn(1, begun), "replaying": slowFork(&closed)} {
		a, err := NewAgent(systemtest.Spec(), Options{Paused: true, Open: open})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if err := a.Step(bg, "a", 50_000_000); err != nil {
			t.Fatal(err)
		}
		c, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 4}, "page")
		if err != nil {
			t.Fatal(err)
		}
		s := web(t, a, Web{})
		gave := make(chan error, 1)
		go func() { _, err := a.Ghost(bg, "a", c.Version, "page"); gave <- err }()
		if name == "opening" {
			<-begun
		} else {
			systemtest.Eventually(t, "b replays", func() bool { s, err := a.State("b"); return err == nil && s.VirtualNS > 0 })
		}
		ask(t, s, "DELETE", "/api/tasks?name=catch%20up%20b", "").want(t, 200, `"cancelled":true`)
		if err := <-gave; (err != nil) != (name == "opening") {
			t.Errorf("%s: %v", name, err)
		}
		systemtest.Eventually(t, "b is gone", func() bool { return len(a.Systems()) == 1 })
		systemtest.Eventually(t, "the task says so", func() bool {
			l := a.tasks.list()
			return len(l) == 1 && l[0].State == "cancelled"
		})
		ask(t, s, "DELETE", "/api/tasks?name=catch%20up%20b", "").want(t, 404, "is not running")
		if p, err := a.hold(); err != nil || p.id != "b" {
			t.Errorf("%s: its place is %v, %v", name, p, err)
		}
	}
	if closed.Load() != 1 {
		t.Errorf("%d systems were closed", closed.Load())
	}
}

// There is no twin where there must be none.
func TestNoTwin(t *testing.T) {
	for name, x := range map[string]struct {
		o          Options
		code, page bool
		state, why string
	}{
		"nobody looks":      {},
		"transactions":      {code: true, page: true, state: "none", why: "transactions of a notebook"},
		"a notebook":        {o: Options{notebook: true}, page: true, state: "none", why: "a notebook drives"},
		"switched off":      {o: Options{NoTwin: true}, page: true, state: "off"},
		"memory is short":   {o: Options{memory: func() int64 { return 50 << 20 }}, page: true, state: "none", why: "memory is short"},
		"memory is unknown": {o: Options{memory: func() int64 { return 0 }}, page: true, state: "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			var opened atomic.Int32
			x.o.Pace = 5_000_000
			a := newFake(t, x.o, systemtest.Options{Opened: &opened})
			if x.code {
				if err := a.AddTransaction(bg, "a", "mine", 1, func(*txn.Tx) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if x.page {
				shows(t, a, "a")
				systemtest.Eventually(t, "it says so", twinIs(a, x.state))
				if why := a.Twin().Why; !strings.Contains(why, x.why) {
					t.Errorf("why: %q", why)
				}
			}
			time.Sleep(3 * standbyEvery)
			if want := map[bool]int32{true: 2, false: 1}[x.state == "ready"]; opened.Load() != want {
				t.Errorf("%d systems were opened", opened.Load())
			}
		})
	}
}

// The twin ends when it is switched off, when the system begins again or gets a
// transaction, and when the page is gone; the agent ends with one.
func TestTwinEnds(t *testing.T) {
	var opened, closed atomic.Int32
	a := newFake(t, Options{Pace: 5_000_000}, systemtest.Options{Opened: &opened, Closed: &closed})
	w := shows(t, a, "a")
	ends := func(what string, n int32) {
		t.Helper()
		systemtest.Eventually(t, what, func() bool { return closed.Load() == n })
	}
	version := turned(t, a, 4) // a twin and a hidden ghost
	ready := func(what string, n int32) {
		t.Helper()
		systemtest.Eventually(t, what, func() bool { return opened.Load() == n && twinIs(a, "ready")() })
	}
	ready("the next twin", 3)
	s := web(t, a, Web{})
	ask(t, s, "POST", "/api/twin", `{"on":false}`).want(t, 200, `{"state":"off"}`)
	ends("the twin and the ghost end", 2)
	ask(t, s, "POST", "/api/twin", `{}`).want(t, 400, "on: is missing")
	ask(t, s, "POST", "/api/twin", `{"on":true}`).want(t, 200, `"state":"building"`)
	ready("a twin again", 4)
	if err := a.Reset(bg, "a", nil, nil, "page"); err != nil {
		t.Fatal(err)
	}
	ends("the old system and its twin end", 4)
	ready("that of the new one", 6)
	if _, err := a.Ghost(bg, "a", version, "page"); !experiment.IsSpecError(err) {
		t.Errorf("a ghost of an earlier epoch: %v", err)
	}
	if err := a.AddTransaction(bg, "a", "mine", 1, func(*txn.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	ends("the twin ends", 5)
	systemtest.Eventually(t, "it says why", twinIs(a, "none"))
	if err := a.Reset(bg, "a", nil, nil, "page"); err != nil {
		t.Fatal(err)
	}
	ready("without the transaction", 8)
	a.standby.leave(w)
	a.standby.mu.Lock()
	a.standby.left = time.Now().Add(-2 * leaveAfter)
	a.standby.mu.Unlock()
	ends("the page is gone", 7)
	shows(t, a, "a")
	ready("another page", 9)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if opened.Load() != closed.Load() {
		t.Errorf("%d opened, %d closed", opened.Load(), closed.Load())
	}
}

// A page says over its websocket which system it shows; the frames say how the twin is.
func TestPageSaysWhatItShows(t *testing.T) {
	a := newFake(t, Options{Pace: 5_000_000}, systemtest.Options{})
	s := web(t, a, Web{})
	c := dialFeed(t, s)
	time.Sleep(2 * standbyEvery)
	if a.Twin() != nil {
		t.Error("a reader that shows nothing has a twin")
	}
	for _, text := range []string{"x", "[]", `{"show":3}`, `{"show":"d"}`, `{"show":"a"}`} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		var f Frame
		if err := c.ReadJSON(&f); err != nil {
			t.Fatal(err)
		}
		if f.Twin != nil && f.Twin.State == "ready" && f.Twin.Sys == "a" {
			break
		}
	}
	c.Close()
	systemtest.Eventually(t, "it is gone", func() bool {
		a.standby.mu.Lock()
		defer a.standby.mu.Unlock()
		return len(a.standby.pages) == 0
	})
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

// A hidden system gets a slice only where a processor is idle, and a ghost before a twin.
func TestSpareTime(t *testing.T) {
	now := time.Now()
	var s spare
	if s.slot(now, 2, 1, false) == nil {
		t.Error("one of two processors is idle, and no slice was given")
	}
	if s.slot(now, 2, 1, false) != nil {
		t.Error("the second hidden slice takes the processor of a shown system")
	}
	s = spare{}
	end := s.live(1)
	if s.slot(now, 1, 1, false) != nil {
		t.Error("a slice beside that of a shown system on one processor")
	}
	end()
	done := s.slot(now, 1, 1, false)
	if done == nil {
		t.Fatal("no slice while the shown system waits for its time")
	}
	done()
	if done = s.slot(now, 2, 1, true); done == nil {
		t.Fatal("no slice for the ghost")
	}
	done()
	if s.slot(now, 2, 1, false) != nil {
		t.Error("the twin goes before the ghost")
	}
	if s.slot(now.Add(2*ghostFirst), 2, 1, false) == nil {
		t.Error("the twin waits for a ghost that is level")
	}
}

// Where hidden systems slow down a shown one that needs all it can get, they hardly run;
// where they do not, they run most of the time.
func TestTrialFindsWhatHiddenSystemsCost(t *testing.T) {
	for _, x := range []struct{ cost, least, most float64 }{{0, 0.8, 1}, {0.02, 0.8, 1}, {0.3, 0.001, 0.05}} {
		var tr trial
		var virt, wall, ran int64
		const step, steps = 10 * time.Millisecond, 12_000
		now := time.Now()
		for range steps {
			speed := 6.0
			if tr.allow(now, virt, wall) {
				ran++
				speed *= 1 - x.cost
			}
			now = now.Add(step)
			wall += int64(step)
			virt += int64(speed * float64(step))
		}
		if share := float64(ran) / steps; share < x.least || share > x.most {
			t.Errorf("with a cost of %v hidden systems run %.3f of the time", x.cost, share)
		}
	}
}
