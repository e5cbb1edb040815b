package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// loseFile takes a file that is open away from whoever writes it, as if the disk had gone.
func loseFile(t *testing.T, path string) {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(open) == 0 {
		t.Skip("this system does not list the open files of a process")
	}
	for _, link := range open {
		if name, err := os.Readlink(link); err != nil || name != path {
			continue
		}
		none, err := os.Open(os.DevNull) // takes no writes
		if err != nil {
			t.Fatal(err)
		}
		defer none.Close()
		fd, err := strconv.Atoi(filepath.Base(link))
		if err == nil {
			err = syscall.Dup3(int(none.Fd()), fd, syscall.O_CLOEXEC)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%s is not open", path)
}

// A session file that can no longer be written is said at once, and the cluster
// runs on.
func TestLostSessionFileIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	a := newFake(t, Options{Pace: 50_000_000, Session: path}, systemtest.Options{})
	m, err := a.member("")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.rec.Broken(); got != "" {
		t.Fatalf("broken from the start: %s", got)
	}
	loseFile(t, path)
	if _, err := a.Set(bg, "", experiment.Knobs{"coroutines": 3}, "page"); err != nil {
		t.Fatalf("a change fails with the recording: %v", err)
	}
	systemtest.Eventually(t, "it is said that the session is no longer written", func() bool { return m.snap.Load().Unrecorded != "" })
	if err := <-a.RecordingErrors(); !errors.Is(err, syscall.EBADF) {
		t.Errorf("said %v", err)
	}
	if s := m.snap.Load(); s.State == system.StateFailed || !strings.Contains(s.Unrecorded, "s.jsonl") {
		t.Errorf("state %s, %q", s.State, s.Unrecorded)
	}
	if err := a.Close(); err == nil {
		t.Error("Close says nothing")
	}
}
