// Package runstest keeps what tests compute apart from what the user has kept.
package runstest

import (
	"os"
	"path/filepath"
	"testing"

	"drtmx/cluster/runs"
)

// Main runs the tests of a package with a run store of all tests, in the user's cache folder: figures that were computed
// before by the same code are not computed again. Without such a folder it is a temporary one.
func Main(m *testing.M) int {
	dir, err := os.UserCacheDir()
	if err != nil {
		if dir, err = os.MkdirTemp("", "drtmx-test"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
	}
	os.Setenv(runs.FileVariable, filepath.Join(dir, "drtmx", "tests.db"))
	defer runs.CloseDefault()
	return m.Run()
}

// Own makes a new run store that of the process while a test runs, and returns it.
func Own(t *testing.T) *runs.Store {
	t.Helper()
	runs.Use(filepath.Join(t.TempDir(), "runs.db"))
	t.Cleanup(func() {
		runs.CloseDefault()
		runs.Use("")
	})
	s, err := runs.Default()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
