package charts

import (
	"drtmx/dashboard/charts/browsertest"
	"fmt"
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
	chart := New("c", testLine(), testSVG).HTML()
	html := `<!doctype html><body><script>window.define=function(){document.title="took it"};window.define.amd={}</script>` +
		chart + Loader() + chart + Loader() + `</body>`
	dom := dumped(t, html)
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

// A slider asks the kernel of its page to call the notebook's function, and shows the picture that comes; where there is no
// kernel it says what to do.
func TestSliderInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := NewSlider("models", []int{10, 2000}, func(int) *Chart { return nil })
	const kernel = `<script>window.Jupyter={notebook:{kernel:{execute:function(code,on){document.title=code;` +
		`on.iopub.output({msg_type:"stream",content:{text:"no"}});on.iopub.output({msg_type:"execute_result",content:{data:{"image/svg+xml":"<svg id='drawn'></svg>"}}});on.shell.reply()}}}}</script>`
	const move = `<script>(function(){var i=document.querySelector("input");i.value=1;i.oninput();i.onchange()})()</script>`
	dom := dumped(t, "<!doctype html><body>"+kernel+s.HTML()+move+"</body>")
	for _, want := range []string{fmt.Sprintf("<title>charts.Slide(%d, 1)</title>", s.id), `<svg id="drawn">`, ">2,000</output>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("no %s in %s", want, dom)
		}
	}
	if dom := dumped(t, "<!doctype html><body>"+s.HTML()+move+"</body>"); !strings.Contains(dom, "No kernel can be reached from this page") {
		t.Error(dom)
	}
}

// dumped is what a browser makes of a page.
func dumped(t *testing.T, html string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), browsertest.Find(t), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+dir,
		"--virtual-time-budget=8000", "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("DRTMX_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}
