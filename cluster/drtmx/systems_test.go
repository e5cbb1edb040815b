package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// two writes a spec of two systems.
func two(t *testing.T, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "two.yaml")
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// small is what every workload has.
var small = []string{"--set", "nodes=3", "--set", "threads=1", "--set", "coroutines=2", "--set", "warmup_ns=50us", "--set", "duration_ns=300us", "--set", "window_ns=20us"}

const twoSystems = "name: two\nset: {workload: ycsb, workload.keys: 2000, workload.theta: 0}\nsystems: [{name: hybrid}, {name: messages, set: {preset: fasst}}]\n"

// TestRunOfSeveralSystems: run runs each, compares them, and writes a row for each.
func TestRunOfSeveralSystems(t *testing.T) {
	file, csv := two(t, twoSystems), filepath.Join(t.TempDir(), "r.csv")
	var r result.Systems
	decode(t, ok(t, with([]string{"run", file, "--json", "--csv", csv}, small...)...), &r)
	if len(r.Systems) != 2 || len(r.Comparison) != 1 || r.Systems[0].Name != "hybrid" || r.Systems[1].Spec["preset"] != "fasst" || r.Comparison[0].B != "messages" {
		t.Fatalf("%+v", r.Comparison)
	}
	b, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(b)), "\n"); len(lines) != 3 || column(t, lines, "system") != "hybrid" || column(t, lines, "spec.workload") != "ycsb" {
		t.Errorf("%.300s", b)
	}
	text := ok(t, with([]string{"run", file, "--set", "workload.keys=3000"}, small...)...)
	for _, want := range []string{"hybrid ", "messages ", "preset ", "drtm+h", "throughput "} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	for i := range r.Systems {
		if r.Systems[i].Spec["workload.theta"] != 0.0 {
			t.Errorf("%v", r.Systems[i].Spec["workload.theta"])
		}
	}
	if same := ok(t, with([]string{"run", file, "--preset", "farm"}, small...)...); !strings.Contains(same, "no knob differs") {
		t.Errorf("a preset for all:\n%s", same)
	}
	if out := ok(t, "specs", file); out != "name: two\nworkload: ycsb\nset:\n  workload.keys: 2000\n  workload.theta: 0\nsystems:\n  - name: hybrid\n  - name: messages\n    preset: fasst\n" {
		t.Errorf("written as\n%s", out)
	}
}

// TestOneSystemIsNeeded: what is about one system refuses several in a line.
func TestOneSystemIsNeeded(t *testing.T) {
	file := two(t, twoSystems)
	for want, args := range map[string][]string{
		"systems = hybrid, messages: one system is needed here, the spec lists 2; run and up": {"sweep", file, "--over", "coroutines=1,2"},
		"systems = hybrid, messages: one system":                                              {"trace", file, "-o", filepath.Join(t.TempDir(), "t.json")},
		"systems = hybrid, messages: ":                                                        {"knobs", file},
		"seeds = 3: is for one system, the spec lists 2":                                      {"run", file, "--seeds", "3"},
		"history = h.edn: is for one system, the spec lists 2":                                {"run", file, "--history", "h.edn"},
		"session = s: records one system, the spec lists 2":                                   {"up", file, "--listen", "127.0.0.1:0", "--session", "s"},
		"system messages: replicas = 9: must be from 1 to 8":                                  {"run", two(t, strings.Replace(twoSystems, "{preset: fasst}", "{replicas: 9}", 1))},
		"system messages: replicas = 8: more than":                                            {"up", two(t, strings.Replace(twoSystems, "{preset: fasst}", "{replicas: 8}", 1)), "--listen", "127.0.0.1:0"},
		"two systems have this name":                                                          {"run", two(t, strings.Replace(twoSystems, "hybrid", "messages", 1))},
	} {
		code, out, errs := call(args...)
		if code != misused || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, wrote %q, said %q; want 2 and a line with %q", args, code, out, errs, want)
		}
	}
}

// TestUpOfSeveralSystems: up starts all of them, with the settings of the command line in each.
func TestUpOfSeveralSystems(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	done := make(chan int, 1)
	go func() {
		done <- runUntil(ctx, with([]string{"up", two(t, twoSystems), "--listen", addr, "--pace", "1ms/s", "--seed", "9"}, small...), io.Discard, io.Discard)
	}()
	get := func(path string, v any) bool {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(v) == nil
	}
	var list []struct {
		Sys, Name string
		VirtualNS int64 `json:"virtual_ns"`
	}
	for end := time.Now().Add(time.Minute); len(list) < 2 || list[0].VirtualNS == 0 || list[1].VirtualNS == 0; time.Sleep(10 * time.Millisecond) {
		if get("/api/systems", &list); time.Now().After(end) {
			t.Fatalf("after a minute %+v", list)
		}
	}
	if list[0].Sys+list[0].Name+list[1].Sys+list[1].Name != "ahybridbmessages" {
		t.Errorf("%+v", list)
	}
	for _, sys := range []string{"a", "b"} {
		var s experiment.Spec
		if !get("/api/spec?sys="+sys, &s) || fmt.Sprint(s.Set["seed"]) != "9" || s.Set["check"] != "sampled" || s.Workload != "ycsb" {
			t.Errorf("%s: %+v", sys, s)
		}
	}
	interrupt()
	if code := <-done; code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestOneSystemOfSeveral: --system runs one of those that a spec lists, as if the spec had it alone.
func TestOneSystemOfSeveral(t *testing.T) {
	file := two(t, twoSystems)
	var one result.Result
	decode(t, ok(t, with([]string{"run", file, "--system", "messages", "--json"}, small...)...), &one)
	if one.Spec["preset"] != "fasst" || fmt.Sprint(one.Spec["workload.keys"]) != "2000" {
		t.Errorf("preset %v with %v keys", one.Spec["preset"], one.Spec["workload.keys"])
	}
	for arg, says := range map[string]string{file: "it has hybrid, messages", "registers": "the spec is of one system"} { // order-free: cases of their own
		if code, _, stderr := call("run", arg, "--system", "other"); code != misused || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s, want %q", arg, code, stderr, says)
		}
	}
}

// TestBesideRunsTheBaseToo: the spec without what the flags set is one system and with it the other; how long is measured is that of both.
func TestBesideRunsTheBaseToo(t *testing.T) {
	var r result.Systems
	args := []string{"run", "--beside", "--json", "--preset", "fasst", "--set", "coroutines=2", "--set", "duration_ns=300us", "--set", "warmup_ns=50us", "--seed", "3"}
	decode(t, ok(t, args...), &r)
	if len(r.Systems) != 2 || len(r.Comparison) != 1 {
		t.Fatalf("%d systems, %d comparisons", len(r.Systems), len(r.Comparison))
	}
	for i, want := range []map[string]any{{"preset": "drtm+h", "coroutines": 8.0}, {"preset": "fasst", "coroutines": 2.0}} {
		want["duration_ns"], want["seed"] = 300_000.0, 3.0
		for name, v := range want { // order-free: each knob once
			if got := r.Systems[i].Spec[name]; fmt.Sprint(got) != fmt.Sprint(v) {
				t.Errorf("system %s has %s %v, want %v", r.Systems[i].Name, name, got, v)
			}
		}
	}
	for says, args := range map[string][]string{ // order-free: cases of their own
		"no knob is set": {"run", "--beside", "--set", "duration_ns=1ms"},
		"for one system": {"run", "rivals", "--beside", "--set", "coroutines=2"},
	} {
		if code, _, stderr := call(args...); code != misused || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s, want %q", args, code, stderr, says)
		}
	}
}

// TestWhyOfSeveralSystems: why measures each, and says what the second depends on more or less than the first.
func TestWhyOfSeveralSystems(t *testing.T) {
	code, out, errs := call(append([]string{"why", two(t, twoSystems), "--seeds", "2", "--json"}, small...)...)
	var c batch.CausesOfSystems
	if err := json.Unmarshal([]byte(out), &c); code != 0 || err != nil {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	if len(c.Systems) != 2 || c.Systems[1].Name != "messages" || c.Systems[1].Causes == nil || len(c.Differences) != 1 || !strings.HasPrefix(c.Differences[0].Text, "hybrid is ") || len(c.Differences[0].Rows) < 5 {
		t.Errorf("%.600s", out)
	}
}
