package dashboard_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
)

// galleryVisit sees a picture of every figure, and that none is computed.
func galleryVisit(b *tab) {
	b.t.Helper()
	b.until("a picture of each", `(() => { const all = [...document.querySelectorAll("#gallery img")]; return all.length === 2 && all.every((e) => e.complete && e.naturalWidth === 220) })()`)
	b.until("not computed", `[...document.querySelectorAll("#gallery .state")].every((e) => e.textContent === "not computed")`)
}

// TestGallery computes a chapter from the gallery, and cancels it.
func TestGallery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	v := inventor{make(chan error)}
	s := newFigureSite(t, browserSpec, agent.Options{Pace: visitPace, NoTwin: true}, v, nil)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1440, 900))
	b.do(chromedp.Navigate(s.url("/#figures")))
	galleryVisit(b)
	b.until("the hint", `!document.getElementById("figurehint").hidden`)
	b.click("#chapters button:last-child")
	b.until("the last chapter is in sight", `(({ top, bottom }) => top > 0 && bottom <= innerHeight)(document.querySelector("#gallery section:last-child .head").getBoundingClientRect())`)
	const head = `document.querySelector("#gallery section .head")`
	b.until("how many there are", `/0 of 1 computed/.test(`+head+`.textContent)`)
	b.act(head + `.querySelector("button").click()`)
	v.next <- nil
	b.until("its progress", `/quick scale, 2-1a: 1 of 6 runs/.test(`+head+`.textContent) && `+head+`.querySelector("progress").value > 0`)
	b.shot("gallery_running.png")
	b.act(`[...` + head + `.querySelectorAll("button")].find((e) => e.textContent === "Cancel").click()`)
	b.until("it is cancelled", `/0 of 1 computed/.test(`+head+`.textContent)`)
	b.act(head + `.querySelector("button").click()`)
	for range 6 {
		v.next <- nil
	}
	b.until("its claims", `document.querySelector("#gallery .state").textContent === "✓ 1✗ 1" && /1 of 1 computed/.test(`+head+`.textContent)`)
	b.until("another picture", `/v=[0-9a-z]+-[1-9][0-9]*$/.test(document.querySelector("#gallery img").src) && document.querySelector("#gallery img").naturalWidth === 220`)
	b.shot("gallery.png")
	b.act(`const e = ` + head + `.querySelector("select"); e.value = "paper"; e.dispatchEvent(new Event("change"))`)
	b.until("at paper scale there is none yet", `/0 of 1 computed at paper scale/.test(`+head+`.textContent) && `+head+`.querySelector("button").title.endsWith("at paper scale")`)
	b.act(head + `.querySelector("button").click()`)
	for range 6 {
		v.next <- nil
	}
	b.until("at paper scale", `/1 of 1 computed at paper scale/.test(`+head+`.textContent) && /paper scale/.test(document.querySelector("#gallery .state").textContent)`)
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.until("nothing is wider", `document.documentElement.scrollWidth <= 390`)
	b.until("what a chapter offers begins where its pictures do", `[...document.querySelectorAll("#gallery .acts")].every((e) => e.getBoundingClientRect().left >= document.querySelector("#gallery ul").getBoundingClientRect().left)`)
	b.shot("gallery_phone.png")
	b.act(`location.hash = "#figures/2-1a"`)
	b.until("words that would lie over others are in the tooltip alone", `(() => { const l = `+figureJS+`?.getOption().series.filter((s) => s.label?.show) || []; return l.length > 0 && l.every((s) => s.labelLayout?.hideOverlap) })()`)
	b.quiet(s)
}
