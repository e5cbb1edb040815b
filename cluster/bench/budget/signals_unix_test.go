//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A test that takes too long gets go test's signal, and the status is that of the test.
func TestSignalsReachTheTest(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-into", t.TempDir(), "sh", "-c", `trap "echo here; exit 3" QUIT; echo ready; while :; do sleep 0.05; done`)
	cmd.Env = append(os.Environ(), "BUDGET_AS_PROGRAM=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(rest), "here") {
		t.Errorf("%q, %v", rest, err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v, want status 3", err)
	}
}
