package agent

import (
	"context"
	"strings"
	"sync"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/words"
)

// tasks is the long work of an agent as frames show it. A task that has ended
// stays for a few seconds, so that no reader misses its end.
type tasks struct {
	mu  sync.Mutex
	all []*task
}

type task struct {
	Task
	cancel context.CancelFunc
	ended  time.Time
}

const (
	taskLinger = 3 * time.Second
	taskAfter  = 300 * time.Millisecond // what is done before is no task to show
)

// start adds a task; false if one of that name is still running.
func (t *tasks) start(name string, cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.Name == name && x.State == "" {
			return false
		}
	}
	t.removeLocked(name)
	t.all = append(t.all, &task{Task: Task{Name: name}, cancel: cancel})
	return true
}

func (t *tasks) removeLocked(name string) {
	kept := t.all[:0]
	for _, x := range t.all {
		if x.Name != name {
			kept = append(kept, x)
		}
	}
	t.all = kept
}

func (t *tasks) progress(name string, done, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.Name == name && x.State == "" {
			x.Done, x.Total = done, total
			return
		}
	}
	t.all = append(t.all, &task{Task: Task{Name: name, Done: done, Total: total}})
}

// end closes a running task; no task of that name is no error.
func (t *tasks) end(name string, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.Name != name || x.State != "" {
			continue
		}
		x.ended = time.Now()
		switch {
		case err == nil:
			x.State, x.Done = "done", x.Total
		case err == context.Canceled || err == ErrClosed:
			x.State = "cancelled"
		default:
			x.State = "failed: " + words.OneLine(err.Error())
		}
		return true
	}
	return false
}

// busy says whether a figure or the like takes all processors. What replays takes slices, which are
// counted one by one.
func (t *tasks) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.State == "" && x.cancel != nil && !strings.HasPrefix(x.Name, catchUpTask("")) && !strings.HasPrefix(x.Name, historyTask("")) {
			return true
		}
	}
	return false
}

// cancel asks a running task to stop.
func (t *tasks) cancel(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.Name == name && x.State == "" && x.cancel != nil {
			x.cancel()
			return true
		}
	}
	return false
}

func (t *tasks) cancelAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.cancel != nil {
			x.cancel()
		}
	}
}

func (t *tasks) list() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := []Task{}
	kept := t.all[:0]
	for _, x := range t.all {
		if !x.ended.IsZero() && time.Since(x.ended) > taskLinger {
			continue
		}
		kept = append(kept, x)
		out = append(out, x.Task)
	}
	t.all = kept
	return out
}

// taskProgress and taskDone tell readers through a frame of system a.
func (a *Agent) taskProgress(name string, done, total int64) { a.tasks.progress(name, done, total) }

func (a *Agent) taskDone(name string, err error) {
	if a == nil {
		return
	}
	a.tasks.end(name, err)
}

// announce sends a frame with nothing but tasks, the state of system a and, if they are no
// system's own, events.
func (a *Agent) announce(events ...session.Event) {
	for _, m := range a.all() {
		f := m.frame()
		f.Events = events
		a.hub.publish(f)
		return
	}
}

// StartTask adds long work of a name to the agent's; false if that is running. To cancel it calls cancel.
func (a *Agent) StartTask(name string, cancel context.CancelFunc) bool {
	return a.tasks.start(name, cancel)
}

// TaskProgress says how far long work is.
func (a *Agent) TaskProgress(name string, done, total int64) {
	a.tasks.progress(name, done, total)
	a.announce()
}

// EndTask says how long work ended.
func (a *Agent) EndTask(name string, err error) {
	a.tasks.end(name, err)
	a.announce()
}

// CancelTask ends long work by the name that frames give it; false if there is none that can be cancelled.
func (a *Agent) CancelTask(name string) bool { return a.tasks.cancel(name) }

// Tasks are the long work that is under way, and what has ended lately.
func (a *Agent) Tasks() []Task { return a.tasks.list() }

// Announce sends a frame with the tasks.
func (a *Agent) Announce() { a.announce() }
