package cluster

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"drtmx/engine"
)

// stubborn opens the first few systems at once; those that follow take until their
// context ends, and say when they have begun.
func stubborn(quick int32, begun chan<- struct{}) Opener {
	var n atomic.Int32
	return func(ctx context.Context, spec engine.Spec, progress engine.Progress) (System, error) {
		if n.Add(1) <= quick {
			return fakeOpener(fakeOptions{})(ctx, spec, progress)
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
	if a, err := NewAgent(smallSpec(), Options{Open: stubborn(0, begun), Context: ctx}); a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A fork or a reset whose opening is given up leaves what there was, and a task that
// says so to nobody who did not see it begin.
func TestOpeningOfAnotherSystemIsCancelled(t *testing.T) {
	for name, act := range map[string]func(ctx context.Context, a *Agent) error{
		"fork":  func(ctx context.Context, a *Agent) error { _, err := a.Fork(ctx, "a", nil, "page"); return err },
		"add":   func(ctx context.Context, a *Agent) error { _, err := a.addFor(ctx, smallSpec(), nil); return err },
		"reset": func(ctx context.Context, a *Agent) error { return a.Reset(ctx, "a", nil, nil, "page") },
	} {
		begun := make(chan struct{}, 1)
		a, err := NewAgent(smallSpec(), Options{Paused: true, Open: stubborn(1, begun)})
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
	a, err := NewAgent(smallSpec(), Options{Paused: true, Open: stubborn(2, begun)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Add(smallSpec()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Reset(bg, "b", nil, nil, "page") }()
	<-begun
	if err := a.CloseSystem("b"); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a reset of a system that was closed has no error")
	}
	go func() {
		_, err := a.Fork(bg, "a", nil, "page")
		ended <- err
	}()
	<-begun
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, errClosed) {
		t.Errorf("the fork: %v", err)
	}
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// Whoever opens an agent of a large system sees what is done.
func TestProgressOfOpening(t *testing.T) {
	var said []string
	a, err := NewAgent(smallSpec(), Options{Paused: true, Progress: func(doing string, done, total int) { said = append(said, doing) }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if all := strings.Join(said, ", "); !strings.Contains(all, "building 1 of ") || !strings.Contains(all, "warming the caches") {
		t.Errorf("said %s", all)
	}
}
