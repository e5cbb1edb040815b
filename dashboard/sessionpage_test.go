package dashboard

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"drtmx/cluster"
	"drtmx/cluster/agent"
	"drtmx/cluster/session"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
)

// elsewhere finds what a browser would ask another machine for.
var elsewhere = regexp.MustCompile(`(?i)(src|href|action|data|poster)\s*=\s*["']?\s*(https?:)?//|url\(\s*["']?https?:|@import|\bfetch\(|XMLHttpRequest|<link|<iframe`)

// A session of a real cluster as a page has the lines, the card of its change, the knobs and the code
// version, and asks nobody for anything.
func TestSessionPageHoldsEverything(t *testing.T) {
	a, err := agent.New(experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 4, "window_ns": 20_000, "workload.accounts": 500}}, agent.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx := context.Background()
	step := func() {
		t.Helper()
		if err := a.Step(ctx, "a", 1_000_000); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if _, err := a.Set(ctx, "a", experiment.Knobs{"phase.validation": "two-sided"}, "page"); err != nil {
		t.Fatal(err)
	}
	step()
	s, err := sessionOf(ctx, a, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.HTML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{code.Build(), "phase.validation: one-sided → two-sided", "throughput", "✓", "session of system a, smallbank, drtm", s.Parts[0].Digest, "workload.accounts", "RNIC 1", "100 windows", "data:application/x-ndjson"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if at := elsewhere.FindString(text); at != "" {
		t.Errorf("it asks another machine: %s", at)
	}
	if s.Parts[0].Digest == "" {
		t.Error("no digest")
	}
}

// What a session says is text, wherever it comes from.
func TestSessionPageEscapes(t *testing.T) {
	const evil = `<script>alert(1)</script>`
	s := &SessionPage{Title: evil, Note: evil, Parts: []SessionPart{{Code: evil, Failed: evil, Events: []session.Event{{Kind: evil, By: evil, Text: evil, Set: experiment.Knobs{evil: evil}}}, Knobs: []experiment.KnobState{{Name: evil, Value: evil, Active: true}}}}}
	b, err := s.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), evil) {
		t.Error("markup of a session gets into the page")
	}
	if !strings.Contains(string(b), "No window has ended") {
		t.Error("an empty session does not say so")
	}
}

// A notebook writes the page of its cluster's session, and so does one that is attached to an agent.
func TestSessionPageFromANotebook(t *testing.T) {
	c := cluster.Up(experiment.Spec{Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "window_ns": 20_000, "workload.accounts": 500}})
	defer c.Close()
	c.Run(200 * time.Microsecond)
	file := filepath.Join(t.TempDir(), "session.html")
	if w := c.SessionHTML(file); w.Bytes == 0 || !strings.Contains(w.String(), file) {
		t.Error(w)
	}
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "10 windows") {
		t.Errorf("%v: %d bytes", err, len(b))
	}
	there, err := cluster.Dial(c.Dashboard().URL)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := there.SessionHTML(); err != nil || string(again) != string(b) {
		t.Errorf("%v: %d bytes over HTTP, %d here", err, len(again), len(b))
	}
}
