package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGalleryIsInterrupted: an interrupt leaves an index that says what is missing, and the same command goes on from the store.
func TestGalleryIsInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("computes figures; not in short mode")
	}
	dir := filepath.Join(t.TempDir(), "gallery")
	index := func() string {
		b, _ := os.ReadFile(filepath.Join(dir, "index.html")) // "" until it is there
		return string(b)
	}
	// until makes the gallery up to a number of figures.
	until := func(figures string) (code int, out, errs string) {
		ctx, interrupt := context.WithCancel(context.Background())
		defer interrupt()
		var o, e bytes.Buffer
		done := make(chan int, 1)
		go func() { done <- runUntil(ctx, []string{"figure", "all", "--html", dir, "--anew"}, &o, &e) }()
		for end := time.Now().Add(2 * time.Minute); !strings.Contains(index(), "<p>"+figures+" of "); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("no %s figures after two minutes", figures)
			}
		}
		interrupt()
		code = <-done
		return code, o.String(), e.String()
	}
	code, out, errs := until("1")
	if code != failed || out != "" || !strings.Contains(errs, " 2-2a ") || !strings.Contains(errs, "the same command goes on") || !strings.HasSuffix(errs, "drtmx: interrupted\n") {
		t.Errorf("exit %d, wrote %q, said %q", code, out, errs)
	}
	if !strings.Contains(index(), `id="missing"`) {
		t.Error("the index does not say what is missing")
	}
	first, err := os.ReadFile(filepath.Join(dir, "2-2a.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs = until("2"); code != failed || !strings.Contains(errs, "2-2b") {
		t.Errorf("exit %d, said %q", code, errs)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "2-2a.svg")); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the picture changed: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestGalleryIsFullAtOnce: what is recorded is written without a run, with its date and code.
func TestGalleryIsFullAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("draws all figures; not in short mode")
	}
	dir := filepath.Join(t.TempDir(), "gallery")
	ctx, interrupt := context.WithTimeout(context.Background(), time.Minute)
	defer interrupt()
	var o, e bytes.Buffer
	done := make(chan int, 1)
	go func() { done <- runUntil(ctx, []string{"figure", "all", "--html", dir}, &o, &e) }()
	const last = "5-hybrid-b" // behind figures of which each would take minutes
	for there := false; !there; time.Sleep(20 * time.Millisecond) {
		_, err := os.Stat(filepath.Join(dir, last+".svg"))
		if there = err == nil; ctx.Err() != nil {
			t.Fatalf("no %s.svg after a minute", last)
		}
	}
	interrupt()
	<-done
	page, err := os.ReadFile(filepath.Join(dir, last+".html"))
	if err != nil || !strings.Contains(string(page), "This figure was ") || !strings.Contains(string(page), " with code src-") {
		t.Errorf("%v: %.300s", err, page)
	}
	if s := e.String(); !strings.Contains(s, "; recorded on ") && !strings.Contains(s, "; computed on ") {
		t.Errorf("something was computed: %s", s)
	}
}

// TestGalleryRefuses: what cannot be a gallery is refused in one line, before anything is computed.
func TestGalleryRefuses(t *testing.T) {
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is no gallery":           {"--html", other},
		"do not fit":              {"--html", "-"},
		"give one figure for an":  {"--html", filepath.Join(other, "g"), "--svg", "a.svg"},
		"or writes a gallery":     {"--csv", "a.csv"},
		"must be quick or paper":  {"--html", filepath.Join(other, "g"), "--scale", "huge"},
		"is a file, and a galler": {"--html", filepath.Join(other, "thesis.tex")},
	} {
		code, out, errs := call(append([]string{"figure", "all"}, args...)...)
		if code != misused || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, wrote %q, said %q; want %q", args, code, out, errs, want)
		}
	}
	if names, err := os.ReadDir(other); err != nil || len(names) != 1 {
		t.Errorf("something was written: %v %v", names, err)
	}
}
