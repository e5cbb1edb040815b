package cluster

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
	"weak"

	"drtmx/cluster/system"
)

// forked is a system beside the first one, opened by Fork or of a spec that lists it; copies of its client share it.
type forked struct {
	sys   string
	epoch string // of the system: its name is given again after it

	mu     sync.Mutex
	closed bool
}

// Fork opens another system that replays this one's session to now and then
// differs only in k. It returns when the fork has caught up: the next line uses
// it. A fork of this process that is not referenced any more is closed when another
// needs its place.
func (c *Client) Fork(k Knobs) (*Client, error) {
	defer runtime.KeepAlive(c)
	ctx := c.context()
	s, err := c.d.Fork(ctx, c.sys, k, c.by)
	if err != nil {
		return nil, err
	}
	f := *c
	f.sys, f.fork = s.Sys, &forked{sys: s.Sys, epoch: s.Epoch}
	if err := f.caughtUp(ctx); err != nil {
		f.Close() // the error is why there is no fork
		return nil, err
	}
	if l, ok := c.d.(*local); ok {
		l.remember(f.fork)
	}
	return &f, nil
}

// caughtUp waits until a fork is where its origin was.
func (c *Client) caughtUp(ctx context.Context) error {
	defer runtime.KeepAlive(c)
	for {
		now, err := c.d.State(ctx, c.sys)
		switch {
		case err != nil:
			return err
		case now.State == system.StateFailed:
			return errors.New(now.Error)
		case !now.CatchingUp:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// close ends the system, once: afterwards its name may be another's. One that
// another holder has closed is closed.
func (f *forked) close(d driver) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := d.CloseSystem(ctx, f.sys)
	f.closed = err == nil
	return err
}

// remember keeps which systems are forks, without keeping the forks.
func (l *local) remember(f *forked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.forks == nil {
		l.forks = map[string]heldFork{}
	}
	l.forks[f.sys] = heldFork{f.epoch, weak.Make(f)}
}

// heldFork is a fork that a client may still hold.
type heldFork struct {
	epoch string
	by    weak.Pointer[forked]
}

// closeForgotten closes the forks that no variable holds any more, as those of a
// cell that was run again, and says whether there was one.
func (l *local) closeForgotten() bool {
	runtime.GC()
	l.mu.Lock()
	defer l.mu.Unlock()
	some := false
	for sys, h := range l.forks {
		if h.by.Value() != nil {
			continue
		}
		delete(l.forks, sys)
		if now, err := l.Agent.State(sys); err == nil && now.Epoch == h.epoch {
			some = l.Agent.CloseSystem(sys) == nil || some
		}
	}
	return some
}

// closeTime is how long the end of a fork may take, also after an interrupt.
const closeTime = 5 * time.Second
