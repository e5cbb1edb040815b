package dashboard_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
)

// enter presses Enter on a control, as who has no pointer does.
func (b *tab) enter(js string) {
	b.t.Helper()
	b.until("there is "+js, fmt.Sprintf(`(%s).focus() || document.activeElement === (%s)`, js, js))
	b.key("\r")
}

// TestFocusStays: what a key press changes on the page does not take the focus to its beginning.
func TestFocusStays(t *testing.T) {
	t.Parallel()
	_, b := visitWith(t, agent.Options{Pace: visitPace})
	b.until("enough windows", latestJS+" > 3")
	at := func(what, js string) {
		t.Helper()
		b.until("the focus is on "+what, fmt.Sprintf(`document.activeElement === (%s)`, js))
	}
	// A button that comes before the one with the focus does not take it.
	b.act(`const { el, keyed } = await import("/kit.js"), root = document.body.appendChild(el("div"));
		const draw = (...names) => keyed(root, [names], () => "card", () => el("p", {}, ...names.map((n) => el("button", {}, n))));
		draw("Show");
		root.querySelector("button").focus();
		draw("Pin", "Show");
		window.focusWas = document.activeElement.textContent;
		root.remove()`)
	if at := eval[string](b, `window.focusWas`); at != "Show" {
		t.Errorf("the focus moved from Show to %q", at)
	}

	// A panel that has nothing to show for a while is as open as it was.
	b.act(`const { Panels } = await import("/panels.js"), panels = new Panels({ shown() {} }), part = { part: "probe", title: "Probe", charts: [], facts: [], done: 1 };
		panels.draw([part]);
		document.getElementById("panel-probe").open = true;
		panels.draw([]);
		panels.draw([part]);
		window.stillOpen = document.getElementById("panel-probe").open;
		panels.draw([])`)
	if !eval[bool](b, `window.stillOpen`) {
		t.Error("a panel has closed by itself")
	}

	const step = `document.querySelector("#steps li button.go")`
	b.enter(step)
	b.until("the step is taken", step+`.textContent === "Take it back"`)
	at("the step", step)

	const pin = `[...document.querySelectorAll(".cards .card button")].find((e) => e.textContent === "Pin")`
	b.enter(pin)
	b.until("a pin", `document.querySelectorAll("#pins .pin").length === 1`)
	b.enter(`document.querySelector("#pins .pin button.link")`)
	b.until("no pin", `!document.querySelector("#pins .pin")`)
	at("what pins", `document.getElementById("pinstate")`)

	b.enter(`document.getElementById("fork")`)
	b.until("a ghost", `document.querySelectorAll("#systems li").length === 2`)
	b.enter(`document.querySelector("#systems li:last-child .link")`)
	b.until("no ghost", `document.querySelectorAll("#systems li").length === 1`)
	at("the system that is left", `document.querySelector("#systems button")`)

	b.enter(`[...document.querySelectorAll(".cards .card button")].find((e) => e.textContent === "Show")`)
	b.enter(`document.getElementById("golive")`)
	at("what is beside it", `document.getElementById("range")`)

	// A knob that is not as it was at the start has a frame; the focus is another.
	b.act(`document.getElementById("k-opt-lock-or").focus()`)
	b.key(" ")
	b.until("it is marked", `document.getElementById("k-opt-lock-or").closest("td").matches(".changed")`)
	at("the switch", `document.getElementById("k-opt-lock-or")`)
	const frame = `((c) => c.outlineWidth + c.outlineColor)(getComputedStyle(document.getElementById("k-opt-lock-or")))`
	focused := eval[string](b, frame)
	b.act(`document.activeElement.blur()`)
	if other := eval[string](b, frame); other == focused {
		t.Errorf("a changed switch looks the same with and without the focus: %s", other)
	}
	if n := eval[int](b, `[...document.querySelectorAll("*")].filter((e) => e.tabIndex > 0).length`); n > 0 {
		t.Errorf("%d elements are out of the order of the page", n)
	}
}

// TestCalm: who wants less motion gets none, and what is drawn several times a second has none anyway.
func TestCalm(t *testing.T) {
	t.Parallel()
	_, b := visit(t)
	b.until("a step to try", `document.querySelector("#steps li button") !== null`)
	b.act(`document.querySelector("#steps li button").click()`)
	b.until("a card", `[...document.querySelectorAll(".cards .card button")].some((e) => e.textContent === "Show")`)
	b.act(`window.asked = []; const was = Element.prototype.scrollIntoView; Element.prototype.scrollIntoView = function (o) { asked.push(o?.behavior); was.call(this, o); }`)
	for wish, want := range map[string]string{"reduce": "instant,instant", "no-preference": "smooth,smooth"} {
		p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: wish}}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
			t.Fatal(err)
		}
		b.act(`asked.length = 0; [...document.querySelectorAll(".cards .card button")].find((e) => e.textContent === "Show").click()`)
		b.act(`new (await import("/cards.js")).Cards({}).show(1)`) // as a mark on the time axis does
		if got := eval[string](b, `asked.join()`); got != want {
			t.Errorf("prefers-reduced-motion: %s scrolls %s, want %s", wish, got, want)
		}
	}
	for _, id := range []string{"timeline", "phases"} {
		if eval[bool](b, fmt.Sprintf(`echarts.getInstanceByDom(document.getElementById(%q)).getOption().animation`, id)) {
			t.Errorf("%s is animated: on paper it may be half drawn", id)
		}
	}
}

// TestThemeChangesWhileChartsAreDrawn: charts take the colours of a theme that changes at any moment, also where one that is being
// drawn asks for the theme before the page is told of the change.
func TestThemeChangesWhileChartsAreDrawn(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.act(`const { draw } = await import("/charts.js"), ask = window.fetch, e = document.body.appendChild(document.createElement("div"));
		const phases = await (await ask("/page/phases?w=300&h=100&format=option")).text();
		window.fetch = (url, ...more) => String(url).startsWith("/drawn") ? Promise.resolve(new Response(phases)) : ask(url, ...more);
		window.drawing = (async () => {
			for (; !window.enough; await new Promise((done) => setTimeout(done))) await draw(e, "/drawn?", { high: 100 });
			e.remove();
		})()`)
	for i := range 6 {
		theme := []string{"dark", "light"}[i%2]
		b.theme(theme)
		b.until("charts are "+theme, fmt.Sprintf(`((all) => all.length > 1 && all.every((e) => echarts.getInstanceByDom(e) && e.classList.contains("dark") === %t))([document.getElementById("timeline"), document.getElementById("phases")])`, theme == "dark"))
	}
	b.act(`window.enough = true; await window.drawing`)
	b.quiet(s)
}
