package dashboard_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// TestWordsFit: what is said has room, also after a second of virtual time and on a phone.
func TestWordsFit(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.do(chromedp.EmulateViewport(1440, 900))
	b.click("#pause")
	b.until("it stands", is(stateJS, "paused"))
	if wide := eval[[]int](b, `(() => { const e = document.getElementById("tempo"); e.textContent = "1 s here = 12.34 ms in the cluster, at 9999.9 ms"; return [e.scrollWidth, e.clientWidth] })()`); wide[0] > wide[1] {
		t.Errorf("the virtual time is cut off: %d pixels have %d", wide[0], wide[1])
	}

	b.do(chromedp.EmulateViewport(390, 844))
	b.until("the chart is narrow", `echarts.getInstanceByDom(document.getElementById("timeline")).getWidth() < 390`)
	b.act(`document.getElementById("timeline").scrollIntoView({ block: "center" })`)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, over("timeline", 0.5, 0.3))
	b.until("what is at a point", `/throughput/.test(`+valuesJS+`)`)
	if wide := eval[[]float64](b, `(() => { const e = document.querySelector("#timeline .values"); e.firstChild.append("Dedicated context per thread, 4 coroutines ".repeat(3)); return [e.getBoundingClientRect().width, e.scrollWidth, document.getElementById("timeline").clientWidth] })()`); wide[0] > wide[2] || wide[1] > wide[2] {
		t.Errorf("a long line of what is at a point is cut off: %v", wide)
	}
	b.quiet(s)
}

// TestSkipLinks lead past what a keyboard has to pass, once to the charts and once to the knobs.
func TestSkipLinks(t *testing.T) {
	t.Parallel()
	_, b := visit(t)
	b.act(`[...document.querySelectorAll("a.skip")].find((e) => /knobs/.test(e.textContent)).focus()`)
	b.key("\r")
	b.press("Tab", 9)
	b.until("the next stop is the first of the knobs", `document.activeElement.id === "find"`)
}
