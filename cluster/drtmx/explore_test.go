package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drtmx/engine/explore"
)

// lost is a fault that one held back message shows.
var lost = []string{"--steps", "3", "--set", "workload.script=w0 w1; r0 r1", "--set", "workload.variant=as-published"}

// A counterexample is status 1 and a spec, which run finds wrong in the same way.
func TestExploreFindsAndRunShows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lost.yaml")
	code, out, errs := call(with([]string{"explore", "-o", file}, lost...)...)
	if code != failed || !strings.Contains(errs, "a run is wrong: G-single") || !strings.Contains(out, `explore.delays: "2:3"`) || !strings.Contains(out, "--resume 1.9.") {
		t.Fatalf("exit %d:\n%s\n%s", code, out, errs)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(out, string(text)) {
		t.Errorf("the file has %q, %v", text, err)
	}
	if code, out, errs = call("run", file); code != failed || !strings.Contains(errs, "G-single: T2 (r0 r1) read record/0 at version 2") {
		t.Errorf("run: exit %d:\n%s\n%s", code, out, errs)
	}
}

func TestExploreJSONAndResume(t *testing.T) {
	args := []string{"explore", "--bound", "1", "--json", "--set", "workload.script=w0; w0"}
	var whole, first, rest explore.Report
	decode(t, ok(t, args...), &whole)
	if !whole.Complete || len(whole.Found) != 0 || whole.Runs != 1+2*whole.Messages || whole.Orders < 2 {
		t.Errorf("%+v", whole)
	}
	code, out, errs := call(with(args, "--budget", "1ns")...)
	if decode(t, out, &first); code != success || first.Complete || first.Cursor == "" {
		t.Fatalf("a budget that is spent: exit %d: %s %s", code, out, errs)
	}
	decode(t, ok(t, with(args, "--resume", first.Cursor)...), &rest)
	if !rest.Complete || rest.Runs != whole.Runs {
		t.Errorf("%d runs in two pieces, %d at a stretch", rest.Runs, whole.Runs)
	}
}

// Ctrl-C leaves a cursor.
func TestExploreInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, errs bytes.Buffer
	code := runUntil(ctx, []string{"explore"}, &out, &errs)
	if code != failed || !strings.Contains(errs.String(), "interrupted") || !regexp.MustCompile(`--resume 0\.0\.[0-9a-f]{8}`).MatchString(out.String()) {
		t.Errorf("exit %d: %s %s", code, &out, &errs)
	}
}

func TestExploreRefuses(t *testing.T) {
	for says, args := range map[string][]string{
		"steps = 0: must be above 0":      {"explore", "--steps", "0"},
		"bound = 9: must be from 1 to 8":  {"explore", "--bound", "9"},
		"budget = -1s: must be above 0":   {"explore", "--budget", "-1s"},
		"resume = x: is no cursor":        {"explore", "--resume", "x"},
		"duration_ns = 0: an exploration": {"explore", "phases"},
		"the spec lists 2":                {"explore", "rivals"},
		"of 3 clients, and there are 2":   {"explore", "--set", "nodes=2"},
		"is no step: r1 reads key 1":      {"explore", "--set", "workload.script=x1"},
		"must be none, or a list":         {"run", "--set", "explore.delays=17"},
		"standard output is for --json":   {"explore", "--json", "-o", "-"},
	} {
		if code, out, errs := call(args...); code != misused || !strings.Contains(errs, says) {
			t.Errorf("%v: exit %d, want one line with %q: %s%s", args, code, says, out, errs)
		}
	}
}
