package dashboard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// TestPageOfACrash crashes and restarts the server of the spec nvm from the panel,
// which begins without keeping what a crash leaves, as an offer says.
func TestPageOfACrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec, err := experiment.LoadSpec("nvm")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.With(experiment.Knobs{"client.threads": 2, "coroutines": 4, "workload.keys": 100_000, "nvm.durability": false}); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, spec, agent.Options{Pace: 2_000_000}, nil)
	b := newTab(t)
	b.open(s, "the page is there", ready+" && "+latestJS+" > 6")
	const offer = `[...document.querySelectorAll("#knobs button")].find((e) => /keep what a crash leaves/.test(e.textContent))`
	b.act(offer + `.scrollIntoView({block: "center"}); document.getElementById("k-fault-drop").focus({preventScroll: true})`)
	time.Sleep(300 * time.Millisecond)
	b.shot("offer.png")
	before, err := s.agent.State("a")
	if err != nil {
		t.Fatal(err)
	}
	b.act(offer + `.click()`)
	b.until("its next life", fmt.Sprintf(`fetch("/api/state?sys=a").then((r) => r.json()).then((x) => x.epoch !== %q)`, before.Epoch))
	b.until("it begins again, and machines can crash", `!document.getElementById("k-fault-crash").disabled && document.getElementById("k-fault-restart").disabled`)
	b.until("some history", latestJS+" > 4")
	if !eval[bool](b, `document.getElementById("failedtile").hidden`) {
		t.Error("something failed before anything crashed")
	}
	pick := func(id, value string) {
		b.t.Helper()
		b.act(`const e = document.getElementById("` + id + `"); e.focus(); e.value = "` + value + `"; e.dispatchEvent(new Event("change"))`)
	}
	pick("k-fault-crash", "0")
	b.until("failures above", `!document.getElementById("failedtile").hidden`)
	b.until("the mark", `/^1 ✕$/.test(`+seriesJS+`[0].markLine.data.at(-1).name)`)
	b.until("a track of them", `echarts.getInstanceByDom(document.getElementById("timeline")).getOption().grid.length >= 3`)
	b.until("a node that is down is drawn so", `document.querySelectorAll("#cluster rect.gone").length === 1 && !/node 0: 0 %/.test(document.getElementById("cluster").textContent) && document.getElementById("state").textContent === "node 0 down"`)
	b.until("so does the list of systems, and nothing is outlined", `/node 0 is down/.test(document.getElementById("systems").textContent) && !document.querySelector("#cluster .hot")`)
	b.until("an empty breakdown says why", `!document.getElementById("phaseswhy").hidden && /No commits in .*node 0 is down/.test(document.getElementById("phaseswhy").textContent)`)
	b.until("the verdict does not say that nothing ends", is(`document.getElementById("limit").textContent`, "every request fails in the latest windows"))
	b.until("no percentile, and none that samples would give", `document.getElementById("t-p99").textContent === "–"`)
	b.do(chromedp.EmulateViewport(1440, 900))
	b.click("#pause")
	b.until("it stands", is(stateJS, "paused, node 0 down"))
	if rows := eval[[]float64](b, `["tiles", "pause"].map((id) => document.getElementById(id).getBoundingClientRect()).flatMap((r) => [r.top, r.bottom])`); rows[0] > rows[3] {
		t.Errorf("the numbers are in a second row: %v", rows)
	}
	b.click("#pause")
	b.until("who is down", `/Crash a machine.*none → machine 0/.test(document.querySelector(".changes").textContent)`)
	b.until("the card", `/machine 0 crashes/.test(document.querySelector(".cards .card").textContent) && /ended with an error/.test(document.querySelector(".cards .card").textContent)`)
	time.Sleep(1500 * time.Millisecond)
	b.shot("crash.png")
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	time.Sleep(700 * time.Millisecond)
	b.act(`window.scrollTo(0, 0)`)
	b.shot("crash-phone.png")
	if w := eval[int64](b, "document.documentElement.scrollWidth"); w > 390 {
		t.Errorf("the page is %d wide on a phone", w)
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.act(`[...document.querySelectorAll(".changes button")].find((e) => e.textContent === "restart").click()`)
	b.until("it is back", `/machine 0 restarts/.test(document.querySelector(".cards .card").textContent) && document.getElementById("k-fault-crash").value === "-1"`)
	b.until("it is drawn again", `document.querySelectorAll("#cluster rect.gone").length === 0 && document.getElementById("state").textContent === "running" && document.getElementById("phaseswhy").hidden`)
	b.until("the clients too", `document.getElementById("failedtile").hidden`)
	b.until("the card's numbers", `document.querySelectorAll(".cards .card")[0].querySelectorAll(".rows tbody tr").length >= 2`)
	b.shot("restarted.png")
	b.theme("dark")
	b.until("charts on a dark ground", ready)
	b.act(`document.getElementById("changes").scrollIntoView()`)
	time.Sleep(time.Second)
	b.shot("restarted-dark.png")
	b.act(`document.getElementById("historylines").click()`)
	b.until("no file is saved of what has no transactions", `/runs no transactions/.test(document.getElementById("notice").textContent)`)
	b.quiet(s, "status of 400")
}
