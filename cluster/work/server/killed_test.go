package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/work"
	"drtmx/cluster/work/worktest"
)

// The test binary is also the process that is killed: with one of these variables it is a worker of a server, or a server of a store,
// until it is.
const (
	workerOf = "DRTMX_TEST_WORKER_OF"
	serverOf = "DRTMX_TEST_SERVER_OF"
)

const killedAckWait = time.Second

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(workerOf) != "":
		err = workUntilKilled(os.Getenv(workerOf))
	case os.Getenv(serverOf) != "":
		err = serveUntilKilled(os.Getenv(serverOf))
	default:
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func workUntilKilled(url string) error {
	q, err := work.Dial(context.Background(), work.Options{URL: url, AckWait: killedAckWait})
	if err != nil {
		return err
	}
	return q.Work(context.Background(), work.Worker{Name: "killed", Code: worktest.Code, Parallel: 1, Compute: worktest.Compute(worktest.Echo)})
}

func serveUntilKilled(dir string) error {
	s, err := Start(Options{Listen: "127.0.0.1:0", Dir: dir})
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	select {}
}

// process begins the other process. Its output ends when it does.
func process(t *testing.T, variable, value string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), variable+"="+value)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c, bufio.NewReader(out)
}

// cutBefore passes on what a client and a server say to each other, until the client sends a line that begins so: that line and
// what follows get lost, and at is called.
func cutBefore(t *testing.T, server, line string, at func()) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", strings.TrimPrefix(server, "nats://"))
			if err != nil {
				client.Close()
				continue
			}
			go func() { _, _ = io.Copy(client, up); client.Close() }()
			go func() {
				defer up.Close()
				if passUntil(client, up, []byte(line)) {
					at()
				}
			}()
		}
	}()
	return "nats://" + l.Addr().String()
}

// passUntil copies until a line comes up; it is not copied to its end.
func passUntil(from io.Reader, to io.Writer, line []byte) (came bool) {
	var carry []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		all := append(carry, buf[:n]...)
		if i := bytes.Index(all, line); i >= 0 {
			_, _ = to.Write(all[min(len(carry), i):][:max(0, i-len(carry))])
			return true
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return false
		}
		carry = bytes.Clone(all[max(0, len(all)-len(line)+1):])
	}
}

// A worker that is killed just before it stores an outcome has not acknowledged its point, so another one computes it; one that is
// killed just before it acknowledges the point has stored the outcome, so nobody computes it again.
func TestWorkerIsKilled(t *testing.T) {
	for _, x := range []struct {
		before, line string
		ask          time.Duration // of the sender: where the point has to come back by itself it does not look
		again        int32
	}{
		{"before it stores the outcome", "PUB $KV." + "drtmx-outcomes.", time.Hour, 1},
		{"before it acknowledges the point", "PUB $JS.ACK.", 100 * time.Millisecond, 0},
	} {
		t.Run(x.before, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			killed := make(chan struct{})
			var worker *exec.Cmd
			ready := make(chan struct{})
			url := cutBefore(t, s.URL(), x.line, func() {
				<-ready
				if err := worker.Process.Kill(); err != nil {
					t.Error(err)
				}
				close(killed)
			})
			worker, _ = process(t, workerOf, url)
			close(ready)
			sender := dial(t, work.Options{URL: s.URL(), AckWait: killedAckWait, Ask: x.ask})
			type end struct {
				out work.Outcome
				err error
			}
			ended := make(chan end, 1)
			ctx := soon(t)
			go func() {
				out, err := sender.Do(ctx, worktest.Point(t, 1))
				ended <- end{out, err}
			}()
			select {
			case <-killed:
			case <-ctx.Done():
				t.Fatal("the worker was not killed")
			}
			var again atomic.Int32
			q := dial(t, work.Options{URL: s.URL(), AckWait: killedAckWait})
			worktest.Start(t, q, work.Worker{Name: "second", Parallel: 1, Compute: worktest.Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
				again.Add(1)
				return worktest.Echo(ctx, n, alive)
			})})
			if e := <-ended; e.err != nil || string(e.out.Body) != "result 1" {
				t.Fatalf("%q, %v", e.out.Body, e.err)
			}
			worktest.Until(t, "no point waits", func() bool {
				kept, err := q.Kept(ctx)
				return err == nil && kept[0].Messages == 0 && kept[1].Messages == 1
			})
			if n := again.Load(); n != x.again {
				t.Errorf("the point was computed %d times by the second worker, want %d", n, x.again)
			}
		})
	}
}

// A server that is killed in the moment in which a sender has the outcome of a point has that outcome when it begins again.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const points = 12
	for n := range points {
		cmd, out := process(t, serverOf, dir)
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		q := dial(t, work.Options{URL: strings.TrimSpace(line), Ask: 200 * time.Millisecond})
		for k := range n { // those of before, which nobody computes
			if o, err := q.Do(soon(t), worktest.Point(t, k)); err != nil || string(o.Body) != fmt.Sprint("result ", k) {
				t.Fatalf("after %d kills point %d is %q, %v", n, k, o.Body, err)
			}
		}
		stop := worktest.Start(t, q, work.Worker{Compute: worktest.Compute(worktest.Echo)})
		if _, err := q.Do(soon(t), worktest.Point(t, n)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		q.Close()
		stop()
	}
}
