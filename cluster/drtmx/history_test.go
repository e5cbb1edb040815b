package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/engine/result"
)

// TestRunHistory: the file has what the result says, the run is the same run, and where the disk is full the numbers
// are printed all the same and the exit status is 1.
func TestRunHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.jsonl")
	var plain, r result.Result
	decode(t, ok(t, with(tiny, "run", "--json")...), &plain)
	decode(t, ok(t, with(tiny, "run", "--json", "--history", file)...), &r)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := uint64(strings.Count(string(b), "\n")); r.History == nil || n != r.History.Attempts || n < r.Commits || r.Digest != plain.Digest {
		t.Errorf("%d lines, %+v, digest %s of %s", n, r.History, r.Digest, plain.Digest)
	}
	edn := filepath.Join(t.TempDir(), "h.edn")
	if out := ok(t, with(tiny, "run", "--history", edn)...); !strings.Contains(out, "attempts of transactions in "+edn) {
		t.Error(out)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	full := filepath.Join(t.TempDir(), "full.jsonl")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(with(tiny, "run", "--json", "--history", full)...)
	decode(t, out, &r)
	if code != failed || r.Digest != plain.Digest || !strings.Contains(errs, "full.jsonl is not whole: no space left on device; the numbers are") {
		t.Errorf("exit %d, %s: %s", code, r.Digest, errs)
	}
}

// TestHistoryIsRefused before anything runs, and what the file had stays.
func TestHistoryIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.jsonl")
	if err := os.WriteFile(file, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "dir.edn")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fifo := pipe(t, filepath.Join(t.TempDir(), "p.edn"))
	for want, args := range map[string][]string{
		"must end in .jsonl":   {"run", "--history", "-"},
		"is of one run":        {"run", "--history", file, "--seeds", "3"},
		"runs no transactions": {"run", "nvm", "--history", file},
		"number":               {"run", "--set", "nodes=x", "--history", file},
		"is a folder":          {"run", "--history", dir},
		"is a pipe":            {"run", "--history", fifo},
		"is no folder":         {"run", "--history", filepath.Join(file, "x.edn")},
	} {
		code, out, errs := call(args...)
		if code == success || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d, %q %q, want %q", args, code, out, errs, want)
		}
	}
	if b, _ := os.ReadFile(file); string(b) != "mine\n" {
		t.Errorf("the file was changed: %q", b)
	}
}
