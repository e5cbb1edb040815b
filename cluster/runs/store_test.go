package runs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func open(t *testing.T, limit int64) *Store {
	t.Helper()
	s, err := Open(Options{Dir: t.TempDir(), LimitBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func key(t *testing.T, parts ...any) string {
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
		t.Fatal("an empty store has an entry")
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
		t.Errorf("huge entry: %v", err)
	}
}

func TestDamagedEntriesAreIgnored(t *testing.T) {
	s := open(t, 0)
	k := key(t, "x")
	p, _ := s.path(k)
	if err := s.Put(k, []byte("hello world")); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(p)
	for name, bad := range map[string][]byte{
		"empty":     {},
		"cut":       good[:len(good)-3],
		"longer":    append(bytes.Clone(good), 'x'),
		"flipped":   append(bytes.Clone(good[:len(good)-1]), 'X'),
		"other":     bytes.Replace(good, []byte("run 1"), []byte("run 2"), 1),
		"no header": []byte("hello world"),
		"other key": bytes.Replace(good, []byte(k), []byte(key(t, "y")), 1),
	} {
		if err := os.WriteFile(p, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if b, ok := s.Get(k); ok {
			t.Errorf("%s: read as %q", name, b)
		}
		if _, err := os.Stat(p); !os.IsNotExist(err) {
			t.Errorf("%s: not removed", name)
		}
	}
}

func TestFolderIsBounded(t *testing.T) {
	const limit = 20_000
	s := open(t, limit)
	first := key(t, "keep")
	s.Put(first, make([]byte, 500))
	for i := range 100 {
		k := key(t, i)
		if err := s.Put(k, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		// Make every other entry look older than the one in use.
		if p, _ := s.path(k); i%2 == 0 {
			old := time.Now().Add(-time.Hour)
			os.Chtimes(p, old, old)
		}
		s.Get(first)
		if _, total := s.scan(); total > limit {
			t.Fatalf("after %d entries the folder holds %d bytes", i, total)
		}
	}
	if _, ok := s.Get(first); !ok {
		t.Error("the entry in use was evicted")
	}
}

func TestDoComputesOnce(t *testing.T) {
	s := open(t, 0)
	k := key(t, "x")
	var n atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b, _, err := s.Do(k, func() ([]byte, error) {
				n.Add(1)
				time.Sleep(20 * time.Millisecond)
				return []byte("r"), nil
			})
			if err != nil || string(b) != "r" {
				t.Errorf("%q %v", b, err)
			}
		}()
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
	if s.Put("k", nil) != nil || s.Dir() != "" {
		t.Error("a nil store does something")
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	f := filepath.Join(t.TempDir(), "file")
	os.WriteFile(f, nil, 0o644)
	if _, err := Open(Options{Dir: filepath.Join(f, "x")}); err == nil {
		t.Error("a file is a folder")
	}
}

// What could not be replaced stays, and nothing is left beside it.
func TestReplaceLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "taken") // by a folder, which no rename replaces
	if err := os.MkdirAll(filepath.Join(place, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Replace(place, []byte("x"), 0o644); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(place, "in")); err != nil {
		t.Error(err)
	}
}
