package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// inventedFigure is one of invented points; its runs are systems that can be opened.
type inventedFigure struct {
	Figure string           `json:"figure"`
	Scale  string           `json:"scale"`
	Scope  string           `json:"scope"`
	Form   string           `json:"form"`
	X      map[string]any   `json:"x"`
	Y      map[string]any   `json:"y"`
	Series []inventedSeries `json:"series"`
	Runs   []*result.Result `json:"runs"`
	set    experiment.Knobs
	done   bool
}

type inventedSeries struct {
	Name   string          `json:"name"`
	Points []inventedPoint `json:"points"`
}

type inventedPoint struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Load int     `json:"load"`
	Run  int     `json:"run"`
	Name string  `json:"name,omitempty"`
}

func (f *inventedFigure) Result(run int) *result.Result {
	if run < 0 || run >= len(f.Runs) {
		return nil
	}
	return f.Runs[run]
}

func (f *inventedFigure) Sketch() string {
	return charts.Sketch{Ratios: [][2]float64{{1, 2}}}.SVG()
}

func (f *inventedFigure) Verdicts() job.Verdicts {
	return job.Verdicts{Holds: 1, Contradicted: 1}
}

// parts has claims once it is computed with the thesis's knobs, and two texts to copy.
func (f *inventedFigure) parts() []job.FigurePart {
	made := inventor{}.Parts(f.Figure, nil)
	if !f.done {
		return made
	}
	return append([]job.FigurePart{{Name: "claims", Title: "What the thesis says", HTML: `<ul id="claims" class="claims"><li><div class="states"><span class="verdict contradicted">✗ contradicted</span></div><div><p>a READ takes 3 µs</p><p class="hint">measured 2 µs</p></div></li><li>✓ holds: WRITE is slower</li></ul>`}}, made...)
}

func (f *inventedFigure) Draw(size charts.Size, over ...job.Figure) *charts.Chart {
	if f.Form == "bars" {
		parts := []charts.Part{{Name: "READ"}, {Name: "WRITE"}}
		var bars []charts.Bars
		for i, s := range f.Series {
			for _, p := range s.Points {
				b := charts.Bars{Name: p.Name, Values: []float64{0, 0}}
				b.Values[i] = p.Y
				bars = append(bars, b)
			}
		}
		return charts.RankingSized(size, "", charts.Axis{Label: "Latency", Unit: "µs"}, parts, bars)
	}
	var lines []charts.Series
	for i, o := range append([]job.Figure{f}, over...) {
		o := o.(*inventedFigure)
		for _, s := range o.Series {
			l := charts.Series{Name: s.Name, Variant: i}
			if i > 0 {
				l.Of, l.Name = s.Name, s.Name+fmt.Sprint(o.set)
			}
			for _, p := range s.Points {
				l.X, l.Y = append(l.X, p.X), append(l.Y, p.Y)
			}
			lines = append(lines, l)
		}
	}
	return charts.LinesSized(size, "", charts.Axis{Label: "Coroutines"}, charts.Axis{Label: "Latency", Unit: "µs"}, lines,
		[]charts.Reference{{Text: "3 §2.1", X: 2, From: 3, To: 3}, {Text: "4.5 §2.1", X: math.NaN(), From: 4.5, To: 4.5}})
}

// inventor runs figures of three points a line; a run ends when next says so.
type inventor struct{ next chan error }

func (inventor) List() []job.FigureInfo {
	return []job.FigureInfo{{ID: "2-1a", Title: "An invented figure", Chapter: 2, Section: "2.1", State: "ok"}, {ID: "4-1", Title: "Another", Chapter: 4, Section: "4.1", State: "ok"}}
}

func (inventor) Sketch(string) string {
	return charts.Sketch{References: []charts.Reference{{X: 1, From: 2, To: 2}}}.SVG()
}

func (inventor) Parts(id string, f job.Figure) []job.FigurePart {
	if f, ok := f.(*inventedFigure); ok {
		return f.parts()
	}
	return []job.FigurePart{{Name: "make", Title: "To make it again", HTML: `<h3>On the command line</h3><pre>drtmx figure ` + id + `</pre>`}}
}

func (inventor) Known(string) (job.KnownFigure, bool) { return job.KnownFigure{}, false }

func (inventor) Check(_, _ string, set experiment.Knobs) error {
	_, err := browserSpec.With(set)
	return err
}

func (v inventor) Run(ctx context.Context, id, scale string, set experiment.Knobs, report job.FigureReport) (job.Figure, error) {
	f := inventedFigure{Figure: id, Scale: scale, Scope: "machine", X: map[string]any{"label": "Coroutines", "unit": ""}, Y: map[string]any{"label": "Latency", "unit": "µs"},
		Series: []inventedSeries{{Name: "READ"}, {Name: "WRITE"}}, set: set}
	for i := range 6 {
		select {
		case err := <-v.next:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		spec, err := browserSpec.With(set)
		if err != nil {
			return nil, err
		}
		n := i%3 + 1
		if spec, err = spec.With(experiment.Knobs{"coroutines": n}); err != nil {
			return nil, err
		}
		values, err := experiment.Resolve(spec)
		if err != nil {
			return nil, err
		}
		there := f
		there.Series = append([]inventedSeries{}, f.Series...)
		s := &there.Series[i/3]
		s.Points = append(append([]inventedPoint{}, s.Points...), inventedPoint{float64(n), float64(n+i/3) + float64(len(set))/2, n, i, ""})
		if id == "4-1" { // its points are names
			there.Form = "bars"
			s.Points[len(s.Points)-1].Name = fmt.Sprintf("step %d", n)
		}
		there.Runs = append(append([]*result.Result{}, f.Runs...), &result.Result{Spec: values, FromNS: 100_000, VirtualNS: 200_000, Limit: &result.Verdict{Word: result.Saturated, Of: "cpu", Text: "saturated: cpu of node 1, 90 % busy"}})
		f = there
		report(i+1, 6, func() job.Figure { return &there })
	}
	f.done = len(set) == 0
	return &f, nil
}

const (
	figureJS = `echarts.getInstanceByDom(document.getElementById("figurechart"))`
	dotsJS   = `(` + figureJS + `?.getOption().series || []).filter((s) => s.name !== "thesis").reduce((n, s) => n + s.data.length, 0)`
)

// TestFiguresPage is a visit to the figures: one is computed, its points come, one is
// opened live and copied, and a variant is drawn over it.
func TestFiguresPage(t *testing.T) {
	t.Parallel()
	v := inventor{make(chan error)}
	s, b := visitFigures(t, agent.Options{Pace: visitPace / 2, NoTwin: true}, v) // four systems run at the end
	for _, part := range []struct {
		name string
		f    func(*site, *tab, inventor)
	}{
		{"list", figureList}, {"points come", figurePoints}, {"cancel and failure", figureFails}, {"variant", figureVariant}, {"point", figurePoint}, {"live", figureLive}, {"bars", figureBars}, {"narrow", figureNarrow},
	} {
		if !t.Run(part.name, func(t *testing.T) { b.t, s.t = t, t; part.f(s, b, v) }) {
			b.t = t
			b.shot("failed.png")
			break
		}
	}
	b.t, s.t = t, t
	b.quiet(s, "status of 400", "status of 409")
}

func figureList(_ *site, b *tab, _ inventor) {
	b.click(`#views a[href="#figures"]`)
	b.until("the list", `document.querySelectorAll("#figurelist a").length === 2 && document.getElementById("livepage").hidden`)
	b.until("grouped by chapter", `[...document.querySelectorAll("#figurelist h2")].map((e) => e.textContent).join() === "Chapter 2,Chapter 4"`)
	galleryVisit(b)
	b.click(`#gallery a[href="#figures/2-1a"]`)
	b.until("the figure", `/Figure 2-1a: An invented figure/.test(document.getElementById("figuretitle").textContent)`)
	b.act(`history.back()`)
	b.until("the list again", `document.getElementById("figure").hidden && location.hash === "#figures"`)
	b.act(`history.forward()`)
	b.until("the figure again", `!document.getElementById("figure").hidden`)
	b.act(`document.querySelector(".skip").click()`)
	b.until("the figure, past the list", `document.activeElement.id === "figure" && location.hash === "#figures/2-1a" && !document.getElementById("figures").hidden`)
}

func figurePoints(_ *site, b *tab, v inventor) {
	b.until("how it is made, before it is", `/drtmx figure 2-1a/.test(document.getElementById("parts").textContent) && !document.getElementById("claims")`)
	b.click("#compute")
	b.until("it runs", `!document.getElementById("running").hidden && document.getElementById("compute").hidden`)
	b.until("there is none before it", `document.getElementById("runningtext").textContent === "begins" && document.querySelector("#figurelist .running").textContent === "begins"`)
	for n := 1; n < 6; n++ {
		v.next <- nil
		b.until(fmt.Sprintf("%d points", n), fmt.Sprintf(`%s === %d && /%d of 6 runs/.test(document.getElementById("runningtext").textContent)`, dotsJS, n, n))
		if n == 3 { // the agent keeps what there is
			b.do(chromedp.Reload())
		}
	}
	b.until("the list tells of it", `/5 of 6/.test(document.querySelector("#figurelist a").textContent)`)
	b.shot("figure_running.png")
	v.next <- nil
	b.until("all points and the thesis's", dotsJS+` === 6 && document.getElementById("running").hidden && `+figureJS+`.getOption().series.at(-1).name === "thesis"`)
	b.until("the claims", `/✗ contradicted.*a READ takes 3 µs.*measured 2 µs/.test(document.getElementById("claims").textContent) && document.querySelectorAll("#claims li").length === 2`)
	b.until("how it is made, with a button to copy it", `/^drtmx figure 2-1a$/.test(document.querySelector("#parts pre").textContent) && document.querySelector("#parts h3 button").textContent === "Copy"`)
	b.until("the list has it", `/✓/.test(document.querySelector("#figurelist a .status").textContent)`)
}

func figureFails(_ *site, b *tab, v inventor) {
	b.click("#compute")
	b.until("it runs", `!document.getElementById("running").hidden`)
	b.click("#cancelfigure")
	b.until("what was there stays", `document.getElementById("running").hidden && document.getElementById("figurefailed").hidden && `+dotsJS+` === 6`)
	b.click("#compute")
	v.next <- fmt.Errorf("a planted failure")
	b.until("the reason", `/a planted failure/.test(document.getElementById("figurefailed").textContent)`)
	b.until("what was there stays", dotsJS+` === 6`)
}

func figureVariant(_ *site, b *tab, v inventor) {
	b.click("#variant")
	b.key("phase.l")
	b.until("names of knobs", `[...document.querySelectorAll("#variantknobs option")].some((o) => o.value === "phase.logging=")`)
	b.act(`document.getElementById("variant").value = "phase.logging=sideways"; document.getElementById("variant").dispatchEvent(new Event("input"))`)
	b.until("its values", `[...document.querySelectorAll("#variantknobs option")].some((o) => o.value === "phase.logging=two-sided")`)
	b.click("#variantgo")
	b.until("what is wrong", `/phase.logging.*sideways/.test(document.getElementById("variantwrong").textContent)`)
	b.act(`document.getElementById("variant").value = "phase.logging=two-sided"`)
	b.click("#variantgo")
	v.next <- nil
	v.next <- nil
	b.until("it is drawn as it comes", dotsJS+` === 8`)
	b.act(`document.getElementById("figurechart").scrollIntoView({ block: "center" }); const c = ` + figureJS + `, at = c.convertToPixel({ seriesIndex: 2 }, c.getOption().series[2].data[1].value); window.point = at`)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, `(() => { const r = document.getElementById("figurechart").getBoundingClientRect(); return [r.left + window.point[0], r.top + window.point[1]] })()`)
	b.until("it is told at its point", `/phase.logging/.test([...document.querySelectorAll("#figurechart > div")].find((e) => e.style.zIndex)?.textContent)`)
	b.act(`document.getElementById("cancelfigure").click()`) // the pointer stays where it is
	b.until("it is gone", dotsJS+` === 6 && document.getElementById("running").hidden`)
	b.act(`await new Promise((done) => setTimeout(done, 300))`) // what the library does after a drawing
	b.act(`document.getElementById("variant").value = "phase.logging=two-sided"`)
	b.click("#variantgo")
	for range 6 {
		v.next <- nil
	}
	b.until("two lines more, dashed", dotsJS+` === 12 && `+figureJS+`.getOption().series[2].lineStyle.type === "dashed"`)
	b.until("its name", `document.querySelector("#variants li code").textContent === "phase.logging=two-sided"`)
	b.click("#variants input")
	b.until("out of sight", dotsJS+` === 6 && document.querySelector("#variants .sign").textContent === ""`)
	b.click("#variants input")
	b.until("and back", dotsJS+` === 12 && document.querySelector("#variants .sign").textContent !== ""`)
	b.shot("figure.png")
	printed(b)
}

// printed sees that paper takes the figure as wide as it is, and nothing to press.
func printed(b *tab) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(700, 1000))
	media := func(name string) {
		b.t.Helper()
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name}); err != nil {
			b.t.Fatal(err)
		}
	}
	b.act(`document.querySelector("#figurechart canvas").style.width = "1200px"`) // as wide as the window was
	media("print")
	if w := eval[float64](b, `document.querySelector("#figurechart canvas").getBoundingClientRect().right`); w > 700 {
		b.t.Errorf("the figure is cut off: it ends at %g of 700 pixels", w)
	}
	b.until("only what can be read", `["top", "figurelists", "compute", "variantform"].every((id) => !document.getElementById(id).checkVisibility()) && document.getElementById("figuretitle").checkVisibility()`)
	b.act(`for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame)`)
	if h := eval[float64](b, `document.querySelector("#figurechart canvas").getBoundingClientRect().height`); h < 150 {
		b.t.Errorf("the figure is %g pixels high on paper", h)
	}
	media("")
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.until("as wide again as it was", figureJS+`.getWidth() > 700`)
}

// figurePoint clicks a point of the variant, then one by keyboard.
func figurePoint(_ *site, b *tab, _ inventor) {
	at := func(series, point int) string {
		return fmt.Sprintf(`(() => { const c = %s, v = c.getOption().series[%d].data[%d].value, [x, y] = c.convertToPixel({seriesIndex: %d}, v); document.getElementById("figurechart").scrollIntoView({block: "center"}); const r = document.getElementById("figurechart").getBoundingClientRect(); return [r.left + x + 4, r.top + y + 4] })()`, figureJS, series, point, series)
	}
	b.clickAt(at(2, 1), "its card", `/READ.*with phase.logging=two-sided.*2.5 µs.*at 2.*saturated: cpu of node 1, 90 % busy.*coroutines=2/.test(document.getElementById("pointcard")?.textContent)`)
	b.shot("figure_point.png")
	b.act(`document.getElementById("pointsbox").open = true; [...document.querySelectorAll("#points tbody tr")].at(-1).querySelectorAll("button")[1].focus()`)
	b.press("Enter", 13)
	b.act(`document.activeElement.click()`)
	b.until("another card", `/WRITE.*4 µs/.test(document.getElementById("pointcard").textContent) && document.activeElement.id === "pointcard"`)
	b.act(`[...document.querySelectorAll("#pointcard button")].find((e) => e.textContent === "Copy as notebook cell").click()`)
	b.until("a cell", `document.getElementById("dialog").open && /cluster\.Up\(.*"coroutines": 3.*c\.Run\(100 \* time\.Microsecond\).*c\.Run\(200 \* time\.Microsecond\)/s.test(document.querySelector("#dialog pre").textContent)`)
	b.click("#dialogbody h3 button")
	b.until("it is copied or selected", `/Copied|Selected/.test(document.querySelector("#dialogbody h3 button").textContent)`)
	b.press("Escape", 27)
}

// figureLive opens the point, and again until there are four systems.
func figureLive(s *site, b *tab, _ inventor) {
	open := func() {
		b.act(`[...document.querySelectorAll("#pointcard button")].find((e) => e.textContent === "Open live").click()`)
	}
	open()
	b.until("the live page with it", `!document.getElementById("livepage").hidden && document.querySelector("#systems .sys.b[aria-pressed=true]") && document.getElementById("k-coroutines").value === "3"`)
	if spec, err := s.agent.Spec(b.t.Context(), "b"); err != nil || spec.Set["coroutines"] != 3 {
		b.t.Errorf("%v, %v", spec, err)
	}
	for _, sys := range []string{"c", "d"} {
		b.act(`history.back()`)
		b.until("the figure", `document.getElementById("pointcard")`)
		open()
		b.until("system "+sys, fmt.Sprintf(`document.querySelector("#systems .sys.%s[aria-pressed=true]")`, sys))
	}
	b.act(`history.back()`)
	b.until("the figure", `!document.getElementById("figures").hidden`)
	open()
	b.until("a question", `[...document.querySelectorAll("#replace button")].map((e) => e.textContent).join() === "b,c,d"`)
	life := eval[string](b, `fetch("/api/systems").then((r) => r.json()).then((l) => l.find((x) => x.sys === "c").epoch)`)
	b.click("#replace .sys.c")
	b.until("another c", fmt.Sprintf(`fetch("/api/systems").then((r) => r.json()).then((l) => l.length === 4 && l.find((x) => x.sys === "c").epoch !== %q)`, life))
	b.act(`history.back()`)
	b.until("the figure", `!document.getElementById("figures").hidden`)
}

// figureBars is a figure of bars, of which one is clicked.
func figureBars(_ *site, b *tab, v inventor) {
	b.act(`location.hash = "#figures/4-1"`)
	b.until("the other figure", `/Figure 4-1: Another/.test(document.getElementById("figuretitle").textContent) && document.getElementById("figurechart").hidden`)
	b.click("#compute")
	for range 6 {
		v.next <- nil
	}
	b.until("six bars", figureJS+`?.getOption().yAxis[0].data.length === 6 && document.getElementById("running").hidden && document.querySelectorAll("#points td button").length === 6`)
	bar := `(() => { const e = document.getElementById("figurechart"), [x, y] = ` + figureJS + `.convertToPixel({seriesIndex: 1}, [2, 4]), r = e.getBoundingClientRect(); return [r.left + x, r.top + y] })()`
	b.clickAt(bar, "its card", `/WRITE, step 2.*3 µs.*coroutines=2/.test(document.getElementById("pointcard")?.textContent)`)
	b.shot("figure_bars.png")
	b.act(`history.back()`)
	b.until("the figure of lines", `document.getElementById("figuretitle").textContent.includes("2-1a") && `+dotsJS+` === 12`)
	b.act(`document.getElementById("pointsbox").open = true; [...document.querySelectorAll("#points tbody tr")].at(-1).querySelectorAll("button")[1].click()`)
	b.until("its point", `document.getElementById("pointcard")`)
}

func figureNarrow(_ *site, b *tab, _ inventor) {
	ringed := func(when string) {
		b.t.Helper()
		b.until("the ring is around its point "+when, `(() => { const c = `+figureJS+`, o = c.getOption(), ring = o.graphic[0].elements[0], [x, y] = c.convertToPixel({seriesIndex: 1}, o.series[1].data[2].value); return !ring.invisible && c.getWidth() === c.getDom().clientWidth && Math.hypot(ring.shape.cx - x, ring.shape.cy - y) < 2 })()`)
	}
	for _, top := range []string{"40", "null"} { // nothing is resized
		b.act(figureJS + `.setOption({yAxis: [{max: ` + top + `}]})`)
		ringed("of another axis")
	}
	for _, width := range []int64{390, 320, 768, 1024} {
		b.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
		b.until("the chart fits", fmt.Sprintf(`document.querySelector("#figurechart canvas").clientWidth <= %d`, width))
		b.until("nothing is wider", fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
		ringed(fmt.Sprintf("at %d pixels", width))
		if width == 390 {
			b.shot("figure_phone.png")
		}
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.theme("dark")
	b.until("on a dark ground", `document.querySelector("#figurechart canvas")`)
	b.shot("figure_dark.png")
	b.theme("light")
}

// Without echarts the figure is a picture, and its points are reached by their table.
func TestFiguresWithoutLibrary(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	v := inventor{make(chan error)}
	s := newFigureSite(t, browserSpec, agent.Options{Pace: visitPace, NoTwin: true}, v, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				h.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder() // the page as a build has it that was made without npm
			h.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			w.Header().Del("Content-Length")
			w.WriteHeader(answer.Code)
			w.Write(regexp.MustCompile(`<link id="library"[^>]*>`).ReplaceAll(answer.Body.Bytes(), nil))
		})
	})
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.do(chromedp.Navigate(s.url("/#figures/2-1a")))
	b.until("the figure", `!document.getElementById("compute").hidden && !document.getElementById("figure").hidden`)
	b.click("#compute")
	for range 6 {
		v.next <- nil
	}
	b.until("its picture", `document.querySelector("#figurechart img")?.naturalWidth > 300 && !window.echarts && document.querySelectorAll("#points td button").length === 6`)
	b.shot("figure_plain.png")
	b.act(`document.getElementById("pointsbox").open = true; document.querySelector("#points td button").click()`)
	b.until("a card", `/READ.*1 µs/.test(document.getElementById("pointcard").textContent)`)
	b.quiet(s)
}

// TestNoFigures is the page of an agent without figures.
func TestNoFigures(t *testing.T) {
	t.Parallel()
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace, Paused: true, NoTwin: true}, nil)
	for path, want := range map[string]string{"/page/figures": "[]", "/page/figure?id=2-4a": "no such figure", "/page/figure/chart?id=": "no such figure", "/page/figure/point?id=x": "no such figure"} {
		r, err := http.Get(s.url(path))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || !strings.Contains(string(text), want) || want != "[]" && r.StatusCode != 404 {
			t.Errorf("%s: %d %s %v", path, r.StatusCode, text, err)
		}
	}
}
