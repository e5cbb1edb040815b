package agent

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/cluster/twin"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/engine/txn"
)

// shows is a page that shows a system.
func shows(t *testing.T, a *Agent, sys string) *twin.Viewer {
	t.Helper()
	w := a.Viewer()
	w.Show(sys)
	t.Cleanup(w.Leave)
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
	spec := systemtest.Tiny()
	spec.Set = experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 1000, "window_ns": 20_000, "seed": 5}
	a, err := New(spec, Options{Pace: 300_000, Open: func(ctx context.Context, s experiment.Spec, p engine.Progress) (system.System, error) {
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
	time.Sleep(time.Second) // else the two changes are one
	version := turned(t, a, 4)
	at := stateOf(t, a, "a").VirtualNS
	systemtest.Eventually(t, "some windows", func() bool { return stateOf(t, a, "a").VirtualNS > at+200_000 })
	if err := a.Pause(bg, ""); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "the next twin is opened", func() bool { return opened.Load() == 3 })
	ghost, err := a.Ghost(bg, "a", version, "page")
	if err != nil {
		t.Fatal(err)
	}
	if opened.Load() != 3 {
		t.Error("the ghost is not the one that was on standby: another system was opened")
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

// watched is a system whose state others may look at while it runs.
type watched struct {
	system.System
	now    atomic.Int64
	digest atomic.Value // string
}

func (w *watched) Advance(d int64) error {
	err := w.System.Advance(d)
	w.note()
	return err
}

func (w *watched) Set(k experiment.Knobs, by string) (result.Change, error) {
	defer w.note()
	return w.System.Set(k, by)
}

func (w *watched) Apply(a engine.Accepted, by string) (result.Change, error) {
	defer w.note()
	return w.System.Apply(a, by)
}

func (w *watched) note() {
	w.digest.Store(w.System.Digest())
	w.now.Store(w.System.NowNS())
}

// A twin changes nothing of the system that it follows, and is never ahead of it.
func TestTwinIsNeverAhead(t *testing.T) {
	var opened sync.Map // by number, from 1: the system, its twin, the twin after a change
	var n atomic.Int32
	a, err := New(systemtest.Spec(), Options{Pace: 20_000_000, Open: func(ctx context.Context, s experiment.Spec, p engine.Progress) (system.System, error) {
		sys, err := systemtest.Opener(systemtest.Options{})(ctx, s, p)
		w := &watched{System: sys}
		opened.Store(int(n.Add(1)), w)
		return w, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	numbered := func(i int) *watched {
		w, _ := opened.Load(i)
		return w.(*watched)
	}
	shows(t, a, "a")
	systemtest.Eventually(t, "the twin is level", twinIs(a, "ready"))
	for range 200 {
		own := numbered(2).now.Load()
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
		return n.Load() == 3 && twinIs(a, "ready")() && a.Twin().VirtualNS == stateOf(t, a, "a").VirtualNS
	})
	if want, got := numbered(1).digest.Load(), numbered(3).digest.Load(); want != got {
		t.Errorf("the twin has %v, its system %v", got, want)
	}
}

// Changes within a second are one, for a ghost on standby and for one that replays.
func TestDragIsOneChange(t *testing.T) {
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
		a, err := New(systemtest.Spec(), Options{Pace: pace, Open: slowFork(nil)})
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
		a, err := New(systemtest.Spec(), Options{Paused: true, Open: open})
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
		gave := make(chan error, 1)
		go func() { _, err := a.Ghost(bg, "a", c.Version, "page"); gave <- err }()
		if name == "opening" {
			<-begun
		} else {
			systemtest.Eventually(t, "b replays", func() bool { s, err := a.State("b"); return err == nil && s.VirtualNS > 0 })
		}
		if !a.CancelTask("catch up b") {
			t.Errorf("%s: it cannot be cancelled", name)
		}
		if err := <-gave; (err != nil) != (name == "opening") {
			t.Errorf("%s: %v", name, err)
		}
		systemtest.Eventually(t, "b is gone", func() bool { return len(a.Systems()) == 1 })
		systemtest.Eventually(t, "the task says so", func() bool {
			l := a.tasks.list()
			return len(l) == 1 && l[0].State == "cancelled"
		})
		if a.CancelTask("catch up b") {
			t.Errorf("%s: it is cancelled twice", name)
		}
		if p, err := a.reserve(); err != nil || p.id != "b" {
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
		"a notebook":        {o: Options{Notebook: true}, page: true, state: "none", why: "a notebook drives"},
		"switched off":      {o: Options{NoTwin: true}, page: true, state: "off"},
		"memory is short":   {o: Options{Memory: func() int64 { return 50 << 20 }}, page: true, state: "none", why: "memory is short"},
		"memory is unknown": {o: Options{Memory: func() int64 { return 0 }}, page: true, state: "ready"},
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
			time.Sleep(3 * (100 * time.Millisecond))
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
	a := newFake(t, Options{Pace: 5_000_000, leaveAfter: 300 * time.Millisecond}, systemtest.Options{Opened: &opened, Closed: &closed})
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
	a.SetTwin(false)
	ends("the twin and the ghost end", 2)
	a.SetTwin(true)
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
	w.Leave()
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
