package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	for _, c := range []struct {
		text string
		perm fs.FileMode
	}{{"one", 0o600}, {"another", 0o644}} { // the second is of a file that is there
		if err := Replace(p, []byte(c.text), c.perm); err != nil {
			t.Fatal(err)
		}
		got, err := ReadUpTo(p, 3)
		if i, serr := os.Stat(p); err != nil || serr != nil || string(got) != c.text[:min(4, len(c.text))] || i.Mode().Perm() != 0o600 {
			t.Errorf("%q, %v, %v, %v", got, err, i.Mode(), serr)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "folder"), nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := filepath.Glob(filepath.Join(dir, Unfinished+"*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if _, err := ReadUpTo(dir, 1); err == nil {
		t.Error("a folder was read")
	}
}
