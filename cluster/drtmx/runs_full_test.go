//go:build unix

package main

import (
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"drtmx/engine/result"
)

// A disk without room costs the row, not the numbers; the line says what to do. No file of this process may grow beyond
// the index of a log and a page meanwhile, which to SQLite is the same.
func TestFullDiskLosesNoResult(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	little := was
	little.Cur = 36 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		t.Skip("no limit can be set:", err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
	code, out, errs := call(with([]string{"run", "--keep", "--json"}, tiny...)...)
	var r result.Result
	decode(t, out, &r)
	full := func(errs string) bool {
		return strings.Contains(errs, "the disk is full") && strings.Contains(errs, "drtmx runs gc") && strings.Count(errs, "\n") == 1
	}
	if code != failed || r.Digest == "" || !full(errs) {
		t.Errorf("run: exit %d: %s", code, errs)
	}
	code, out, errs = call(with([]string{"sweep", "--over", "threads=1,2"}, tiny...)...)
	if code != success || !strings.Contains(out, "throughput") || !full(errs) {
		t.Errorf("sweep: exit %d: %s", code, errs)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if list := listed(t); len(list) != 1 {
		t.Errorf("%d runs are kept", len(list))
	}
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
}
