package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Local is a queue in this process. It keeps no results: a point that is asked for again after it has ended is computed again,
// unless a run store has it.
type Local struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []*task // in the order of arrival
	tasks   map[string]*task
	workers map[*Worker]*meter
	closed  bool
}

// task is a point that is waiting or under way.
type task struct {
	p        Point
	askers   int
	failures int
	begun    bool
	ctx      context.Context // of the computation that has begun
	stop     context.CancelFunc
	ended    chan struct{}
	out      Outcome
	err      error
}

// NewLocal makes a queue.
func NewLocal() *Local {
	q := &Local{tasks: map[string]*task{}, workers: map[*Worker]*meter{}}
	q.changed = sync.NewCond(&q.mu)
	return q
}

var errClosed = errors.New("the queue is closed")

// Do is that of Queue.
func (q *Local) Do(ctx context.Context, p Point) (Outcome, error) {
	if err := p.check(); err != nil {
		return Outcome{}, err
	}
	t, err := q.ask(p)
	if err != nil {
		return Outcome{}, err
	}
	defer q.leave(t)
	select {
	case <-t.ended:
		return t.out, t.err
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	}
}

// ask joins the computation of a point, or queues it.
func (q *Local) ask(p Point) (*task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, errClosed
	}
	t := q.tasks[p.Key]
	if t == nil {
		t = &task{p: p, ended: make(chan struct{})}
		q.tasks[p.Key] = t
		q.waiting = append(q.waiting, t)
		q.changed.Broadcast()
	}
	t.askers++
	return t, nil
}

// leave takes a point back that no client waits for any more, also from a worker: its result would be kept nowhere.
func (q *Local) leave(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.askers--; t.askers > 0 || q.tasks[t.p.Key] != t {
		return
	}
	delete(q.tasks, t.p.Key)
	if t.begun {
		t.stop()
		return
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(x *task) bool { return x == t })
	q.changed.Broadcast()
}

// Work is that of Queue.
func (q *Local) Work(ctx context.Context, w Worker) error {
	w = w.withDefaults()
	m := &meter{}
	q.mu.Lock()
	q.workers[&w] = m
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.workers, &w)
		q.mu.Unlock()
	}()
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		q.changed.Broadcast()
		q.mu.Unlock()
	})
	defer stop()
	var wg sync.WaitGroup
	room := &room{slots: w.Parallel, memory: w.MemoryBytes}
	for t := q.next(ctx, &w, room); t != nil; t = q.next(ctx, &w, room) {
		wg.Go(func() { q.compute(&w, m, room, t) })
	}
	wg.Wait()
	return nil
}

// room is what a worker has left. Local guards it by its own lock, Remote by that of the taker.
type room struct {
	slots  int
	memory int64 // 0: not counted
	used   int64
}

// fits says whether a point may begin now; ever, whether it may when nothing else runs.
func (r *room) fits(bytes int64) bool {
	return r.slots > 0 && (r.memory == 0 || r.used+bytes <= r.memory)
}

func (r *room) ever(bytes int64) bool { return r.memory == 0 || bytes <= r.memory }

func (r *room) reserve(bytes int64) { r.slots, r.used = r.slots-1, r.used+bytes }

func (r *room) release(bytes int64) { r.slots, r.used = r.slots+1, r.used-bytes }

// next waits for a point that the worker has room for; nil when the work is over. The first that it could ever hold is
// the next: one that needs much memory is not overtaken.
func (q *Local) next(ctx context.Context, w *Worker, r *room) *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil && !q.closed {
		i := slices.IndexFunc(q.waiting, func(t *task) bool { return t.p.Code == w.Code && r.ever(t.p.MemoryBytes) })
		if i >= 0 && r.fits(q.waiting[i].p.MemoryBytes) {
			t := q.waiting[i]
			q.waiting = slices.Delete(q.waiting, i, i+1)
			r.reserve(t.p.MemoryBytes)
			t.begun = true
			t.ctx, t.stop = context.WithCancel(ctx)
			return t
		}
		q.changed.Wait()
	}
	return nil
}

func (q *Local) compute(w *Worker, m *meter, r *room, t *task) {
	m.begin()
	began := time.Now()
	body, err := w.attempt(t.ctx, t.p)
	back := err != nil && t.ctx.Err() != nil
	t.stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.changed.Broadcast()
	r.release(t.p.MemoryBytes)
	if err != nil && !back {
		t.failures++
	}
	over := err == nil || !back && final(err, t.failures)
	m.end(over, err != nil)
	switch {
	case q.tasks[t.p.Key] != t: // no client waits for it
		return
	case !over && !q.closed: // first of all, for others wait for it
		t.begun = false
		q.waiting = slices.Insert(q.waiting, 0, t)
		return
	case !over:
		t.err = errClosed
	case err != nil:
		t.err = &Failed{Key: t.p.Key, Tries: t.failures, Why: err.Error(), Err: err}
	default:
		t.out = Outcome{Body: body, Worker: w.Name, WallMS: time.Since(began).Milliseconds()}
	}
	delete(q.tasks, t.p.Key)
	close(t.ended)
}

// Workers is that of Queue.
func (q *Local) Workers(context.Context) ([]Info, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []Info
	for w, m := range q.workers {
		list = append(list, m.info(w))
	}
	sortInfos(list)
	return list, nil
}

// Close ends what still waits with an error.
func (q *Local) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	for _, t := range q.waiting {
		t.err = errClosed
		delete(q.tasks, t.p.Key)
		close(t.ended)
	}
	q.waiting = nil
	q.changed.Broadcast()
}
