package dashboard_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster"
	"drtmx/cluster/agent"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// keepRuns keeps some runs in a store of the test's own.
func keepRuns(t *testing.T) {
	t.Helper()
	s := runstest.Own(t)
	little := experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 2, "workload.accounts": 500, "cache.bytes": "1MB", "warmup_ns": 50_000, "duration_ns": 300_000}}
	for _, c := range []struct {
		note string
		set  experiment.Knobs
	}{{"the base", nil}, {"by <RPC>", experiment.Knobs{"phase.validation": "two-sided"}}, {"another design", experiment.Knobs{"preset": "fasst"}}} {
		spec, err := little.With(c.set)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.RunWith(context.Background(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keep.Run(s, c.note, r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cluster.SweepWith(context.Background(), little, cluster.SweepOptions{}, nil, cluster.Axis{Knob: "coroutines", Values: []int{1, 2}}); err != nil {
		t.Fatal(err)
	}
}

// TestRunsOnThePage: runs are listed, filtered, shown, put side by side under an address of their own, and opened live.
// It runs beside no other test: the run store is the process's.
func TestRunsOnThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	keepRuns(t)
	s, b := newSite(t, browserSpec, agent.Options{Pace: 1_000_000}, nil), newTab(t)
	b.open(s, "the page is there", ready)
	b.click(`#views a[href="#runs"]`)
	b.until("all of them, the latest first", `[...document.querySelectorAll("#runlist tbody th")].map((e) => e.textContent).join() === "r4,r3,r2,r1" && document.getElementById("livepage").hidden`)
	if at := eval[string](b, `document.querySelector("#views [aria-current]").textContent`); at != "Runs" {
		t.Errorf("the page of %s is marked", at)
	}
	if words := eval[string](b, `[...document.querySelectorAll("#runlist .words")].at(-2).textContent`); !strings.Contains(words, "by <RPC>") {
		t.Errorf("%q", words)
	}
	choose := func(id, value string) {
		b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input"))`, id, value))
	}
	listed := func(what, ids string) {
		b.until(what, fmt.Sprintf(`[...document.querySelectorAll("#runlist tbody th")].map((e) => e.textContent).join() === %q`, ids))
	}
	choose("runpreset", "fasst")
	listed("those of a preset", "r3")
	choose("runpreset", "")
	choose("runkind", "sweep")
	listed("sweeps", "r4")
	choose("runkind", "")
	choose("runnote", "BASE")
	listed("by their note", "r1")
	choose("runnote", "nothing")
	b.until("none", `document.getElementById("runscount").textContent === "none is like that"`)
	choose("runnote", "")
	listed("all again", "r4,r3,r2,r1")

	b.act(`[...document.querySelectorAll("#runlist button")].at(-1).click()`)
	b.until("one of them", `document.querySelector("#runplace h3")?.textContent === "r1: the base" && /coroutines/.test(document.getElementById("runplace").textContent)`)
	b.until("its latencies", `!!document.querySelector("#runplace .chart :is(canvas, img)")`)
	b.act(`[...document.querySelectorAll("#runplace button")].find((e) => e.textContent === "Notebook cell").click()`)
	b.until("the cell of a notebook", `/"coroutines": 2/.test(document.getElementById("dialogbody").textContent)`)
	b.act(`document.getElementById("dialog").close(); [...document.querySelectorAll("#runlist button")].at(-2).click()`)
	b.until("two side by side", `/^A: r1 the base\s+against\s+B: r2 by <RPC>$/.test(document.querySelector("#runplace h3")?.textContent) && location.hash === "#runs/r1,r2"`)
	text := eval[string](b, `document.getElementById("runplace").textContent`)
	for _, want := range []string{"phase.validation", "two-sided", "throughput", "p50", "One knob differs", "±"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	b.until("both latencies", `!!document.querySelector("#runplace .beside .chart :is(canvas, img)")`)
	for _, size := range [][2]int{{1440, 900}, {390, 844}} {
		b.do(chromedp.EmulateViewport(int64(size[0]), int64(size[1])))
		b.act(`await new Promise((done) => setTimeout(done, 500))`)
		b.shot(fmt.Sprintf("runs-%d.png", size[0]))
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > size[0] {
			t.Errorf("%d pixels wide on a screen of %d", wide, size[0])
		}
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.do(chromedp.Reload())
	b.until("the same after a reload", `/^A: r1 the base/.test(document.querySelector("#runplace h3")?.textContent || "")`)
	b.act(`location.hash = "#runs/r4"`)
	b.until("a sweep", `/over coroutines, 2 points/.test(document.getElementById("runplace").textContent)`)
	b.until("its points", `[...document.querySelectorAll("#runplace tbody th a")].map((e) => e.hash).join() === "#runs/r4.1,#runs/r4.2"`)
	b.until("its chart", `document.querySelector("#runplace .chart.many canvas") && echarts.getInstanceByDom(document.querySelector("#runplace .chart.many")).getOption().yAxis.length >= 2`)
	b.shot("kept-sweep.png")
	b.do(chromedp.EmulateViewport(390, 844))
	b.until("it fits a phone", `document.documentElement.scrollWidth <= innerWidth`)
	b.shot("kept-sweep-390.png")
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.act(`document.querySelector("#runplace input").value = 2; document.querySelector("#runplace form").requestSubmit()`)
	b.until("a run in it", `location.hash === "#runs/r4.2" && /throughput/.test(document.getElementById("runplace").textContent)`)
	b.act(`location.hash = "#runs/r99"`)
	b.until("what is not there", `/no such run is kept/.test(document.getElementById("runplace").textContent)`)
	b.act(`location.hash = "#runs/r2"`)
	b.until("the second", `[...document.querySelectorAll("#runplace button")].some((e) => e.textContent === "Open live")`)
	b.act(`[...document.querySelectorAll("#runplace button")].find((e) => e.textContent === "Open live").click()`)
	b.until("its system on the live page", `location.hash === "#live" && !document.getElementById("livepage").hidden && document.getElementById("runs").hidden && [...document.querySelectorAll("#systems .sys")].some((e) => e.textContent === "b" && e.getAttribute("aria-pressed") === "true")`)
	if spec, err := s.agent.Spec(context.Background(), "b"); err != nil || spec.Set["phase.validation"] != "two-sided" {
		t.Errorf("%+v, %v", spec, err)
	}
	b.act(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }))`)
	b.until("the key r", `location.hash === "#runs" && !document.getElementById("runs").hidden`)
	b.act(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "f", bubbles: true }))`)
	b.until("the key f", `!document.getElementById("figures").hidden && document.getElementById("runs").hidden && document.querySelector("#views [aria-current]").textContent === "Figures"`)
	b.act(`location.hash = "#live"`)
	b.until("and back", `!document.getElementById("livepage").hidden && document.querySelector("#views [aria-current]").textContent === "Live"`)
	b.quiet(s, "status of 404")
}
