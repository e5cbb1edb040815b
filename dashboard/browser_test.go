package dashboard_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/png"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/web"
	_ "drtmx/dashboard"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/browsertest"
	"drtmx/engine/experiment"
)

// the page

// browserSpec is small, so that a slow machine sees many windows soon.
var browserSpec = experiment.Spec{Name: "phases", Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{
	"nodes": 3, "threads": 2, "coroutines": 4, "window_ns": 100_000, "workload.accounts": 10_000, "check": "sampled"}}

// visitPace is 2 ms in a second, 20 windows of the system above and a tenth of what a slow core can simulate: a browser beside
// the system and its twin has CPU time left, and so have other tests. In 20 s a mark goes out of the 40 ms that the page shows at first.
const visitPace = 2_000_000

// clock is what paced clusters of a test go by. While the test waits for something on a page, each look moves it by clockStep;
// otherwise it creeps, so that a browser which is busy with something else draws few windows.
type clock struct {
	begin   time.Time
	stepped atomic.Int64 // nanoseconds
}

const (
	clockStep  = 100 * time.Millisecond
	clockCreep = 8 // times slower than the wall clock
)

func (c *clock) now() time.Time {
	return c.begin.Add(time.Duration(c.stepped.Load()) + time.Since(c.begin)/clockCreep)
}

func (c *clock) step() { c.stepped.Add(int64(clockStep)) }

var clocks sync.Map // by the name of a test without its parts

// clockOf is the one clock of a test and its parts.
func clockOf(t *testing.T) *clock {
	name, _, _ := strings.Cut(t.Name(), "/")
	c, _ := clocks.LoadOrStore(name, &clock{begin: time.Now()})
	return c.(*clock)
}

// site is a live cluster on an address of its own.
type site struct {
	t     *testing.T
	agent *agent.Agent
	jobs  *job.Jobs // of the agent
	addr  string
	stop  context.CancelFunc
	runs  job.FigureRunner // what its figures are computed by, nil if there are none
	wrap  func(http.Handler) http.Handler
}

func newSite(t *testing.T, spec experiment.Spec, o agent.Options, wrap func(http.Handler) http.Handler) *site {
	t.Helper()
	return newFigureSite(t, spec, o, nil, wrap)
}

// newFigureSite is a site with figures.
func newFigureSite(t *testing.T, spec experiment.Spec, o agent.Options, runs job.FigureRunner, wrap func(http.Handler) http.Handler) *site {
	t.Helper()
	o.Clock = clockOf(t).now
	live, err := agent.New(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { live.Close() })
	s := &site{t: t, agent: live, addr: "127.0.0.1:0", runs: runs, wrap: wrap}
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
		if l, err = web.Listen(s.addr, web.Access{}); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if s.jobs == nil || s.jobs.Agent != s.agent {
		s.jobs = job.With(s.agent, s.runs)
	}
	h, err := web.Handler(s.jobs, web.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.wrap != nil {
		h = s.wrap(h)
	}
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ctx, l, h) }()
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

// patience is how long a test waits for what it expects of a page: a test that passes waits for none of it.
const patience = 5 * time.Minute

// tab is a page in headless Chromium, with what it asked for and complained of.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string // method and address
	trouble  []string // console
}

// open shows the page of a site and waits until there is what the test begins with.
func (b *tab) open(s *site, what, there string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.do(chromedp.Navigate(s.url("/")))
	b.until(what, there)
}

// visit is the page of the usual cluster in a browser, without a hidden twin, which simulates as much again.
func visit(t *testing.T) (*site, *tab) {
	t.Helper()
	return visitWith(t, agent.Options{Pace: visitPace, NoTwin: true})
}

func visitWith(t *testing.T, o agent.Options) (*site, *tab) {
	t.Helper()
	return visitFigures(t, o, nil)
}

// visitFigures is a visit to a site with figures.
func visitFigures(t *testing.T, o agent.Options, runs job.FigureRunner) (*site, *tab) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s, b := newFigureSite(t, browserSpec, o, runs, nil), newTab(t)
	b.open(s, "the page is there", ready)
	return s, b
}

// showAll makes the timeline show everything: however long the next step takes, no mark goes out of sight.
func (b *tab) showAll() {
	b.t.Helper()
	b.act(`const e = document.getElementById("range"); e.value = "0"; e.dispatchEvent(new Event("change"))`)
}

// chromium is the browser of all tests, which can resolve no name: it takes seconds of a slow core to start one.
var chromium struct {
	start sync.Once
	ctx   context.Context
	err   error
	stop  func()
}

func startChromium(browser string) {
	dir := ""
	if dir, chromium.err = os.MkdirTemp("", "drtmx-browser"); chromium.err != nil {
		return
	}
	opts := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	opts = append(opts, chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	all, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(all)
	chromium.ctx, chromium.stop = ctx, func() { cancel(); end(); os.RemoveAll(dir) }
	chromium.err = chromedp.Do(ctx)
}

// newTab opens a tab that shares nothing with those of other tests.
func newTab(t *testing.T) *tab {
	t.Helper()
	browser := browsertest.Find(t)
	if !charts.HasLibrary() { // visits wait for what it draws
		browsertest.Missing(t, "this build has no echarts; run go run ./dashboard/charts/fetch")
	}
	if chromium.start.Do(func() { startChromium(browser) }); chromium.err != nil {
		t.Fatalf("chromium does not start: %v", chromium.err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 6*patience)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.watch()
	return b
}

func (b *tab) watch() {
	b.t.Helper()
	console, requests := chromedp.Console(b.ctx), chromedp.Events(b.ctx, network.RequestWillBeSent)
	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatalf("no tab opens: %v", err)
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

// until waits for a JavaScript expression to be true. One that throws is not
// true yet: what it asks for need not be there. Errors of the page itself are
// collected elsewhere and fail the test.
func (b *tab) until(what, js string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		clockOf(b.t).step()
		why := eval[string](b, "(async () => { try { return (await ("+js+")) ? '' : 'not so' } catch (e) { return String(e) } })()")
		if why == "" {
			return
		}
		if time.Now().After(end) {
			b.shot("failed.png")
			if value, _, ok := strings.Cut(js, " === "); ok && strings.Count(value, "(") == strings.Count(value, ")") {
				b.t.Logf("%s is %s", value, eval[string](b, "(async () => { try { return String(await ("+value+")) } catch (e) { return String(e) } })()"))
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Logf("console: %q", b.trouble)
			b.t.Fatalf("not within %s: %s (%s): %s", patience, what, js, why)
		}
	}
}

// clickAt clicks where an expression says, [x, y], until an expression is true: on a busy machine a
// chart may move or be drawn anew between the two.
func (b *tab) clickAt(at, what, js string) {
	b.t.Helper()
	for range 10 {
		xy := eval[[]float64](b, at)
		b.do(chromedp.MouseClickXY(xy[0], xy[1]))
		for range 20 {
			if eval[bool](b, "(async () => { try { return !!(await ("+js+")) } catch { return false } })()") {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	b.shot("failed.png")
	b.t.Fatalf("ten clicks did not bring it: %s (%s)", what, js)
}

// placeJS is where to click an element, once it has stood still for two frames and
// nothing covers it: what the page draws above or beside it moves it, and may
// put another in its place.
const placeJS = `(async () => {
	const box = () => { const e = document.querySelector(%[1]q), r = e?.getBoundingClientRect(); return { e, at: r && r.width ? [r.left + r.width / 2, r.top + r.height / 2] : [] }; };
	const frame = () => new Promise(requestAnimationFrame);
	document.querySelector(%[1]q)?.scrollIntoView({ block: "nearest", behavior: "instant" });
	await frame();
	const was = box();
	await frame();
	await frame();
	const { e, at } = box();
	if (!at.length || e !== was.e || String(at) !== String(was.at) || !e.contains(document.elementFromPoint(...at))) return [];
	window.clicked = false;
	e.addEventListener("click", () => { window.clicked = true; }, { capture: true, once: true });
	return at;
})()`

// click clicks an element where it is. A click that the page moved it away from is
// made again.
func (b *tab) click(css string) {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		at := eval[[]float64](b, fmt.Sprintf(placeJS, css))
		if len(at) == 0 {
			continue
		}
		b.do(chromedp.MouseClickXY(at[0], at[1]))
		if eval[bool](b, "window.clicked") {
			return
		}
	}
	b.shot("failed.png")
	b.t.Fatalf("%s could not be clicked within %s", css, patience)
}

// key types text, key by key, as a keyboard does.
func (b *tab) key(text string) {
	b.t.Helper()
	for _, c := range text {
		b.sendKey(input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(c), Text: string(c)})
	}
}

// press strikes a key that is not text.
func (b *tab) press(key string, code int64) {
	b.t.Helper()
	b.sendKey(input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: code})
}

func (b *tab) sendKey(down input.DispatchKeyEventParams) {
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
