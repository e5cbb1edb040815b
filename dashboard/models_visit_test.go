package dashboard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// saidJS keeps every text that the panel of the learned cache has shown, and what was said to those who listen: a training may be
// short, and the card of the change speaks too.
const saidJS = `window.texts = new Set(); window.heard = new Set(); for (const [e, to] of [[document.querySelector("#panel-xstore .says span"), window.texts], [document.getElementById("said"), window.heard]]) new MutationObserver(() => to.add(e.textContent)).observe(e, { childList: true, characterData: true, subtree: true })`

// panelJS is the sentence of the panel.
const panelJS = `document.querySelector("#panel-xstore .says span")?.textContent`

// factJS is a number of the panel, by its name.
func factJS(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#panel-xstore .facts div")].find((e) => e.querySelector("dt").textContent === %q)?.querySelector("dd").textContent`, name)
}

// TestModels: the spec models in a browser. The number of sub-models and the mode of the cache are turned on the strip, as a
// keyboard does it; throughput and the median move, and the page says when the training in the background has settled.
func TestModels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec, err := experiment.LoadSpec("models")
	if err == nil { // fewer keys train faster; 400 of them for a sub-model
		spec, err = spec.With(experiment.Knobs{"workload.keys": 100_000, "xstore.submodels": 250})
	}
	if err != nil {
		t.Fatal(err)
	}
	// At this pace a training takes seconds, and the page sees it.
	s, b := newSite(t, spec, agent.Options{Pace: 2_000_000, NoTwin: true}, nil), newTab(t)
	b.open(s, "the line", `window.echarts && `+seriesJS+`?.[0]?.data?.length > 20`)
	b.until("the strip of a single system", `!document.getElementById("strip").hidden && [...document.querySelectorAll("#stripknobs .stripknob")].map((e) => e.dataset.knob).join() === "xstore.submodels,xstore.cache"`)
	b.until("the panel", ``+panelJS+` === "settled: 250 sub-models, nothing waits for training"`)
	b.until("all lookups are hits", factJS("cache hits")+` === "100 %"`)
	b.until("the panel's chart", `echarts.getInstanceByDom(document.getElementById("panel-xstore-0")).getOption().grid.length === 3`)
	b.act(saidJS)
	few := eval[float64](b, meanJS("system a"))

	b.do(chromedp.Focus(chromedp.CSS("#strip-xstore-submodels")))
	b.press("End", 35)
	b.until("5,000 are asked for", `fetch("/api/spec?sys=a").then((r) => r.json()).then((s) => s.set["xstore.submodels"] === 5000)`)
	b.until("it says how far the training is", `[...window.texts].some((x) => /^training: [\d,]+ of 5,000 sub-models to go$/.test(x))`)
	b.until("the chart shows what is to go", `echarts.getInstanceByDom(document.getElementById("panel-xstore-0")).getOption().yAxis.some((y) => /^models to go/.test(y.name))`)
	b.shot("training.png")
	b.until("it says that the training has settled", panelJS+` === "settled: 5,000 sub-models, nothing waits for training" && document.getElementById("stripsays").className === "settled"`)
	b.until("it says so to those who listen", `[...window.heard].some((x) => /^settled: 5,000 sub-models/.test(x))`)
	b.until("throughput rises by a fifth at least", fmt.Sprintf(`%s > %g`, meanJS("system a"), 1.2*few))
	b.until("its card says so, of the time after the training", `/xstore\.submodels: 250 → 5000/.test(document.querySelector(".cards .card").textContent) && document.querySelector(".cards .card .better")`)
	b.until("leaves READ", factJS("leaves READ")+`.startsWith("1.")`)
	b.shot("settled.png")

	b.act(`window.texts.clear()`)
	b.click("#stripknobs .link")
	b.until("the number that was chosen, and why", `/^xstore.submodels was chosen: a lookup READs .* of the server's RNIC/.test(document.querySelector("#panel-xstore .why").textContent) && [...window.texts].some((x) => /^settled: (?!5,000 )/.test(x))`)
	b.until("the strip says so", `document.querySelector("#stripknobs output").textContent === "auto" && /xstore.submodels: 5000 → auto/.test(document.querySelector(".cards .card").textContent)`)

	many, p50 := eval[float64](b, meanJS("system a")), `Number.parseFloat(document.getElementById("t-p50").textContent)`
	fast := eval[float64](b, p50)
	b.do(chromedp.Focus(chromedp.CSS("#strip-xstore-cache")))
	b.key("t") // the first is top
	b.until("clients keep the top model", `fetch("/api/spec?sys=a").then((r) => r.json()).then((s) => s.set["xstore.cache"] === "top")`)
	b.until("which is small", factJS("a client’s cache")+` === "16 bytes" && `+factJS("cache hits")+` === "0 %"`)
	b.until("throughput falls by a fifth at least, and the median rises", fmt.Sprintf(`%s < %g && %s > %g`, meanJS("system a"), 0.8*many, p50, 1.2*fast))

	b.act(`const e = document.getElementById("strip-xstore-cache"); e.value = "tree4"; e.dispatchEvent(new Event("change"))`)
	b.until("without models there is nothing to train", `/^no models in use/.test(`+panelJS+`) && !document.getElementById("strip-xstore-submodels")`)
	for _, look := range []struct {
		name  string
		width int64
		theme string
	}{{"models-dark", 1400, "dark"}, {"models-phone", 390, "light"}} {
		b.do(chromedp.EmulateViewport(look.width, 1400))
		b.theme(look.theme)
		b.until("it is drawn again", fmt.Sprintf(`document.querySelector("#panel-xstore-0 canvas").clientWidth <= %d && document.getElementById("panel-xstore-0").classList.contains("dark") === %t`, look.width, look.theme == "dark"))
		b.act(`document.getElementById("panel-xstore").scrollIntoView()`)
		time.Sleep(200 * time.Millisecond) // the picture is kept: let it be drawn to the end
		if w := eval[int64](b, "document.documentElement.scrollWidth"); w > look.width {
			t.Errorf("at a width of %d the page is %d wide", look.width, w)
		}
		b.shot(look.name + ".png")
	}
	b.quiet(s)
}
