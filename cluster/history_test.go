package cluster

import (
	"drtmx/cluster/session"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHistory: a notebook's cluster writes what it does from the beginning on, and a session's replay writes the same.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	live := filepath.Join(dir, "live.jsonl")
	c := Up(tiny()).History(live)
	fails(t, "is written to", func() { c.History(filepath.Join(dir, "again.edn")) })
	c.Run(100 * time.Microsecond)
	c.Set("phase.commit", "two-sided")
	c.Run(100 * time.Microsecond)
	late := Up(tiny())
	late.Run(10 * time.Microsecond)
	fails(t, "a history begins at virtual time 0", func() { late.History(filepath.Join(dir, "late.edn")) })
	fails(t, "must end in .jsonl", func() { Up(tiny()).History(filepath.Join(dir, "x.json")) })
	recorded, err := c.Client().Session()
	if err != nil {
		t.Fatal(err)
	}
	r := c.Finish()
	lines := read(t, live)
	if h := r.Raw.History; h == nil || h.Error != "" || int(h.Attempts) != len(lines) || len(lines) < 100 {
		t.Errorf("%+v, %d lines", h, len(lines))
	}
	var again strings.Builder
	replayed, err := session.Replay(t.Context(), strings.NewReader(string(recorded)), session.ReplayOptions{History: &again, HistoryName: "again.jsonl"})
	if err != nil || !replayed.OK {
		t.Fatal(err, replayed)
	}
	// The replay ends where the session was taken, the notebook's file after its drain.
	got := strings.Split(strings.TrimSpace(again.String()), "\n")
	if len(got) < 100 || len(got) > len(lines) || strings.Join(got, "\n") != strings.Join(lines[:len(got)], "\n") {
		t.Errorf("%d lines, the notebook wrote %d", len(got), len(lines))
	}
}

// TestHistoryEndsWithItsSystem: a reset or a close leaves a whole file.
func TestHistoryEndsWithItsSystem(t *testing.T) {
	for name, end := range map[string]func(*Cluster){
		"close": func(c *Cluster) { c.Close() },
		"reset": func(c *Cluster) { c.Reset(nil) },
	} {
		file := filepath.Join(t.TempDir(), name+".edn")
		c := Up(tiny()).History(file)
		c.Run(50 * time.Microsecond)
		end(c)
		lines := read(t, file)
		if last := lines[len(lines)-1]; len(lines) < 50 || !strings.HasPrefix(last, "{:index ") || !strings.HasSuffix(last, "}") {
			t.Errorf("%s: %d lines, the last is %s", name, len(lines), last)
		}
	}
}

func read(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
