package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"drtmx/engine"
)

// local drives an agent of this process.
type local struct {
	agent *Agent

	mu   sync.Mutex
	addr string // of the page, once it is served
	stop context.CancelFunc
}

func (l *local) set(ctx context.Context, sys string, k Knobs, by string) (engine.Change, error) {
	return l.agent.Set(ctx, sys, k, by)
}

func (l *local) run(ctx context.Context, sys string, d int64, progress func(done, total int)) (*engine.Result, error) {
	return l.agent.Run(ctx, sys, d, progress)
}

func (l *local) windows(ctx context.Context, sys string, from int64) ([]engine.Window, error) {
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

func (l *local) knobs(ctx context.Context, sys string) ([]engine.KnobState, error) {
	return l.agent.Knobs(ctx, sys)
}

func (l *local) spec(ctx context.Context, sys string) (Spec, error) { return l.agent.Spec(ctx, sys) }

func (l *local) state(_ context.Context, sys string) (Snapshot, error) { return l.agent.State(sys) }

func (l *local) trace(ctx context.Context, sys string, n int) ([]engine.TxnTrace, error) {
	return l.agent.Trace(ctx, sys, n)
}

func (l *local) session(ctx context.Context, sys string) ([]byte, error) {
	return l.agent.Session(ctx, sys)
}

func (l *local) control(ctx context.Context, sys string, b controlBody, by string) error {
	return l.agent.control(ctx, sys, b, by)
}

// fork waits until the new system has caught up: in a notebook the next line
// uses it.
func (l *local) fork(ctx context.Context, sys string, k Knobs, by string) (Snapshot, error) {
	s, err := l.agent.Fork(ctx, sys, k, by)
	if err != nil {
		return s, err
	}
	for {
		now, err := l.agent.State(s.Sys)
		switch {
		case err != nil:
			return s, err
		case now.State == StateFailed:
			return s, errors.New(now.Error)
		case !now.CatchingUp:
			return now, nil
		}
		select {
		case <-ctx.Done():
			l.agent.CloseSystem(s.Sys)
			return s, ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// page serves the page of this very cluster, on a free loopback port from the
// first call on.
func (l *local) page(context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	ctx, cancel := context.WithCancel(context.Background())
	go func(h http.Handler) {
		// The address ends with the cluster; until then an error of the
		// listener shows as a page that cannot be reached.
		_ = Serve(ctx, ln, h)
	}(h)
	l.addr, l.stop = fmt.Sprintf("http://%s/", ln.Addr()), cancel
	return l.addr, nil
}

func (l *local) close() error {
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
		l.addr, l.stop = "", nil
	}
	l.mu.Unlock()
	return l.agent.Close()
}
