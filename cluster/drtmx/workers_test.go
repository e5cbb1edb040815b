package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"drtmx/cluster"
	"drtmx/cluster/runs"
	"drtmx/cluster/work"
	"drtmx/engine/experiment"
)

// The test binary is the command drtmx where this variable has its arguments.
const argsVariable = "DRTMX_TEST_ARGS"

func asCommand(text string) int {
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil || len(args) == 0 {
		fmt.Fprintln(os.Stderr, err)
		return misused
	}
	if args[0] == "other-worker" {
		return otherWorker(args[1])
	}
	return run(args, os.Stdout, os.Stderr)
}

// otherWorker is a worker of another version of the code. It must not be asked for anything.
func otherWorker(url string) int {
	q, err := work.Dial(context.Background(), work.Options{URL: url})
	if err == nil {
		fmt.Println("ready")
		err = q.Work(context.Background(), work.Worker{Name: "other", Code: "src-other", Compute: func(context.Context, work.Point, func()) ([]byte, error) {
			return []byte(`{"digest":"of other code"}`), nil
		}})
	}
	fmt.Fprintln(os.Stderr, err)
	return failed
}

// command is a process of the command drtmx that is ready: it has written its first line.
type command struct {
	*exec.Cmd
	first string
	once  sync.Once
}

func startCommand(t testing.TB, args ...string) *command {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	c := &command{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), argsVariable+"="+string(text))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var trouble strings.Builder
	c.Stderr = &trouble
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.kill()
		t.Fatalf("%v: %v: %s", args, err, trouble.String())
	}
	c.first = strings.TrimSpace(line)
	return c
}

// kill ends the process as a machine that fails does.
func (c *command) kill() {
	c.once.Do(func() {
		_ = c.Process.Kill() // it may be over
		_ = c.Wait()
	})
}

// chaos is what happens to workers and server while a sweep is under way.
type chaos struct {
	t       *testing.T
	rng     *rand.Rand
	server  *command
	again   func() *command // starts the server
	worker  func() *command
	workers []*command
	stopped *command // the worker that stands still
	killed  int
	first   time.Time // of the kills
}

const lostAfter = 2 * time.Second

// cause does what is due after so many points.
func (c *chaos) cause(done int) {
	i := c.rng.IntN(len(c.workers))
	switch {
	case done == 60:
		c.stopped = c.workers[i]
		if err := c.stopped.Process.Signal(syscall.SIGSTOP); err != nil {
			c.t.Error(err)
		}
		c.workers[i] = c.worker() // as somebody would who looks after them
	case done == 100:
		c.server.kill()
		time.Sleep(300 * time.Millisecond)
		c.server = c.again()
	case done%15 == 0:
		// Within this time no point can lose its worker for a third time, which would make it fail as it has to.
		if c.first.IsZero() {
			c.first = time.Now()
		}
		if time.Since(c.first) > 2*lostAfter-500*time.Millisecond {
			return
		}
		c.workers[i].kill()
		c.workers[i] = c.worker()
		c.killed++
	}
}

// The first promise of a lab: whatever happens to workers and server, each point is in the results once, and is what this
// process computes.
func TestSweepSurvivesWorkersAndServer(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds; not in short mode")
	}
	emptyStore(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, addr := t.TempDir(), freeAddress(t)
	c := &chaos{t: t, rng: rand.New(rand.NewPCG(1, 24))}
	c.again = func() *command { return startCommand(t, "serve-work", "--listen", addr, "--store", dir) }
	c.server = c.again()
	url := c.server.first
	names := atomic.Int32{}
	c.worker = func() *command {
		return startCommand(t, "worker", "--server", url, "--parallel", "1", "--lost-after", lostAfter.String(), "--name", fmt.Sprint("w", names.Add(1)))
	}
	for range 3 {
		c.workers = append(c.workers, c.worker())
	}
	startCommand(t, "other-worker", url)

	lab, err := cluster.OpenLab(ctx, work.Options{URL: url, AckWait: lostAfter})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	spec, seeds, axis := smallSpec(t), 50, cluster.Axis{Knob: "coroutines", Values: []int{1, 2, 3, 4}}
	progress := make(chan int, 4*seeds)
	var hits sync.WaitGroup
	hits.Go(func() {
		for done := range progress {
			c.cause(done)
		}
	})
	s, err := cluster.SweepWith(ctx, spec, cluster.SweepOptions{Seeds: seeds, NoCache: true, Lab: lab}, func(done, _ int) { progress <- done }, axis)
	close(progress)
	hits.Wait()
	if err != nil {
		t.Fatal(err)
	}
	local, err := cluster.SweepWith(ctx, spec, cluster.SweepOptions{Seeds: seeds, NoCache: true}, nil, axis)
	if err != nil {
		t.Fatal(err)
	}
	equalSweeps(t, s, local, 4*seeds)
	if c.killed < 2 || c.stopped == nil {
		t.Errorf("%d workers were killed, one was stopped: %v: not much of a test", c.killed, c.stopped != nil)
	}
	t.Logf("%d workers killed", c.killed)

	// The worker that stood still wakes up with a point that others have computed meanwhile.
	if err := c.stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	keptOnce(ctx, t, url, 4*seeds)
	ws, err := lab.Ask(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(ws.Others) != 1 || ws.Others[0].Done != 0 {
		t.Errorf("the worker of other code: %+v", ws.Others)
	}
}

// emptyStore is a run store of the test's own.
func emptyStore(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", t.TempDir())
}

// smallSpec runs for some milliseconds.
func smallSpec(t testing.TB) experiment.Spec {
	t.Helper()
	spec, err := experiment.LoadSpec("phases")
	if err == nil {
		spec, err = spec.With(experiment.Knobs{"nodes": 3, "threads": 2, "workload.accounts": 500, "warmup_ns": "50us", "duration_ns": "200us"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// equalSweeps compares the runs of two sweeps by their digests. Seeds tell runs of a point apart.
func equalSweeps(t *testing.T, a, b *cluster.SweepResult, runs int) {
	t.Helper()
	n := 0
	seen := map[string]bool{}
	for i, p := range a.Raw.Points {
		q := b.Raw.Points[i]
		if p.Error != "" || len(p.Runs) != len(q.Runs) {
			t.Errorf("%v: %d runs, here %d: %s", p.Set, len(p.Runs), len(q.Runs), p.Error)
			continue
		}
		for j, r := range p.Runs {
			n++
			if seen[r.Digest] {
				t.Errorf("%v, seed %v: in the results twice", p.Set, r.Spec["seed"])
			}
			seen[r.Digest] = true
			if x := q.Runs[j]; r.Digest != x.Digest || r.Spec["seed"] != x.Spec["seed"] {
				t.Errorf("%v, seed %v: digest %s, here %s", p.Set, r.Spec["seed"], r.Digest, x.Digest)
			}
		}
	}
	if n != runs {
		t.Errorf("%d runs, want %d", n, runs)
	}
}

// keptOnce waits until no point is queued or under way, and counts the outcomes.
func keptOnce(ctx context.Context, t *testing.T, url string, points int) {
	t.Helper()
	q, err := work.Dial(ctx, work.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	var kept []work.Kept
	for ctx.Err() == nil {
		if kept, err = q.Kept(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if kept[0].Messages == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if kept[0].Messages != 0 || kept[1].Messages != uint64(points) {
		t.Errorf("%+v, want no points and %d outcomes", kept, points)
	}
}

// BenchmarkSweep compares sweeps of 60 points in this process with those by three worker processes on the same machine.
func BenchmarkSweep(b *testing.B) {
	url := startCommand(b, "serve-work", "--listen", "127.0.0.1:0", "--store", b.TempDir()).first
	for range 3 {
		startCommand(b, "worker", "--server", url, "--parallel", "1")
	}
	lab, err := cluster.OpenLab(b.Context(), work.Options{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	defer lab.Close()
	spec, err := smallSpec(b).With(experiment.Knobs{"duration_ns": "2ms"})
	if err != nil {
		b.Fatal(err)
	}
	const points = 60
	seed := 1
	for _, x := range []struct {
		name string
		lab  *cluster.Lab
	}{{"in this process", nil}, {"by three workers", lab}} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				o := cluster.SweepOptions{Seeds: points / 2, NoCache: true, Lab: x.lab}
				from, err := spec.With(experiment.Knobs{"seed": seed})
				if err == nil {
					_, err = cluster.SweepWith(b.Context(), from, o, nil, cluster.Axis{Knob: "coroutines", Values: []int{2, 4}})
				}
				if err != nil {
					b.Fatal(err)
				}
				seed += points // nobody has these
			}
			b.ReportMetric(points*float64(b.N)/b.Elapsed().Seconds(), "points/s")
		})
	}
}

// untilAPointIsKept is interrupted when the run store has its first point, however long that takes.
func untilAPointIsKept(t *testing.T) context.Context {
	t.Helper()
	store, err := runs.Default()
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		defer interrupt()
		for ctx.Err() == nil {
			if size, err := store.Size(); err != nil || size.Points > 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return ctx
}

// A sweep that is interrupted is finished by --resume: the points of the first attempt are not computed again.
func TestResume(t *testing.T) {
	emptyStore(t)
	if code, _, errs := call("sweep", "--resume"); code != misused || !strings.Contains(errs, "no sweep was interrupted") {
		t.Errorf("exit %d: %s", code, errs)
	}
	args := append([]string{"sweep", "--over", "coroutines=1,2,3,4,5,6,7,8", "--over", "seed=1,2,3,4,5,6", "--json"}, tiny...)
	ctx := untilAPointIsKept(t)
	var out, errs strings.Builder
	if code := runUntil(ctx, args, &out, &errs); code != failed || !strings.Contains(errs.String(), "drtmx sweep --resume finishes it") {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, more := range [][]string{{"phases"}, {"--over", "coroutines=1"}} {
		if code, _, errs := call(append([]string{"sweep", "--resume"}, more...)...); code != misused || !strings.Contains(errs, "stands alone") {
			t.Errorf("%v: exit %d: %s", more, code, errs)
		}
	}
	var s struct{ Points []struct{ Cached int } }
	decode(t, ok(t, "sweep", "--resume"), &s)
	cached := 0
	for _, p := range s.Points {
		cached += p.Cached
	}
	if len(s.Points) != 48 || cached == 0 || cached == 48 {
		t.Errorf("%d points, of which %d were kept from before", len(s.Points), cached)
	}
	if code, _, errs := call("sweep", "--resume"); code != misused {
		t.Errorf("after it has ended: exit %d: %s", code, errs)
	}
}

// Sweep and figure print the same with and without workers.
func TestServerFlag(t *testing.T) {
	url := startCommand(t, "serve-work", "--listen", "127.0.0.1:0", "--store", t.TempDir()).first
	worker := startCommand(t, "worker", "--server", url, "--parallel", "2")
	sweep := append([]string{"sweep", "--over", "coroutines=1,3"}, tiny...)
	for _, args := range [][]string{sweep, {"figure", "2-persist"}} {
		var outs [2]string
		for i, more := range [][]string{nil, {"--server", url}} {
			emptyStore(t)
			outs[i] = ok(t, append(args, more...)...)
		}
		if outs[0] != outs[1] {
			t.Errorf("%v: here\n%s\nand by workers\n%s", args[0], outs[0], outs[1])
		}
	}
	worker.kill()
	left := ok(t, "serve-work", "gc", "--server", url, "--older", "0s")
	if !strings.Contains(left, "outcomes") || strings.Count(left, " 0 messages") != 4 {
		t.Errorf("%s", left)
	}
	// Without a worker it waits, and says so.
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs strings.Builder
	time.AfterFunc(3*time.Second, cancel)
	emptyStore(t)
	if code := runUntil(ctx, append(sweep, "--server", url), &out, &errs); code != failed || !strings.Contains(errs.String(), "no worker is there: points wait") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

func TestLabFlagsAreChecked(t *testing.T) {
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"serve-work", "--listen", "0.0.0.0:4222", "--store", t.TempDir()}, "add --creds FILE"},
		{[]string{"serve-work", "--listen", "4222"}, "host:port"},
		{[]string{"serve-work", "--max-store", "1MB"}, "max-store"},
		{[]string{"serve-work", "--max-age", "1s"}, "max-age"},
		{[]string{"serve-work", "--tls-cert", "x"}, "go together"},
		{[]string{"serve-work", "gc", "--older", "-1s"}, "older"},
		{[]string{"worker", "--memory", "much"}, "memory"},
		{[]string{"worker", "--parallel", "-1"}, "parallel"},
		{[]string{"worker", "--lost-after", "1ms"}, "lost-after"},
		{[]string{"sweep", "--over", "coroutines=1", "--creds", "x"}, "name it: --server"},
		{[]string{"sweep", "--over", "coroutines=1", "--server", "nats://127.0.0.1:1", "--fresh"}, "serve-work gc"},
	} {
		code, _, errs := call(x.args...)
		if code != misused || !strings.Contains(errs, x.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", x.args, code, errs)
		}
	}
	if code, _, errs := call("sweep", "--over", "coroutines=1", "--server", "nats://127.0.0.1:1"); code != failed || !strings.Contains(errs, "is it running?") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
