package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// TestHeatMapOnThePage: two knobs and their values are chosen, a sweep runs in the background with
// progress and a cancel, and its heat map is the way to each of its runs.
func TestHeatMapOnThePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec := browserSpec
	spec.Set = experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "window_ns": 100_000, "warmup_ns": 100_000, "duration_ns": 300_000, "workload.accounts": 1000}
	s, b := newSite(t, spec, agent.Options{Pace: 1_000_000}, nil), newTab(t)
	b.open(s, "the page is there", ready)
	b.act(`document.getElementById("sweepbox").open = true`)
	b.until("knobs with values", `document.getElementById("sweepxs").value === "1, 2, 4" && document.getElementById("sweepys").value === "1, 2"`)
	type_ := func(id, value string) {
		b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input"))`, id, value))
	}
	type_("sweepxs", "1, 2, many")
	b.act(`document.getElementById("sweepgo").click()`)
	b.until("what is wrong", `/^coroutines/.test(document.getElementById("sweepfailed").textContent)`)

	type_("sweepxs", "1, 2, 4")
	type_("sweepy", "nodes")
	type_("sweepys", "2, 3, 4")
	b.act(`document.getElementById("sweepgo").click()`)
	b.until("the map", `!document.getElementById("heat").hidden && !document.getElementById("heattablebox").hidden && document.getElementById("sweeprun").hidden`)
	if table := eval[string](b, `document.getElementById("heattable").textContent`); !strings.Contains(table, "M/s") && !strings.Contains(table, "k/s") || !strings.Contains(table, "no value: ") {
		t.Errorf("%q", table)
	}
	if wrong := eval[string](b, `document.getElementById("sweepfailed").textContent`); wrong != "" {
		t.Error(wrong)
	}
	type_("sweepmetric", "latency_us.p50")
	b.until("another number", `/µs/.test(document.getElementById("heattable").textContent)`)
	b.act(`document.getElementById("sweepbox").scrollIntoView()`)
	for _, size := range [][2]int{{1440, 900}, {390, 844}} {
		b.do(chromedp.EmulateViewport(int64(size[0]), int64(size[1])))
		b.act(`document.getElementById("heat").scrollIntoView({ block: "center" }); await new Promise((done) => setTimeout(done, 700))`)
		b.shot(fmt.Sprintf("heat-%d.png", size[0]))
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
	if eval[bool](b, `!!window.echarts`) {
		b.until("a click on a cell tells of its run", `(() => {
			const e = document.getElementById("heat"), c = window.echarts.getInstanceByDom(e), [x, y] = c.convertToPixel({ seriesIndex: 0 }, [2, 2]), r = e.getBoundingClientRect();
			for (const type of ["mousedown", "mouseup", "click"]) e.querySelector("canvas").dispatchEvent(new MouseEvent(type, { clientX: r.left + x, clientY: r.top + y, bubbles: true }));
			return document.querySelector("#heatpoint h3")?.textContent === "coroutines=4 nodes=4";
		})()`)
	}
	b.act(`[...document.querySelectorAll("#heattable tr")].at(-1).querySelectorAll("button")[1].click()`)
	b.until("and so does one in the table", `document.querySelector("#heatpoint h3").textContent === "coroutines=2 nodes=4"`)
	b.act(`[...document.querySelectorAll("#heatpoint button")].find((e) => e.textContent === "Notebook cell").click()`)
	b.until("the cell of a notebook", `/"coroutines": 2/.test(document.getElementById("dialogbody").textContent) && /cluster\.Up/.test(document.getElementById("dialogbody").textContent)`)
	b.act(`document.getElementById("dialog").close(); [...document.querySelectorAll("#heatpoint button")].find((e) => e.textContent === "Open live").click()`)
	b.until("its system", `[...document.querySelectorAll("#systems .sys")].some((e) => e.textContent === "b" && e.getAttribute("aria-pressed") === "true")`)
	b.act(`[...document.querySelectorAll("#systems .sys")].find((e) => e.textContent === "a").click()`)

	type_("sweepxs", "1, 2, 3, 4, 5, 6, 7, 8")
	type_("sweepys", "3, 4, 5, 6, 7, 8")
	b.until("another may begin", `!document.getElementById("sweepgo").disabled`)
	b.act(`document.getElementById("sweepgo").click()`)
	b.until("progress", `!document.getElementById("sweeprun").hidden`)
	b.act(`document.getElementById("sweepstop").click()`)
	b.until("cancelled", `document.getElementById("sweeprun").hidden && !document.getElementById("sweepgo").disabled`)
	s.patch(`{"coroutines": 3}`)
	b.until("what there is is old, or nothing", `/changed since/.test(document.getElementById("heathint").textContent) || document.getElementById("heat").hidden`)
	b.quiet(s, "status of 404", "status of 400")
}
