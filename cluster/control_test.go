package cluster

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// newFakes starts an agent with a paused system for each of the options.
func newFakes(t *testing.T, of ...systemtest.Options) *Agent {
	t.Helper()
	n := 0
	a, err := NewAgent(systemtest.Spec(), Options{Paused: true, Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
		n++
		return systemtest.Opener(of[min(n, len(of))-1])(ctx, s, progress)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	for range of[1:] {
		if _, err := a.Add(systemtest.Spec()); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// A command to all systems is one to those that can follow.
func TestFailedSystemDoesNotHoldUpTheOthers(t *testing.T) {
	a := newFakes(t, systemtest.Options{FailAt: 1000}, systemtest.Options{})
	s := web(t, a, Web{})
	control := func(path, body string) reply { t.Helper(); return ask(t, s, "POST", "/api/control"+path, body) }
	if a.Step(bg, "a", 2000) == nil {
		t.Fatal("a did not fail")
	}
	control("", `{"action":"step","virtual_ns":5000}`).want(t, 200, "")
	if now := stateOf(t, a, "b"); now.VirtualNS != 5000 || now.State != system.StatePaused {
		t.Errorf("after a step of all: %+v", now)
	}
	control("", `{"action":"resume"}`).want(t, 200, "")
	if now := stateOf(t, a, "b"); now.State != system.StateRunning {
		t.Errorf("after a resume of all: %+v", now)
	}
	for _, action := range []string{`{"action":"resume"}`, `{"action":"step","virtual_ns":5000}`} {
		control("?sys=a", action).want(t, 409, "system a has failed")
	}
	if err := a.CloseSystem("b"); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{`{"action":"resume"}`, `{"action":"step","virtual_ns":5000}`} {
		control("", action).want(t, 409, "system a has failed")
	}
}

// A ghost that replays is left out of a step, and a step of nobody is refused.
func TestStepOfAllLeavesOutWhoCatchesUp(t *testing.T) {
	a := newFakes(t, systemtest.Options{})
	if err := a.Step(bg, "", 100_000_000); err != nil {
		t.Fatal(err)
	}
	a.opts.Open = systemtest.Opener(systemtest.Options{Slow: 40 * time.Millisecond}) // slices stay short: seconds
	if _, err := a.Fork(bg, "a", nil, "script"); err != nil {
		t.Fatal(err)
	}
	if err := a.Step(bg, "", 5000); err != nil {
		t.Errorf("step of all: %v", err)
	}
	if now := stateOf(t, a, "a"); now.VirtualNS != 100_005_000 {
		t.Errorf("a: %+v", now)
	}
	if now := stateOf(t, a, "b"); !now.CatchingUp {
		t.Fatalf("b: %+v: too early to be of use here", now)
	}
	var busy *BusyError
	if err := a.Step(bg, "b", 5000); !errors.As(err, &busy) {
		t.Errorf("step of b: %v", err)
	}
}

// during begins a request, waits until time passes in the system, does
// something else and returns the answer.
func during(t *testing.T, a *Agent, s *httptest.Server, sys, path, body string, f func()) reply {
	t.Helper()
	from := stateOf(t, a, sys).VirtualNS
	answer := make(chan reply, 1)
	go func() { answer <- ask(t, s, "POST", path+"?sys="+sys, body) }()
	systemtest.Eventually(t, "time passes", func() bool { return stateOf(t, a, sys).VirtualNS > from })
	f()
	select {
	case r := <-answer:
		return r
	case <-time.After(10 * time.Second):
		a.Close() // else the server waits for the answer
		t.Fatal("no answer")
		return reply{}
	}
}

const (
	longStep = `{"action":"step","virtual_ns":1000000000000}`
	longRun  = `{"virtual_ns":1000000000000}`
)

// Time stands once a pause is answered, also in a step, whose caller is told that it
// did not get what it asked for.
func TestPauseEndsAStep(t *testing.T) {
	a := newFakes(t, systemtest.Options{Slow: time.Millisecond})
	s := web(t, a, Web{})
	var stood int64
	during(t, a, s, "a", "/api/control", longStep, func() {
		ask(t, s, "POST", "/api/control", `{"action":"pause"}`).want(t, 200, `"state":"paused"`)
		stood = stateOf(t, a, "a").VirtualNS
	}).want(t, 409, "system a was paused at ")
	time.Sleep(20 * time.Millisecond)
	if now := stateOf(t, a, "a"); now.VirtualNS != stood || now.State != system.StatePaused {
		t.Errorf("paused at %d, then %+v", stood, now)
	}
	if err := a.Step(bg, "a", 1000); err != nil {
		t.Errorf("the next step: %v", err)
	}
}

// slowly makes slices of a fake take as long as those of a large system, and so stay
// short, until it is released.
func slowly() (slices chan struct{}, release func()) {
	slices = make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(slices)
		for {
			time.Sleep(session.SliceWall)
			select {
			case slices <- struct{}{}:
			case <-stop:
				return
			}
		}
	}()
	return slices, sync.OnceFunc(func() { close(stop) })
}

// A run is held by a pause, and ends where it would have ended, with what it would
// have measured; then the system stands, or goes on, as before the run.
func TestPauseHoldsARun(t *testing.T) {
	const body, end = `{"virtual_ns":100000000}`, 100_000_000
	unheld := ask(t, web(t, newFakes(t, systemtest.Options{}), Web{}), "POST", "/api/run", body)
	for _, goesOn := range []bool{false, true} {
		slices, release := slowly()
		a := newFakes(t, systemtest.Options{Hang: slices})
		t.Cleanup(release) // before the agent ends
		s := web(t, a, Web{})
		r := during(t, a, s, "a", "/api/run", body, func() {
			if goesOn { // as of a cluster that runs by itself
				ask(t, s, "POST", "/api/control", `{"action":"resume"}`).want(t, 200, "")
			}
			for range 2 {
				ask(t, s, "POST", "/api/control", `{"action":"pause"}`).want(t, 200, `"state":"paused"`)
			}
			stood := stateOf(t, a, "a")
			ask(t, s, "POST", "/api/control", longStep).want(t, 409, "is in a run that is paused; resume it")
			time.Sleep(20 * time.Millisecond)
			if now := stateOf(t, a, "a"); now != stood || !now.Held || now.VirtualNS >= end {
				t.Errorf("paused at %+v, then %+v", stood, now)
			}
			ask(t, s, "POST", "/api/control", `{"action":"resume"}`).want(t, 200, `"state":"running"`)
			release()
		}).want(t, 200, "")
		if !goesOn && r.body != unheld.body {
			t.Errorf("held\n%s\nnot held\n%s", r.body, unheld.body)
		}
		if goesOn {
			systemtest.Eventually(t, "it goes on", func() bool { return stateOf(t, a, "a").VirtualNS > end })
		} else if now := stateOf(t, a, "a"); now.State != system.StatePaused || now.Held || now.VirtualNS != end {
			t.Errorf("after the run: %+v", now)
		}
	}
}

// A run that is held ends with who waits for it, and with a reset; the system stays
// paused, as whoever paused it sees it.
func TestHeldRunEnds(t *testing.T) {
	for name, end := range map[string]func(a *Agent, interrupt func()){
		"interrupt": func(_ *Agent, interrupt func()) { interrupt() },
		"reset":     func(a *Agent, _ func()) { a.Reset(bg, "a", nil, nil, "page") },
		"close":     func(a *Agent, _ func()) { a.Close() },
	} {
		a := newFakes(t, systemtest.Options{Slow: time.Millisecond})
		if err := a.Resume(bg, "a"); err != nil {
			t.Fatal(err)
		}
		ctx, interrupt := context.WithCancel(bg)
		ended := make(chan error, 1)
		go func() { _, err := a.Run(ctx, "a", 1<<50); ended <- err }()
		systemtest.Eventually(t, "it is held", func() bool {
			a.Pause(bg, "a")
			held := stateOf(t, a, "a").Held
			if !held { // the run has not begun
				a.Resume(bg, "a")
			}
			return held
		})
		end(a, interrupt)
		err := <-ended
		var reset *EndedError
		if ok := map[string]bool{"interrupt": errors.Is(err, context.Canceled), "reset": errors.As(err, &reset), "close": errors.Is(err, errClosed)}; !ok[name] {
			t.Errorf("%s: %v", name, err)
		}
		if name != "close" {
			if now := stateOf(t, a, "a"); now.State != system.StatePaused || now.Held {
				t.Errorf("%s: %+v", name, now)
			}
		}
		interrupt()
	}
}

// What another client did to a system is a conflict, not a fault of the server.
func TestWhatOthersEndIsAConflict(t *testing.T) {
	for path, body := range map[string]string{"/api/control": longStep, "/api/run": longRun} {
		a := newFakes(t, systemtest.Options{Slow: time.Millisecond}, systemtest.Options{Slow: time.Millisecond})
		s := web(t, a, Web{})
		during(t, a, s, "b", path, body, func() {
			ask(t, s, "POST", "/api/control?sys=b", `{"action":"reset"}`).want(t, 200, "")
		}).want(t, 409, "system b was reset")
		during(t, a, s, "b", path, body, func() {
			ask(t, s, "DELETE", "/api/systems?sys=b", "").want(t, 200, "")
		}).want(t, 409, "system b was closed")
		var err error
		done := make(chan struct{})
		go func() { defer close(done); err = a.Step(bg, "a", 1_000_000_000_000) }()
		systemtest.Eventually(t, "time passes", func() bool { return stateOf(t, a, "a").VirtualNS > 0 })
		a.Close()
		if <-done; !errors.Is(err, errClosed) {
			t.Errorf("when all is closed: %v", err)
		}
	}
}
