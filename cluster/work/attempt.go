package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// errHung is a point that made no progress.
var errHung = errors.New("made no progress")

// stuckAfter is how long a computation whose context has ended may go on before its worker leaves it behind.
const stuckAfter = 5 * time.Second

// withDefaults fills what is open.
func (w Worker) withDefaults() Worker {
	if w.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "worker"
		}
		w.Name = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	w.Parallel = cmp.Or(max(w.Parallel, 0), runtime.GOMAXPROCS(0))
	w.Silence = cmp.Or(w.Silence, defaultSilence)
	if w.Log == nil {
		w.Log = func(string) {}
	}
	return w
}

// attempt computes a point once. It ends with an error when the computation makes no progress for too long; one that does
// not even end with its context stays behind in its goroutine.
func (w *Worker) attempt(ctx context.Context, p Point) ([]byte, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var last atomic.Int64
	alive := func() { last.Store(time.Now().UnixNano()) }
	alive()
	type end struct {
		body []byte
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		body, err := w.guarded(inner, p, alive)
		ended <- end{body, err}
	}()
	patience := w.Silence + SilenceFactor*time.Duration(p.WallMS)*time.Millisecond
	look := time.NewTicker(max(patience/8, time.Millisecond))
	defer look.Stop()
	for {
		select {
		case e := <-ended:
			return e.body, e.err
		case <-ctx.Done():
		case <-look.C:
			if time.Since(time.Unix(0, last.Load())) < patience {
				continue
			}
			cancel(errHung)
		}
		select {
		case e := <-ended:
			if e.err == nil {
				return e.body, nil
			}
		case <-time.After(stuckAfter):
			w.Log(fmt.Sprintf("point %.12s does not end: it is left behind", p.Key))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w for %v", errHung, patience)
	}
}

// guarded makes an error of a panic: a bug that one point meets must not end the others.
func (w *Worker) guarded(ctx context.Context, p Point, alive func()) (body []byte, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
		}
	}()
	if body, err = w.Compute(ctx, p, alive); err == nil && len(body) > ResultLimitBytes {
		err = &Refusal{fmt.Errorf("the result has %d bytes, the limit is %d", len(body), ResultLimitBytes)}
	}
	return body, err
}

// final says whether another try of a point makes no sense, after so many failures.
func final(err error, failures int) bool {
	var r *Refusal
	return failures >= Tries || errors.As(err, &r)
}

// meter counts what a worker did.
type meter struct {
	mu     sync.Mutex
	busy   int
	done   int64
	failed int64
	recent []time.Time // ends within the last minute, oldest first
}

func (m *meter) begin() {
	m.mu.Lock()
	m.busy++
	m.mu.Unlock()
}

// end counts a point that ended; counts is false for one that was handed back.
func (m *meter) end(counts, failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy--
	if !counts {
		return
	}
	m.done++
	if failed {
		m.failed++
	}
	m.recent = append(m.recent, time.Now())
	m.forget()
}

func (m *meter) forget() {
	for len(m.recent) > 0 && time.Since(m.recent[0]) > time.Minute {
		m.recent = m.recent[1:]
	}
}

// info is what the worker announces.
func (m *meter) info(w *Worker) Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	return Info{Name: w.Name, Code: w.Code, Cores: runtime.NumCPU(), Parallel: w.Parallel, MemoryBytes: w.MemoryBytes,
		Busy: m.busy, Done: m.done, Failed: m.failed, PerMinute: int64(len(m.recent))}
}
