package dashboard_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// meanJS is the mean of the latest points of a system's line of throughput.
func meanJS(name string) string {
	return fmt.Sprintf(`(() => { const d = %s.find((s) => s.name === %q).data.slice(-8).map((p) => p.value[1]); return d.reduce((a, b) => a + b) / d.length })()`, seriesJS, name)
}

// TestRace: the systems of rivals race on one chart under their names, and the strip changes both at once.
func TestRace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	race, err := experiment.LoadSpec("rivals")
	if err == nil {
		race, err = race.With(experiment.Knobs{"nodes": 3, "window_ns": 100_000, "workload.theta": 0.2, "check": "sampled"})
	}
	if err != nil {
		t.Fatal(err)
	}
	s, b := newSite(t, race, agent.Options{Pace: 3_000_000, NoTwin: true}, nil), newTab(t)
	b.open(s, "both lines", `window.echarts && ["a: occ", "b: nowait"].every((n) => `+seriesJS+`.find((s) => s.name === n)?.data.length > 10)`)
	b.until("the strip", `!document.getElementById("strip").hidden && document.getElementById("stripof").textContent === "occ and nowait"`)
	if got := eval[string](b, `[...document.querySelectorAll("#stripknobs .stripknob")].map((e) => e.dataset.knob).join()`); got != "workload.theta,workload.write_share,workload.nodes_per_txn,coroutines,txn.backoff_max_ns" {
		t.Errorf("the strip has %s", got)
	}
	b.until("the list has their names", `/a\s*occ running/.test(document.getElementById("systems").textContent) && /nowait running/.test(document.getElementById("systems").textContent)`)
	before := [2]float64{eval[float64](b, meanJS("a: occ")), eval[float64](b, meanJS("b: nowait"))}
	turn := func(id, value string) {
		b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("input")); e.dispatchEvent(new Event("change"))`, id, value))
	}
	b.showAll() // for the mark
	turn("strip-workload-theta", "1.2")
	for _, sys := range []string{"a", "b"} {
		b.until("theta of "+sys, fmt.Sprintf(`fetch("/api/spec?sys=%s").then((r) => r.json()).then((s) => s.set["workload.theta"] === 1.2)`, sys))
	}
	for i, name := range []string{"a: occ", "b: nowait"} { // contended records cost both more than half
		b.until("the line of "+name+" moves", fmt.Sprintf("%s < %g", meanJS(name), before[i]/2))
	}
	b.until("a card of each", `["a", "b"].every((n) => [...document.querySelectorAll(".cards .card")].some((e) => /workload\.theta: 0\.2 → 1\.2/.test(e.textContent) && e.querySelector(".number")))`)
	b.until("one label marks both", `(`+seriesJS+`[0].markLine?.data || []).filter((m) => m.name.trim() === "1").length === 1`)
	b.shot("race.png")
	b.click("#steps .go") // the first step is for both too
	b.until("theta of both", `Promise.all(["a", "b"].map((n) => fetch("/api/spec?sys=" + n).then((r) => r.json()))).then((all) => all.every((s) => s.set["workload.theta"] === 0.9))`)
	turn("strip-coroutines", "2")
	b.until("coroutines of both", `Promise.all(["a", "b"].map((n) => fetch("/api/spec?sys=" + n).then((r) => r.json()))).then((all) => all.every((s) => s.set.coroutines === 2))`)
	s.patch(`{"coroutines": 3}`) // of a alone
	b.until("what differs is said", `/a 3, b 2/.test(document.querySelector('[data-knob="coroutines"] output').textContent)`)
	if !b.asked("PATCH " + s.url("/api/knobs?sys=a&sys=b")) {
		t.Error("no PATCH of both was sent")
	}
	b.do(chromedp.EmulateViewport(390, 800))
	b.until("a phone has room for the strip", `document.documentElement.scrollWidth <= 390 && [...document.querySelectorAll("#stripknobs *")].every((e) => e.getBoundingClientRect().right <= 390)`)
	b.act(`document.getElementById("strip").scrollIntoView()`)
	b.shot("narrow.png")
	b.act(`await fetch("/api/systems?sys=b", {method: "DELETE", headers: {"Content-Type": "application/json"}, body: "{}"})`)
	b.until("one system has no strip", `document.getElementById("strip").hidden`)
	b.quiet(s, "")
}
