package charts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The page a notebook server shows has require.js, and outputs appear in any
// order; a reader may have the same chart twice.
func TestChartsAreDrawnByABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	if !HasLibrary() {
		skip(t, "this build has no echarts; run go run ./dashboard/charts/fetch")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		skip(t, "chromium is missing; apt-get install --no-install-recommends chromium")
	}
	chart := New("c", testLine(), testSVG).HTML()
	html := `<!doctype html><body><script>window.define=function(){document.title="took it"};window.define.amd={}</script>` +
		chart + Loader() + chart + Loader() + `</body>`
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+dir,
		"--virtual-time-budget=8000", "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	dom := string(out)
	if n := strings.Count(dom, "<canvas"); n != 2 {
		t.Errorf("%d charts drawn, want 2", n)
	}
	if strings.Contains(dom, "<img alt=") {
		t.Error("a static picture stayed beside the interactive chart")
	}
	if strings.Contains(dom, "<title>took it") {
		t.Error("require.js got the library")
	}
}

func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("DRTMX_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}
