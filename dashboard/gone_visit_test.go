package dashboard_test

import (
	"strings"
	"testing"

	"drtmx/cluster/agent"
)

// TestPageOfASystemThatIsGone shows a system that somebody else closes, as another tab does, and one of an agent
// that another takes the place of: the page goes on with the first system instead of asking for what is no more.
func TestPageOfASystemThatIsGone(t *testing.T) {
	t.Parallel()
	s, b := visitWith(t, agent.Options{Pace: visitPace})
	const first = `document.querySelector("#systems button.a").getAttribute("aria-pressed") === "true" && document.querySelectorAll("#systems li").length === 1 && ` + stateJS + ` === "running"`
	b.until("enough windows", latestJS+" > 12") // of virtual milliseconds: another begins far behind
	other, err := s.agent.Add(browserSpec)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.agent.Pause(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	b.click("#systems button." + other.Sys)
	b.until("the other is shown", `document.querySelector("#systems button.b").getAttribute("aria-pressed") === "true"`)
	b.until("it stands near its beginning", `/^stands at \d\./.test(`+tempoJS+`)`)
	if text := eval[string](b, `document.getElementById("systems").textContent`); eval[bool](b, `/behind/.test(document.getElementById("systems").textContent)`) {
		t.Errorf("a system that is nobody's ghost is behind nobody: %s", text)
	}
	if style := eval[string](b, `getComputedStyle(document.querySelector("#systems button.b"), "::before").backgroundImage`); !strings.HasPrefix(style, "linear-gradient") {
		t.Errorf("a system that is no ghost has a %s line", style)
	}
	if err := s.agent.Resume(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := s.agent.CloseSystem(other.Sys); err != nil {
		t.Fatal(err)
	}
	b.until("the first is shown, as the other is closed", first)

	ghost, err := s.agent.Fork(t.Context(), "a", nil, "script")
	if err != nil {
		t.Fatal(err)
	}
	b.until("its ghost", `document.querySelectorAll("#systems li").length === 2`)
	b.click("#systems button." + ghost.Sys)
	b.until("the ghost is shown", `document.querySelector("#systems button.b").getAttribute("aria-pressed") === "true"`)
	if style := eval[string](b, `getComputedStyle(document.querySelector("#systems button.b"), "::before").backgroundImage`); !strings.HasPrefix(style, "repeating-linear-gradient") {
		t.Errorf("a ghost has a %s line", style)
	}
	s.stop()
	b.until("it is missed", is(stateJS, "offline"))
	if s.agent, err = agent.New(browserSpec, agent.Options{Pace: visitPace}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.agent.Close() })
	s.serve()
	b.until("the first is shown, as the agent is another", first+` && document.getElementById("notice").hidden`)
}
