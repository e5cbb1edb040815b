package dashboard_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
)

// mouse moves, presses or releases where an expression says, [x, y].
func (b *tab) mouse(does input.DispatchMouseEventType, at string) {
	b.t.Helper()
	xy := eval[[]float64](b, at)
	p := input.DispatchMouseEventParams{Type: does, X: xy[0], Y: xy[1], PointerType: input.DispatchMouseEventPointerTypeMouse}
	if does != input.DispatchMouseEventTypeMouseMoved {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}
	if _, err := chromedp.Call(b.ctx, input.DispatchMouseEvent, p); err != nil {
		b.t.Fatal(err)
	}
}

// over is a place in a chart: a share of its width, and of its height.
func over(id string, x, y float64) string {
	return fmt.Sprintf(`(() => { const r = document.getElementById(%q).getBoundingClientRect(); return [r.left + %g * r.width, r.top + %g * r.height] })()`, id, x, y)
}

const (
	valuesJS = `[...document.querySelectorAll(".values")].filter((e) => !e.hidden).map((e) => e.textContent).join()`
	crossJS  = `[...document.querySelectorAll(".cross")].filter((e) => !e.hidden).length`
	// the ends of the time axis of a chart, in ms
	axisJS = `(() => { const c = echarts.getInstanceByDom(document.getElementById("timeline")), x = c.getModel().getComponent("xAxis", 0).axis.scale.getExtent(); return x })()`
)

// drag marks a span of the timeline.
func (b *tab) drag(from, to float64) {
	b.t.Helper()
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", from, 0.3))
	b.mouse(input.DispatchMouseEventTypeMousePressed, over("timeline", from, 0.3))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", (from+to)/2, 0.4))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", to, 0.4))
	b.until("the span is marked", `!document.querySelector("#timeline .span").hidden`)
	b.mouse(input.DispatchMouseEventTypeMouseReleased, over("timeline", to, 0.4))
}

// TestProbeOnTheCharts: a pointer over a chart tells the values there, in one crosshair through all charts over time, and what
// it tells goes with it.
func TestProbeOnTheCharts(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.act(`document.getElementById("gaugebox").open = true; document.getElementById("live").scrollIntoView()`)
	b.until("a second chart over time", `!!document.querySelector("#gauges canvas")`)
	b.until("some history", latestJS+" > 4")
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", 0.5, 0.3))
	b.until("the library tells nothing beside", `(() => { const o = echarts.getInstanceByDom(document.getElementById("timeline")).getOption(); return !o.tooltip?.length && o.legend.every((l) => !l.show) })()`)
	b.until("the values of all panels at one time", `/^virtual time [\d.]+ ms.*throughput.*median latency/.test(`+valuesJS+`) && `+crossJS+` === 2`)
	was := eval[string](b, valuesJS)
	b.until("they move with the time under the pointer", fmt.Sprintf(`%s !== %q`, valuesJS, was))
	b.shot("crosshair.png")
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("changes", 0.9, 0.5))
	b.until("they go with the pointer", crossJS+` === 0 && `+valuesJS+` === ""`)

	b.act(`document.getElementById("timeline").focus()`)
	b.press("ArrowLeft", 37)
	b.until("the keys have it too", `/throughput/.test(`+valuesJS+`)`)
	b.press("ArrowLeft", 37)
	b.until("what is there is said", `/throughput/.test(document.getElementById("said").textContent)`)
	b.act(`document.activeElement.blur()`)
	b.until("it goes with the focus", crossJS+` === 0`)

	b.do(chromedp.EmulateViewport(390, 844))
	b.until("the chart is narrow", `echarts.getInstanceByDom(document.getElementById("timeline")).getWidth() < 390`)
	// The page tells of a scroll in the frame behind it, and what the pointer shows goes with a scroll.
	b.act(`document.getElementById("timeline").scrollIntoView({ block: "center", behavior: "instant" }); for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)`)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", 0.8, 0.5))
	b.until("a phone has room for it", valuesJS+` !== "" && (() => { const v = document.querySelector("#timeline .values").getBoundingClientRect(); return v.left >= 0 && v.right <= 390 && document.documentElement.scrollWidth <= 390 })()`)
	b.shot("phone-crosshair.png")
	b.act(`scrollBy(0, 40)`)
	b.until("it goes when the page moves below it", valuesJS+` === ""`)
	b.quiet(s)
}

// TestZoomOnTheCharts drags a span out of the timeline and comes back, by the pointer and by keys.
func TestZoomOnTheCharts(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.until("some history", latestJS+" > 8")
	b.showAll()
	b.until("all of it", axisJS+`[0] < 1`)
	span := func() float64 { x := eval[[]float64](b, axisJS); return x[1] - x[0] }
	whole := span()
	b.drag(0.3, 0.7)
	b.until("the span alone", fmt.Sprintf(`(() => { const x = %s; return x[1] - x[0] < %g && document.getElementById("pastspan").textContent !== "" })()`, axisJS, 0.6*whole))
	b.until("a way back", `!document.getElementById("golive").hidden && document.getElementById("zoomout").hidden`)
	near := span()
	b.shot("zoomed.png")
	b.drag(0.3, 0.7)
	b.until("nearer", fmt.Sprintf(`(() => { const x = %s; return x[1] - x[0] < %g })() && !document.getElementById("zoomout").hidden`, axisJS, 0.8*near))
	b.click("#zoomout")
	b.until("one step back", fmt.Sprintf(`(() => { const x = %s; return Math.abs(x[1] - x[0] - %g) < %g })()`, axisJS, near, near/10))
	b.press("Escape", 27)
	b.until("live again", `document.getElementById("golive").hidden && document.getElementById("pastspan").hidden`)
	b.drag(0.7, 0.3)
	b.until("from the right as well", `!document.getElementById("golive").hidden`)
	b.act(`document.getElementById("timeline").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))`)
	b.until("a double click goes back", `document.getElementById("golive").hidden`)

	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", 0.4, 0.3))
	b.mouse(input.DispatchMouseEventTypeMousePressed, over("timeline", 0.4, 0.3))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", 0.6, 0.3))
	b.press("Escape", 27)
	b.mouse(input.DispatchMouseEventTypeMouseReleased, over("timeline", 0.6, 0.3))
	if past := eval[bool](b, `document.body.classList.contains("past")`); past {
		t.Error("a span that was given up is shown")
	}
	b.act(`document.getElementById("timeline").focus()`)
	b.press("ArrowLeft", 37)
	b.until("the crosshair", crossJS+" > 0")
	b.press("PageUp", 33)
	b.press("Enter", 13)
	b.press("PageUp", 33)
	b.press("Enter", 13)
	b.until("a span by keys", `!document.getElementById("golive").hidden`)
	b.key("+")
	b.until("nearer by a key", `!document.getElementById("zoomout").hidden`)
	b.key("-")
	b.until("back by a key", `document.getElementById("zoomout").hidden && !document.getElementById("golive").hidden`)
	b.key("-")
	b.until("and live", `document.getElementById("golive").hidden`)
	b.quiet(s)
}

// TestLinesByName hides a line by its name, without a pointer, and it stays hidden while the chart is drawn.
func TestLinesByName(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	if _, err := s.agent.Fork(t.Context(), "a", nil, "script"); err != nil {
		t.Fatal(err)
	}
	const names = `document.querySelectorAll("#timeline + .names button")`
	b.until("the names of both", names+`.length === 2`)
	const drawn = `(() => { const c = echarts.getInstanceByDom(document.getElementById("timeline")), names = []; c.getModel().eachSeries((s) => { names.push(s.name) }); return names.join() })()`
	b.act(names + `[1].focus()`)
	b.key(" ")
	b.until("one is hidden", names+`[1].getAttribute("aria-pressed") === "false" && new Set(`+drawn+`.split(",")).size === 1`)
	x := eval[float64](b, latestJS)
	b.until("it stays so", fmt.Sprintf(`%s > %g && new Set(%s.split(",")).size === 1 && document.activeElement === %s[1]`, latestJS, x+0.5, drawn, names))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", 0.5, 0.3))
	b.until("nothing is told of it", `/system a/.test(`+valuesJS+`) && !/ghost b/.test(`+valuesJS+`)`)
	b.shot("hidden-line.png")
	b.key(" ")
	b.until("and back", names+`[1].getAttribute("aria-pressed") === "true" && /ghost b/.test(`+drawn+`)`)
	b.act(`[...document.querySelectorAll("#systems .link")].at(-1).click()`)
	b.until("a line that goes under the pointer takes its values along", `document.querySelector("#timeline + .names").hidden && !/ghost b/.test(`+valuesJS+`)`)
	b.quiet(s)
}

// heldBack is a site that answers some paths only when release is closed.
func heldBack(t *testing.T, paths ...string) (s *site, release chan struct{}) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	release = make(chan struct{})
	return newSite(t, browserSpec, agent.Options{Pace: visitPace, NoTwin: true}, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(paths, r.URL.Path) {
				<-release
			}
			h.ServeHTTP(w, r)
		})
	}), release
}

// TestLinesWaitForNothing: what is buffered is drawn at once, however long the rest of the page takes.
func TestLinesWaitForNothing(t *testing.T) {
	s, release := heldBack(t, "/page/knobs", "/api/systems", "/page/about") // not more: a browser has six connections to a host
	b := newTab(t)
	b.open(s, "lines", seriesJS+`?.[0]?.data?.length > 5`)
	if eval[bool](b, `!!document.querySelector("#knobs .knob")`) {
		t.Error("the knobs are there: nothing was held back")
	}
	close(release)
	b.until("the rest", ready+` && !!document.querySelector("#knobs .knob")`)
	b.quiet(s)
}

// TestPlaceBeforeTheLibrary: before the library is there a chart is a quiet place, and no picture in another form.
func TestPlaceBeforeTheLibrary(t *testing.T) {
	s, release := heldBack(t, "/vendor/echarts.js")
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1000))
	if _, err := chromedp.Call(b.ctx, page.Navigate, page.NavigateParams{URL: s.url("/")}); err != nil { // does not wait for the library
		t.Fatal(err)
	}
	b.until("all but the charts", `!!document.querySelector("#knobs .knob") && document.getElementById("t-throughput").textContent !== "–"`)
	if n := eval[int](b, `document.querySelectorAll(".chart :is(img, canvas)").length`); n != 0 || b.asked("GET "+s.url("/page/timeline")) {
		t.Errorf("%d pictures, though the library is on its way", n)
	}
	if says := eval[string](b, `getComputedStyle(document.getElementById("timeline"), "::before").content`); !strings.Contains(says, "on their way") {
		t.Errorf("the place says %s", says)
	}
	b.shot("before-the-library.png")
	close(release)
	b.until("the charts", ready)
	if n := eval[int](b, `document.querySelectorAll("#livepage .chart img").length`); n != 0 {
		t.Errorf("%d pictures beside the charts", n)
	}
	b.quiet(s)
}
