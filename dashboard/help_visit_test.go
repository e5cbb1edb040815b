package dashboard_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/cluster/handbook"
)

// TestHandbookOnThePage: pages are read, searched by keyboard and reached from a knob; none is wider than a phone.
func TestHandbookOnThePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s, b := visitWith(t, agent.Options{Pace: visitPace})
	const title = `document.querySelector("#helppage h1")?.textContent`
	b.click(`#views a[href="#handbook"]`)
	b.until("the first page", title+` === "Concepts and glossary" && document.getElementById("livepage").hidden`)
	if at := eval[string](b, `document.querySelector("#views [aria-current]").textContent`); at != "Help" {
		t.Errorf("the page of %s is marked", at)
	}
	b.key("/")
	b.key("write amplification")
	b.until("what the search finds", `[...document.querySelectorAll("#helphits a")].some((e) => e.hash.startsWith("#handbook/nvm")) && !!document.querySelector("#helphits mark")`)
	b.act(`document.getElementById("helpform").requestSubmit()`)
	b.until("the focus on the best", `document.activeElement?.matches("#helphits a")`)
	b.act(`[...document.querySelectorAll("#helphits a")].find((e) => e.hash === "#handbook/nvm/what-the-model-has").click()`)
	b.until("its heading", title+` === "NVM and crashes" && document.activeElement?.id === "help-what-the-model-has" && document.getElementById("helphits").hidden`)
	b.act(`document.querySelector('#helppage a[href="#handbook/snapshots"]').click()`)
	b.until("another page by a link", title+` === "Snapshots"`)
	b.until("its picture", `document.querySelector("#helppage img").naturalWidth > 100`)

	b.key("h")
	b.until("back", `document.getElementById("handbook").hidden && !document.getElementById("livepage").hidden && location.hash === "#live"`)
	b.act(`document.getElementById("k-coroutines").focus()`)
	b.until("the way from a knob", `document.querySelector('#knob a[href="#handbook/concepts/coroutines"]') !== null`)
	b.act(`document.querySelector('#knob a[href="#handbook/concepts/coroutines"]').click()`)
	b.until("its page", title+` === "Concepts and glossary" && document.activeElement?.id === "help-coroutines"`)
	b.act(`location.hash = "#handbook/nope"`)
	b.until("no such page", `/has no page nope/.test(document.getElementById("helpwrong").textContent) && !document.getElementById("helpwrong").hidden`)
	b.act(`location.hash = "#figures"`)
	b.until("the figures", `document.getElementById("handbook").hidden && !document.getElementById("figures").hidden`)

	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, p := range handbook.Pages() {
		b.act(fmt.Sprintf(`location.hash = "#handbook/%s"`, p.Name))
		b.until(p.Name, title+fmt.Sprintf(` === %q`, p.Title))
		if w := eval[int64](b, "document.documentElement.scrollWidth"); w > 390 {
			t.Errorf("%s is %d wide on a phone", p.Name, w)
		}
	}
	b.theme("dark")
	b.shot("handbook-dark-phone.png")
	b.quiet(s, "/page/help?id=nope")
}
