package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/system"
	"drtmx/cluster/web"
	"drtmx/dashboard/charts"
	"drtmx/engine"
)

// local is an agent of this process, with what only this process has: its page, and which forks a client still holds.
type local struct {
	*agent.Agent

	mu    sync.Mutex
	addr  string              // of the page, once it is served
	forks map[string]heldFork // by system
}

// alive counts the agents that newLocal made and that are not closed.
var alive atomic.Int32

// newLocal drives an agent, and closes it when it is unreachable: in
// a notebook a cell is run again, and its old cluster has no name left. The
// memory of a simulated cluster is not the collector's, which would be in no
// hurry, so another cluster hurries it.
func newLocal(spec Spec, more ...Spec) (*local, []system.Snapshot, error) {
	ctx, bar, all := charts.Context(), charts.Progress("open"), 1+len(more)
	progress := func(before int) engine.Progress {
		return func(_ string, done, total int) { bar(before*total+done, all*total) }
	}
	if alive.Load() > 0 {
		runtime.GC()
	}
	a, err := agent.New(spec, agent.Options{Paused: true, Notebook: true, Context: ctx, Progress: progress(0)})
	if err != nil {
		return nil, nil, err
	}
	for i, s := range more {
		if _, err := a.AddFor(ctx, s, progress(1+i)); err != nil {
			a.Close()
			return nil, nil, err
		}
	}
	bar(1, 1)
	alive.Add(1)
	context.AfterFunc(a.Context(), func() { alive.Add(-1) })
	l := &local{Agent: a}
	runtime.AddCleanup(l, func(a *agent.Agent) { go a.Close() }, a)
	return l, a.Systems(), nil
}

// What an agent answers without waiting takes no context; a driver's does.

func (l *local) State(_ context.Context, sys string) (system.Snapshot, error) {
	return l.Agent.State(sys)
}

func (l *local) Systems(context.Context) ([]system.Snapshot, error) { return l.Agent.Systems(), nil }

// CloseSystem ends a system. One that is gone is closed.
func (l *local) CloseSystem(_ context.Context, sys string) error {
	err := l.Agent.CloseSystem(sys)
	var missing *agent.NoSystemError
	if errors.Is(err, agent.ErrClosed) || errors.As(err, &missing) {
		return nil
	}
	return err
}

// Fork makes room for another system, if there is none, by closing those that are unreachable.
func (l *local) Fork(ctx context.Context, sys string, k Knobs, by string) (system.Snapshot, error) {
	s, err := l.Agent.Fork(ctx, sys, k, by)
	if errors.As(err, &agent.FullError{}) && l.closeForgotten() {
		return l.Agent.Fork(ctx, sys, k, by)
	}
	return s, err
}

// SessionPage is the session of a system as one HTML file.
func (l *local) SessionPage(ctx context.Context, sys string) ([]byte, error) {
	return web.SessionPage(ctx, l.Agent, sys)
}

// Page serves the page of this very cluster, on a free loopback port from the
// first call on.
func (l *local) Page(context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Context().Err() != nil {
		return "", agent.ErrClosed
	}
	if l.addr != "" {
		return l.addr, nil
	}
	h, err := web.Handler(job.For(l.Agent), web.Options{})
	if err != nil {
		return "", err
	}
	ln, err := web.Listen("127.0.0.1:0", web.Access{})
	if err != nil {
		return "", err
	}
	go func(ctx context.Context) { // the address ends with the cluster, which this goroutine does not hold
		// An error of the listener shows as a page that cannot be reached.
		_ = web.Serve(ctx, ln, h)
	}(l.Context())
	l.addr = fmt.Sprintf("http://%s/", ln.Addr())
	return l.addr, nil
}

// served is the address of the page, "" until it is asked for.
func (l *local) served() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addr
}
