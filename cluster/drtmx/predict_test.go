package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/engine/code"
)

type predicted struct {
	Rows []struct {
		ID, Figure, Verdict string
		Published           *string
		Predictions         []struct{ Name, Scale, Code, Value, Command string }
		Error               *float64
		Counted             bool
	}
	Numbers, Orders int
	Columns         []struct {
		Name    string
		Numbers int
	}
}

// A number stands beside the published one, and what is computed is written down.
func TestPredictComputesAndRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept.json")
	run := func(more ...string) (p predicted) {
		t.Helper()
		decode(t, ok(t, with([]string{"predict", "--run", "--chapter", "3", "--figures", "3-22a", "--record", file, "--json"}, more...)...), &p)
		return p
	}
	p := run("--as", "one")
	numbers := 0
	for _, r := range p.Rows {
		own := r.Predictions[0] // what is recorded follows
		if own.Name == "first" {
			own = r.Predictions[1]
		}
		if r.Figure != "3-22a" || (r.Error == nil) != (r.Published == nil) || r.Verdict == "" ||
			own.Name != "one" || own.Scale != "quick" || own.Code == code.Build() || own.Command != "drtmx predict --run --figures 3-22a --scale quick" {
			t.Errorf("%+v", r)
		}
		if r.Published != nil {
			numbers++
		}
	}
	if numbers < 8 {
		t.Errorf("%d of %d rows are published: %+v", numbers, len(p.Rows), p)
	}
	run("--as", "two")
	var kept predicted
	decode(t, ok(t, "predict", "--chapter", "3", "--with", file, "--json"), &kept)
	names := map[string]bool{}
	for _, c := range kept.Columns {
		names[c.Name] = true
	}
	if !names["one"] || !names["two"] {
		t.Errorf("columns are lost: %+v", kept.Columns)
	}
}

// What is recorded is printed without a run: every number and order of chapter 4, with its first prediction.
func TestPredictPrintsWhatIsRecorded(t *testing.T) {
	var p predicted
	decode(t, ok(t, "predict", "--chapter", "4", "--json"), &p)
	counted := map[string]bool{}
	for _, r := range p.Rows {
		if !r.Counted {
			continue
		}
		counted[r.ID] = true
		if n := len(r.Predictions); n < 2 || r.Predictions[0].Name != "first" || r.Predictions[n-1].Name != "now" {
			t.Errorf("%+v", r)
		}
	}
	if len(counted) != 35+16 {
		t.Errorf("%d numbers and orders", len(counted))
	}
	text := ok(t, "predict", "--figures", "4-9a")
	for _, says := range []string{"f4-9a-farm", "1.13..1.99", "What cannot be explained"} {
		if !strings.Contains(text, says) {
			t.Errorf("no %q in\n%s", says, text)
		}
	}
	if strings.Contains(text, "f4-9b") {
		t.Errorf("other figures:\n%s", text)
	}
}

func TestPredictIsMisused(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"chapter = 7": {"--chapter", "7"}, "figures = 2-4a": {"--figures", "2-4a"}, "scale = huge": {"--scale", "huge"}, "names nothing": {"--figures", ""}, "figures = 4-9a": {"--chapter", "3", "--figures", "4-9a"},
		"add --run": {"--record", broken}, "as = first": {"--run", "--as", "first"}, "adds to a file": {"--run", "--record", "-"}, "no such file": {"--with", broken + "x"},
	} {
		if code, _, stderr := call(append([]string{"predict"}, args...)...); code != misused || !strings.Contains(stderr, says) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	for says, args := range map[string][]string{"is no table": {"--with", broken}, "no table": {"--run", "--record", broken}} {
		if code, _, stderr := call(append([]string{"predict"}, args...)...); code != failed || !strings.Contains(stderr, says) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
}
