//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"drtmx/engine/result"
)

// fullVariable makes this test binary a process whose files may not grow beyond the index of a log and a page, which to SQLite is a
// disk without room. The limit is a process's own: go test writes its log of files beside the tests.
const fullVariable = "DRTMX_TEST_FULL_DISK"

func init() {
	if os.Getenv(fullVariable) == "" {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	if limit.Cur = 36 << 10; err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		panic(err)
	}
}

// onFullDisk runs the command in such a process.
func onFullDisk(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsVariable+"="+string(text), fullVariable+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// A disk without room costs the row, not the numbers; the line says what to do.
func TestFullDiskLosesNoResult(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
	code, out, errs := onFullDisk(t, with([]string{"run", "--keep", "--json"}, tiny...)...)
	var r result.Result
	decode(t, out, &r)
	full := func(errs string) bool {
		return strings.Contains(errs, "the disk is full") && strings.Contains(errs, "drtmx runs gc") && strings.Count(errs, "\n") == 1
	}
	if code != failed || r.Digest == "" || !full(errs) {
		t.Errorf("run: exit %d: %s", code, errs)
	}
	code, out, errs = onFullDisk(t, with([]string{"sweep", "--over", "threads=1,2"}, tiny...)...)
	if code != success || !strings.Contains(out, "throughput") || !full(errs) {
		t.Errorf("sweep: exit %d: %s", code, errs)
	}
	if list := listed(t); len(list) != 1 {
		t.Errorf("%d runs are kept", len(list))
	}
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
}
