package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

const (
	liveFor      = 15 * time.Second // a start is watched for so long
	firstWithin  = 2 * time.Second
	memoryWithin = 400e6 // bytes
	idleCores    = 0.15
	pollEvery    = 10 * time.Millisecond
)

// startDefault starts the default cluster as `make run` does and waits for its
// first window of results.
func startDefault(ctx context.Context, binary string, reps int) ([]row, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		if binary, err = build(ctx, dir, "cluster/drtmx"); err != nil {
			return nil, err
		}
	}
	var first, memory []float64
	for range min(reps, 3) {
		fmt.Fprint(os.Stderr, "\r\x1b[Kthe default cluster")
		f, m, err := startOnce(ctx, binary)
		if err != nil {
			return nil, err
		}
		first, memory = append(first, f), append(memory, m)
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	rows := []row{{what: "default cluster, seconds from start to the first window", value: median(first), text: fmt.Sprintf("%.2f", median(first)),
		required: fmt.Sprintf("at most %g", firstWithin.Seconds()), ok: median(first) <= firstWithin.Seconds()}}
	if m := median(memory); m > 0 {
		rows = append(rows, row{what: fmt.Sprintf("default cluster, largest resident memory in %g s", liveFor.Seconds()), value: m,
			text: fmt.Sprintf("%.0f MB", m/1e6), required: fmt.Sprintf("below %.0f MB", memoryWithin/1e6), ok: m < memoryWithin})
	}
	idle, err := idleCPU(ctx, binary)
	if err != nil {
		return nil, err
	}
	return append(rows, idle), nil
}

// idleCPU is what a default cluster takes with no page open, without a twin.
func idleCPU(ctx context.Context, binary string) (row, error) {
	addr, err := freeAddress()
	if err != nil {
		return row{}, err
	}
	cmd := exec.CommandContext(ctx, binary, "up", "--no-twin", "--pace", "6ms/s", "--listen", addr, "--for", liveFor.String())
	if err := cmd.Run(); err != nil {
		return row{}, fmt.Errorf("drtmx up: %w", err)
	}
	cores := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / liveFor.Seconds()
	return row{what: "default cluster at 6 ms/s, no page open, no twin: cores", value: cores, text: fmt.Sprintf("%.2f", cores),
		required: fmt.Sprintf("at most %g", idleCores), ok: cores <= idleCores}, nil
}

// startOnce is one start: seconds to the first window, and bytes of memory at
// most.
func startOnce(ctx context.Context, binary string) (first, memory float64, err error) {
	addr, err := freeAddress()
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.CommandContext(ctx, binary, "up", "--listen", addr, "--for", liveFor.String())
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	first, err = firstWindow(ctx, addr, began)
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = fmt.Errorf("drtmx up: %w", werr)
	}
	return first, peakMemory(cmd.ProcessState), err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func firstWindow(ctx context.Context, addr string, began time.Time) (float64, error) {
	for time.Since(began) < liveFor-time.Second {
		if n, err := windows(ctx, addr); err == nil && n > 0 {
			return time.Since(began).Seconds(), nil
		}
		time.Sleep(pollEvery)
	}
	return 0, errors.New("the default cluster shows no window")
}

// windows is how many windows the agent has.
func windows(ctx context.Context, addr string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/windows", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, errors.New(resp.Status)
	}
	var list []json.RawMessage
	err = json.NewDecoder(resp.Body).Decode(&list)
	return len(list), err
}
