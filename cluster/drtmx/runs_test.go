package main

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/result"
)

// storeOf gives a test a run store of its own.
func storeOf(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs.db")
	t.Setenv("XDG_DATA_HOME", filepath.Dir(file))
	t.Setenv(runs.FileVariable, "")
	return file
}

// listed are the kept runs as drtmx runs --json prints them, the latest first.
func listed(t *testing.T, args ...string) (out []struct {
	ID, Kind, Form, About, Note, Workload, Preset, Digest, Code string
	Seed                                                        *int64
	Points                                                      int
	Throughput                                                  *float64
	Checks                                                      *bool
	AtMS                                                        int64 `json:"at_ms"`
}) {
	t.Helper()
	decode(t, ok(t, with([]string{"runs", "--json"}, args...)...), &out)
	return out
}

// What is kept is what was printed, and nothing is kept that nobody asked for.
func TestRunsAreKeptWhenAsked(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"run", "--json"}, tiny...)...)
	if list := listed(t); len(list) != 0 {
		t.Fatalf("a run was kept without being asked for: %+v", list)
	}
	printed := ok(t, with([]string{"run", "--json", "--keep"}, tiny...)...)
	noted := ok(t, with([]string{"run", "--json", "--note", "the second"}, tiny...)...)
	seeds := ok(t, with([]string{"run", "--json", "--keep", "--seeds", "2"}, tiny...)...)
	code, _, errs := call(with([]string{"run", "--keep"}, tiny...)...)
	if code != success || !strings.Contains(errs, "kept as r4; drtmx runs show r4") {
		t.Errorf("exit %d: %s", code, errs)
	}
	list := listed(t)
	if len(list) != 4 || list[2].ID != "r2" || list[2].Note != "the second" || list[1].Points != 2 || list[3].Workload != "smallbank" || list[3].Preset != "drtm+h" {
		t.Fatalf("%+v", list)
	}
	var r result.Result
	decode(t, printed, &r)
	if k := list[3]; k.Digest != r.Digest || *k.Throughput != r.Throughput || k.Code != r.Code || *k.Seed != 1 || *k.Checks != !r.Checks.Failed() || !strings.Contains(k.About, "coroutines=2") {
		t.Errorf("%+v", k)
	}
	for id, want := range map[string]string{"r1": printed, "r2": noted, "r3": seeds} {
		if got := ok(t, "runs", "show", id, "--json"); got != want {
			t.Errorf("%s is not what was printed: %d bytes, not %d", id, len(got), len(want))
		}
	}
	var second result.Result
	decode(t, ok(t, "runs", "show", "r3.2", "--json"), &second)
	if fmt.Sprint(second.Spec.Value("seed")) != "2" {
		t.Errorf("r3.2 has seed %v", second.Spec.Value("seed"))
	}
	text := ok(t, "runs", "show", "r1")
	for _, want := range []string{"coroutines=2", "smallbank drtm+h val@1", r.Digest, "drtmx run --preset drtm+h"} {
		if !strings.Contains(text, want) {
			t.Errorf("show does not say %q:\n%s", want, text)
		}
	}
	ok(t, "runs", "note", "r1", "now with a note")
	if list := listed(t, "--note", "WITH A"); len(list) != 1 || list[0].ID != "r1" {
		t.Errorf("%+v", list)
	}
}

func TestRunsOfANamedStore(t *testing.T) {
	storeOf(t)
	file := filepath.Join(t.TempDir(), "lab.db")
	ok(t, with([]string{"run", "--runs", file}, tiny...)...)
	if list := listed(t); len(list) != 0 {
		t.Errorf("%d in the user's own store", len(list))
	}
	if list := listed(t, "--runs", file); len(list) != 1 {
		t.Errorf("%d in the named one", len(list))
	}
	t.Setenv(runs.FileVariable, file)
	ok(t, with([]string{"run"}, tiny...)...)
	if list := listed(t); len(list) != 2 {
		t.Errorf("%d in that of the environment", len(list))
	}
}

// A sweep is kept without being asked for, once for all times, and its points are those of the cache.
func TestSweepsAreKept(t *testing.T) {
	storeOf(t)
	sweep := with([]string{"sweep", "--json", "--over", "coroutines=1,2", "--seeds", "2"}, tiny...)
	printed := ok(t, sweep...)
	ok(t, with(sweep, "--note", "twice")...)
	ok(t, with([]string{"sweep", "--over", "threads=1,2"}, tiny...)...)
	list := listed(t)
	if len(list) != 2 || list[1].ID != "r1" || list[1].Kind != "sweep" || list[1].Note != "twice" || list[1].Points != 4 || !strings.Contains(list[1].About, "over coroutines, 2 points") {
		t.Fatalf("%+v", list)
	}
	var was, is batch.SweepResult
	decode(t, printed, &was)
	decode(t, ok(t, "runs", "show", "r1", "--json"), &is)
	if len(is.Points) != 2 || len(is.Points[1].Runs) != 2 || is.Points[1].Runs[1].Digest != was.Points[1].Runs[1].Digest {
		t.Errorf("%+v", is)
	}
	if text := ok(t, "runs", "show", "r1"); !strings.Contains(text, "latency_us.p50") {
		t.Error(text)
	}
	ok(t, "runs", "gc", "--older", "0d", "--kind", "run", "--points")
	code, _, errs := call("runs", "show", "r1")
	if code != success || !strings.Contains(errs, "4 of 4 results have left the cache") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestFiguresAreKept(t *testing.T) {
	storeOf(t)
	ok(t, "figure", "3-12a", "--note", "curve")
	list := listed(t, "--kind", "figure")
	if len(list) != 1 || list[0].Note != "curve" || !strings.HasPrefix(list[0].About, "3-12a quick: claims hold") || list[0].Digest == "" {
		t.Fatalf("%+v", list)
	}
	if text := ok(t, "runs", "show", "r1"); !strings.Contains(text, "Figure 3-12a") {
		t.Error(text)
	}
	again := ok(t, "figure", "3-12a", "--json")
	if kept := ok(t, "runs", "show", "r1", "--json"); kept != again {
		t.Errorf("not what was printed: %d bytes, not %d", len(kept), len(again))
	}
	if now := listed(t); len(now) != 1 || now[0].Digest != list[0].Digest || now[0].Note != "curve" {
		t.Errorf("%+v", now)
	}
}

func TestRunsSideBySide(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
	ok(t, with([]string{"run", "--keep", "--set", "phase.commit=two-sided"}, tiny...)...)
	ok(t, with([]string{"run", "--keep", "--seeds", "2"}, tiny...)...)
	text := ok(t, "runs", "compare", "r1", "r2")
	if same := ok(t, "compare", "r1", "r2"); same != text {
		t.Errorf("compare says of kept runs\n%s", same)
	}
	if !strings.Contains(text, "phase.commit") || !strings.Contains(text, "throughput") {
		t.Error(text)
	}
	var c result.Comparison
	decode(t, ok(t, "runs", "compare", "r1", "r3.1", "--json"), &c)
	if len(c.Spec) != 0 || c.A.Digest != c.B.Digest {
		t.Errorf("the same run differs: %+v", c.Spec)
	}
	var seeds result.Comparison // by the means of the seeds
	decode(t, ok(t, "runs", "compare", "r1", "r3", "--json"), &seeds)
	if len(seeds.Spec) != 0 || len(seeds.Metrics) == 0 || seeds.Metrics[0].B == seeds.Metrics[0].A {
		t.Errorf("one seed against two: %+v, %+v", seeds.Spec, seeds.Metrics)
	}
	ok(t, with([]string{"sweep", "--over", "coroutines=1,2"}, tiny...)...)
	code, _, errs := call("runs", "compare", "r1", "r4")
	if code != misused || !strings.Contains(errs, "r4.1") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestRunsInSQLAndAsTables(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"run", "--note", "a"}, tiny...)...)
	ok(t, with([]string{"run", "--note", "b", "--seeds", "2"}, tiny...)...)
	if text := ok(t, "runs", "query", "SELECT id, note, spec ->> '$.nodes' AS nodes FROM runs ORDER BY id"); text != "id  note  nodes\n1   a     3\n2   b     3\n" {
		t.Errorf("%q", text)
	}
	var rows []map[string]any
	decode(t, ok(t, "runs", "query", "--json", "SELECT run, n, result ->> '$.commits' AS commits FROM results ORDER BY run, n"), &rows)
	if len(rows) != 3 || rows[2]["n"] != 2. || rows[0]["commits"] != rows[1]["commits"] {
		t.Errorf("%v", rows)
	}
	if text := ok(t, "runs", "query", "--csv", "-", "SELECT note FROM runs WHERE note = 'a'"); text != "note\na\n" {
		t.Errorf("%q", text)
	}
	if code, _, errs := call("runs", "query", "DELETE FROM runs"); code != misused || !strings.Contains(errs, "may only read") {
		t.Errorf("exit %d: %s", code, errs)
	}
	table, err := csv.NewReader(strings.NewReader(ok(t, "runs", "export", "--csv", "-"))).ReadAll()
	if err != nil || len(table) != 4 || table[0][0] != "run" || table[1][0] != "r2" || table[3][0] != "r1" {
		t.Fatalf("%.300v, %v", table, err)
	}
	file := filepath.Join(t.TempDir(), "x.parquet")
	ok(t, "runs", "export", "--parquet", file, "--note", "b")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw))); err != nil || f.NumRows() != 2 {
		t.Errorf("%v", err)
	}
}

func TestRunsAreRemoved(t *testing.T) {
	storeOf(t)
	for _, note := range []string{"keep me", "", ""} {
		ok(t, with([]string{"run", "--keep", "--note", note}, tiny...)...)
	}
	if text := ok(t, "runs", "gc", "--older", "0d", "--keep-notes", "--dry-run"); !strings.Contains(text, "2 kept runs and 0 points of the cache would be removed") || len(listed(t)) != 3 {
		t.Error(text)
	}
	if text := ok(t, "runs", "gc", "r2"); !strings.Contains(text, "1 kept runs") {
		t.Error(text)
	}
	ok(t, "runs", "gc", "--older", "1h")
	if list := listed(t); len(list) != 2 {
		t.Errorf("%d left", len(list))
	}
	ok(t, "runs", "gc", "--older", "0h", "--keep-notes")
	if list := listed(t); len(list) != 1 || list[0].Note != "keep me" {
		t.Errorf("%+v", list)
	}
}

func TestRunsAreAskedForWell(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"run", "--keep"}, tiny...)...)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"runs", "nothing"}, "no such command"}, {[]string{"runs", "--kind", "x"}, "must be run, sweep, figure, session"}, {[]string{"runs", "--since", "soon"}, "must be how long ago"},
		{[]string{"runs", "--limit", "-1"}, "must not be below 0"}, {[]string{"runs", "show", "1"}, "such as r12"}, {[]string{"runs", "compare", "r1"}, "takes two ids"}, {[]string{"runs", "query", "SELECT 1; SELECT 2"}, "more than one statement"},
		{[]string{"runs", "query", "SELECT nonsense FROM runs"}, "nonsense"}, {[]string{"runs", "export"}, "needs --csv"}, {[]string{"runs", "gc", "--kind", "run"}, "--older"}, {[]string{"runs", "gc", "--older", "x"}, "such as 30d"},
		{[]string{"runs", "gc", "r1", "--older", "1d"}, "not both"}, {[]string{"runs", "gc", "r1.1"}, "is a part of r1"}, {[]string{"runs", "note", "r1.1", "x"}, "no note of its own"}, {[]string{"run", "--note", strings.Repeat("x", 2000)}, "is longer than"},
		{[]string{"runs", "--runs", ""}, "must name a file"},
	} {
		code, out, errs := call(c.args...)
		if code != misused || !strings.Contains(errs, c.want) || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", c.args, code, errs)
		}
	}
	for _, args := range [][]string{{"runs", "show", "r9"}, {"runs", "show", "r1.2"}, {"runs", "show", "r1", "--session", filepath.Join(t.TempDir(), "s")}, {"runs", "gc", "r9"}, {"runs", "note", "r9", "x"}} {
		if code, _, errs := call(args...); code != failed || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}

// A store that cannot be used stops what was to be kept before it runs; of a sweep only where it was named.
func TestStoresThatAreRefused(t *testing.T) {
	file := storeOf(t)
	ok(t, "runs", "--runs", file)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	refused := "was written by a newer drtmx: schema 99"
	for _, args := range [][]string{{"runs", "--runs", file}, with([]string{"run", "--runs", file}, tiny...), with([]string{"sweep", "--over", "threads=1", "--runs", file}, tiny...), {"figure", "3-12a", "--runs", file}} {
		if code, out, errs := call(args...); code != failed || !strings.Contains(errs, refused) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	own := filepath.Join(filepath.Dir(file), "drtmx", "runs.db") // the user's own
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, own); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(with([]string{"sweep", "--over", "threads=1"}, tiny...)...)
	if code != success || !strings.Contains(errs, refused) || !strings.Contains(errs, "every point is computed") || !strings.Contains(out, "throughput") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if text := ok(t, "doctor"); !strings.Contains(text, refused) {
		t.Error(text)
	}
}

// A live system is kept when it ends, and its recording runs again.
func TestSessionsAreKept(t *testing.T) {
	storeOf(t)
	ok(t, with([]string{"up", "--for", "1s", "--listen", "127.0.0.1:0", "--pace", "2ms/s", "--note", "live"}, tiny...)...)
	list := listed(t)
	if len(list) != 1 || list[0].Kind != "session" || list[0].Note != "live" || !strings.Contains(list[0].About, "ms, 0 changes") {
		t.Fatalf("%+v", list)
	}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	ok(t, "runs", "show", "r1", "--session", file)
	if text := ok(t, "replay", file); !strings.Contains(text, fmt.Sprint("digest ", list[0].Digest)) {
		t.Errorf("replayed to another digest than %s: %s", list[0].Digest, text)
	}
}
