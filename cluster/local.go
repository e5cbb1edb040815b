package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"drtmx/cluster/system"
	"drtmx/dashboard/charts"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// local drives an agent of this process.
type local struct {
	agent *Agent

	mu    sync.Mutex
	addr  string              // of the page, once it is served
	forks map[string]heldFork // by system
}

// alive counts the agents that newLocal made and nobody closed.
var alive atomic.Int32

// newLocal drives an agent, and closes it when nobody can reach it any more: in
// a notebook a cell is run again, and its old cluster has no name left. The
// memory of a simulated cluster is not the collector's, who would be in no
// hurry, so another cluster hurries it.
func newLocal(spec Spec, more ...Spec) (*local, []system.Snapshot, error) {
	ctx, bar, all := charts.Context(), charts.Progress("open"), 1+len(more)
	progress := func(before int) engine.Progress {
		return func(_ string, done, total int) { bar(before*total+done, all*total) }
	}
	if alive.Load() > 0 {
		runtime.GC()
	}
	a, err := NewAgent(spec, Options{Paused: true, notebook: true, Context: ctx, Progress: progress(0)})
	if err != nil {
		return nil, nil, err
	}
	for i, s := range more {
		if _, err := a.addFor(ctx, s, progress(1+i)); err != nil {
			a.Close()
			return nil, nil, err
		}
	}
	bar(1, 1)
	alive.Add(1)
	context.AfterFunc(a.ctx, func() { alive.Add(-1) })
	l := &local{agent: a}
	runtime.AddCleanup(l, func(a *Agent) { go a.Close() }, a)
	return l, a.Systems(), nil
}

// The methods keep l alive to their end: cluster.Up(spec).Run(d) names it no
// more once its agent is known.

func (l *local) set(ctx context.Context, sys string, k Knobs, by string) (result.Change, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Set(ctx, sys, k, by)
}

func (l *local) run(ctx context.Context, sys string, d int64) (*result.Result, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Run(ctx, sys, d)
}

func (l *local) windows(ctx context.Context, sys string, from int64) ([]result.Window, error) {
	defer runtime.KeepAlive(l)
	ws, err := l.agent.Windows(ctx, sys, 0)
	if err != nil {
		return nil, err
	}
	for i := range ws {
		if ws[i].T0NS >= from {
			return ws[i:], nil
		}
	}
	return nil, nil
}

func (l *local) knobs(ctx context.Context, sys string) ([]experiment.KnobState, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Knobs(ctx, sys)
}

func (l *local) spec(ctx context.Context, sys string) (Spec, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Spec(ctx, sys)
}

func (l *local) state(_ context.Context, sys string) (system.Snapshot, error) {
	defer runtime.KeepAlive(l)
	return l.agent.State(sys)
}

func (l *local) systems(context.Context) ([]system.Snapshot, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Systems(), nil
}

func (l *local) trace(ctx context.Context, sys string, n int) ([]engine.TxnTrace, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Trace(ctx, sys, n)
}

func (l *local) traceOf(ctx context.Context, sys string, c engine.Choice) (*engine.Picked, error) {
	defer runtime.KeepAlive(l)
	return l.agent.TraceOf(ctx, sys, c, charts.Progress("trace"))
}

func (l *local) inside(ctx context.Context, sys string, measured bool) ([]result.NodeInside, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Inside(ctx, sys, measured)
}

func (l *local) session(ctx context.Context, sys string) ([]byte, error) {
	defer runtime.KeepAlive(l)
	return l.agent.Session(ctx, sys)
}

func (l *local) sessionPage(ctx context.Context, sys string) ([]byte, error) {
	defer runtime.KeepAlive(l)
	return l.agent.sessionPage(ctx, sys)
}

func (l *local) control(ctx context.Context, sys string, b controlBody, by string) error {
	defer runtime.KeepAlive(l)
	return l.agent.control(ctx, sys, b, by)
}

func (l *local) fork(ctx context.Context, sys string, k Knobs, by string) (system.Snapshot, error) {
	defer runtime.KeepAlive(l)
	s, err := l.agent.Fork(ctx, sys, k, by)
	if errors.As(err, &FullError{}) && l.closeForgotten() {
		return l.agent.Fork(ctx, sys, k, by)
	}
	return s, err
}

func (l *local) closeSystem(_ context.Context, sys string) error {
	defer runtime.KeepAlive(l)
	return l.agent.CloseSystem(sys)
}

// page serves the page of this very cluster, on a free loopback port from the
// first call on.
func (l *local) page(context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.agent.ctx.Err() != nil {
		return "", errClosed
	}
	if l.addr != "" {
		return l.addr, nil
	}
	h, err := l.agent.Handler(Web{})
	if err != nil {
		return "", err
	}
	ln, err := Listen("127.0.0.1:0", Access{})
	if err != nil {
		return "", err
	}
	go func(ctx context.Context) { // the address ends with the cluster, which this goroutine does not hold
		// An error of the listener shows as a page that cannot be reached.
		_ = Serve(ctx, ln, h)
	}(l.agent.ctx)
	l.addr = fmt.Sprintf("http://%s/", ln.Addr())
	return l.addr, nil
}

// served is the address of the page, "" if nobody asked for it yet.
func (l *local) served() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addr
}

func (l *local) close() error { return l.agent.Close() }
