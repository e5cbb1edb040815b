package dashboard_test

import "testing"

// TestGhostSaysWhatItCosts: a ghost replays all that was, so before it is asked for the page
// says how long that may take, if it is long.
func TestGhostSaysWhatItCosts(t *testing.T) {
	s, b := visit(t)
	const said = `[...document.querySelectorAll(".replay")].map((e) => e.textContent)`
	b.until("some time has passed", `/at \d\d\.?\d* ms/.test(document.getElementById("tempo").textContent)`)
	if n := eval[int](b, said+`.length`); n < 2 {
		t.Fatalf("%d places to say it", n)
	}
	b.act(`const e = document.getElementById("pace"); e.value = "1000000"; e.dispatchEvent(new Event("change"))`)
	b.until("it is long", said+`.every((x) => /^replays .* ms first, up to \d+ (s|min)$/.test(x))`)
	b.quiet(s, "")
}
