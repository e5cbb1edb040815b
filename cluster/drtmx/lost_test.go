package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// full takes nothing, as /dev/full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestLostOutputIsAFailure(t *testing.T) {
	for _, args := range [][]string{
		{"--help"},
		{"doctor"},
		{"profiles"},
		{"profiles", "val"},
		{"specs"},
		{"knobs"},
		{"figure", "list"},
		with([]string{"sweep", "--over", "coroutines=1,2"}, tiny...),
		with([]string{"run"}, tiny...),
	} {
		var errs bytes.Buffer
		if code := run(args, full{}, &errs); code != failed || !strings.Contains(errs.String(), "no space") {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
	}
}

// A command finds out before a long run that its file cannot be written.
func TestFileIsRefusedFirst(t *testing.T) {
	none := filepath.Join(t.TempDir(), "no", "file")
	for _, args := range [][]string{
		{"sweep", "--over", "coroutines=1,2", "--csv", none},
		{"figure", "t4-3", "--svg", none},
		{"trace", "-o", none, "--txns", "10001"},                // so many are refused once it runs
		{"fit", "val", "--rows", "f9-9", "--profile-out", none}, // and such rows
		{"fit", "val", "--rows", "f9-9", "--residuals-out", none},
	} {
		if code, out, errs := call(args...); code != failed || out != "" || !strings.Contains(errs, none+": its folder") {
			t.Errorf("%v: exit %d, wrote %q, said %q", args, code, out, errs)
		}
	}
}
