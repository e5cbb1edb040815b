package dashboard_test

import (
	"testing"

	"drtmx/cluster/agent"
)

const twinJS = `document.getElementById("twin").textContent`

// TestGhostOnStandby: the page says how the ghosts on standby are, a key shows the one of the
// latest change, and the twin can be switched off.
func TestGhostOnStandby(t *testing.T) {
	t.Parallel()
	s, b := visitWith(t, agent.Options{Pace: visitPace})
	b.click("#pause") // a busy machine has no CPU time to spare while it runs
	b.until("a ghost is ready", is(twinJS, "ghost ready for the next change"))
	b.act(`document.getElementById("k-coroutines").value = 2; document.getElementById("k-coroutines").dispatchEvent(new Event("change"))`)
	b.until("that of the change", `/^ghost of change 1 ready/.test(`+twinJS+`)`)
	b.act(`document.activeElement.blur()`)
	// No frame tells that a ghost has come where the system is: the page has to ask until it is there.
	b.act(`const ask = window.fetch; let first; window.fetch = async (...about) => {
		const answer = await ask(...about);
		if (about[0] !== "/api/systems" || about[1]?.method !== "GET") return answer;
		const all = await answer.json();
		if (all.length > 1) all[1].behind = performance.now() - (first ??= performance.now()) < 4000;
		return new Response(JSON.stringify(all), answer);
	}`)
	b.key("g")
	b.click("#pause")
	b.until("its line", seriesJS+`.some((s) => s.name === "ghost b" && s.lineStyle.type === "dashed" && s.data.length > 5)`)
	b.until("what it is", `/ghost of a without change 1 from .* on, running/.test(document.getElementById("systems").textContent)`)
	b.until("its card", `/a against its ghost b, without change 1/.test(document.querySelector(".cards .ghost")?.textContent)`)
	b.shot("standby.png")
	const savedJS = `["savesession", "historylines", "historyedn", "sessionpage"].map((id) => document.getElementById(id).getAttribute("href")).join(" ")`
	b.click("#systems .sys.b")
	b.until("what is saved is of the system shown", is(savedJS, "/api/session?sys=b /api/history?format=jsonl&sys=b /api/history?format=edn&sys=b /page/session.html?sys=b"))
	b.click("#systems .sys.a")
	b.until("and again", is(savedJS, "/api/session?sys=a /api/history?format=jsonl&sys=a /api/history?format=edn&sys=a /page/session.html?sys=a"))
	b.click("#pause")
	b.until("the next one is ready", is(twinJS, "ghost ready for the next change"))
	b.click("#twinswitch")
	b.until("it is off", is(twinJS, "The hidden twin is off: ghosts are replayed."))
	if twin := s.agent.Twin(); twin == nil || twin.State != "off" {
		t.Errorf("the agent has %+v", twin)
	}
	b.click("#twinswitch")
	b.until("it is on again", is(twinJS, "ghost ready for the next change"))
	b.quiet(s, "")
}
