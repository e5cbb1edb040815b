package dashboard_test

import (
	"strings"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// TestCausesOnThePage: the button measures in the background, with progress and cancel, and draws
// ranked bars with intervals; a change of knobs makes them old.
func TestCausesOnThePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec := browserSpec
	spec.Set = experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 1, "window_ns": 100_000, "warmup_ns": 100_000, "duration_ns": 500_000}
	s, b := newSite(t, spec, agent.Options{Pace: 1_000_000}, nil), newTab(t)
	b.open(s, "the page is there", ready)
	b.until("one coroutine is latency-bound", `document.getElementById("limit").textContent.startsWith("latency-bound: of ") && /nothing is saturated, the busiest is CPU of/.test(document.getElementById("limit").textContent)`)
	if eval[int](b, `document.querySelectorAll("#cluster .hot").length`) > 0 {
		t.Error("a resource is outlined although none is saturated")
	}
	b.act(`document.getElementById("measure").click()`)
	b.until("progress, and a cancel", `!document.getElementById("causesrun").hidden`)
	b.act(`document.getElementById("stopcauses").click()`)
	b.until("cancelled", `document.getElementById("causesrun").hidden && !document.getElementById("measure").disabled`)

	b.act(`document.getElementById("measure").click()`)
	b.until("bars of all seeds", `document.querySelectorAll("#causerows .cause").length >= 7 && document.getElementById("causesrun").hidden && document.querySelector("#causerows tr").textContent.includes(" ± ")`)
	first := eval[string](b, `document.querySelector("#causerows tr").textContent`)
	if !strings.Contains(first, "PCIe") || !strings.Contains(first, " ± ") {
		t.Errorf("the first cause of one coroutine: %q", first)
	}
	if hint := eval[string](b, `document.getElementById("causehint").textContent`); !strings.Contains(hint, "verything at once brings") || strings.Contains(hint, "changed since") {
		t.Errorf("%q", hint)
	}
	b.shot("causes.png")
	const wire = `[...document.querySelectorAll("#causerows button")].find((e) => e.textContent.startsWith("wire"))`
	b.until("the wire among them", wire)
	b.act(wire + `.click()`)
	b.until("the members of a group", `/wire\.switch/.test(document.getElementById("causerows").textContent) && !document.getElementById("allcauses").hidden`)
	s.patch(`{"coroutines": 2}`)
	b.until("they are old", `/changed since/.test(document.getElementById("causehint").textContent)`)
	b.quiet(s, "status of 404")
}

// TestHotRecordsOnThePage: a few hot records are named as the limit, with what they cost.
func TestHotRecordsOnThePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec := experiment.Spec{Workload: "cycle", Set: experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 8, "window_ns": 100_000, "workload.keys": 8}}
	s, b := newSite(t, spec, agent.Options{Pace: 2_000_000}, nil), newTab(t)
	b.open(s, "the page is there", ready)
	b.until("the verdict", `/^contended: conflicts take (\d+ %|nearly all) .* ring\/\d/.test(document.getElementById("limit").textContent)`)
	b.until("the records", `document.querySelectorAll("#hotrows tr").length === 5 && /^ring\/\d/.test(document.querySelector("#hotrows th").textContent)`)
	b.shot("hot.png")
	b.quiet(s, "status of 404")
}
