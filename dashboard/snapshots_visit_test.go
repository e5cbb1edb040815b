package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// What the panel of snapshots and that of parts show.
const (
	staleJS = `echarts.getInstanceByDom(document.getElementById("panel-snapshots-0"))?.getOption()`
	// the largest staleness that the line of a system has, in us
	oldestJS = `Math.max(...` + staleJS + `.series[0].data.map((p) => p.value[0]))`
	// where the mark of the bound is, in us
	boundJS = `(` + staleJS + `.series[0].markLine?.data?.[0]?.xAxis ?? 0)`
	saysJS  = `document.querySelector("#panel-snapshots .says span")?.textContent`
)

// gaugeJS are the latest values of a gauge's line in the panel of parts.
func gaugeJS(label string) string {
	return fmt.Sprintf(`((o) => { const at = o.yAxis.findIndex((y) => y.name.startsWith(%q)); return at < 0 ? [] : o.series.find((s) => s.yAxisIndex === at).data.slice(-5).map((p) => p.value[1]).filter((y) => y !== null && y === y) })(echarts.getInstanceByDom(document.getElementById("gauges")).getOption())`, label)
}

// knobID is the element of a knob, as knobs.js names it.
func knobID(knob string) string { return "k-" + strings.ReplaceAll(knob, ".", "-") }

// turnKnob gives a knob a value, as who types or chooses it.
func (b *tab) turnKnob(knob, value string) {
	b.t.Helper()
	b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change"))`, knobID(knob), value))
}

// TestSnapshots: the spec snapshots in a browser. A larger staleness moves the histogram and its bound; under
// an oracle's timestamps there is no bound, the oracle's machine is busy, and no read is blocked.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec, err := experiment.LoadSpec("snapshots")
	if err == nil {
		spec, err = spec.With(experiment.Knobs{"nodes": 3, "threads": 2, "window_ns": 200_000, "check": "sampled"})
	}
	if err != nil {
		t.Fatal(err)
	}
	s, b := newSite(t, spec, agent.Options{Pace: 3_000_000, NoTwin: true}, nil), newTab(t)
	b.do(chromedp.EmulateViewport(1440, 900))
	b.open(s, "the line", `window.echarts && `+seriesJS+`?.[0]?.data?.length > 10`)
	b.until("the panel of snapshots", `!!document.getElementById("panel-snapshots")`)
	b.act(`for (const id of ["panel-snapshots", "gaugebox"]) document.getElementById(id).open = true`)
	b.until("its bound", boundJS+` > 0 && / is the bound; [\d.]+ % of the reads waited/.test(`+saysJS+`)`)
	b.until("the gauges of snapshots", gaugeJS("blocked reads")+`.length > 2 && `+gaugeJS("old versions kept")+`.every((y) => y > 0)`)
	if n := eval[int](b, gaugeJS("oracle, busiest core")+`.length`); n > 0 {
		t.Errorf("nobody asks the oracle, and its gauge has %d values", n)
	}
	b.until("waits are in the page's unit", `echarts.getInstanceByDom(document.getElementById("gauges")).getOption().yAxis.some((y) => y.name === "mean wait if blocked (µs)")`)
	bound, says := eval[float64](b, boundJS), eval[string](b, saysJS)
	b.act(`document.getElementById("panel-snapshots").scrollIntoView()`)
	b.shot("snapshots.png")

	for _, knob := range []string{"ts.scheme", "ts.staleness_ns", "ts.clock_drift_ns"} {
		b.until(knob+" is live", fmt.Sprintf(`!document.querySelector('#knobs [data-knob=%q]').closest("details.fixed") && !document.getElementById(%q).disabled`, knob, knobID(knob)))
	}
	b.turnKnob("ts.staleness_ns", "2ms")
	b.until("the bound moves by 2 ms", fmt.Sprintf(`Math.abs(%s - %g) < 1`, boundJS, bound+2000))
	b.until("in words as long a time has", `/ 2\.0\d ms is the bound;/.test(`+saysJS+`)`)
	b.until("the histogram moves", oldestJS+` > 500`)
	b.until("the words follow", fmt.Sprintf(`%s !== %q`, saysJS, says))
	b.act(`document.getElementById("panel-snapshots").scrollIntoView()`)
	b.shot("stale.png")
	if eval[float64](b, oldestJS) > eval[float64](b, boundJS) {
		t.Errorf("a read is older than the bound: %s", eval[string](b, saysJS))
	}

	b.turnKnob("ts.scheme", "gts")
	b.until("the scheme is in force", `fetch("/api/spec?sys=a").then((r) => r.json()).then((s) => s.set["ts.scheme"] === "gts")`)
	b.until("no bound", `/no bound is promised; 0 % of the reads waited for a writer$/.test(`+saysJS+`) && !`+boundJS)
	b.until("the oracle is asked", gaugeJS("numbers drawn")+`.some((y) => y > 0)`)
	b.until("its busiest core works", gaugeJS("oracle, busiest core")+`.some((y) => y > 0.1)`)
	b.until("its CPU in the picture of the cluster", `[...document.querySelectorAll("#cluster title")].some((e) => /^CPU of node 3: [1-9]/.test(e.textContent)) && /oracle 3/.test(document.getElementById("cluster").textContent)`)
	b.until("a card of each", `["ts.staleness_ns", "ts.scheme"].every((n) => [...document.querySelectorAll(".cards .card")].some((e) => e.textContent.includes(n)))`)
	b.looks("gaugebox", "oracle")
	b.quiet(s)
}

// looks has pictures of a panel in both themes, on a desktop and on a phone, where it fits.
func (b *tab) looks(id, name string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for screen, size := range map[string][2]int64{"desktop": {1440, 900}, "phone": {390, 844}} {
			b.theme(theme)
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.until("it fits", fmt.Sprintf(`document.documentElement.scrollWidth <= %d && document.querySelector("#%s canvas").getBoundingClientRect().right <= %d`, size[0], id, size[0]))
			b.act(fmt.Sprintf(`document.getElementById(%q).scrollIntoView()`, id))
			b.shot(name + "-" + theme + "-" + screen + ".png")
		}
	}
}
