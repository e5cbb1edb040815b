package agent

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func TestPausedClusterMovesOnlyWhenAsked(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{})
	time.Sleep(50 * time.Millisecond)
	if s := stateOf(t, a, ""); s.VirtualNS != 0 || s.State != system.StatePaused {
		t.Fatalf("moved by itself: %+v", s)
	}
	if err := a.Step(bg, "a", 1_234_567); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(t, a, "a"); s.VirtualNS != 1_234_567 || s.State != system.StatePaused {
		t.Fatalf("after a step: %+v", s)
	}
	r, err := a.Run(bg, "a", 2_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if r.FromNS != 1_234_567 || r.VirtualNS != 2_000_000 {
		t.Errorf("measured from %d for %d", r.FromNS, r.VirtualNS)
	}
}

func TestOutcomeDoesNotDependOnSlices(t *testing.T) {
	digest := func(steps ...int64) string {
		a := newFake(t, Options{Paused: true}, systemtest.Options{})
		for _, d := range steps {
			if err := a.Step(bg, "", d); err != nil {
				t.Fatal(err)
			}
		}
		r, err := a.Result(bg, "")
		if err != nil {
			t.Fatal(err)
		}
		return r.Digest
	}
	if digest(3_000_000) != digest(1, 999_999, 2_000_000) {
		t.Error("digest depends on the slices")
	}
}

// A primitive that changes by itself is an event, at its time and once.
func TestAutoEvents(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{AutoAt: 200_000})
	for range 3 {
		if err := a.Step(bg, "", 150_000); err != nil {
			t.Fatal(err)
		}
	}
	ev, err := a.Events(bg, "")
	if err != nil || len(ev) != 1 || ev[0].Kind != "auto" || ev[0].VirtualNS != 200_000 || ev[0].Text != "auto: lock one-sided → two-sided, because so it is" {
		t.Errorf("%+v, %v", ev, err)
	}
}

// paced lets a system run at a pace for some of the clock that it is told, and says how
// far it came. The clock stands still while the system works.
func paced(t *testing.T, a *Agent, pace int64, clock, stall time.Duration) (ns int64) {
	t.Helper()
	m, err := a.member("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.do(bg, func() {
		now := time.Now()
		a.opts.Clock = func() time.Time { return now }
		defer func() { a.opts.Clock = time.Now }()
		end := now.Add(clock)
		m.pace, m.paused = pace, false
		m.anchor(now)
		from := m.Sys.NowNS()
		for now = now.Add(stall); now.Before(end); now = now.Add(m.turn(now)) {
		}
		ns = m.Sys.NowNS() - from
		m.paused = true
	}); err != nil {
		t.Fatal(err)
	}
	return ns
}

func TestPaceHolds(t *testing.T) {
	const pace = 20_000_000
	a := newFake(t, Options{Paused: true}, systemtest.Options{})
	if ns := paced(t, a, pace, 2*time.Second, 0); math.Abs(float64(ns)/(2*pace)-1) > 0.02 {
		t.Errorf("%d ns in two seconds, asked for %d in each", ns, pace)
	}
	// What it could not do while the machine was busy is not made up for in a burst.
	if ns := paced(t, a, pace, 2*time.Second, time.Second); math.Abs(float64(ns)/pace-1) > 0.04 {
		t.Errorf("%d ns in the second after a stall of one, asked for %d", ns, pace)
	}
	if err := a.Pace(bg, "", pace); err != nil {
		t.Fatal(err)
	}
	if err := a.Resume(bg, ""); err != nil {
		t.Fatal(err)
	}
	began, from := time.Now(), stateOf(t, a, "").VirtualNS
	systemtest.Eventually(t, "it runs", func() bool { return stateOf(t, a, "").VirtualNS > from+pace/20 })
	ns := stateOf(t, a, "").VirtualNS - from
	if most := float64(pace) * (time.Since(began) + 10*session.SliceWall).Seconds(); float64(ns) > most {
		t.Errorf("%d ns in %v", ns, time.Since(began))
	}
	if err := a.Pace(bg, "", 0); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "flat out is faster than any pace", func() bool { return stateOf(t, a, "").VirtualNS > from+200_000_000 })
	if err := a.Pause(bg, ""); err != nil {
		t.Fatal(err)
	}
	at := stateOf(t, a, "").VirtualNS
	time.Sleep(50 * time.Millisecond)
	if s := stateOf(t, a, ""); s.VirtualNS != at || s.State != system.StatePaused {
		t.Errorf("moved while paused: %+v", s)
	}
	if err := a.Resume(bg, ""); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "running again", func() bool { return stateOf(t, a, "").VirtualNS > at })
	if a.Pace(bg, "", -1) == nil {
		t.Error("a negative pace is taken")
	}
}

func TestChangeLandsAtARecordedTime(t *testing.T) {
	a := newFake(t, Options{Pace: 50_000_000}, systemtest.Options{})
	systemtest.Eventually(t, "time passes", func() bool { return stateOf(t, a, "").VirtualNS > 1_000_000 })
	c, err := a.Set(bg, "", experiment.Knobs{"coroutines": 4}, "page")
	if err != nil {
		t.Fatal(err)
	}
	if c.Version != 2 || c.VirtualNS == 0 {
		t.Errorf("%+v", c)
	}
	for name, k := range map[string]experiment.Knobs{"unknown": {"coroutine": 4, "seed": 1}, "type": {"coroutines": "x"}, "empty": {}} {
		if _, err := a.Set(bg, "", k, "page"); !experiment.IsSpecError(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Set(bg, "", experiment.Knobs{"nodes": 8}, "page"); !experiment.NeedsReset(err) {
		t.Errorf("nodes: %v", err)
	}
	if s := stateOf(t, a, ""); s.KnobsVersion != 2 {
		t.Errorf("a refused change counts: version %d", s.KnobsVersion)
	}
}

func TestForkDiffersOnlyInWhatWasSet(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{})
	step := func(d int64) {
		t.Helper()
		if err := a.Step(bg, "", d); err != nil {
			t.Fatal(err)
		}
	}
	step(1_050_000)
	a.Set(bg, "a", experiment.Knobs{"coroutines": 4}, "page")
	step(777_777)
	a.Set(bg, "a", experiment.Knobs{"coroutines": 2}, "page")
	step(500_001)
	same, err := a.Fork(bg, "a", nil, "page")
	if err != nil {
		t.Fatal(err)
	}
	other, err := a.Fork(bg, "a", experiment.Knobs{"coroutines": 16}, "page")
	if err != nil {
		t.Fatal(err)
	}
	caught := func(id string) func() bool { return func() bool { return !stateOf(t, a, id).CatchingUp } }
	systemtest.Eventually(t, "b has caught up", caught(same.Sys))
	systemtest.Eventually(t, "c has caught up", caught(other.Sys))
	if s := stateOf(t, a, "c"); s.KnobsVersion != 4 || s.ForkedFrom != "a" || s.ForkNS != 2_327_778 {
		t.Errorf("c: %+v", s)
	}
	step(1_000_000)
	res := map[string]*result.Result{}
	for _, id := range []string{"a", "b", "c"} {
		r, err := a.Result(bg, id)
		if err != nil {
			t.Fatal(err)
		}
		res[id] = r
	}
	if res["a"].Digest != res["b"].Digest {
		t.Error("a fork without a difference has another digest")
	}
	if res["a"].Digest == res["c"].Digest {
		t.Error("a fork with a difference has the same digest")
	}
	if _, err := a.Fork(bg, "a", experiment.Knobs{"nodes": 8}, "page"); !experiment.NeedsReset(err) {
		t.Errorf("fork with a knob that is not live: %v", err)
	}
	if _, err := a.Fork(bg, "a", experiment.Knobs{"nodez": 8}, "page"); !experiment.IsSpecError(err) {
		t.Errorf("fork with an unknown knob: %v", err)
	}
	if _, err := a.Fork(bg, "b", nil, "page"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Fork(bg, "a", nil, "page"); !errors.As(err, &FullError{}) {
		t.Errorf("a fifth system: %v", err)
	}
	if err := a.CloseSystem("d"); err != nil {
		t.Fatal(err)
	}
	if a.CloseSystem("a") == nil {
		t.Error("a was closed")
	}
	if _, err := a.Fork(bg, "a", nil, "page"); err != nil {
		t.Errorf("after closing one: %v", err)
	}
}

func TestForkThatDiffersFromItsSessionFails(t *testing.T) {
	var n atomic.Int32
	a, err := New(systemtest.Spec(), Options{Paused: true, Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
		o := systemtest.Options{}
		if n.Add(1) > 1 {
			o.Drift = 500_000 // the second system is not the first
		}
		return systemtest.Opener(o)(ctx, s, progress)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Step(bg, "", 1_000_000)
	if _, err := a.Fork(bg, "a", nil, "page"); err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "the fork fails", func() bool { return stateOf(t, a, "b").State == system.StateFailed })
	if s := stateOf(t, a, "b"); !strings.Contains(s.Error, "digest") {
		t.Errorf("error %q", s.Error)
	}
	if s := stateOf(t, a, "a"); s.State != system.StatePaused {
		t.Errorf("a: %+v", s)
	}
}

func TestFailedSystemCanBeLookedAtAndReset(t *testing.T) {
	for name, fo := range map[string]systemtest.Options{"error": {FailAt: 250_000}, "panic": {PanicAt: 250_000}} {
		t.Run(name, func(t *testing.T) {
			a := newFake(t, Options{}, fo)
			systemtest.Eventually(t, "fails", func() bool { return stateOf(t, a, "").State == system.StateFailed })
			s := stateOf(t, a, "")
			if s.Error == "" || strings.Contains(s.Error, "\n") {
				t.Errorf("error %q", s.Error)
			}
			ws, err := a.Windows(bg, "", 0)
			if err != nil || len(ws) != 2 {
				t.Errorf("%d windows, %v", len(ws), err)
			}
			if _, err := a.Knobs(bg, ""); err != nil {
				t.Error(err)
			}
			if _, err := a.Session(bg, ""); err != nil {
				t.Error(err)
			}
			var failed *FailedError
			if _, err := a.Set(bg, "", experiment.Knobs{"coroutines": 2}, ""); !errors.As(err, &failed) {
				t.Errorf("set: %v", err)
			}
			if _, err := a.Run(bg, "", 1000); !errors.As(err, &failed) {
				t.Errorf("run: %v", err)
			}
			if err := a.Resume(bg, ""); !errors.As(err, &failed) {
				t.Errorf("resume: %v", err)
			}
			if _, err := a.Fork(bg, "", nil, ""); !errors.As(err, &failed) {
				t.Errorf("fork: %v", err)
			}
			a.Pause(bg, "")
			if err := a.Reset(bg, "", experiment.Knobs{"nodez": 2}, nil, ""); err == nil {
				t.Error("reset took an unknown knob")
			}
			if s := stateOf(t, a, ""); s.State != system.StateFailed {
				t.Errorf("a refused reset changed the state: %+v", s)
			}
			epoch := s.Epoch
			if err := a.Reset(bg, "", experiment.Knobs{"nodes": 5}, 9, ""); err != nil {
				t.Fatal(err)
			}
			if s := stateOf(t, a, ""); s.State != system.StatePaused || s.VirtualNS != 0 || s.Epoch == epoch || s.Error != "" {
				t.Errorf("after reset: %+v", s)
			}
			spec, _ := a.Spec(bg, "")
			if spec.Set["nodes"] != 5 || spec.Set["seed"] != 9 {
				t.Errorf("spec after reset: %v", spec.Set)
			}
		})
	}
}

func TestSlowOrHangingSystemDoesNotTakeTheAgentDown(t *testing.T) {
	hang := make(chan struct{})
	var n atomic.Int32
	a, err := New(systemtest.Spec(), Options{Pace: 20_000_000, Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
		o := systemtest.Options{}
		if n.Add(1) == 2 {
			o.Hang = hang
		}
		return systemtest.Opener(o)(ctx, s, progress)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer close(hang)
	if _, err := a.Add(systemtest.Spec()); err != nil {
		t.Fatal(err)
	}
	// b hangs: a may wait for it for a moment, then goes on.
	at := stateOf(t, a, "a").VirtualNS
	systemtest.Eventually(t, "a goes on", func() bool { return stateOf(t, a, "a").VirtualNS > at+20_000_000 })
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	if _, err := a.Knobs(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a command to a hanging system: %v", err)
	}
	if s := stateOf(t, a, "b"); s.VirtualNS != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSystemsAdvanceTogether(t *testing.T) {
	var n atomic.Int32
	a, err := New(systemtest.Spec(), Options{Open: func(ctx context.Context, s experiment.Spec, progress engine.Progress) (system.System, error) {
		o := systemtest.Options{}
		if n.Add(1)%2 == 0 {
			o.Slow = 5 * time.Millisecond
		}
		return systemtest.Opener(o)(ctx, s, progress)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Add(systemtest.Spec()); err != nil {
		t.Fatal(err)
	}
	a.Pause(bg, "")
	set := experiment.Knobs{"window_ns": systemtest.Window}
	a.Reset(bg, "a", set, nil, "")
	a.Reset(bg, "b", set, nil, "")
	a.Resume(bg, "b") // the slow one first: a slice of a that begins alone may be long
	a.Resume(bg, "a")
	gap := func() float64 { // a moves on between two looks: the true gap is between the two
		a1, b, a2 := stateOf(t, a, "a").VirtualNS, stateOf(t, a, "b").VirtualNS, stateOf(t, a, "a").VirtualNS
		return min(math.Abs(float64(a1-b)), math.Abs(float64(a2-b)))
	}
	systemtest.Eventually(t, "they have met", func() bool { return stateOf(t, a, "b").VirtualNS > 1_000_000 && gap() <= 4*systemtest.Window })
	for range 200 {
		time.Sleep(time.Millisecond)
		if g := gap(); g > 8*systemtest.Window { // the lead, and what one did between the two looks
			t.Fatalf("%.3g ns apart", g)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{Slow: 2 * time.Millisecond})
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	if _, err := a.Run(ctx, "", math.MaxInt64/4); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	at := stateOf(t, a, "").VirtualNS
	if err := a.Step(bg, "", 1000); err != nil {
		t.Errorf("the next step: %v", err)
	}
	if s := stateOf(t, a, ""); s.VirtualNS != at+1000 {
		t.Errorf("at %d, then %d", at, s.VirtualNS)
	}
}

func TestStepsExcludeEachOther(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{Slow: time.Millisecond})
	ctx, cancel := context.WithCancel(bg)
	done := make(chan error, 1)
	go func() { _, err := a.Run(ctx, "", 1<<50); done <- err }()
	systemtest.Eventually(t, "running", func() bool { return stateOf(t, a, "").State == system.StateRunning })
	var busy *BusyError
	if err := a.Step(bg, "", 1000); !errors.As(err, &busy) {
		t.Errorf("a step during a run: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, d := range []int64{0, -1, math.MaxInt64} {
		if err := a.Step(bg, "", d); !experiment.IsSpecError(err) {
			t.Errorf("step of %d: %v", d, err)
		}
	}
}

func TestNothingIsLeftOpen(t *testing.T) {
	var opened, closed atomic.Int32
	a := newFake(t, Options{}, systemtest.Options{Opened: &opened, Closed: &closed})
	a.Step(bg, "", 1000)
	a.Fork(bg, "a", nil, "")
	a.Reset(bg, "a", nil, nil, "")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if opened.Load() != closed.Load() || opened.Load() < 3 {
		t.Errorf("%d opened, %d closed", opened.Load(), closed.Load())
	}
	if _, err := a.State("a"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := New(systemtest.Spec(), Options{Pace: -1}); err == nil {
		t.Error("negative pace")
	}
	if _, err := New(experiment.Spec{Preset: "nope"}, Options{}); !experiment.IsSpecError(err) {
		t.Errorf("unknown preset: %v", err)
	}
}

// Systems are closed while the agent ends, by whoever: each ends once, and when the
// agent is said to have ended, all have, and the session has its end.
func TestClosingMeetsTheEnd(t *testing.T) {
	for range 200 {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		var opened, closed atomic.Int32
		a := newFake(t, Options{Session: path}, systemtest.Options{Opened: &opened, Closed: &closed})
		for range 2 {
			if _, err := a.Add(systemtest.Spec()); err != nil {
				t.Fatal(err)
			}
		}
		end := func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if n := closed.Load(); n != opened.Load() {
				t.Errorf("%d opened, %d closed", opened.Load(), n)
			}
			if b, err := os.ReadFile(path); err != nil || !bytes.Contains(b, []byte(`{"end":`)) {
				t.Errorf("no end in %d bytes, %v", len(b), err)
			}
		}
		drop := func(sys string) {
			var none *NoSystemError
			var ended *EndedError
			if err := a.CloseSystem(sys); err != nil && !errors.Is(err, ErrClosed) && !errors.As(err, &none) && !errors.As(err, &ended) {
				t.Errorf("%s: %v", sys, err)
			}
		}
		var all sync.WaitGroup
		for _, f := range []func(){end, end, func() { drop("b") }, func() { drop("b") }, func() { drop("c") }} {
			all.Go(f)
		}
		all.Wait()
		if t.Failed() {
			return
		}
	}
}

// A long trace ends with who asked for it, and with the agent.
func TestTraceEnds(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{Slow: time.Millisecond})
	ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
	defer cancel()
	if _, err := a.Trace(ctx, "", 1_000_000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	systemtest.Eventually(t, "the system answers", func() bool {
		_, err := a.Trace(bg, "", 2)
		return err == nil
	})
	going := make(chan error)
	go func() {
		_, err := a.Trace(bg, "", 1_000_000)
		going <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-going; err == nil {
		t.Error("the trace has ended well")
	}
}

// tripping is a system that has a bug where it is asked for something.
type tripping struct{ system.System }

func (tripping) Apply(engine.Accepted, string) (result.Change, error) { panic("bug in Apply") }

// Whoever asked for what panics is told so at once, and the system can be reset.
func TestPanicInACommandIsTold(t *testing.T) {
	var n atomic.Int32
	open := func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		s, err := systemtest.Opener(systemtest.Options{})(ctx, spec, progress)
		if n.Add(1) == 1 {
			s = tripping{s}
		}
		return s, err
	}
	a, err := New(systemtest.Spec(), Options{Paused: true, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := a.Set(bg, "", experiment.Knobs{"coroutines": 3}, "page")
		ended <- err
	}()
	var bug *system.PanicError
	systemtest.Eventually(t, "the change has an answer", func() bool { return len(ended) > 0 })
	if err := <-ended; !errors.As(err, &bug) {
		t.Errorf("%v", err)
	}
	if s := stateOf(t, a, ""); s.State != system.StateFailed || !strings.Contains(s.Error, "bug in Apply") {
		t.Errorf("%+v", s)
	}
	if err := a.Reset(bg, "", nil, nil, "page"); err != nil || stateOf(t, a, "").State != system.StatePaused {
		t.Errorf("reset: %v, %+v", err, stateOf(t, a, ""))
	}
}
