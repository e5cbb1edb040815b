package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// TestUpIsReplayed is a live session from its start over HTTP to its replay.
func TestUpIsReplayed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	file := filepath.Join(t.TempDir(), "s.jsonl")
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	done := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		done <- runUntil(ctx, with([]string{"up", "--listen", addr, "--session", file, "--pace", "1ms/s"}, tiny...), io.Discard, &errs)
	}()
	ask := func(method, path, body string) (status int, answer []byte) {
		req, _ := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, nil
		}
		defer resp.Body.Close()
		answer, _ = io.ReadAll(resp.Body)
		return resp.StatusCode, answer
	}
	// It waits for windows, not for the wall clock: a loaded machine is slow.
	reaches := func(window int) {
		var s struct{ Index int }
		for end := time.Now().Add(time.Minute); s.Index < window; time.Sleep(10 * time.Millisecond) {
			if _, b := ask("GET", "/api/state", ""); b != nil {
				json.Unmarshal(b, &s)
			}
			if time.Now().After(end) {
				t.Fatalf("window %d is not there after a minute", window)
			}
		}
	}
	for i, body := range []string{`{"coroutines": 3}`, `{"phase.validation": "two-sided"}`, `{"preset": "fasst"}`, `{"nodez": 3}`, `{"preset": "drtm+h"}`} {
		want := 200
		if i == 3 {
			want = 400
		}
		reaches(2*i + 1)
		if got, _ := ask("PATCH", "/api/knobs", body); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	reaches(11)
	interrupt()
	if code := <-done; code != success {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var r struct {
		OK      bool
		Changes int
		Windows int
		Why     string
	}
	decode(t, ok(t, "replay", "--json", file), &r)
	if !r.OK || r.Changes < 4 || r.Windows < 10 {
		t.Errorf("%+v", r)
	}
	page := filepath.Join(t.TempDir(), "session.html")
	if text := ok(t, "replay", file, "--html", page); !strings.Contains(text, "same digest") {
		t.Error(text)
	}
	for _, want := range []string{code.Build(), "<!doctype html>", "same digest", "phase.validation", "coroutines: "} {
		if b, err := os.ReadFile(page); err != nil || !bytes.Contains(b, []byte(want)) {
			t.Errorf("%v: no %q in the session's page", err, want)
		}
	}
	history := filepath.Join(t.TempDir(), "session.edn")
	ok(t, "replay", "--history", history, file)
	if text, err := os.ReadFile(history); err != nil || bytes.Count(text, []byte(":type :ok")) < 10 {
		t.Errorf("the session's history: %v, %.200s", err, text)
	}
	// A session that was tampered with is noticed: exit 1.
	b, _ := os.ReadFile(file)
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	os.WriteFile(bad, bytes.Replace(b, []byte(`"coroutines":3`), []byte(`"coroutines":4`), 1), 0o644)
	if code, _, errs := call("replay", bad); code != failed || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d: %s", code, errs)
	}
	other := filepath.Join(t.TempDir(), "other.jsonl")
	os.WriteFile(other, bytes.Replace(b, []byte(code.Build()), []byte("src-0"), 1), 0o644)
	if code, _, errs := call("replay", other); code != misused || !strings.Contains(errs, "recorded by code src-0") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// unrecordable is a system whose changes cannot be written to a session.
type unrecordable struct{ system.System }

func (u unrecordable) Apply(a engine.Accepted, by string) (result.Change, error) {
	c, err := u.System.Apply(a, by)
	c.Set = experiment.Knobs{"coroutines": math.NaN()}
	return c, err
}

// Whoever watches the terminal learns at once that the session is no longer written,
// and that the command has failed in the end.
func TestUpSaysThatTheSessionIsLost(t *testing.T) {
	f := upFlags{session: filepath.Join(t.TempDir(), "s.jsonl")}
	spec := experiment.Spec{Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "cache.bytes": "1MB"}}
	open := func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		s, err := engine.OpenWith(ctx, spec, progress)
		return unrecordable{s}, err
	}
	agent, err := agent.New(spec, agent.Options{Paused: true, Session: f.session, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 10)
	say := func(format string, a ...any) { said <- fmt.Sprintf(format, a...) }
	err = f.serve(context.Background(), agent, func(ctx context.Context) error {
		if _, err := agent.Set(ctx, "a", experiment.Knobs{"coroutines": 1}, "page"); err != nil {
			return err
		}
		if line := <-said; !strings.HasPrefix(line, "session: ") || !strings.Contains(line, "the cluster runs on") || strings.Contains(line, "\n") {
			t.Errorf("said %q", line)
		}
		return nil
	}, say)
	if err == nil || !strings.Contains(err.Error(), "session: ") {
		t.Errorf("the end says %v", err)
	}
	if len(said) > 0 {
		t.Errorf("said as well: %q", <-said)
	}
}

func TestUpEndsByItself(t *testing.T) {
	ok(t, with([]string{"up", "--listen", "127.0.0.1:0", "--for", "100ms"}, tiny...)...)
}

func TestPageOfAnyAddressHasAName(t *testing.T) {
	for _, c := range []struct {
		addr  string
		hosts []string
		want  string
	}{
		{"127.0.0.1:7070", nil, "127.0.0.1:7070"},
		{"192.0.2.1:7070", []string{"lab"}, "192.0.2.1:7070"},
		{"0.0.0.0:7070", nil, "localhost:7070"},
		{"[::]:7070", nil, "localhost:7070"},
		{"[::]:7070", []string{"lab.example:80"}, "lab.example:7070"},
		{"[::]:7070", []string{"fd00::7"}, "[fd00::7]:7070"},
		{"[::]:7070", []string{"[fd00::7]"}, "[fd00::7]:7070"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := pageHost(addr, c.hosts); got != c.want {
			t.Errorf("%s, hosts %v: %s, want %s", c.addr, c.hosts, got, c.want)
		}
	}
}
