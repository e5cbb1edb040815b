package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"drtmx/engine/experiment"
)

func ptr[T any](x T) *T { return &x }

// sampleRun is a kept run with all its numbers.
func sampleRun(i int) Kept {
	return Kept{AtMS: 1_700_000_000_000 + int64(i)*1000, Kind: Kinds[i%4], Form: "run", About: "smallbank drtm+h", Workload: []string{"smallbank", "tpcc", "ycsb"}[i%3], Preset: []string{"drtm+h", "farm"}[i%2],
		Profile: "val@1", Seed: ptr(int64(i)), Code: "src-1", Digest: fmt.Sprintf("%016x", i), WallMS: 12, Note: fmt.Sprintf("note %d", i),
		Numbers: Numbers{Throughput: ptr(1.5e6), ThroughputCI95: ptr(0.01), P50US: ptr(10.5), P99US: ptr(99.), AbortRate: ptr(0.02), Steady: ptr(true), Checks: ptr(true)},
		Spec:    json.RawMessage(`{"nodes":4}`), Document: json.RawMessage(`{"x":1}`)}
}

func TestKeepAndFind(t *testing.T) {
	s := open(t, 0)
	want := sampleRun(3)
	body := []byte(`{"digest":"d","latency_us":{"p99":7.5},"latency_histogram":{"n":1}}`)
	id, err := s.Keep(want, []Member{{key(t, "m"), body}, {key(t, "cached"), nil}})
	if err != nil {
		t.Fatal(err)
	}
	if id.String() != "r1" {
		t.Errorf("the first is %v", id)
	}
	got, err := s.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	want.ID, want.Points = id, 2
	if a, b := fmt.Sprintf("%+v", flat(t, got)), fmt.Sprintf("%+v", flat(t, &want)); a != b || string(got.Spec) != string(want.Spec) || string(got.Document) != string(want.Document) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	all, err := s.Members(id)
	if err != nil || len(all) != 2 || !bytes.Equal(all[0], body) || all[1] != nil {
		t.Errorf("%q, %v", all, err)
	}
	if b, err := s.Member(id, 1); err != nil || !bytes.Equal(b, body) {
		t.Errorf("%q, %v", b, err)
	}
	for _, n := range []int{2, 3} {
		if _, err := s.Member(id, n); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("r1.%d", n)) {
			t.Errorf("run %d: %v", n, err)
		}
	}
	if _, err := s.Find(7); err == nil || !strings.Contains(err.Error(), "r7") {
		t.Error(err)
	}
	if err := s.Note(id, "better"); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Find(id); got.Note != "better" {
		t.Errorf("note %q", got.Note)
	}
	if err := s.Note(9, "x"); err == nil {
		t.Error("the note of nothing was set")
	}
	a, err := s.Query(context.Background(), "SELECT result ->> '$.latency_us.p99', histogram ->> '$.n' FROM results WHERE run = 1")
	if err != nil || len(a.Rows) != 1 || a.Rows[0][0] != 7.5 || a.Rows[0][1] != int64(1) {
		t.Errorf("%v, %v", a, err)
	}
}

func flat(t *testing.T, k *Kept) string {
	t.Helper()
	b, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A figure that is computed again takes its row, so that rows stay few; its note is not lost.
func TestTheSameFigureTakesItsRow(t *testing.T) {
	s := open(t, 0)
	k := sampleRun(1)
	k.Identity = "figure 4-9a"
	first, err := s.Keep(k, []Member{{key(t, 1), nil}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Keep(sampleRun(2), nil)
	if err != nil || other == first {
		t.Fatal(other, err)
	}
	k.Note, k.AtMS, k.Digest = "", k.AtMS+5, "again"
	again, err := s.Keep(k, []Member{{key(t, 2), nil}, {key(t, 3), nil}})
	if err != nil || again != first {
		t.Fatalf("%v, %v, want %v", again, err, first)
	}
	if got, err := s.Find(first); err != nil || got.Digest != "again" || got.Note != "note 1" || got.Points != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if list, err := s.List(Filter{}); err != nil || len(list) != 2 {
		t.Errorf("%d rows, %v", len(list), err)
	}
}

func TestParseID(t *testing.T) {
	for s, want := range map[string]string{"r12": "r12 0", "r1.3": "r1 3"} {
		id, n, err := ParseID(s)
		if got := fmt.Sprint(id, " ", n); got != want || err != nil {
			t.Errorf("%s is %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "r", "12", "r0", "r-1", "r1.", "r1.0", "r1.x", "r1.2.3", "R1", "r 1", "r9223372036854775808"} {
		if _, _, err := ParseID(s); !experiment.IsSpecError(err) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestFilters(t *testing.T) {
	s := open(t, 0)
	for i := range 24 {
		k := sampleRun(i)
		if i == 7 {
			k.Note = `100%_of "it"`
		}
		if _, err := s.Keep(k, nil); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.List(Filter{})
	if err != nil || len(all) != 24 || all[0].ID != 24 || all[23].ID != 1 {
		t.Fatalf("%d, %v", len(all), err)
	}
	at := func(i int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(i)*1000) }
	for i, c := range []struct {
		f    Filter
		want int
	}{{Filter{Kind: "run"}, countKind("run")}, {Filter{Kind: "session"}, countKind("session")}, {Filter{Workload: "tpcc"}, 8}, {Filter{Preset: "farm"}, 12}, {Filter{Workload: "tpcc", Preset: "farm"}, 4},
		{Filter{Since: at(20)}, 4}, {Filter{Until: at(3)}, 4}, {Filter{Note: "NOTE 2"}, 5}, {Filter{Note: `100%_of "`}, 1}, {Filter{Note: "1%9"}, 0}, {Filter{Limit: 3}, 3}, {Filter{Workload: "none"}, 0}} {
		list, err := s.List(c.f)
		if err != nil || len(list) != c.want {
			t.Errorf("%d: %d, want %d, %v", i, len(list), c.want, err)
		}
	}
}

func countKind(kind string) (n int) {
	for i := range 24 {
		if sampleRun(i).Kind == kind {
			n++
		}
	}
	return n
}

// Every list comes out of an index in its order: no pass over all rows, and nothing to sort.
func TestListsUseAnIndex(t *testing.T) {
	s := open(t, 0)
	for i, f := range []Filter{{}, {Limit: 50}, {Kind: "run"}, {Workload: "ycsb", Limit: 9}, {Preset: "farm"}, {Since: time.Now()}, {Kind: "run", Since: time.Now(), Note: "x"}, {Kind: "run", Workload: "ycsb", Preset: "farm"}} {
		text, args := f.query(columns)
		plan := planOf(t, s, text, args...)
		if strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "USING INDEX") {
			t.Errorf("%d: %s", i, plan)
		}
	}
	for _, text := range []string{"SELECT sum, body FROM points WHERE key = 'x'", "SELECT key FROM members WHERE run = 1 ORDER BY n", "SELECT sum(bytes) FROM points WHERE kept = 0", "SELECT id, bytes FROM points WHERE kept = 0 ORDER BY used, bytes, id"} {
		if plan := planOf(t, s, text); strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", text, plan)
		}
	}
	if plan := planOf(t, s, "SELECT * FROM runs ORDER BY note"); !strings.Contains(plan, "SCAN") || !strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("this test cannot fail: %s", plan)
	}
}

func planOf(t *testing.T, s *Store, text string, args ...any) string {
	t.Helper()
	rows, err := s.db.Query("EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		out = append(out, detail)
	}
	return strings.Join(out, "; ")
}

func TestQueriesOnlyRead(t *testing.T) {
	s := open(t, 0)
	if _, err := s.Keep(sampleRun(1), []Member{{key(t, 1), []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, text := range []string{"SELECT count(*) FROM runs", "SELECT 1;", "SELECT ';' -- ; x\n ; /* ; */", "WITH x(a) AS (SELECT 1) SELECT a FROM x", "VALUES (1)", "SELECT value FROM runs, json_each(spec)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3) SELECT i FROM n", `SELECT "it""s;" FROM (SELECT 1 AS "it""s;")`} {
		if _, err := s.Query(ctx, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	other := t.TempDir() + "/other.db"
	for _, text := range []string{"DELETE FROM runs", "UPDATE runs SET note = 'x'", "DROP TABLE runs", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)", "PRAGMA query_only = 0", "PRAGMA user_version = 9", "ATTACH '" + other + "' AS o", "VACUUM INTO '" + other + "'",
		"BEGIN", "SELECT load_extension('x')", "INSERT INTO runs (note) VALUES ('x') RETURNING id", "SELECT 1; DELETE FROM runs", "SELECT 1; SELECT 2", "", ";", "-- nothing", "SELEC 1", "SELECT nothing FROM runs"} {
		if a, err := s.Query(ctx, text); !experiment.IsSpecError(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", text, a, err)
		}
	}
	if n, err := s.List(Filter{}); err != nil || len(n) != 1 {
		t.Errorf("%d rows, %v", len(n), err)
	}
}

func TestCollect(t *testing.T) {
	s := open(t, 0)
	shared := key(t, "shared")
	body := bytes.Repeat([]byte("x"), 200_000)
	for i := range 6 {
		k := sampleRun(i)
		if i%2 == 0 {
			k.Note = ""
		}
		if _, err := s.Keep(k, []Member{{shared, body}, {key(t, i), body}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(key(t, "point"), body); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	until := time.UnixMilli(sampleRun(4).AtMS)
	old := Garbage{All: true, Filter: Filter{Until: until}, KeepNotes: true}
	old.Dry = true
	dry, err := s.Collect(ctx, old)
	if err != nil || len(dry.Runs) != 3 || dry.Bytes != 3*200_000 || dry.Points != 0 {
		t.Fatalf("%+v, %v", dry, err)
	}
	if list, _ := s.List(Filter{}); len(list) != 6 {
		t.Fatalf("a dry run removed %d", 6-len(list))
	}
	old.Dry = false
	wet, err := s.Collect(ctx, old)
	if err != nil || len(wet.Runs) != 3 || wet.Bytes != dry.Bytes || wet.File < 500_000 {
		t.Fatalf("%d runs, %d bytes, %d of the file, %v", len(wet.Runs), wet.Bytes, wet.File, err)
	}
	if b, err := s.Member(2, 1); err != nil || len(b) != len(body) {
		t.Errorf("a result that another run has was removed: %v", err)
	}
	all, err := s.Collect(ctx, Garbage{All: true, Filter: Filter{Until: time.Now().Add(time.Hour)}, Points: true})
	if err != nil || len(all.Runs) != 3 || all.Points != 1 || all.Bytes != 5*200_000 {
		t.Errorf("%d runs, %+v, %v", len(all.Runs), all, err)
	}
	if z, err := s.Size(); err != nil || z.Points != 0 || z.Runs != 0 || z.KeptBytes != 0 {
		t.Errorf("%+v, %v", z, err)
	}
	if id, err := s.Keep(sampleRun(1), nil); err != nil || id != 7 {
		t.Errorf("an id was given again: %v, %v", id, err)
	}
}

// No kept run goes because points take room.
func TestKeptRunsAreNotEvicted(t *testing.T) {
	s := open(t, 10_000)
	id, err := s.Keep(sampleRun(1), []Member{{key(t, "kept"), make([]byte, 9_000)}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := s.Put(key(t, i), make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := s.Member(id, 1); err != nil || len(b) != 9_000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func BenchmarkListOf10000(b *testing.B) {
	s := open(b, 0)
	fill(b, s, 10_000)
	b.ResetTimer()
	for range b.N {
		if list, err := s.List(Filter{}); err != nil || len(list) != 10_000 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkFirstFiftyOf10000(b *testing.B) {
	s := open(b, 0)
	fill(b, s, 10_000)
	b.ResetTimer()
	for range b.N {
		if list, err := s.List(Filter{Workload: "tpcc", Limit: 50}); err != nil || len(list) != 50 {
			b.Fatal(len(list), err)
		}
	}
}

// fill keeps n runs at once, each with a result of the usual size behind it.
func fill(b *testing.B, s *Store, n int) {
	b.Helper()
	tx, err := s.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		k := sampleRun(i)
		k.Spec = json.RawMessage(`{"x":"` + strings.Repeat("spec", 1500) + `"}`)
		if _, err := keep(tx, &k, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	file := b.TempDir() + "/runs.db"
	openFile(b, file, 0).Close()
	for range b.N {
		s, err := Open(Options{File: file})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkPut(b *testing.B) {
	s, body := open(b, 0), bytes.Repeat([]byte("0123456789"), 6000)
	for i := range b.N {
		if err := s.Put(key(b, i), body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s, body := open(b, 0), bytes.Repeat([]byte("0123456789"), 6000)
	if err := s.Put(key(b, 1), body); err != nil {
		b.Fatal(err)
	}
	k := key(b, 1)
	for range b.N {
		if _, ok := s.Get(k); !ok {
			b.Fatal("gone")
		}
	}
}

func BenchmarkKeep(b *testing.B) {
	s, body := open(b, 0), bytes.Repeat([]byte("0123456789"), 6000)
	for i := range b.N {
		if _, err := s.Keep(sampleRun(i), []Member{{key(b, i), body}}); err != nil {
			b.Fatal(err)
		}
	}
}
