package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that the hash leaves out could change without the cached runs noticing.
func TestCodeVersionCoversTheModel(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path == filepath.Join("sim", "peers") {
			return fs.SkipDir // other simulators, for comparison
		}
		if d.IsDir() && strings.HasSuffix(path, "test") {
			return fs.SkipDir // for tests
		}
		model := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, filepath.Join("fabric", "profiles")+string(os.PathSeparator))
		if d.IsDir() || !model {
			return nil
		}
		if _, err := source.ReadFile(filepath.ToSlash(path)); err != nil {
			t.Errorf("%s is not part of the code version", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
