//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"drtmx/engine/result"
)

// fullVariable makes this test binary a process whose files may not grow beyond so many bytes, which to SQLite is a disk without room. The limit is a process's own: go test writes its log of files beside the tests.
const fullVariable = "DRTMX_TEST_FULL_DISK"

func init() {
	most, err := strconv.ParseUint(os.Getenv(fullVariable), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	if limit.Cur = most; err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		panic(err)
	}
}

// Such limits: a page behind the index of a log, and within that index.
const (
	noRoomForPages = 36 << 10
	noRoomForIndex = 16 << 10
)

// onFullDisk runs the command in such a process.
func onFullDisk(t *testing.T, most int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsVariable+"="+string(text), fullVariable+"="+strconv.Itoa(most))
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
	code, out, errs := onFullDisk(t, noRoomForPages, with([]string{"run", "--keep", "--json"}, tiny...)...)
	var r result.Result
	decode(t, out, &r)
	full := func(errs string) bool {
		return strings.Contains(errs, "the disk is full") && strings.Contains(errs, "drtmx runs gc") && strings.Count(errs, "\n") == 1
	}
	if code != failed || r.Digest == "" || !full(errs) {
		t.Errorf("run: exit %d: %s", code, errs)
	}
	code, _, errs = onFullDisk(t, noRoomForIndex, with([]string{"run", "--keep", "--json"}, tiny...)...)
	if code != failed || !full(errs) {
		t.Errorf("run without room for the index of the log: exit %d: %s", code, errs)
	}
	code, out, errs = onFullDisk(t, noRoomForPages, with([]string{"sweep", "--over", "threads=1,2"}, tiny...)...)
	if code != failed || !strings.Contains(out, "throughput") || !full(errs) {
		t.Errorf("sweep: exit %d: %s", code, errs)
	}
	if list := listed(t); len(list) != 1 {
		t.Errorf("%d runs are kept", len(list))
	}
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
}
