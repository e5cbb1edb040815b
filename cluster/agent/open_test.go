package agent

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// stubborn opens the first few systems at once; those that follow take until their
// context ends, and say when they have begun.
func stubborn(quick int32, begun chan<- struct{}) system.Opener {
	var n atomic.Int32
	return func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		if n.Add(1) <= quick {
			return systemtest.Opener(systemtest.Options{})(ctx, spec, progress)
		}
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func TestOpeningOfTheFirstSystemIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	begun := make(chan struct{}, 1)
	go func() {
		<-begun
		cancel()
	}()
	if a, err := New(systemtest.Spec(), Options{Open: stubborn(0, begun), Context: ctx}); a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A fork or a reset whose opening is given up leaves what there was, and a task that
// says so to nobody who did not see it begin.
func TestOpeningOfAnotherSystemIsCancelled(t *testing.T) {
	for name, act := range map[string]func(ctx context.Context, a *Agent) error{
		"fork":  func(ctx context.Context, a *Agent) error { _, err := a.Fork(ctx, "a", nil, "page"); return err },
		"add":   func(ctx context.Context, a *Agent) error { _, err := a.AddFor(ctx, systemtest.Spec(), nil); return err },
		"reset": func(ctx context.Context, a *Agent) error { return a.Reset(ctx, "a", nil, nil, "page") },
	} {
		begun := make(chan struct{}, 1)
		a, err := New(systemtest.Spec(), Options{Paused: true, Open: stubborn(1, begun)})
		if err != nil {
			t.Fatal(err)
		}
		was := stateOf(t, a, "a").Epoch
		ctx, cancel := context.WithCancel(bg)
		go func() {
			<-begun
			cancel()
		}()
		if err := act(ctx, a); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := a.Step(bg, "a", 1000); err != nil || stateOf(t, a, "a").Epoch != was || len(a.Systems()) != 1 || len(a.tasks.list()) != 0 {
			t.Errorf("after the %s: %v, %+v, tasks %v", name, err, a.Systems(), a.tasks.list())
		}
		if err := a.Close(); err != nil {
			t.Errorf("after the %s: %v", name, err)
		}
	}
}

// The end of the agent does not wait for an opening, and one of a system ends its own.
func TestCloseEndsAnOpening(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	begun := make(chan struct{}, 1)
	a, err := New(systemtest.Spec(), Options{Paused: true, Open: stubborn(2, begun)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Add(systemtest.Spec()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Reset(bg, "b", nil, nil, "page") }()
	<-begun
	if err := a.CloseSystem("b"); err != nil {
		t.Error(err)
	}
	var closed *EndedError
	if err := <-ended; !errors.As(err, &closed) || closed.Sys != "b" {
		t.Errorf("the reset of a system that was closed: %v", err) // the agent was not
	}
	go func() {
		_, err := a.Fork(bg, "a", nil, "page")
		ended <- err
	}()
	<-begun
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("the fork: %v", err)
	}
	systemtest.Eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// Whoever opens an agent of a large system sees what is done.
func TestProgressOfOpening(t *testing.T) {
	var said []string
	a, err := New(systemtest.Spec(), Options{Paused: true, Progress: func(doing string, done, total int) { said = append(said, doing) }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if all := strings.Join(said, ", "); !strings.Contains(all, "building 1 of ") || !strings.Contains(all, "warming the caches") {
		t.Errorf("said %s", all)
	}
}

// A fifth system is refused before it is opened, also while the others still are; a
// place that no system has come to is free again.
func TestFifthSystemIsNotOpened(t *testing.T) {
	begun := make(chan struct{}, MaxSystems)
	a, err := New(systemtest.Spec(), Options{Paused: true, Open: stubborn(1, begun)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(bg)
	ended := make(chan error, MaxSystems)
	for range MaxSystems - 1 {
		go func() {
			_, err := a.Fork(ctx, "a", nil, "page")
			ended <- err
		}()
		<-begun
	}
	fifth := make(chan error, 1)
	for what, open := range map[string]func() error{
		"a fork":         func() error { _, err := a.Fork(ctx, "a", nil, "page"); return err },
		"another system": func() error { _, err := a.AddFor(ctx, systemtest.Spec(), nil); return err },
	} {
		go func() { fifth <- open() }()
		select {
		case err := <-fifth:
			if !errors.As(err, &FullError{}) {
				t.Errorf("%s: %v", what, err)
			}
		case <-begun:
			t.Errorf("%s is opened", what)
		}
	}
	cancel()
	for range MaxSystems - 1 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	again, cancel := context.WithCancel(bg)
	defer cancel()
	go func() {
		_, err := a.Fork(again, "a", nil, "page")
		ended <- err
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Errorf("a fork in a place that was given back: %v", err)
	}
}

// The places of systems that were opened are taken once, and free again when they are closed.
func TestPlacesOfOpenSystems(t *testing.T) {
	opened := 0
	a, err := New(systemtest.Spec(), Options{Paused: true, Open: func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		opened++
		return systemtest.Opener(systemtest.Options{})(ctx, spec, progress)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for range 3 {
		for range MaxSystems - 1 {
			if _, err := a.Add(systemtest.Spec()); err != nil {
				t.Fatal(err)
			}
		}
		before := opened
		if _, err := a.Add(systemtest.Spec()); !errors.As(err, &FullError{}) || opened != before {
			t.Fatalf("a fifth system: %v, %d opened", err, opened-before)
		}
		for _, sys := range []string{"b", "c", "d"} {
			if err := a.CloseSystem(sys); err != nil {
				t.Fatal(err)
			}
		}
	}
}
