package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// What the charts hold, read from echarts.
const (
	seriesJS  = `echarts.getInstanceByDom(document.getElementById("timeline"))?.getOption()?.series`
	latestJS  = `(` + seriesJS + `?.[0]?.data?.at(-1)?.value[0] ?? 0)`
	marksJS   = `(` + seriesJS + `[0].markLine?.data || []).length`
	cardsJS   = `document.querySelectorAll(".cards .card:not(.ghost)").length`
	pictureJS = `[...document.querySelectorAll("#cluster .bar, #cluster .hot")].map((e) => e.textContent).join()`
	// the colours of words on bars, and of the bars
	wordsJS = `echarts.getInstanceByDom(document.getElementById("phases")).getOption().series.flatMap((s) => s.data.filter((d) => d.label).map((d) => [d.label.color, s.itemStyle.color]))`
	// a contrast of 4.5 at least, as WCAG computes it
	readableJS = `(() => {
		const linear = (c, i) => { const v = parseInt(c.slice(i, i + 2), 16) / 255; return v > 0.04045 ? ((v + 0.055) / 1.055) ** 2.4 : v / 12.92; };
		const light = (c) => 0.2126 * linear(c, 1) + 0.7152 * linear(c, 3) + 0.0722 * linear(c, 5) + 0.05;
		const words = ` + wordsJS + `;
		return words.length > 2 && words.every(([a, b]) => Math.max(light(a), light(b)) / Math.min(light(a), light(b)) >= 4.5);
	})()`
	ready = `window.echarts && document.querySelector("#timeline canvas") && ` + seriesJS + `?.[0]?.data?.length > 5 && document.getElementById("t-throughput").textContent !== "–"`
)

// TestPage is a visit: everything that a reader does, in one browser, with the
// real cluster behind it.
func TestPage(t *testing.T) {
	t.Parallel()
	s, b := visitWith(t, agent.Options{Pace: visitPace})
	b.showAll()
	for _, part := range []struct {
		name string
		f    func(*site, *tab)
	}{
		{"line moves", lineMoves}, {"toggle", toggle}, {"refused", refused}, {"from outside", fromOutside}, {"keyboard", keyboard}, {"dialogs", dialogs},
		{"pins", pinsStay}, {"ghost", ghostLine}, {"reload", reload}, {"reconnect", reconnect}, {"narrow", narrow}, {"begin again", beginAgain},
	} {
		if !t.Run(part.name, func(t *testing.T) { b.t, s.t = t, t; part.f(s, b) }) {
			b.t = t
			b.shot("failed.png")
			break
		}
	}
	b.t, s.t = t, t
	// What the browser says of itself: the refusal, and while the server was away.
	b.quiet(s, "status of 400", "/page/compare", "ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "WebSocket connection to")
}

func lineMoves(_ *site, b *tab) {
	x := eval[float64](b, latestJS)
	b.until("the line moves", fmt.Sprintf("%s > %g", latestJS, x+0.5))
	b.until("tempo", `/1 s here = .* in the cluster/.test(document.getElementById("tempo").textContent)`)
	b.shot("light.png")
}

// toggle turns phase.validation by keyboard, as a select is.
func toggle(s *site, b *tab) {
	b.until("enough windows before it", latestJS+" > 3")
	was := eval[string](b, pictureJS)
	b.do(chromedp.Focus(chromedp.CSS("#k-phase-validation")))
	b.until("the knob's meaning", `document.getElementById("knob").textContent.includes("phase.validation")`)
	b.key("t") // a longer word is taken for several where a second passes between its letters
	b.until("the mark", marksJS+" === 1")
	if !b.asked("PATCH " + s.url("/api/knobs?sys=a")) {
		b.t.Error("no PATCH was sent")
	}
	values, err := s.agent.Spec(b.t.Context(), "a")
	if err != nil || values.Set["phase.validation"] != "two-sided" {
		b.t.Errorf("the agent has %v, %v", values, err)
	}
	b.until("the knob is among the changed", `/Validation.*one-sided → two-sided/.test(document.querySelector(".changes")?.textContent)`)
	b.until("its card", `/phase.validation: one-sided → two-sided.* from the page/s.test(document.querySelector(".cards .card")?.textContent)`)
	b.until("the card's numbers", `document.querySelectorAll(".cards .card .rows tbody tr").length >= 3`)
	b.until("the cluster picture", fmt.Sprintf("%s !== %q", pictureJS, was))
	b.shot("toggled.png")
}

// refused is a combination that makes no sense: the page says why, in the words
// of the agent, and shows what is.
func refused(_ *site, b *tab) {
	pick := func(id, value string) {
		b.t.Helper()
		b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change"))`, id, value))
	}
	pick("k-phase-lock", "one-sided")
	b.until("lock is one-sided", `document.querySelector(".changes").textContent.includes("Lock")`)
	pick("k-phase-commit", "two-sided")
	b.until("the reason", `!document.getElementById("notice").hidden && document.getElementById("notice").textContent.includes("4.3.2")`)
	b.until("what is", `document.getElementById("k-phase-commit").value === "auto"`)
	b.act(`document.activeElement.blur()`)
	b.key("u")
	b.until("lock is back", `document.getElementById("k-phase-lock").value === "auto"`)
}

// marked is true when a mark is that of card n, the latest. Marks close to each other share
// the label of the first of them.
func marked(n int) string {
	return fmt.Sprintf(`(%s[0].markLine?.data || []).some((m) => /(^|–)%d$/.test(m.name))`, seriesJS, n)
}

// fromOutside is a knob that a notebook turns while the page is open.
func fromOutside(s *site, b *tab) {
	b.until("a mark for the latest card", marked(3)+" && "+cardsJS+" === 3")
	const n = 3
	s.patch(`{"phase.logging": "two-sided"}`)
	b.until("its mark", marked(n+1))
	b.until("its card", cardsJS+fmt.Sprintf(` === %d`, n+1)+` && /from a notebook/.test(document.querySelector(".cards .card").textContent)`)
	b.until("its knob", `document.getElementById("k-phase-logging").value === "two-sided"`)
}

func keyboard(s *site, b *tab) {
	b.act(`document.activeElement.blur(); window.scrollTo(0, 0)`)
	state := func(want string) {
		b.t.Helper()
		b.until("state "+want, fmt.Sprintf(`document.getElementById("state").textContent === %q`, want))
	}
	b.key(" ")
	state("paused")
	if now, err := s.agent.State("a"); err != nil || now.State != system.StatePaused {
		b.t.Errorf("the agent is %v, %v", now, err)
	}
	stood, err := s.agent.State("a")
	if err != nil {
		b.t.Fatal(err)
	}
	b.key("s")
	b.until("one window further", fmt.Sprintf(`fetch("/api/state").then((r) => r.json()).then((x) => x.virtual_ns === %d && x.state === "paused")`, stood.VirtualNS+100_000))
	state("paused")
	b.key(" ")
	state("running")
	b.key("/")
	b.until("the search has the focus", `document.activeElement.id === "find"`)
	b.key("datagram loss")
	b.until("what was found", `document.querySelectorAll("#knobs .knob").length === 1 && document.getElementById("k-fault-drop")`)
	b.press("Escape", 27)
	b.until("all knobs again", `document.querySelectorAll("#knobs .knob").length > 10`)
	b.key("u")
	b.until("the latest change is undone", `document.getElementById("k-phase-logging").value === "one-sided"`)
	// From the beginning of the page Tab goes to the skip link, the toolbar, the
	// charts, the knobs: all that can be clicked can be reached.
	b.act(`document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")`)
	seen := map[string]bool{}
	for range 200 {
		b.press("Tab", 9)
		at := eval[string](b, `document.activeElement.id || document.activeElement.className || document.activeElement.textContent.slice(0, 20)`)
		seen[at] = true
		if at == "k-fault-drop" {
			break
		}
	}
	for _, id := range []string{"skip", "pause", "step", "pace", "reset", "copy", "help", "checks", "range", "pinstate", "fork", "find", "k-preset", "k-phase-lock", "k-opt-lock-or", "k-coroutines", "k-fault-drop"} {
		if !seen[id] {
			b.t.Errorf("Tab does not reach %s", id)
		}
	}
}

func dialogs(_ *site, b *tab) {
	open := func(css, want string) {
		b.t.Helper()
		b.click(css)
		b.until(want, fmt.Sprintf(`document.getElementById("dialog").open && document.getElementById("dialog").textContent.includes(%q)`, want))
	}
	shut := func() {
		b.t.Helper()
		b.press("Escape", 27)
		b.until("the dialog is closed", `!document.getElementById("dialog").open`)
	}
	b.until("transactions were looked at", `document.getElementById("checks").textContent.startsWith("✓")`)
	open("#checks", "strict-serializable")
	b.until("it says what the workload can show", `document.getElementById("dialog").textContent.includes("The transactions of this workload can show G0, G1a")`)
	b.until("it says of what nothing is known yet", `document.getElementById("dialog").textContent.includes("need a cluster at rest")`)
	shut()
	open("#help", "undo the latest change")
	shut()
	open("#copy", "drtmx run phases")
	if n := eval[int](b, `document.querySelectorAll("#dialog pre").length`); n != 3 {
		b.t.Errorf("%d ways to take the system along, want 3", n)
	}
	shut()
	// A cycle as the checker reports it: the running system has none.
	b.act(`(await import("/checks.js")).openChecks({mode: "full", claimed: "strict-serializable", ok: false, transactions: 1000, anomaly_count: 1,
		anomalies: [{kind: "G2", text: "each would have to come before the other", breaks_claim: true, cycle: [{txn: 41, edge: "rw", record: "account/7", version: 4}, {txn: 52, edge: "rw", record: "savings/9", version: 8}]}]})`)
	b.until("the cycle is drawn", `document.querySelectorAll("#dialog .cycle .arrow").length === 2 && document.querySelector("#dialog .cycle").textContent.includes("rw account/7 @4")`)
	b.shot("cycle.png")
	shut()
	// However long a name is, nothing of it is cut off.
	b.act(`(await import("/checks.js")).openChecks({mode: "full", claimed: "strict-serializable", ok: false, transactions: 1000,
		anomalies: [{kind: "G-single", text: "half of it was seen", cycle: [{txn: 1234567890, edge: "wr", record: "checking/1234567890", version: 1234567}, {txn: 1234567891, edge: "rw", record: "customer/1234567890", version: 1234568}, {txn: 1234567892, edge: "rt"}]}]})`)
	b.until("every word is in the picture", `(() => { const svg = document.querySelector("#dialog .cycle"), v = svg.viewBox.baseVal; return [...svg.querySelectorAll("text")].every((t) => { const r = t.getBBox(); return r.x >= v.x && r.x + r.width <= v.x + v.width; }) && [...svg.querySelectorAll(".txn")].every((r) => r.getBBox().width > r.nextSibling.getBBox().width); })()`)
	b.shot("cycle_long.png")
	shut()
	cycleOnAPhone(b)
	shut()
	// A broken invariant says what has to hold, and where it does not.
	b.act(`(await import("/checks.js")).openChecks({mode: "full", claimed: "strict-serializable", ok: false, transactions: 1000, anomalies: [], invariants: {"tpcc.1": false, "tpcc.2": true}, invariants_unclaimed: {"churn.pairs": "serializable"},
		violated: {"tpcc.1": "what a warehouse has taken is what its districts have (clause 3.3.2.1): warehouse 3 has taken 30003245 cents, its districts 30003246"}})`)
	b.until("the numbers, and no praise", `document.querySelector("#dialog .broken").textContent.includes("warehouse 3 has taken 30003245 cents") && !document.querySelector("#dialog .better")`)
	b.until("what was not checked", `document.getElementById("dialog").textContent.includes("churn.pairs is not checked: only serializable transactions keep it.")`)
	b.shot("broken.png")
	shut()
	b.act(`(await import("/checks.js")).openChecks({mode: "full", claimed: "strict-serializable", ok: false, transactions: 0, transactions_seen: 412, anomaly_count: 1, anomalies: [{kind: "lost-update", text: "T8 and T9 both overwrote stock/3060", cycle: []}]})`)
	b.until("not all of none", `document.getElementById("dialog").textContent.includes("0 of 412 transactions are judged so far")`)
	shut()
	// Checks over nothing are neither good nor bad, and say why.
	b.act(`const e = document.createElement("button"), c = {mode: "full", ok: null, incomplete: "no transactions to check"}, m = await import("/checks.js");
		m.badge(e, c); document.body.dataset.badge = [e.textContent, e.className, e.title].join("|"); m.openChecks(c)`)
	if got := eval[string](b, `document.body.dataset.badge`); got != "–|badge|not decided: no transactions to check (k)" {
		b.t.Errorf("the badge of nothing: %q", got)
	}
	b.until("why nothing is decided", `document.getElementById("dialog").textContent.includes("Nothing is decided: no transactions to check.")`)
	shut()
}

// cycleOnAPhone is a cycle whose words have to be as large as others, and all in the picture.
func cycleOnAPhone(b *tab) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(320, 640))
	b.act(`(await import("/checks.js")).openChecks({mode: "full", claimed: "strict-serializable", ok: false, transactions: 1000,
		anomalies: [{kind: "G-single", text: "half of it was seen", cycle: [{txn: 1234567890, edge: "wr", record: "checking/1234567890", version: 1234567}, {txn: 1234567891, edge: "rw", record: "customer/1234567890", version: 1234568}, {txn: 1234567892, edge: "rt"}]}]})`)
	b.until("every word is in the picture", `(() => { const svg = document.querySelector("#dialog .cycle"), v = svg.viewBox.baseVal; return [...svg.querySelectorAll("text")].every((t) => { const r = t.getBBox(); return r.x >= v.x && r.x + r.width <= v.x + v.width && r.y + r.height <= v.y + v.height; }); })()`)
	if size := eval[float64](b, `((svg) => 12 * svg.clientWidth / svg.viewBox.baseVal.width)(document.querySelector("#dialog .cycle"))`); size < 9.5 {
		b.t.Errorf("words of %.1f pixels", size)
	}
	b.shot("cycle_phone.png")
	b.do(chromedp.EmulateViewport(1400, 1000))
}

func pinsStay(_ *site, b *tab) {
	b.until("a card with numbers", `document.querySelector(".cards .card:not(.ghost) button[title^='keep what']")`)
	b.act(`document.querySelector(".cards .card:last-child button[title^='keep what']").click()`)
	b.until("a pin", `document.querySelectorAll("#pins .pin").length === 1`)
	b.until("enough windows since the latest change", `fetch("/page/state?sys=a").then((r) => r.ok)`)
	b.click("#pinstate")
	b.until("two pins side by side", `document.querySelectorAll("#pins .pin").length === 2 && document.querySelectorAll("#pins .beside tbody tr").length >= 3`)
	b.until("their chart", `document.querySelector("#pins .chart canvas")`)
	b.shot("pins.png")
}

func ghostLine(_ *site, b *tab) {
	// A page whose cards are all final still asks for that of a ghost that comes later, also if an
	// answer from before it comes last.
	b.until("cards that stay as they are", `fetch("/page/cards").then((r) => r.json()).then((c) => c.changes.every((x) => x.final))`)
	b.act(`const ask = window.fetch; window.fetch = async (...about) => {
		const answer = await ask(...about);
		if (about[0] === "/page/cards" && !(await answer.clone().json()).ghosts.length) await new Promise((done) => setTimeout(done, 6000));
		return answer;
	}`)
	b.click("#pause") // on a busy machine a ghost that replays comes no closer to a system that runs
	b.click("#fork")
	b.until("a second system", `document.querySelectorAll("#systems li").length === 2`)
	b.until("it is level", `!document.getElementById("systems").textContent.includes("catching up")`)
	b.click("#pause")
	b.until("the ghost's line", seriesJS+`.some((s) => s.name === "ghost b" && s.lineStyle.type === "dashed" && s.data.length > 5)`)
	b.until("what is against what would have been", `document.querySelectorAll(".cards .ghost .rows tbody tr").length >= 3`)
	b.shot("ghost.png")
}

func reload(_ *site, b *tab) {
	n := eval[int](b, cardsJS)
	b.do(chromedp.Reload())
	b.until("the page is there again", ready)
	b.until("its cards", fmt.Sprintf("%s === %d", cardsJS, n))
	b.until("its pins", `document.querySelectorAll("#pins .pin").length === 2`)
	b.showAll()
	b.until("its history", seriesJS+`[0].data[0].value[0] < 0.05 * `+latestJS)
}

// reconnect takes the server away for a while; the cluster runs on.
func reconnect(s *site, b *tab) {
	b.until("a line", latestJS+" > 0")
	s.stop()
	b.until("the page says so", `document.getElementById("state").textContent === "offline" && !document.getElementById("notice").hidden`)
	gone := eval[float64](b, latestJS)
	time.Sleep(time.Second)
	s.serve()
	b.until("it goes on by itself", `document.getElementById("state").textContent === "running" && document.getElementById("notice").hidden`)
	b.until("the line goes on", fmt.Sprintf("%s > %g && %s[0].data.length > 2", latestJS, gone+1, seriesJS))
	widest := eval[float64](b, `((d) => Math.max(...d.slice(1).map((p, i) => p.value[0] - d[i].value[0])))(`+seriesJS+`[0].data)`)
	if step := eval[float64](b, `((d) => d.at(-1).value[0] - d.at(-2).value[0])(`+seriesJS+`[0].data)`); widest > 3*step+0.01 {
		b.t.Errorf("the line has a gap of %g ms, its points are %g ms apart", widest, step)
	}
}

func narrow(_ *site, b *tab) {
	for _, width := range []int64{390, 320, 768, 1024} {
		b.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
		time.Sleep(500 * time.Millisecond)
		if w := eval[int64](b, "document.documentElement.scrollWidth"); w > width {
			b.t.Errorf("at a width of %d the page is %d wide: %s", width, w, eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d).map((e) => e.tagName + "#" + e.id + "." + e.className).slice(0, 8).join(", ")`, width)))
		}
		b.until("the charts fit", fmt.Sprintf(`document.querySelector("#timeline canvas").clientWidth <= %d`, width))
		if width == 390 {
			b.shot("phone.png")
		}
	}
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.theme("dark")
	b.until("charts on a dark ground", ready+` && getComputedStyle(document.body).backgroundColor !== "rgb(246, 247, 248)"`)
	b.until("words on bars can be read", readableJS)
	b.shot("dark.png")
	b.theme("light")
	b.until("words on bars can be read on a light ground", readableJS+` && new Set(`+wordsJS+`.map(([colour]) => colour)).size === 2`)
}

// beginAgain changes what is fixed while the system runs.
func beginAgain(s *site, b *tab) {
	b.act(`document.querySelector("#knobs > details").open = true; const e = document.getElementById("k-nodes"); e.value = "4"; e.dispatchEvent(new Event("change"))`)
	b.until("the offer", `[...document.querySelectorAll("#knobs > details button")].some((e) => !e.hidden && e.textContent === "Begin again with this")`)
	b.act(`[...document.querySelectorAll("#knobs > details button")].find((e) => e.textContent === "Begin again with this").click()`)
	b.until("another cluster", `document.querySelectorAll("#cluster .frame").length === 4 && document.getElementById("what").textContent.includes("4 nodes")`)
	b.until("no card of its earlier life, no pin", `document.querySelectorAll("#pins .pin").length === 0 && ![...document.querySelectorAll(".cards .card")].some((e) => e.textContent.includes("system a at") || e.matches(".ghost"))`)
	b.until("the ghost has become a system", seriesJS+`[1].name === "system b"`)
	b.until("the line begins again", ready+` && `+latestJS+` < 100`)
}

// TestToggleIsClicked: a switch is clicked with the mouse, and what it does is large enough to
// be told from noise: the line steps, the card says so, and the cores in the picture are idler.
func TestToggleIsClicked(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.showAll()
	b.until("enough windows before it", latestJS+" > 3")
	// The mean of the line's points before and behind the mark, and of the cores as drawn.
	const steps = `((s, x) => ["<", ">"].map((side) => s.data.map((d) => d.value).filter(([t]) => side === "<" ? t < x : t > x + 0.5)).map((d) => d.reduce((n, [, y]) => n + y, 0) / d.length))(` + seriesJS + `[0], ` + seriesJS + `[0].markLine.data[0].xAxis)`
	const cores = `((n) => n.reduce((a, b) => a + b, 0) / n.length)([...document.querySelectorAll("#cluster text")].map((e) => e.textContent).join("\n").match(/CPU\n\d+/g).map((w) => +w.slice(4)))`
	b.until("the cores are busy", cores+" > 80")
	before := eval[float64](b, cores)
	b.click("#k-opt-co")
	b.until("the mark", marksJS+" === 1")
	if values, err := s.agent.Spec(t.Context(), "a"); err != nil || values.Set["opt.co"] != false {
		t.Errorf("the agent has %v, %v", values, err)
	}
	b.until("the line steps down", `(([was, is]) => is < 0.7 * was)(`+steps+`)`)
	b.until("the card says by how much", `/opt.co: on → off/.test(document.querySelector(".cards .card")?.textContent) && /throughput.*−\s?[3-9]\d/is.test(document.querySelector(".cards .card .rows").textContent)`)
	b.until("the cores are idler", fmt.Sprintf("%s < %g - 10", cores, before))
	b.shot("clicked.png")
	b.click("#k-opt-co")
	b.until("back", marksJS+" === 2")
	b.until("the cores are as busy as before", fmt.Sprintf("%s > %g - 5", cores, before))
	b.quiet(s)
}

// The one server that many clients ask is drawn with words, the clients small; what the
// verdict calls saturated is outlined, and nothing else.
func TestClusterPicture(t *testing.T) {
	t.Parallel()
	_, b := visit(t)
	// In one go: what the feed brings is drawn before or after it.
	drawn := eval[[]string](b, `(async () => {
		const { drawCluster } = await import("/cluster.js");
		const draw = (limit, ...cpu) => {
			drawCluster(cpu.map((u, i) => ({ node: i, role: i ? "client" : "server", utilization: { cpu: u, nvm_write: u / 2 } })), [], limit);
			return document.getElementById("cluster").firstChild.getAttribute("aria-label").replace("6 nodes, ", "") + "; outlined " + document.querySelectorAll("#cluster .hot").length;
		};
		const said = [draw({ verdict: "saturated", node: 1, of: "cpu" }, .97, .98, 0, 0, 0, 0), draw({ verdict: "latency-bound" }, .99, .95, 0, 0, 0, 0), draw(undefined, .99, 1, 0, 0, 0, 0)];
		return [...said, [...document.querySelectorAll("#cluster text:not(.sub)")].map((e) => e.textContent).join()];
	})()`)
	want := []string{"busiest: CPU of node 1, 98 %; outlined 1", "busiest: CPU of node 0, 99 %; outlined 0", "busiest: CPU of node 1, 100 %; outlined 0", "server 0,99 %,50 %,client 1,client 2,client 3,client 4,client 5"}
	if !slices.Equal(drawn, want) {
		t.Errorf("drawn: %q\nwant:  %q", drawn, want)
	}
}

// Of many changes the latest have cards; the mark of an earlier one brings its own.
func TestCardsOfManyChanges(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace}, nil)
	for i := range 32 {
		s.patch(fmt.Sprintf(`{"coroutines": %d}`, 1+i%4))
	}
	b := newTab(t)
	b.open(s, "the newest change and 30 before it", cardsJS+` === 31 && document.getElementById("morecards").textContent === "Show the 1 before them"`)
	b.showAll() // the changes came before the browser, which may take long to start
	b.until("marks", ready+" && "+seriesJS+`[0].markLine?.data?.length > 0`)
	b.act(`echarts.getInstanceByDom(document.getElementById("timeline")).trigger("click", {componentType: "markLine", name: "1"})`)
	b.until("the card of the first one", cardsJS+` === 32 && document.activeElement.dataset.number === "1" && document.getElementById("morecards").hidden`)
	b.quiet(s)
}

// Without echarts the page has pictures and says so.
func TestPageWithoutLibrary(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace}, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				h.ServeHTTP(w, r)
				return
			}
			page := httptest.NewRecorder()
			h.ServeHTTP(page, r)
			maps.Copy(w.Header(), page.Header())
			io.WriteString(w, strings.Replace(page.Body.String(), `id="library"`, "", 1))
		})
	})
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1000))
	b.do(chromedp.Navigate(s.url("/")))
	const picture = `document.querySelector("#timeline img")`
	b.until("pictures", picture+`?.naturalWidth > 300 && document.querySelector("#phases img")?.naturalWidth > 300`)
	b.until("the page says so", `!document.getElementById("plain").hidden && !window.echarts`)
	first := eval[string](b, picture+`.src`)
	b.until("they move", fmt.Sprintf("%s.src !== %q", picture, first))
	b.until("numbers", `document.getElementById("t-throughput").textContent !== "–"`)
	time.Sleep(time.Second)
	b.shot("plain.png")
	b.quiet(s)
}

// mortal is a system that fails once it has lived for a while.
type mortal struct{ system.System }

func (m mortal) Advance(d int64) error {
	if m.NowNS() > 3_000_000 {
		return errors.New("a planted failure")
	}
	return m.System.Advance(d)
}

// What failed can be looked at and begun again.
func TestPageOfAFailedSystem(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	opened := 0
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace, Open: func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		sys, err := engine.OpenWith(ctx, spec, progress)
		if err != nil {
			return nil, err
		}
		if opened++; opened > 1 {
			return sys, nil
		}
		return mortal{sys}, nil
	}}, nil)
	b := newTab(t)
	b.open(s, "the failure", `document.getElementById("state").textContent === "failed" && document.getElementById("notice").textContent.includes("a planted failure")`)
	b.until("what it measured", ready)
	b.shot("dead.png")
	b.click("#reset")
	b.until("its next life", `document.getElementById("state").textContent === "running" && document.getElementById("notice").hidden && `+latestJS+` > 4`)
	b.quiet(s)
}

// TestScreenshot makes the README's picture:
//
//	DRTMX_SCREENSHOT=$PWD/dashboard/screenshot.png go test -run TestScreenshot ./dashboard
func TestScreenshot(t *testing.T) {
	file := os.Getenv("DRTMX_SCREENSHOT")
	if file == "" {
		t.Skip("DRTMX_SCREENSHOT names no file")
	}
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.With(experiment.Knobs{"check": "sampled"}); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, spec, agent.Options{Pace: agent.DefaultPace}, nil)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1480, 1040))
	b.do(chromedp.Navigate(s.url("/")))
	b.until("the page is there", ready)
	b.until("some history", latestJS+" > 40")
	const fasst = `document.querySelectorAll("#steps li")[2]`
	b.act(fasst + `.querySelector("button.link").click()`)
	b.until("the ghost's card", `document.querySelectorAll(".cards .ghost .rows tbody tr").length >= 5`)
	b.until("more of it", latestJS+` > 78 && !/catching up/.test(document.getElementById("systems").textContent)`)
	b.act(`document.getElementById("k-phase-commit").focus({preventScroll: true})`)
	time.Sleep(time.Second)
	b.shot("screenshot.png")
	png, err := os.ReadFile(filepath.Join(t.ArtifactDir(), "screenshot.png"))
	if err == nil {
		err = os.WriteFile(file, png, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
