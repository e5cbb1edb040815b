package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

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
		if ok := map[string]bool{"interrupt": errors.Is(err, context.Canceled), "reset": errors.As(err, &reset), "close": errors.Is(err, ErrClosed)}; !ok[name] {
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

// A slice that takes long whatever its length does not make slices ever shorter, until nothing moves.
func TestSlowSlicesStayLongEnough(t *testing.T) {
	a := newFakes(t, systemtest.Options{Slow: 2*session.SliceWall + 5*time.Millisecond})
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	if err := a.Step(ctx, "a", 30_000); err != nil {
		t.Fatal(err)
	}
}

// A session that has no room for a change refuses it; a reset begins another.
func TestFullSessionRefusesChanges(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{})
	m, err := a.member("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.do(bg, func() {
		m.rec = session.Continue(&session.Segment{Header: m.rec.Head(), Steps: make([]session.Step, 100_000)}, nil)
	}); err != nil {
		t.Fatal(err)
	}
	var full *session.FullError
	if _, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 4}, "page"); !errors.As(err, &full) {
		t.Errorf("%v", err)
	}
	if err := a.Reset(bg, "a", nil, nil, "page"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 4}, "page"); err != nil {
		t.Errorf("after a reset: %v", err)
	}
}

// Each system that a change is for checks it once, be it for one or for several.
func TestChangeIsCheckedOnce(t *testing.T) {
	var checks atomic.Int32
	o := systemtest.Options{Checks: &checks}
	a := newFakes(t, o, o)
	for i, set := range []func() error{
		func() error { _, err := a.Set(bg, "a", experiment.Knobs{"coroutines": 3}, "page"); return err },
		func() error {
			_, err := a.SetEach(bg, []string{"a", "b"}, experiment.Knobs{"coroutines": 4}, "page")
			return err
		},
	} {
		checks.Store(0)
		if err := set(); err != nil || int(checks.Load()) != i+1 {
			t.Errorf("a change of %d systems: checked %d times, %v", i+1, checks.Load(), err)
		}
	}
}
