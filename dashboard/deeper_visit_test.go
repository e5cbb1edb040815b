package dashboard_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLookDeeper is a visit to what is below the charts: a transaction of a percentile, and the inside
// of a node, beside that of another system.
func TestLookDeeper(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.act(`document.getElementById("transactionbox").open = true`)
	b.until("the types", `document.getElementById("picktype").options.length > 3`)
	b.act(`document.getElementById("picktype").value = "balance"; document.getElementById("pickpercentile").value = "90"`)
	b.click("#pick")
	b.until("the transaction", `document.querySelector("#transaction svg")?.getAttribute("aria-label").startsWith("balance on node")`)
	b.until("what it is", `/^A p90 balance: .* where the 90th percentile of \d+ transactions is/.test(document.getElementById("pickwords").textContent)`)
	b.until("nothing more to look for", `document.getElementById("picking").hidden && !document.getElementById("pick").disabled`)
	b.act(`document.getElementById("transactionbox").scrollIntoView()`)
	tip := func(place string) {
		b.t.Helper()
		b.until("what is under the pointer", fmt.Sprintf(`(() => {
			const e = document.querySelector("#%s [data-tip]"), r = e.getBoundingClientRect();
			e.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: r.left, clientY: r.top })); // each time: a chart that grows may scroll the page, which hides it
			return !document.getElementById("tip").hidden && /[µn]s|busy|\/s/.test(document.getElementById("tip").textContent);
		})()`, place))
	}
	tip("transaction")
	b.shot("transaction.png")
	stepsThrough(b)
	wide := eval[float64](b, `document.querySelector("#transaction svg").getBoundingClientRect().width`)
	b.act(`const z = document.getElementById("zoom"); z.value = "5"; z.dispatchEvent(new Event("change"))`)
	b.until("zoomed", fmt.Sprintf(`document.querySelector("#transaction svg").getBoundingClientRect().width > 4 * %g && document.documentElement.scrollWidth <= innerWidth`, wide))
	b.click(`#cluster rect.bar[data-node="2"]`)
	b.until("the node", `document.getElementById("insidebox").open && /node 2/.test(document.querySelector("#inside svg")?.getAttribute("aria-label"))`)
	requestsThatWait(b)
	was := eval[string](b, `document.querySelector("#inside svg").textContent`)
	b.until("it is live", fmt.Sprintf(`document.querySelector("#inside svg").textContent !== %q`, was))
	b.act(`await fetch("/api/systems", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ fork: "a", set: { "phase.validation": "two-sided" } }) })`)
	b.until("the other system is offered", `[...document.getElementById("beside").options].some((o) => o.value === "b")`)
	b.act(`const o = document.getElementById("beside"); o.value = "b"; o.dispatchEvent(new Event("change"))`)
	b.until("two beside each other", `document.querySelectorAll("#inside figure").length === 2`)
	b.act(`document.getElementById("insidebox").scrollIntoView()`)
	tip("inside")
	b.shot("inside.png")
	b.do(chromedp.EmulateViewport(390, 844))
	b.act(`window.dispatchEvent(new Event("resize")); document.getElementById("transactionbox").scrollIntoView()`)
	b.until("it fits a phone", `document.documentElement.scrollWidth <= innerWidth`)
	b.shot("phone-transaction.png")
	b.act(`document.getElementById("insidebox").scrollIntoView()`)
	b.shot("phone-inside.png")
	b.quiet(s)
}

// stepsThrough goes through a transaction by keys, to another one and back, and takes it to Perfetto, whose window is played here.
func stepsThrough(b *tab) {
	b.t.Helper()
	says := func(what, pattern string) {
		b.t.Helper()
		b.until(what, `/`+pattern+`/.test(document.getElementById("stepwords").textContent)`)
	}
	b.act(`document.getElementById("transaction").focus()`)
	b.press("ArrowRight", 39)
	says("the first step", `^1 of \d+: phase `)
	b.press("ArrowRight", 39)
	says("the second", `^2 of `)
	b.act(`for (let i = 0; i < 60 && !/posted after/.test(document.getElementById("stepwords").textContent); i++) document.getElementById("stepon").click()`)
	says("a request, with all of its way", `(READ|WRITE|rpc) of \d+ bytes to node \d, phase .*posted after .*: .* wire and switch`)
	b.until("it is marked", `document.querySelectorAll("#transaction .chosen").length === 1`)
	b.press("ArrowLeft", 37)
	b.press("Escape", 27)
	b.until("nothing is chosen", `document.getElementById("stepwords").textContent === "" && !document.querySelector("#transaction .chosen")`)
	first := eval[string](b, `document.getElementById("pickwords").textContent + document.getElementById("picktext").textContent`)
	b.click("#pick")
	b.until("a second one", `document.getElementById("txnwhich").textContent === "2 of 2" && document.getElementById("picking").hidden && document.getElementById("txnon").disabled`)
	b.act(`document.getElementById("transaction").focus()`)
	b.press("PageUp", 33)
	b.until("the one before", fmt.Sprintf(`document.getElementById("txnwhich").textContent === "1 of 2" && document.getElementById("pickwords").textContent + document.getElementById("picktext").textContent === %q`, first))
	if text := eval[string](b, `fetch(document.getElementById("perfettofile").href).then((r) => r.ok && /attachment/.test(r.headers.get("content-disposition")) ? r.text() : String(r.status))`); !strings.HasPrefix(text, `{"displayTimeUnit":"ns"`) || !strings.Contains(text, `"balance"`) {
		b.t.Errorf("the file for Perfetto is %.200s", text)
	}
	b.act(`window.viewer = document.body.appendChild(document.createElement("iframe")); window.posted = [];
		viewer.contentWindow.postMessage = (m, to) => { posted.push([m, to]); if (m === "PING") dispatchEvent(new MessageEvent("message", { data: "PONG", origin: "https://ui.perfetto.dev", source: viewer.contentWindow })); };
		window.open = (url) => { posted.push([url]); return viewer.contentWindow; }`)
	b.click("#perfetto")
	b.until("the viewer has the file", `posted.at(-1)[0].perfetto?.buffer.byteLength > 1000 && posted[0][0] === "https://ui.perfetto.dev" && posted.every((p) => p.length === 1 || p[1] === "https://ui.perfetto.dev")`)
	b.act(`viewer.remove()`)
}

// requestsThatWait opens from a part of a node the requests that wait there, by a key.
func requestsThatWait(b *tab) {
	b.t.Helper()
	b.act(`document.querySelector('#inside [data-part="receive"]').focus()`)
	b.until("the part keeps the focus while it is drawn anew", `document.activeElement.dataset.part === "receive"`)
	b.key("\r")
	b.until("requests, the longest first", `/^\d+ of the \d+ requests that were followed were at the receive pipeline of node 2/.test(document.getElementById("waitwords").textContent) && document.querySelectorAll("#waitlist li").length > 1`)
	b.until("the first of them in its transaction", `/^\d+ of \d+: .*receive pipeline/.test(document.getElementById("stepwords").textContent) && document.querySelectorAll("#transaction .chosen").length === 1`)
	b.shot("waits.png")
	b.act(`document.querySelectorAll("#waitlist button")[1].click()`)
	b.until("another", `/receive pipeline/.test(document.getElementById("stepwords").textContent)`)
}

// TestSessionPageNeedsNoNetwork opens a saved session as a file, in a browser that has no network.
func TestSessionPageNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.until("some windows", latestJS+" > 2")
	s.patch(`{"phase.validation": "two-sided"}`)
	b.until("its card", `document.querySelectorAll(".cards .card .rows tbody tr").length >= 3`)
	if href := eval[string](b, `document.getElementById("sessionpage").getAttribute("href")`); href != "/page/session.html?sys=a" {
		t.Fatal(href)
	}
	r, err := http.Get(s.url("/page/session.html?sys=a"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment") {
		t.Fatal(err, r.Status, r.Header)
	}
	file := filepath.Join(t.ArtifactDir(), "session.html")
	if err := os.WriteFile(file, body, 0o644); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1440, 900))
	b.do(chromedp.Navigate("about:blank")) // the live page asks no more
	b.mu.Lock()
	b.requests = nil
	b.mu.Unlock()
	b.do(chromedp.Navigate("file://" + file))
	b.until("the lines, drawn by the library within", `document.querySelectorAll(".drtmx-chart canvas").length === 2`)
	b.until("card, knobs and code", `/phase.validation: one-sided → two-sided/.test(document.querySelector(".card").textContent) && document.body.textContent.includes("workload.accounts") && /src-|[0-9a-f]{12}/.test(document.querySelector("td code").textContent)`)
	b.shot("session.png")
	b.do(chromedp.EmulateViewport(390, 844))
	b.until("it fits a phone", `document.documentElement.scrollWidth <= innerWidth`)
	b.shot("session-phone.png")
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if _, url, _ := strings.Cut(r, " "); !strings.HasPrefix(url, "file://"+file) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("the file asks for %s", url)
		}
	}
}
