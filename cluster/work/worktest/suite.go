// Package worktest has the tests that every queue of points passes.
package worktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/runs"
	"drtmx/cluster/work"
)

// Code is the version of the code of the points here.
const Code = "src-test"

// Point is the point of a number.
func Point(t testing.TB, n int) work.Point {
	t.Helper()
	key, err := runs.Key(Code, t.Name(), n)
	if err != nil {
		t.Fatal(err)
	}
	return work.Point{Key: key, Code: Code, Spec: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), WallMS: 1}
}

// Compute is what a function of the number makes of a point.
func Compute(f func(ctx context.Context, n int, alive func()) ([]byte, error)) func(context.Context, work.Point, func()) ([]byte, error) {
	return func(ctx context.Context, p work.Point, alive func()) ([]byte, error) {
		var spec struct{ N int }
		if err := json.Unmarshal(p.Spec, &spec); err != nil {
			return nil, err
		}
		return f(ctx, spec.N, alive)
	}
}

// Echo computes at once.
func Echo(_ context.Context, n int, _ func()) ([]byte, error) {
	return fmt.Appendf(nil, "result %d", n), nil
}

// Start lets a worker work until the test ends, or until the returned function stops it.
func Start(t testing.TB, q work.Queue, w work.Worker) (stop func()) {
	t.Helper()
	if w.Code == "" {
		w.Code = Code
	}
	if w.Parallel == 0 {
		w.Parallel = 2
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := q.Work(ctx, w); err != nil {
			t.Errorf("worker: %v", err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return stop
}

// Until waits for something that has to come true.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within 10 s", what)
}

// within bounds what a test waits for.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func do(t testing.TB, q work.Queue, p work.Point) work.Outcome {
	t.Helper()
	out, err := q.Do(within(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Suite runs all tests, each on a new queue.
func Suite(t *testing.T, open func(t *testing.T) work.Queue) {
	for _, x := range []struct {
		name string
		test func(t *testing.T, q work.Queue)
	}{
		{"computes", computes}, {"asked at once", askedAtOnce}, {"poison", poison}, {"refusal", refusal}, {"panic", panics}, {"cancel", cancels},
		{"other code", otherCode}, {"memory", memory}, {"all of the memory", allMemory}, {"handed back", handedBack}, {"hung", hung}, {"long but alive", longButAlive},
		{"50 MB", large}, {"many", many}, {"announced", announced}, {"bad points", badPoints},
	} {
		t.Run(x.name, func(t *testing.T) { x.test(t, open(t)) })
	}
}

func computes(t *testing.T, q work.Queue) {
	Start(t, q, work.Worker{Name: "a", Compute: Compute(Echo)})
	Start(t, q, work.Worker{Name: "b", Compute: Compute(Echo)})
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			out, err := q.Do(within(t), Point(t, n))
			if err != nil || string(out.Body) != fmt.Sprintf("result %d", n) || out.Worker != "a" && out.Worker != "b" {
				t.Errorf("point %d: %q of %q, %v", n, out.Body, out.Worker, err)
			}
		})
	}
	wg.Wait()
}

func askedAtOnce(t *testing.T, q work.Queue) {
	var times atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if out, err := q.Do(within(t), Point(t, 1)); err != nil || string(out.Body) != "result 1" {
				t.Errorf("%q, %v", out.Body, err)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // all have asked
	Start(t, q, work.Worker{Compute: Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
		times.Add(1)
		return Echo(ctx, n, alive)
	})})
	wg.Wait()
	if times.Load() != 1 {
		t.Errorf("computed %d times", times.Load())
	}
}

func poison(t *testing.T, q work.Queue) {
	var times atomic.Int32
	Start(t, q, work.Worker{Compute: Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
		if n == 3 {
			return nil, fmt.Errorf("no good, time %d", times.Add(1))
		}
		return Echo(ctx, n, alive)
	})})
	var wg sync.WaitGroup
	for n := range 10 {
		wg.Go(func() {
			_, err := q.Do(within(t), Point(t, n))
			var f *work.Failed
			if n != 3 && err != nil || n == 3 && (!errors.As(err, &f) || f.Tries != work.Tries || f.Why != "no good, time 3") {
				t.Errorf("point %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	if times.Load() != work.Tries {
		t.Errorf("tried %d times", times.Load())
	}
}

func refusal(t *testing.T, q work.Queue) {
	var times atomic.Int32
	Start(t, q, work.Worker{Compute: Compute(func(context.Context, int, func()) ([]byte, error) {
		times.Add(1)
		return nil, &work.Refusal{Err: errors.New("never")}
	})})
	_, err := q.Do(within(t), Point(t, 1))
	var f *work.Failed
	if !errors.As(err, &f) || f.Why != "never" || times.Load() != 1 {
		t.Errorf("%v, tried %d times", err, times.Load())
	}
}

func panics(t *testing.T, q work.Queue) {
	Start(t, q, work.Worker{Compute: Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
		if n == 1 {
			panic("at the wrong place")
		}
		return Echo(ctx, n, alive)
	})})
	_, err := q.Do(within(t), Point(t, 1))
	var f *work.Failed
	if !errors.As(err, &f) || !bytes.Contains([]byte(f.Why), []byte("at the wrong place")) {
		t.Errorf("%v", err)
	}
	do(t, q, Point(t, 2)) // the worker lives on
}

func cancels(t *testing.T, q work.Queue) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := q.Do(ctx, Point(t, 1))
		ended <- err
	}()
	time.Sleep(100 * time.Millisecond)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var seen sync.Map
	Start(t, q, work.Worker{Compute: Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
		seen.Store(n, true)
		return Echo(ctx, n, alive)
	})})
	do(t, q, Point(t, 2))
	if _, ok := seen.Load(1); ok {
		t.Error("a point that was taken back was computed")
	}
}

func otherCode(t *testing.T, q work.Queue) {
	Start(t, q, work.Worker{Name: "other", Code: "src-other", Compute: Compute(Echo)})
	short, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := q.Do(short, Point(t, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	Start(t, q, work.Worker{Name: "same", Compute: Compute(Echo)})
	if out := do(t, q, Point(t, 1)); out.Worker != "same" {
		t.Errorf("computed by %s", out.Worker)
	}
}

func memory(t *testing.T, q work.Queue) {
	Start(t, q, work.Worker{Name: "small", MemoryBytes: 1 << 30, Compute: Compute(Echo)})
	Start(t, q, work.Worker{Name: "large", MemoryBytes: 16 << 30, Compute: Compute(Echo)})
	for n := range 10 {
		p := Point(t, n)
		p.MemoryBytes = 10 << 30
		if out := do(t, q, p); out.Worker != "large" {
			t.Errorf("a point of 10 GB was computed by %s", out.Worker)
		}
	}
}

// allMemory: points that need all that a worker has run alone, among many small ones.
func allMemory(t *testing.T, q work.Queue) {
	var small, big atomic.Int32
	w := work.Worker{MemoryBytes: 4 << 30, Parallel: 4, Compute: Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
		mine, other := &small, &big
		if n%10 == 0 {
			mine, other = &big, &small
		}
		now := mine.Add(1)
		time.Sleep(2 * time.Millisecond)
		if other.Load() > 0 || mine == &big && now > 1 {
			return nil, &work.Refusal{Err: errors.New("more at once than there is memory for")}
		}
		mine.Add(-1)
		return Echo(ctx, n, alive)
	})}
	Start(t, q, w)
	var wg sync.WaitGroup
	for n := range 60 {
		wg.Go(func() {
			p := Point(t, n)
			if p.MemoryBytes = 1 << 20; n%10 == 0 {
				p.MemoryBytes = 4 << 30
			}
			if _, err := q.Do(within(t), p); err != nil {
				t.Errorf("point %d: %v", n, err)
			}
		})
	}
	wg.Wait()
}

// handedBack: workers that are stopped in the middle do no harm, however many.
func handedBack(t *testing.T, q work.Queue) {
	result := make(chan error, 1)
	go func() {
		_, err := q.Do(within(t), Point(t, 1))
		result <- err
	}()
	for range work.Tries + 2 {
		begun := make(chan struct{}, 1)
		stop := Start(t, q, work.Worker{Compute: func(ctx context.Context, _ work.Point, _ func()) ([]byte, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		select {
		case <-begun:
		case <-time.After(10 * time.Second):
			t.Fatal("the point did not come to the next worker")
		}
		stop()
	}
	Start(t, q, work.Worker{Compute: Compute(Echo)})
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func hung(t *testing.T, q work.Queue) {
	var times atomic.Int32
	Start(t, q, work.Worker{Silence: 50 * time.Millisecond, Compute: func(ctx context.Context, _ work.Point, _ func()) ([]byte, error) {
		if times.Add(1) == 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return []byte("second"), nil
	}})
	if out := do(t, q, Point(t, 1)); string(out.Body) != "second" {
		t.Errorf("%q", out.Body)
	}
}

func longButAlive(t *testing.T, q work.Queue) {
	var times atomic.Int32
	Start(t, q, work.Worker{Silence: 100 * time.Millisecond, Compute: func(_ context.Context, _ work.Point, alive func()) ([]byte, error) {
		times.Add(1)
		for range 100 {
			time.Sleep(10 * time.Millisecond)
			alive()
		}
		return []byte("at last"), nil
	}})
	if out := do(t, q, Point(t, 1)); string(out.Body) != "at last" || times.Load() != 1 {
		t.Errorf("%q, computed %d times", out.Body, times.Load())
	}
}

func large(t *testing.T, q work.Queue) {
	body := make([]byte, 50<<20) // which does not compress
	rng := rand.NewChaCha8([32]byte{1})
	if _, err := rng.Read(body); err != nil {
		t.Fatal(err)
	}
	Start(t, q, work.Worker{Compute: func(context.Context, work.Point, func()) ([]byte, error) { return body, nil }})
	if out := do(t, q, Point(t, 1)); !bytes.Equal(out.Body, body) {
		t.Errorf("%d bytes came back, and not the same", len(out.Body))
	}
}

// many: a client keeps a bounded number under way, as package cluster does, and memory is bounded on both sides.
func many(t *testing.T, q work.Queue) {
	const atOnce, limit = 256, 128 << 20
	points := 10_000
	if testing.Short() {
		points = 1000
	}
	text := bytes.Repeat([]byte("a result of sixty kilobytes... "), 2000) // of all points 600 MB
	Start(t, q, work.Worker{Parallel: 8, Compute: func(context.Context, work.Point, func()) ([]byte, error) { return bytes.Clone(text), nil }})
	var before, m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var done, bad atomic.Int32
	var peak atomic.Uint64
	next := make(chan int)
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	began := time.Now()
	for range atOnce {
		wg.Go(func() {
			for n := range next {
				if out, err := q.Do(ctx, Point(t, n)); err != nil || len(out.Body) != len(text) {
					bad.Add(1)
				}
				done.Add(1)
			}
		})
	}
	for n := range points {
		next <- n
		if n%1000 == 999 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
		}
	}
	close(next)
	wg.Wait()
	if bad.Load() > 0 || int(done.Load()) != points {
		t.Errorf("%d of %d, %d failed", done.Load(), points, bad.Load())
	}
	if grew := int64(peak.Load()) - int64(before.HeapAlloc); grew > limit {
		t.Errorf("the heap grew by %d bytes", grew)
	} else {
		t.Logf("%d points in %v, the heap grew by %d KB", points, time.Since(began).Round(time.Millisecond), grew>>10)
	}
}

func announced(t *testing.T, q work.Queue) {
	stop := Start(t, q, work.Worker{Name: "one", Parallel: 3, MemoryBytes: 5 << 30, Compute: Compute(Echo)})
	Start(t, q, work.Worker{Name: "two", Code: "src-other", Compute: Compute(Echo)})
	var list []work.Info
	Until(t, "two workers", func() bool {
		var err error
		if list, err = q.Workers(within(t)); err != nil {
			t.Fatal(err)
		}
		return len(list) == 2
	})
	if i := list[0]; i.Name != "one" || i.Code != Code || i.Parallel != 3 || i.MemoryBytes != 5<<30 || i.Cores < 1 || list[1].Code != "src-other" {
		t.Errorf("%+v", list)
	}
	do(t, q, Point(t, 1))
	Until(t, "a point counted", func() bool {
		list, err := q.Workers(within(t))
		return err == nil && len(list) == 2 && list[0].Done == 1 && list[0].PerMinute == 1 && list[0].Busy == 0
	})
	stop()
	Until(t, "one worker less", func() bool {
		list, err := q.Workers(within(t))
		return err == nil && len(list) == 1 && list[0].Name == "two"
	})
}

func badPoints(t *testing.T, q work.Queue) {
	for name, change := range map[string]func(*work.Point){
		"no key": func(p *work.Point) { p.Key = "" }, "a path": func(p *work.Point) { p.Key = "../../../../etc/passwd" },
		"no code": func(p *work.Point) { p.Code = "" }, "a subject": func(p *work.Point) { p.Code = "src.*" },
	} {
		p := Point(t, 1)
		change(&p)
		if _, err := q.Do(within(t), p); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
