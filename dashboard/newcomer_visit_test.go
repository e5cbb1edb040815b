package dashboard_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// inViewJS is true when the whole of an element is in sight.
const inViewJS = `(() => { const e = document.querySelector(%q), r = e.getBoundingClientRect(); return r.height > 0 && r.top >= document.getElementById("top").getBoundingClientRect().bottom - 1 && r.bottom <= innerHeight; })()`

// TestPageOfANewcomer tries what the page suggests, at the size of a laptop.
func TestPageOfANewcomer(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.do(chromedp.EmulateViewport(1440, 900))
	b.until("some history", ready+" && "+latestJS+" > 4")
	if n := eval[int](b, `document.querySelectorAll("#steps button.there").length`); n == 0 {
		t.Error("a cluster of four coroutines is where no step starts, and none offers to go there")
	}
	if order := eval[[]float64](b, `["k-phase-execution", "k-phase-ro_validation", "k-opt-co"].map((id) => document.getElementById(id).getBoundingClientRect().top)`); !slices.IsSorted(order) {
		t.Errorf("the phases stand below what sets them all: %v", order)
	}
	step := func(n int, button string) string { return fmt.Sprintf("#steps li:nth-child(%d) button.%s", n, button) }
	b.click(step(1, "there"))
	b.until("the start of the first step", `document.getElementById("k-coroutines").value === "8" && !document.querySelector("#steps li:nth-child(1) button.there")`)
	b.until("windows at the start", latestJS+" > 9")
	b.act(`document.querySelector("` + step(1, "go") + `").scrollIntoView({ block: "nearest" })`)
	b.click(step(1, "go"))
	b.until("one coroutine", `document.getElementById("k-coroutines").value === "1"`)
	b.act(`window.scrollTo(0, 0)`)
	b.until("the newest card has numbers", `document.querySelectorAll("#newest .card .rows tbody tr").length >= 3`)
	b.until("the newest card is in view", fmt.Sprintf(inViewJS, "#newest .card"))
	time.Sleep(800 * time.Millisecond)
	b.shot("newest.png")
	// taken back, both fold away behind the next change
	b.click(step(1, "go"))
	b.until("back", `document.getElementById("k-coroutines").value === "8"`)
	b.until("what was undone is a line", `/coroutines: 8 → 1, undone by/.test(document.querySelector("#cards .folded summary")?.textContent)`)
	fasst(s, b, step)
	lookBack(b)
	b.quiet(s)
}

// fasst is the trap of old: on another preset a step changes what it says and no more.
func fasst(s *site, b *tab, step func(int, string) string) {
	s.patch(`{"preset": "fasst"}`)
	b.until("another preset", `document.getElementById("k-preset").value === "fasst"`)
	b.act(`window.scrollTo(0, 0)`)
	b.until("numbers of a preset", `document.querySelectorAll("#newest .card .rows tbody tr").length >= 3`)
	b.until("its card is in view too", fmt.Sprintf(inViewJS, "#newest .card"))
	b.until("every knob that moved is named", `/phase.execution: hybrid → two-sided/.test(document.querySelector("#newest .moved")?.textContent)`)
	b.until("the step names its start, and where one is", `/Starts from preset drtm\+h.*now preset fasst/.test(document.querySelector("#steps li:nth-child(2) .start").textContent)`)
	b.act(`document.querySelector("` + step(2, "go") + `").scrollIntoView({ block: "center" })`)
	b.shot("step.png")
	if !eval[bool](b, `document.querySelector("`+step(2, "go")+`").disabled`) {
		b.t.Error("FaSST has no passive ACK of commits, and the step offers to turn it off")
	}
	b.click(step(1, "go"))
	b.until("its card", `/coroutines: 8 → 1/.test(document.querySelector("#newest h3").textContent)`)
	if v := eval[string](b, `document.getElementById("k-preset").value`); v != "fasst" {
		b.t.Errorf("a step about coroutines changed the preset to %s", v)
	}
	b.click(step(2, "there"))
	b.until("its start", `document.getElementById("k-preset").value === "drtm+h" && document.getElementById("k-coroutines").value === "1" && !document.querySelector("`+step(2, "there")+`")`)
	b.until("windows there", `document.querySelectorAll("#newest .card .rows tbody tr").length >= 3`)
	b.click(step(2, "go"))
	b.until("its own card", `document.querySelector("#newest h3").textContent.endsWith("opt.commit.pa: on → off")`)
}

// lookBack shows a card's time; what is of the present says so.
func lookBack(b *tab) {
	b.act(`window.scrollTo(0, 0)`)
	b.until("numbers", `document.querySelectorAll("#newest .card .rows tbody tr").length >= 3`)
	b.act(`[...document.querySelectorAll("#newest button")].find((e) => e.textContent === "Show").click()`)
	b.until("a span", `!document.getElementById("pastspan").hidden && /charts show/.test(document.getElementById("pastspan").textContent)`)
	b.until("the breakdown is of that time", `/means of .* ms/.test(document.getElementById("phaseswhen").textContent)`)
	for _, css := range []string{"#tiles", "#picture h2", "#systemshead h2", "#left h2"} {
		if v := eval[string](b, fmt.Sprintf(`getComputedStyle(document.querySelector(%q), "::before").content`, css)); v != `"now"` {
			b.t.Errorf("%s is of the present and says %s", css, v)
		}
	}
	time.Sleep(600 * time.Millisecond)
	b.shot("past.png")
	b.click("#golive")
	b.until("the present", `document.getElementById("pastspan").hidden && !document.body.classList.contains("past") && document.getElementById("phaseswhen").textContent === ""`)
}

// TestHelpIsWhole points at every knob: its help can be read to the end, on a laptop and on
// a phone.
func TestHelpIsWhole(t *testing.T) {
	t.Parallel()
	_, b := visit(t)
	b.click("#pause") // nothing is drawn again meanwhile
	b.until("it stands", is(stateJS, "paused"))
	for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		b.act(`for (const e of document.querySelectorAll("#knobs details")) e.open = true;`)
		b.until("every knob is there", `document.querySelectorAll("#knobs [data-knob]").length > 100`)
		cut := eval[string](b, `(async () => {
			const out = [], frame = () => new Promise(requestAnimationFrame), help = document.getElementById("knob");
			for (const name of new Set([...document.querySelectorAll("#knobs [data-knob]")].map((e) => e.dataset.knob))) {
				const e = document.querySelector('#knobs [data-knob="' + name + '"]');
				e.scrollIntoView({ block: "center" });
				e.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
				await frame();
				const r = help.getBoundingClientRect();
				if (help.scrollHeight > help.clientHeight + 1 && getComputedStyle(help).overflowY !== "auto" || help.scrollWidth > help.clientWidth + 1 || r.bottom > innerHeight + 1 || r.top < 0 || r.right > innerWidth + 1 || !help.textContent.includes(name)) out.push(name + " " + help.scrollHeight + ">" + help.clientHeight + " " + Math.round(r.top) + ".." + Math.round(r.bottom));
			}
			return out.join(", ");
		})()`)
		if cut != "" {
			t.Errorf("at %d x %d the help of these is cut off: %s", size[0], size[1], cut)
		}
		b.shot(fmt.Sprintf("help-%d.png", size[0]))
	}
}

// TestPageOfFewSamples takes windows together until they have requests enough for a p99: on the tile, and in the chart.
func TestPageOfFewSamples(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec, err := browserSpec.With(experiment.Knobs{"window_ns": 20_000})
	if err != nil {
		t.Fatal(err)
	}
	s, b := newSite(t, spec, agent.Options{Pace: 2_000_000}, nil), newTab(t)
	b.open(s, "the page is there", ready)
	b.until("the p99 of windows together", `/^[\d.]+ µs$/.test(document.getElementById("t-p99").textContent) && /^of \d+ neighbouring windows together: a p99 takes 1,000 requests$/.test(document.getElementById("t-p99").title)`)
	b.until("its line", `(() => { const o = echarts.getInstanceByDom(document.getElementById("timeline"))?.getOption(), i = o?.yAxis.findIndex((y) => /^99th percentile, of up to \d+ windows each/.test(y.name)); return i > 0 && o.series.some((s) => s.yAxisIndex === i && s.data.length > 1); })()`)
	for _, width := range []int64{1440, 390} {
		b.do(chromedp.EmulateViewport(width, 844))
		time.Sleep(500 * time.Millisecond)
		if w := eval[int64](b, "document.documentElement.scrollWidth"); w > width {
			t.Errorf("the page is %d wide at %d", w, width)
		}
		b.shot(fmt.Sprintf("samples-%d.png", width))
	}
}
