package runs

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func open(t testing.TB, limit int64) *Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "runs.db"), limit)
}

// openWith opens a store with the journal that it would have on another disk.
func openWith(file string, mode journal) (*Store, error) {
	return newStore(Options{File: file}, func(s *Store) error { return s.openAs(mode) })
}

func openFile(t testing.TB, file string, limit int64) *Store {
	t.Helper()
	s, err := Open(Options{File: file, LimitBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func key(t testing.TB, parts ...any) string {
	t.Helper()
	k, err := Key("code", parts...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeyIsOfValues(t *testing.T) {
	a := key(t, map[string]any{"nodes": 4, "preset": "drtm+h"}, 1)
	b := key(t, map[string]any{"preset": "drtm+h", "nodes": 4}, 1)
	if a != b {
		t.Error("the key depends on the order of a map")
	}
	for i, other := range []string{
		key(t, map[string]any{"nodes": 5, "preset": "drtm+h"}, 1),
		key(t, map[string]any{"nodes": 4, "preset": "drtm+h"}, 2),
		key(t, map[string]any{"nodes": 4, "preset": "drtm+h"}),
		key(t, "1", "2"),
	} {
		if other == a {
			t.Errorf("case %d has the key of another run", i)
		}
	}
	if key(t, "12", "3") == key(t, "1", "23") {
		t.Error("parts run into each other")
	}
	other, _ := Key("code2", map[string]any{"nodes": 4, "preset": "drtm+h"}, 1)
	if other == a {
		t.Error("the key does not depend on the code")
	}
	if _, err := Key("code", func() {}); err == nil {
		t.Error("a func has a key")
	}
}

func TestPutGet(t *testing.T) {
	s := open(t, 0)
	k := key(t, "x")
	if _, ok := s.Get(k); ok {
		t.Fatal("an empty store has a point")
	}
	body := []byte("{\"a\":1}\n{\"b\":2}\n")
	if err := s.Put(k, body); err != nil {
		t.Fatal(err)
	}
	got, ok := s.Get(k)
	if !ok || !bytes.Equal(got, body) {
		t.Fatalf("got %q, %v", got, ok)
	}
	if err := s.Put("../../x", body); err == nil {
		t.Error("a key that is a path is accepted")
	}
	if err := s.Put(k, make([]byte, EntryLimitBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("huge point: %v", err)
	}
}

func TestPutGetOfFiftyMegabytes(t *testing.T) {
	s := open(t, 0)
	big := bytes.Repeat([]byte("0123456789"), 5<<20)
	if err := s.Put(key(t, "big"), big); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Get(key(t, "big")); !ok || !bytes.Equal(got, big) {
		t.Errorf("%d bytes, %v", len(got), ok)
	}
}

func TestPointsOutliveTheStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b?c#d%20e", "runs.db") // what means something in an address
	s := openFile(t, file, 0)
	if err := s.Put(key(t, 1), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	if b, ok := openFile(t, file, 0).Get(key(t, 1)); !ok || string(b) != "one" {
		t.Errorf("%q, %v", b, ok)
	}
}

// What another program, or a disk, has changed is not taken for a result, and can be computed again.
func TestDamagedPointsAreAbsent(t *testing.T) {
	s := open(t, 0)
	k := key(t, "x")
	for name, change := range map[string]string{
		"cut":     "UPDATE points SET body = substr(body, 1, 5)",
		"empty":   "UPDATE points SET body = x''",
		"longer":  "UPDATE points SET body = body || 'x'",
		"flipped": "UPDATE points SET body = CAST('hellO world' AS BLOB)",
		"no sum":  "UPDATE points SET sum = x''",
	} {
		if err := s.Put(k, []byte("hello world")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.Exec(change); err != nil {
			t.Fatal(err)
		}
		if b, ok := s.Get(k); ok {
			t.Errorf("%s: read as %q", name, b)
		}
		var left int
		if err := s.db.QueryRow("SELECT count(*) FROM points").Scan(&left); err != nil || left != 0 {
			t.Errorf("%s: not removed: %v", name, err)
		}
	}
}

func TestPointsAreBounded(t *testing.T) {
	const limit = 20_000
	s := open(t, limit)
	first := key(t, "used")
	s.Put(first, make([]byte, 500))
	for i := range 100 {
		if err := s.Put(key(t, i), make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // looks older than the one in use
			if _, err := s.db.Exec("UPDATE points SET used = used - 3600000 WHERE key = ?", key(t, i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Millisecond) // in which the others were used
		s.Get(first)
		var total int64
		if err := s.db.QueryRow("SELECT sum(bytes) FROM points").Scan(&total); err != nil || total > limit {
			t.Fatalf("after %d points the store holds %d bytes, %v", i, total, err)
		}
	}
	if _, ok := s.Get(first); !ok {
		t.Error("the point in use was evicted")
	}
	if i, err := os.Stat(s.file); err != nil || i.Size() > 8*limit {
		t.Errorf("the file grew: %v, %v", i.Size(), err)
	}
}

func TestDoComputesOnce(t *testing.T) {
	s := open(t, 0)
	k := key(t, "x")
	var n atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			b, _, err := s.Do(k, func() ([]byte, error) {
				n.Add(1)
				time.Sleep(20 * time.Millisecond)
				return []byte("r"), nil
			})
			if err != nil || string(b) != "r" {
				t.Errorf("%q %v", b, err)
			}
		})
	}
	wg.Wait()
	if n.Load() != 1 {
		t.Errorf("computed %d times", n.Load())
	}
	if _, stored, _ := s.Do(k, func() ([]byte, error) { t.Error("computed again"); return nil, nil }); !stored {
		t.Error("not stored")
	}
	if _, _, err := s.Do(key(t, "y"), func() ([]byte, error) { return nil, fmt.Errorf("no") }); err == nil {
		t.Error("no error")
	}
	if b, _, err := s.Do(key(t, "y"), func() ([]byte, error) { return []byte("yes"), nil }); err != nil || string(b) != "yes" {
		t.Error("a failed computation was kept")
	}
}

func TestNilStoreKeepsNothing(t *testing.T) {
	var s *Store
	b, stored, err := s.Do("k", func() ([]byte, error) { return []byte("r"), nil })
	if string(b) != "r" || stored || err != nil {
		t.Error(string(b), stored, err)
	}
	if s.Put("k", nil) != nil || s.Path() != "" || s.Close() != nil {
		t.Error("a nil store does something")
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	os.WriteFile(plain, bytes.Repeat([]byte("not a database "), 1000), 0o644)
	newer := filepath.Join(dir, "newer.db")
	s := openFile(t, newer, 0)
	if _, err := s.db.Exec("PRAGMA user_version = 7"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE x (y)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for file, want := range map[string]string{
		filepath.Join(plain, "x"): "its folder", plain: "no run store", newer: "was written by a newer drtmx: schema 7, this one knows 1", foreign: "another program", dir: "no regular file", "/dev/null": "no regular file",
	} {
		_, err := Open(Options{File: file})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "--runs") {
			t.Errorf("%s: %v, want %q in a line that says what to do", file, err, want)
		}
	}
	if before, _ := os.ReadFile(plain); !bytes.HasPrefix(before, []byte("not a database")) {
		t.Error("a file that is no store was changed")
	}
}

// Without room a point is not kept, the error says so in a line, and the store is whole.
func TestFullDisk(t *testing.T) {
	s := open(t, 0)
	if err := s.Put(key(t, 1), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	err := s.Put(key(t, 2), make([]byte, 1<<20))
	if !errors.Is(err, ErrFull) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "drtmx runs gc") {
		t.Errorf("%v", err)
	}
	b, stored, err := s.Do(key(t, 3), func() ([]byte, error) { return make([]byte, 1<<20), nil })
	if len(b) != 1<<20 || stored || err != nil {
		t.Errorf("a result was lost: %d bytes, %v, %v", len(b), stored, err)
	}
	if b, ok := s.Get(key(t, 1)); !ok || string(b) != "one" {
		t.Errorf("%q, %v", b, ok)
	}
}

func TestJournalOfFileSystems(t *testing.T) {
	for _, c := range []struct {
		on      string
		want    journal
		refused bool
	}{{"", writeAhead, false}, {"apfs", writeAhead, false}, {"nfs", rollback, false}, {"smb", rollback, false}, {"fuse", rollback, false}, {"lustre", rollback, false}, {"9p", "", true}, {"afs", "", true}} {
		got, err := journalOn(c.on)
		if got != c.want || (err != nil) != c.refused {
			t.Errorf("on %q: %q, %v", c.on, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--runs") {
			t.Errorf("%v does not say what to do", err)
		}
	}
	if got := filesystem(t.TempDir()); shared[got] {
		t.Logf("tests run on %s", got)
	}
}

// A store with a rollback journal does all that one with a log does, also the same file.
func TestRollbackJournal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file, 0)
	if err := s.Put(key(t, 1), []byte("one")); err != nil || s.Journal() != "WAL" {
		t.Fatal(err, s.Journal())
	}
	s.Close()
	// As if the folder had been copied to a network disk.
	reopened, err := openWith(file, rollback)
	if err != nil {
		t.Fatal(err)
	}
	defer reopened.Close()
	if err := reopened.Put(key(t, 2), []byte("two")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"one", "two"} {
		if b, ok := reopened.Get(key(t, i+1)); !ok || string(b) != want {
			t.Errorf("%q, %v", b, ok)
		}
	}
	if _, err := os.Stat(file + "-wal"); !os.IsNotExist(err) {
		t.Errorf("there is a log: %v", err)
	}
}

func TestFileIsTheNamedOne(t *testing.T) {
	t.Setenv(FileVariable, "")
	t.Setenv("XDG_DATA_HOME", "/data")
	if f, err := File(); err != nil || f != "/data/drtmx/runs.db" || Named() {
		t.Error(f, err)
	}
	t.Setenv(FileVariable, "/env.db")
	if f, err := File(); err != nil || f != "/env.db" || !Named() {
		t.Error(f, err)
	}
	Use("/flag.db")
	defer Use("")
	if f, err := File(); err != nil || f != "/flag.db" || !Named() {
		t.Error(f, err)
	}
}
