package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"drtmx/cluster"
	_ "drtmx/dashboard" // the page
	"drtmx/engine"
)

// browserSpec is small, so that a slow machine sees many windows soon.
var browserSpec = engine.Spec{Name: "phases", Preset: "drtm+h", Workload: "smallbank", Set: engine.Knobs{
	"nodes": 3, "threads": 2, "coroutines": 4, "window_ns": 100_000, "workload.accounts": 10_000, "check": "sampled"}}

// site is a live cluster on an address of its own.
type site struct {
	t     *testing.T
	agent *cluster.Agent
	addr  string
	stop  context.CancelFunc
	wrap  func(http.Handler) http.Handler
}

func newSite(t *testing.T, spec engine.Spec, wrap func(http.Handler) http.Handler) *site {
	t.Helper()
	agent, err := cluster.NewAgent(spec, cluster.Options{Pace: 20_000_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Close() })
	s := &site{t: t, agent: agent, addr: "127.0.0.1:0", wrap: wrap}
	s.serve()
	t.Cleanup(func() { s.stop() })
	return s
}

// serve begins to answer on the address, the same as before if there was one.
func (s *site) serve() {
	s.t.Helper()
	var l net.Listener
	var err error
	for range 50 { // the port may take a moment to be free again
		if l, err = cluster.Listen(s.addr, cluster.Access{}); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	h, err := s.agent.Handler(cluster.Web{})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.wrap != nil {
		h = s.wrap(h)
	}
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cluster.Serve(ctx, l, h) }()
	s.stop = func() { cancel(); <-ended; ended <- nil }
}

func (s *site) url(path string) string { return "http://" + s.addr + path }

// patch sets knobs as a notebook would.
func (s *site) patch(body string) {
	s.t.Helper()
	r, err := http.NewRequest("PATCH", s.url("/api/knobs"), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Drtmx-By", "notebook")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
		s.t.Fatalf("PATCH %s: %d %s", body, resp.StatusCode, text)
	}
}

// tab is a page in headless Chromium, with what it asked for and complained of.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string // method and address
	trouble  []string // console
}

// newTab starts a browser that can resolve no name.
func newTab(t *testing.T) *tab {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		const why = "chromium is missing; apt-get install --no-install-recommends chromium"
		if os.Getenv("DRTMX_REQUIRE") == "all" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	opts := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	opts = append(opts, chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.watch()
	return b
}

func (b *tab) watch() {
	b.t.Helper()
	console, requests := chromedp.Console(b.ctx), chromedp.Events(b.ctx, network.RequestWillBeSent)
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatalf("chromium does not start: %v", err)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.trouble = append(b.trouble, fmt.Sprintf("%s: %s (%s)", m.Type, m.Text, m.URL))
			b.mu.Unlock()
		}
	}()
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.requests = append(b.requests, e.Request.Method+" "+e.Request.URL)
			b.mu.Unlock()
		}
	}()
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval runs a JavaScript expression.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// act runs JavaScript for what it does.
func (b *tab) act(js string) {
	b.t.Helper()
	eval[bool](b, "(async () => { "+js+"; return true })()")
}

// until waits for a JavaScript expression to be true.
func (b *tab) until(what, js string) {
	b.t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if eval[bool](b, "(async () => !!(await ("+js+")))()") {
			return
		}
		if time.Now().After(end) {
			b.shot("failed.png")
			b.t.Fatalf("not within a minute: %s (%s)", what, js)
		}
	}
}

func (b *tab) click(css string) { b.t.Helper(); b.do(chromedp.Click(chromedp.CSS(css))) }

// key types text, key by key, as a keyboard does.
func (b *tab) key(text string) {
	b.t.Helper()
	for _, c := range text {
		b.strike(input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(c), Text: string(c)})
	}
}

// press strikes a key that is not text.
func (b *tab) press(key string, code int64) {
	b.t.Helper()
	b.strike(input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: code})
}

func (b *tab) strike(down input.DispatchKeyEventParams) {
	b.t.Helper()
	up := down
	up.Type, up.Text = input.DispatchKeyEventTypeKeyUp, ""
	for _, p := range []input.DispatchKeyEventParams{down, up} {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); err != nil {
			b.t.Fatal(err)
		}
	}
}

// shot takes a picture and sees that there is something on it. go test
// -artifacts -outputdir DIR keeps the pictures.
func (b *tab) shot(name string) {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(r.Data))
	if err != nil {
		b.t.Fatal(err)
	}
	colours := map[[3]uint32]bool{}
	for y := 0; y < img.Bounds().Dy(); y += 3 {
		for x := 0; x < img.Bounds().Dx(); x += 3 {
			r, g, bl, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, bl}] = true
		}
	}
	if len(colours) < 50 {
		b.t.Errorf("%s: only %d colours, the page is empty", name, len(colours))
	}
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name), r.Data, 0o644); err != nil {
		b.t.Error(err)
	}
}

// theme is "light" or "dark".
func (b *tab) theme(scheme string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.t.Fatal(err)
	}
}

// quiet says that nothing was logged and nothing was asked of another machine.
func (b *tab) quiet(s *site, ignore ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.trouble {
		known := false
		for _, i := range ignore {
			known = known || strings.Contains(line, i)
		}
		if !known {
			b.t.Errorf("console: %s", line)
		}
	}
	for _, r := range b.requests {
		_, url, _ := strings.Cut(r, " ")
		if !strings.HasPrefix(url, s.url("/")) && !strings.HasPrefix(url, "ws://"+s.addr+"/") && !strings.HasPrefix(url, "blob:http://"+s.addr) && !strings.HasPrefix(url, "data:") {
			b.t.Errorf("a request left the machine: %s", r)
		}
	}
	if len(b.requests) < 10 {
		b.t.Errorf("only %d requests were seen", len(b.requests))
	}
}

func (b *tab) asked(request string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if strings.HasPrefix(r, request) {
			return true
		}
	}
	return false
}

// What the charts hold, read from echarts.
const (
	seriesJS  = `echarts.getInstanceByDom(document.getElementById("timeline")).getOption().series`
	latestJS  = seriesJS + `[0].data.at(-1).value[0]`
	marksJS   = `(` + seriesJS + `[0].markLine?.data || []).length`
	cardsJS   = `document.querySelectorAll("#cards .card:not(.ghost)").length`
	pictureJS = `[...document.querySelectorAll("#cluster .bar, #cluster .hot")].map((e) => e.textContent).join()`
	ready     = `window.echarts && document.querySelector("#timeline canvas") && ` + seriesJS + `?.[0]?.data?.length > 5 && document.getElementById("t-throughput").textContent !== "–"`
)

// TestPage is a visit: everything that a reader does, in one browser, with the
// real cluster behind it.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, browserSpec, nil)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.do(chromedp.Navigate(s.url("/")))
	b.until("the page is there", ready)
	for _, part := range []struct {
		name string
		f    func(*site, *tab)
	}{
		{"line moves", lineMoves}, {"toggle", toggle}, {"refused", refused}, {"from outside", fromOutside}, {"keyboard", keyboard}, {"dialogs", dialogs},
		{"pins", pinsStay}, {"ghost", ghostLine}, {"reload", reload}, {"reconnect", reconnect}, {"narrow", narrow}, {"begin again", beginAgain},
	} {
		if !t.Run(part.name, func(t *testing.T) { b.t, s.t = t, t; part.f(s, b) }) {
			b.t = t
			b.shot("failed.png")
			break
		}
	}
	b.t, s.t = t, t
	// What the browser says of itself: the refusal, and while the server was away.
	b.quiet(s, "status of 400", "/page/compare", "ERR_CONNECTION_REFUSED", "WebSocket connection to")
}

func lineMoves(_ *site, b *tab) {
	x := eval[float64](b, latestJS)
	b.until("the line moves", fmt.Sprintf("%s > %g", latestJS, x+0.5))
	b.until("tempo", `/1 s here = .* in the cluster/.test(document.getElementById("tempo").textContent)`)
	b.shot("light.png")
}

// toggle turns phase.validation by keyboard, as a select is.
func toggle(s *site, b *tab) {
	b.until("enough windows before it", latestJS+" > 3")
	was := eval[string](b, pictureJS)
	b.do(chromedp.Focus(chromedp.CSS("#k-phase-validation")))
	b.until("the knob's meaning", `document.getElementById("knob").textContent.includes("phase.validation")`)
	b.key("two")
	b.until("the mark", marksJS+" === 1")
	if !b.asked("PATCH " + s.url("/api/knobs?sys=a")) {
		b.t.Error("no PATCH was sent")
	}
	values, err := s.agent.Spec(b.t.Context(), "a")
	if err != nil || values.Set["phase.validation"] != "two-sided" {
		b.t.Errorf("the agent has %v, %v", values, err)
	}
	b.until("the knob is among the changed", `/Validation.*one-sided → two-sided/.test(document.querySelector(".changes")?.textContent)`)
	b.until("its card", `/phase.validation: one-sided → two-sided/.test(document.querySelector("#cards .card")?.textContent)`)
	b.until("the card's numbers", `document.querySelectorAll("#cards .card .rows tbody tr").length >= 3`)
	b.until("the cluster picture", fmt.Sprintf("%s !== %q", pictureJS, was))
	b.shot("toggled.png")
}

// refused is a combination that makes no sense: the page says why, in the words
// of the agent, and shows what is.
func refused(_ *site, b *tab) {
	pick := func(id, value string) {
		b.t.Helper()
		b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change"))`, id, value))
	}
	pick("k-phase-lock", "one-sided")
	b.until("lock is one-sided", `document.querySelector(".changes").textContent.includes("Lock")`)
	pick("k-phase-commit", "two-sided")
	b.until("the reason", `!document.getElementById("notice").hidden && document.getElementById("notice").textContent.includes("4.3.2")`)
	b.until("what is", `document.getElementById("k-phase-commit").value === "auto"`)
	b.act(`document.activeElement.blur()`)
	b.key("u")
	b.until("lock is back", `document.getElementById("k-phase-lock").value === "auto"`)
}

// fromOutside is a knob that a notebook turns while the page is open.
func fromOutside(s *site, b *tab) {
	b.until("a mark for each card", marksJS+" === 3 && "+cardsJS+" === 3")
	const n = 3
	s.patch(`{"phase.logging": "two-sided"}`)
	began := time.Now()
	b.until("its mark", fmt.Sprintf("%s === %d", marksJS, n+1))
	b.until("its card", cardsJS+fmt.Sprintf(` === %d`, n+1)+` && /from a notebook/.test(document.querySelector("#cards .card").textContent)`)
	if d := time.Since(began); d > 10*time.Second {
		b.t.Errorf("mark and card took %v", d)
	}
	b.until("its knob", `document.getElementById("k-phase-logging").value === "two-sided"`)
}

func keyboard(s *site, b *tab) {
	b.act(`document.activeElement.blur(); window.scrollTo(0, 0)`)
	state := func(want string) {
		b.t.Helper()
		b.until("state "+want, fmt.Sprintf(`document.getElementById("state").textContent === %q`, want))
	}
	b.key(" ")
	state("paused")
	if now, err := s.agent.State("a"); err != nil || now.State != cluster.StatePaused {
		b.t.Errorf("the agent is %v, %v", now, err)
	}
	stood, err := s.agent.State("a")
	if err != nil {
		b.t.Fatal(err)
	}
	b.key("s")
	b.until("one window further", fmt.Sprintf(`fetch("/api/state").then((r) => r.json()).then((x) => x.virtual_ns === %d && x.state === "paused")`, stood.VirtualNS+100_000))
	state("paused")
	b.key(" ")
	state("running")
	b.key("/")
	b.until("the search has the focus", `document.activeElement.id === "find"`)
	b.key("datagram loss")
	b.until("what was found", `document.querySelectorAll("#knobs .knob").length === 1 && document.getElementById("k-fault-drop")`)
	b.press("Escape", 27)
	b.until("all knobs again", `document.querySelectorAll("#knobs .knob").length > 10`)
	b.key("u")
	b.until("the latest change is undone", `document.getElementById("k-phase-logging").value === "one-sided"`)
	// From the beginning of the page Tab goes to the skip link, the toolbar, the
	// charts, the knobs: all that can be clicked can be reached.
	b.act(`document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")`)
	seen := map[string]bool{}
	for range 200 {
		b.press("Tab", 9)
		at := eval[string](b, `document.activeElement.id || document.activeElement.className || document.activeElement.textContent.slice(0, 20)`)
		seen[at] = true
		if at == "k-fault-drop" {
			break
		}
	}
	for _, id := range []string{"skip", "pause", "step", "pace", "reset", "copy", "help", "checks", "range", "pinstate", "fork", "find", "k-preset", "k-phase-lock", "k-opt-lock-or", "k-coroutines", "k-fault-drop"} {
		if !seen[id] {
			b.t.Errorf("Tab does not reach %s", id)
		}
	}
}

func dialogs(_ *site, b *tab) {
	open := func(css, want string) {
		b.t.Helper()
		b.click(css)
		b.until(want, fmt.Sprintf(`document.getElementById("dialog").open && document.getElementById("dialog").textContent.includes(%q)`, want))
	}
	shut := func() {
		b.t.Helper()
		b.press("Escape", 27)
		b.until("the dialog is closed", `!document.getElementById("dialog").open`)
	}
	open("#checks", "strict-serializable")
	shut()
	open("#help", "undo the latest change")
	shut()
	open("#copy", "drtmx run phases")
	if n := eval[int](b, `document.querySelectorAll("#dialog pre").length`); n != 3 {
		b.t.Errorf("%d ways to take the system along, want 3", n)
	}
	shut()
	// A cycle as the checker reports it: the running system has none.
	b.act(`(await import("/checks.js")).openChecks({mode: "full", claimed: "strict-serializable", ok: false, transactions: 1000, anomaly_count: 1,
		anomalies: [{kind: "G2", text: "each would have to come before the other", breaks_claim: true, cycle: [{txn: 41, edge: "rw", record: "account/7", version: 4}, {txn: 52, edge: "rw", record: "savings/9", version: 8}]}]})`)
	b.until("the cycle is drawn", `document.querySelectorAll("#dialog .cycle .arrow").length === 2 && document.querySelector("#dialog .cycle").textContent.includes("rw account/7 @4")`)
	b.shot("cycle.png")
	shut()
}

func pinsStay(_ *site, b *tab) {
	b.until("a card with numbers", `document.querySelector("#cards .card:not(.ghost) button[title^='keep what']")`)
	b.act(`document.querySelector("#cards .card:last-child button[title^='keep what']").click()`)
	b.until("a pin", `document.querySelectorAll("#pins .pin").length === 1`)
	b.until("enough windows since the latest change", `fetch("/page/state?sys=a").then((r) => r.ok)`)
	b.click("#pinstate")
	b.until("two pins side by side", `document.querySelectorAll("#pins .pin").length === 2 && document.querySelectorAll("#pins .beside tbody tr").length >= 3`)
	b.until("their chart", `document.querySelector("#pins .chart canvas")`)
	b.shot("pins.png")
}

func ghostLine(_ *site, b *tab) {
	b.click("#fork")
	b.until("a second system", `document.querySelectorAll("#systems li").length === 2`)
	b.until("the ghost's line", seriesJS+`.some((s) => s.name === "ghost b" && s.lineStyle.type === "dashed" && s.data.length > 5)`)
	b.until("what is against what would have been", `document.querySelectorAll("#cards .ghost .rows tbody tr").length >= 3`)
	b.shot("ghost.png")
}

func reload(_ *site, b *tab) {
	n := eval[int](b, cardsJS)
	b.do(chromedp.Reload())
	b.until("the page is there again", ready)
	b.until("its cards", fmt.Sprintf("%s === %d", cardsJS, n))
	b.until("its pins", `document.querySelectorAll("#pins .pin").length === 2`)
	b.do(chromedp.SetValue(chromedp.CSS("#range"), "0"))
	b.act(`document.getElementById("range").dispatchEvent(new Event("change"))`)
	b.until("its history", seriesJS+`[0].data[0].value[0] < 0.05 * `+latestJS)
}

// reconnect takes the server away for a while; the cluster runs on.
func reconnect(s *site, b *tab) {
	s.stop()
	b.until("the page says so", `document.getElementById("state").textContent === "offline" && !document.getElementById("notice").hidden`)
	gone := eval[float64](b, latestJS)
	time.Sleep(time.Second)
	s.serve()
	b.until("it goes on by itself", `document.getElementById("state").textContent === "running" && document.getElementById("notice").hidden`)
	b.until("the line goes on", fmt.Sprintf("%s > %g", latestJS, gone+1))
	widest := eval[float64](b, `((d) => Math.max(...d.slice(1).map((p, i) => p.value[0] - d[i].value[0])))(`+seriesJS+`[0].data)`)
	if step := eval[float64](b, `((d) => d.at(-1).value[0] - d.at(-2).value[0])(`+seriesJS+`[0].data)`); widest > 3*step+0.01 {
		b.t.Errorf("the line has a gap of %g ms, its points are %g ms apart", widest, step)
	}
}

func narrow(_ *site, b *tab) {
	for _, width := range []int64{390, 320, 768, 1024} {
		b.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
		time.Sleep(500 * time.Millisecond)
		if w := eval[int64](b, "document.documentElement.scrollWidth"); w > width {
			b.t.Errorf("at a width of %d the page is %d wide: %s", width, w, eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d).map((e) => e.tagName + "#" + e.id + "." + e.className).slice(0, 8).join(", ")`, width)))
		}
		b.until("the charts fit", fmt.Sprintf(`document.querySelector("#timeline canvas").clientWidth <= %d`, width))
		if width == 390 {
			b.shot("phone.png")
		}
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.theme("dark")
	b.until("charts on a dark ground", ready+` && getComputedStyle(document.body).backgroundColor !== "rgb(246, 247, 248)"`)
	b.shot("dark.png")
	b.theme("light")
}

// beginAgain changes what is fixed while the system runs.
func beginAgain(s *site, b *tab) {
	b.act(`document.querySelector("#knobs > details").open = true; const e = document.getElementById("k-nodes"); e.value = "4"; e.dispatchEvent(new Event("change"))`)
	b.until("the offer", `[...document.querySelectorAll("#knobs > details button")].some((e) => !e.hidden && e.textContent === "Begin again with this")`)
	b.act(`[...document.querySelectorAll("#knobs > details button")].at(-1).click()`)
	b.until("another cluster", `document.querySelectorAll("#cluster .frame").length === 4 && document.getElementById("what").textContent.includes("4 nodes")`)
	b.until("no card of its earlier life, no pin", `document.querySelectorAll("#pins .pin").length === 0 && ![...document.querySelectorAll("#cards .card")].some((e) => e.textContent.includes("system a at") || e.matches(".ghost"))`)
	b.until("the ghost has become a system", seriesJS+`[1].name === "system b"`)
	b.until("the line begins again", ready+` && `+latestJS+` < 100`)
}

// Without echarts the page has pictures and says so.
func TestPageWithoutLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, browserSpec, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/page/about" {
				json.NewEncoder(w).Encode(map[string]string{"code": "x"})
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.do(chromedp.Navigate(s.url("/")))
	const picture = `document.querySelector("#timeline img")`
	b.until("pictures", picture+`?.naturalWidth > 300 && document.querySelector("#phases img")?.naturalWidth > 300`)
	b.until("the page says so", `!document.getElementById("plain").hidden && !window.echarts`)
	first := eval[string](b, picture+`.src`)
	b.until("they move", fmt.Sprintf("%s.src !== %q", picture, first))
	b.until("numbers", `document.getElementById("t-throughput").textContent !== "–"`)
	time.Sleep(time.Second)
	b.shot("plain.png")
	b.quiet(s)
}

// TestScreenshot makes the README's picture:
//
//	DRTMX_SCREENSHOT=$PWD/dashboard/screenshot.png go test -run TestScreenshot ./dashboard
func TestScreenshot(t *testing.T) {
	file := os.Getenv("DRTMX_SCREENSHOT")
	if file == "" {
		t.Skip("DRTMX_SCREENSHOT names no file")
	}
	spec, err := engine.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.With(engine.Knobs{"check": "sampled"}); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, spec, nil)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1040))
	b.do(chromedp.Navigate(s.url("/")))
	b.until("the page is there", ready)
	b.until("some history", latestJS+" > 40")
	const second = `document.querySelectorAll("#steps li")[1]`
	b.act(second + `.querySelector("button.link").click()`)
	b.until("the ghost's card", `document.querySelectorAll("#cards .ghost .rows tbody tr").length >= 5`)
	b.until("more of it", latestJS+" > 78")
	b.act(`document.getElementById("k-phase-commit").focus({preventScroll: true})`)
	time.Sleep(time.Second)
	b.shot("screenshot.png")
	png, err := os.ReadFile(filepath.Join(t.ArtifactDir(), "screenshot.png"))
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
