// Package runstest keeps what tests compute apart from what the user has kept.
package runstest

import (
	"os"
	"path/filepath"
	"testing"

	"drtmx/cluster/runs"
)

// Main runs the tests of a package with the run store of all tests: figures that were computed before by the same code
// are not computed again. Where there is none it is a temporary one.
func Main(m *testing.M) int {
	file, ok := Shared()
	if !ok {
		dir, err := os.MkdirTemp("", "drtmx-test")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "tests.db")
	}
	os.Setenv(runs.FileVariable, file)
	defer runs.CloseDefault()
	return m.Run()
}

// Shared is the run store of all tests, in the user's cache folder; false if there is no such folder.
func Shared() (file string, ok bool) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "drtmx", "tests.db"), err == nil
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
