package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// TestPageOfRequests: who runs lookups is told of requests, and what has no effect on them is folded away, group by group. The
// header names the whole system, on every screen.
func TestPageOfRequests(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, experiment.Spec{Workload: "ycsb-c", Set: experiment.Knobs{"servers": 1, "clients": 2, "server.threads": 8, "client.threads": 8, "coroutines": 2, "workload.keys": 5_000, "xstore.submodels": 50, "window_ns": 100_000, "check": "off"}},
		agent.Options{Pace: visitPace / 4, NoTwin: true}, nil)
	b := newTab(t)
	b.open(s, "the page is there", ready)
	b.until("requests", `/throughput \([kM]? ?req\/s\)/.test(echarts.getInstanceByDom(document.getElementById("timeline")).getOption().yAxis[0].name)`)
	if text := eval[string](b, `[...document.querySelectorAll("#centre h2, #centre summary")].map((e) => e.innerText).join("; ")`); !strings.Contains(text, "WHERE A REQUEST’S TIME GOES") || !strings.Contains(text, "One request from begin to end") {
		t.Errorf("%s", text)
	}
	b.until("no phase of a transaction is in sight", `!document.querySelector("#knobs .board") && [...document.querySelectorAll("#knobs summary")].some((e) => /^Phases of a transaction: \d+ knobs have no effect here$/.test(e.textContent))`)
	if n := eval[int](b, `[...document.querySelectorAll("#knobs .knob.off")].filter((e) => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d knobs without effect are in sight", n)
	}
	b.act(`[...document.querySelectorAll("#knobs summary")].find((e) => /^Phases of a transaction/.test(e.textContent)).click()`)
	b.until("a click shows them, with the reason", `[...document.querySelectorAll("#knobs .knob.off small")].some((e) => e.checkVisibility() && /runs no transactions/.test(e.textContent))`)
	for _, size := range [][2]int{{1440, 900}, {1180, 800}, {390, 844}} {
		b.do(chromedp.EmulateViewport(int64(size[0]), int64(size[1])))
		b.until("the title", `/ycsb-c on val, 1 server × 8, 2 clients × 8 threads/.test(document.getElementById("what").textContent)`)
		if cut := eval[[]int](b, `(() => { const e = document.getElementById("what"), r = e.getBoundingClientRect(); return [e.scrollWidth, e.clientWidth, Math.round(r.right), document.documentElement.scrollWidth] })()`); cut[0] > cut[1] || cut[2] > size[0] || cut[3] > size[0] {
			t.Errorf("on %d pixels the title is cut: %v", size[0], cut)
		}
		b.shot(fmt.Sprintf("requests-%d.png", size[0]))
	}
	b.quiet(s)
}

// TestHelpOfAKnobBesideTheCharts: however long a help text is, it stays below its knob and covers no chart.
func TestHelpOfAKnobBesideTheCharts(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.do(chromedp.EmulateViewport(1440, 900))
	b.act(`for (const d of document.querySelectorAll("#knobs details")) d.open = true`)
	longest := eval[string](b, `(async () => { const k = await (await fetch("/page/knobs?sys=a")).json(); return k.knobs.filter((x) => document.querySelector("#knobs .knob[data-knob='" + x.name + "'] :is(input, select):enabled")).sort((a, b) => b.doc.length - a.doc.length)[0].name })()`)
	b.act(fmt.Sprintf(`document.querySelector("#knobs .knob[data-knob='%s'] :is(input, select)").focus()`, longest))
	b.until("its help", fmt.Sprintf(`document.querySelector("#knob code").textContent === %q`, longest))
	b.act(`await new Promise((done) => setTimeout(done, 200))`)
	at := eval[[]float64](b, fmt.Sprintf(`(() => { const k = document.getElementById("knob").getBoundingClientRect(), row = document.querySelector("#knobs .knob[data-knob='%s']").getBoundingClientRect(), c = document.getElementById("centre").getBoundingClientRect(); return [k.right, c.left, row.bottom, k.top, k.bottom, innerHeight] })()`, longest))
	if at[0] > at[1] || at[2] > at[3] || at[4] > at[5] {
		t.Errorf("the help of %s ends at %g, the charts begin at %g; the knob ends at %g, the help is from %g to %g of %g", longest, at[0], at[1], at[2], at[3], at[4], at[5])
	}
	b.shot("long-help.png")
	b.quiet(s)
}
