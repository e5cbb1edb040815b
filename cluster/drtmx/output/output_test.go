package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file that cannot be written is refused before a long run.
func TestOutFolders(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := outFolders("", "-", filepath.Join(dir, "new.png")); err != nil {
		t.Error(err)
	}
	for _, p := range []string{filepath.Join(dir, "no", "a.png"), dir, pipe} {
		if outFolders(p) == nil {
			t.Errorf("%s is taken", p)
		}
	}
}

// linked is another name of a file.
func linked(t *testing.T, file string) string {
	t.Helper()
	if err := os.Symlink(file, file+".link"); err != nil {
		t.Fatal(err)
	}
	return file + ".link"
}

// Who reads the earlier result while another is written sees all of it: it is replaced,
// not written over, under whatever name. Its permissions stay.
func TestOutFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(real, "r.csv")
	old, text := "earlier and longer", "0"
	if err := os.WriteFile(file, []byte(old), 0o640); err != nil {
		t.Fatal(err)
	}
	folder, other := linked(t, real), linked(t, file)
	names := []string{file, other, linked(t, other), filepath.Join(folder, "r.csv"), folder + "/../real/r.csv"}
	if err := os.Symlink("../real/r.csv", filepath.Join(real, "relative")); err != nil {
		t.Fatal(err)
	}
	for i, name := range append(names, filepath.Join(folder, "relative")) {
		was, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		before := text
		if i == 0 {
			before = old
		}
		text = strings.Repeat("x", i+1)
		if err := Write(nil, name, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := io.ReadAll(was); err != nil || string(b) != before {
			t.Errorf("%s: who has the earlier one open reads %q, %v; want %q", name, b, err, before)
		}
		was.Close()
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if fi, err := os.Lstat(file); err != nil || fi.Mode() != 0o640 {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
	if fi, err := os.Lstat(other); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v, %v", fi, err)
	}
	later := filepath.Join(dir, "later")
	if err := Write(nil, linked(t, later), []byte("new")); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(later); err != nil || string(b) != "new" {
		t.Errorf("through a link that led nowhere: %q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// What is no file in a folder is written where it is.
func TestOutFileToWhatIsNone(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	for path, want := range map[string]error{"/dev/null": nil, "/dev/full": syscall.ENOSPC} {
		if err := Write(nil, path, []byte("x")); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode()&os.ModeDevice == 0 {
			t.Fatalf("%s is a device no more: %v, %v", path, fi, err)
		}
	}
	f, err := os.CreateTemp(t.TempDir(), "open")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{fmt.Sprintf("/proc/self/fd/%d", f.Fd()), fmt.Sprintf("/dev/fd/%d", f.Fd())} {
		if err := Write(nil, name, []byte(name)); err != nil {
			t.Error(err)
		}
		b := make([]byte, 100)
		if n, _ := f.ReadAt(b, 0); string(b[:n]) != name {
			t.Errorf("%s: what was open holds %q", name, b[:n])
		}
	}
	if err := Write(nil, t.TempDir(), nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a folder: %v", err)
	}
}
