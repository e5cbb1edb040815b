// Package browsertest finds the browser that draws pages in tests.
package browsertest

import (
	"os"
	"os/exec"
	"testing"
)

// Names are the programs that will do, the best first: Chromium's headless shell has no windows to draw beside the page, and takes a
// quarter of the CPU time.
var Names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// Find is the browser's path. Without one the test is skipped, or fails where everything is required.
func Find(t testing.TB) string {
	t.Helper()
	for _, name := range Names {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	Missing(t, "chromium is missing; apt-get install --no-install-recommends chromium-headless-shell")
	return ""
}

// Missing skips a test that needs what is not there, or fails it where everything is required. Why tells the command that brings it.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("DRTMX_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}
