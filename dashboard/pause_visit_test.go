package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// What the header says of the system shown.
const (
	stateJS   = `document.getElementById("state").textContent`
	tempoJS   = `document.getElementById("tempo").textContent`
	buttonJS  = `document.getElementById("pause").textContent`
	tilesGone = `["throughput", "p50", "p99", "aborts"].every((n) => document.getElementById("t-" + n).textContent === "–") && document.getElementById("checks").textContent === "–"`
)

func is(js, want string) string { return fmt.Sprintf("%s === %q", js, want) }

// A system that begins again while it is paused sends one frame and no more:
// the page shows that one, and its next click goes on. Every reload of the page
// asks about itself first, which here takes longer than the frame does.
func TestPageOfAPausedReset(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace}, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/page/about" {
				time.Sleep(200 * time.Millisecond)
			}
			h.ServeHTTP(w, r)
		})
	})
	b := newTab(t)
	b.open(s, "the page is there", ready+" && "+latestJS+" > 3")
	b.click("#pause")
	b.until("it waits", is(stateJS, "paused"))
	if _, err := s.agent.Fork(t.Context(), "a", nil, "script"); err != nil {
		t.Fatal(err)
	}
	b.until("a second system", `document.querySelectorAll("#systems li").length === 2 && !document.getElementById("systems").textContent.includes("catching up")`)
	b.until("it stands", is(stateJS, "paused")+` && /^stands at [1-9]/.test(`+tempoJS+`)`)
	b.click("#reset")
	b.until("it stands at 0", is(stateJS, "paused")+" && "+is(tempoJS, "stands at 0.00 ms")+" && "+is(buttonJS, "Go on"))
	b.until("no number of its earlier life", tilesGone+` && !document.querySelector("#cluster .frame") && document.getElementById("limit").textContent === "nothing measured yet"`)
	time.Sleep(time.Second) // all that the reload asked for is there
	b.shot("reset.png")
	// The other one is as it was: it sent nothing either.
	b.click("#systems button.b")
	b.until("the other one stands where it stood", is(stateJS, "paused")+` && /^stands at [1-9]/.test(`+tempoJS+`) && !(`+tilesGone+`)`)
	b.click("#systems button.a")
	b.until("the first one again", is(tempoJS, "stands at 0.00 ms")+" && "+tilesGone)
	b.click("#pause")
	b.until("it goes on at the first click", is(stateJS, "running")+" && "+is(buttonJS, "Pause")+" && !("+tilesGone+`) && document.querySelector("#cluster .frame")`)
	b.quiet(s)
}

// A ghost that has to be replayed is asked for by a button or confirmed: a key alone does not
// start it. The system shown goes on meanwhile, and the ghost can be given up.
func TestPageOfAGhostThatReplays(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	var opened atomic.Int32
	open := func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		sys, err := engine.OpenWith(ctx, spec, progress)
		if err != nil || opened.Add(1) == 1 {
			return sys, err
		}
		return tardy{sys}, nil
	}
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace, Open: open, NoTwin: true}, nil)
	b := newTab(t)
	b.open(s, "the page is there", ready+" && "+latestJS+" > 3")
	b.until("it says that ghosts are replayed", `/twin is off/.test(document.getElementById("twin").textContent)`)
	b.click("#fork")
	b.until("there is nothing to do without", `document.getElementById("notice").textContent.includes("Nothing was changed yet")`)
	s.patch(`{"phase.logging": "two-sided"}`)
	b.until("the change", cardsJS+" === 1")
	b.act(`document.activeElement.blur()`)
	b.key("g")
	b.until("it asks", `document.getElementById("dialog").open && /replayed from time 0/.test(document.getElementById("dialogbody").textContent)`)
	if n := opened.Load(); n != 1 {
		t.Fatalf("a key opened %d systems", n-1)
	}
	b.act(`document.getElementById("dialogbody").querySelector("button").click()`)
	b.until("it replays", `!document.getElementById("dialog").open && /ghost of a without change 1 from .* on, catching up/.test(document.getElementById("systems").textContent)`)
	b.until("how long it will take", `/behind, about \d+ (s|min) more/.test(document.getElementById("systems").textContent)`)
	x := eval[float64](b, latestJS)
	b.until("the system shown goes on", is(stateJS, "running")+fmt.Sprintf(" && %s > %g", latestJS, x+5))
	if now, err := s.agent.State("b"); err != nil || !now.CatchingUp {
		t.Errorf("the ghost is %+v, %v: too early to be of use here", now, err)
	}
	b.shot("replays.png")
	b.click("#tasks button")
	b.until("it is given up", `document.querySelectorAll("#systems li").length === 1 && document.getElementById("tasks").hidden`)
	b.quiet(s)
}

// tardy is a system that replays slowly: 0.01 ms in a second.
type tardy struct{ system.System }

func (s tardy) Advance(d int64) error {
	d = min(d, 1000)
	time.Sleep(time.Duration(100_000 * d))
	return s.System.Advance(d)
}

// A system that failed does not hold up the others, whichever is shown.
func TestPageOfAFailedSystemBesideAnother(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	var opened atomic.Int32
	s := newSite(t, browserSpec, agent.Options{Pace: visitPace, Open: func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		sys, err := engine.OpenWith(ctx, spec, progress)
		if err != nil || opened.Add(1) > 1 {
			return sys, err
		}
		return mortal{sys}, nil
	}}, nil)
	if _, err := s.agent.Add(browserSpec); err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open(s, "the failure", is(stateJS, "failed")+" && "+is(buttonJS, "Pause"))
	b.click("#pause")
	b.until("the other one is paused", is(buttonJS, "Go on")+` && /b\W*paused/.test(document.getElementById("systems").textContent)`)
	b.click("#pause")
	b.until("the other one goes on", is(buttonJS, "Pause")+` && /b\W*running/.test(document.getElementById("systems").textContent)`)
	b.click("#systems button.b")
	b.until("it is shown", is(stateJS, "running"))
	b.click("#pause")
	b.until("it stands", is(stateJS, "paused"))
	stood, err := s.agent.State("b")
	if err != nil {
		t.Fatal(err)
	}
	before := eval[string](b, tempoJS)
	b.click("#step")
	b.until("one window further", fmt.Sprintf(`fetch("/api/state?sys=b").then((r) => r.json()).then((x) => x.virtual_ns === %d && x.state === "paused")`, stood.VirtualNS+100_000))
	b.until("the page has it", is(stateJS, "paused")+fmt.Sprintf(" && %s !== %q", tempoJS, before))
	b.click("#pause")
	b.until("it goes on", is(stateJS, "running")+` && document.getElementById("notice").hidden`)
	b.shot("beside.png")
	b.quiet(s)
}

// What is drawn again takes nothing away from under a pointer or a keyboard: the
// buttons stay where they are when numbers come, and list items that are as they
// were are not touched.
func TestPageHoldsStill(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	for _, width := range []int64{1300, 1400, 1700, 1920} {
		b.do(chromedp.EmulateViewport(width, 1000))
		moved := eval[float64](b, `(() => {
			const at = () => document.getElementById("pause").getBoundingClientRect().left, numbers = [...document.querySelectorAll("#tiles dd > *, #tiles dd")].filter((e) => !e.children.length);
			for (const e of numbers) e.textContent = "–";
			const before = at();
			for (const e of numbers) e.textContent = "123.4 M/s";
			return at() - before;
		})()`)
		if moved != 0 {
			t.Errorf("at a width of %d the buttons move by %g pixels when numbers come", width, moved)
		}
	}
	left := eval[[]string](b, `(async () => {
		const { el, keyed } = await import("/kit.js"), root = document.body.appendChild(el("ul")), seen = [];
		const draw = (...items) => keyed(root, items, (x) => x[0], (x) => el("li", {}, el("button", {}, x)));
		draw("a1", "b1", "c1");
		const stays = root.children[1], button = stays.firstChild;
		button.focus();
		button.addEventListener("blur", () => seen.push("the focus went"));
		new MutationObserver((all) => { for (const m of all) if ([...m.removedNodes].includes(stays)) seen.push("it was taken out"); }).observe(root, { childList: true });
		draw("a2", "b1", "d1", "c1");
		draw("e1", "b1");
		await null;
		return [[...root.children].map((e) => e.textContent).join(), ...seen];
	})()`)
	if !slices.Equal(left, []string{"e1,b1"}) {
		t.Errorf("what stays in a list: %q", left)
	}
	b.quiet(s)
}
