package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// smallDisk is a file system of its own, of 24 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		if os.Getenv("DRTMX_REQUIRE") == "all" {
			t.Fatalf("no small disk can be mounted: %v", err)
		}
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill leaves no room on a disk.
func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// watchedCommand is a process of the command drtmx whose lines are kept.
type watchedCommand struct {
	*exec.Cmd
	mu    sync.Mutex
	lines []string
	ended chan struct{} // when the process has
}

func watch(t *testing.T, store string, args ...string) *watchedCommand {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	c := &watchedCommand{Cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	c.Env = append(os.Environ(), argsVariable+"="+string(text), "DRTMX_RUNS="+store)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	go func() {
		defer close(c.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.mu.Lock()
			c.lines = append(c.lines, lines.Text())
			c.mu.Unlock()
		}
		_ = c.Wait() // its status says how
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.ended
	})
	return c
}

// said says whether a line has one of these words.
func (c *watchedCommand) said(words ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.lines, func(line string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
	})
}

// within waits until something is so.
func (c *watchedCommand) within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > limit {
			c.mu.Lock()
			defer c.mu.Unlock()
			t.Fatalf("%s: not within %v; it says %q", what, limit, c.lines)
		}
	}
}

// The disk of a lab fills while a sweep is under way: within 15 s serve-work ends and names the disk, and worker and sender say that
// they wait. With room again, and a server, the sweep ends as if nothing had been.
func TestLabOnAFullDisk(t *testing.T) {
	disk, store := smallDisk(t), filepath.Join(t.TempDir(), "runs.db")
	serve := func(listen string) *watchedCommand {
		return watch(t, store, "serve-work", "--listen", listen, "--store", filepath.Join(disk, "lab"))
	}
	server := serve("127.0.0.1:0")
	server.within(t, 20*time.Second, "the server is there", func() bool { return server.said("nats://") })
	url := server.lines[0]
	worker := watch(t, store, "worker", "--server", url, "--parallel", "1")
	worker.within(t, 20*time.Second, "the worker is there", func() bool { return worker.said("worker of") })
	var seeds []string
	for i := range 60 {
		seeds = append(seeds, fmt.Sprint(i+1))
	}
	sender := watch(t, store, with([]string{"sweep", "--server", url, "--set", "duration_ns=6ms", "--over", "seed=" + strings.Join(seeds, ",")}, tiny[:len(tiny)-4]...)...)
	sender.within(t, 20*time.Second, "the sweep is under way", func() bool { return sender.said("1 worker") })
	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	const soon = 15 * time.Second
	server.within(t, soon, "the server says so and ends", func() bool {
		select {
		case <-server.ended:
			return server.said("the disk is full")
		default:
			return false
		}
	})
	if code := server.ProcessState.ExitCode(); code != failed {
		t.Errorf("the server ended with %d", code)
	}
	for _, c := range []*watchedCommand{worker, sender} {
		c.within(t, soon, "who waits says so", func() bool { return c.said("lost", "wait") })
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	again := serve(strings.TrimPrefix(url, "nats://"))
	again.within(t, 20*time.Second, "the server is there again", func() bool { return again.said("nats://") })
	sender.within(t, 90*time.Second, "the sweep ends", func() bool {
		select {
		case <-sender.ended:
			return true
		default:
			return false
		}
	})
	if code := sender.ProcessState.ExitCode(); code != success || !sender.said("throughput") {
		t.Errorf("the sweep ended with %d: %q", code, sender.lines)
	}
}
