package dashboard_test

import (
	"fmt"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// TestPageOfOtherHardware finds numbers that are not the profile's above all knobs, takes one back, and finds
// it among what has changed.
func TestPageOfOtherHardware(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "check": "off", "hardware.wire.switch": 500, "hardware.nic.qp_contexts": 4000}},
		agent.Options{Pace: 2_000_000}, nil)
	b := newTab(t)
	b.open(s, "the page is there", ready+" && "+latestJS+" > 2")
	const first = `document.querySelector("#knobs fieldset")`
	b.until("other hardware first", `/Hardware other than val's/.test(`+first+`.textContent) && /nic.qp_contexts 480 → 4000/.test(`+first+`.textContent) && /wire.switch 90 ns → 500 ns/.test(`+first+`.textContent)`)
	b.shot("hardware.png")
	b.act(`document.querySelector('[data-knob="hardware.wire.switch"] button').click()`)
	b.until("what has changed first", `/Changed since the start/.test(`+first+`.textContent) && /wire.switch 500 ns → 90 ns/.test(`+first+`.textContent)`)
	b.until("the rest below", `/nic.qp_contexts/.test(document.querySelectorAll("#knobs fieldset")[1].textContent) && !/wire.switch/.test(document.querySelectorAll("#knobs fieldset")[1].textContent)`)
	b.act(`document.querySelector('[data-knob="hardware.wire.switch"] button').click()`)
	b.until("as it began", `/wire.switch 90 ns → 500 ns/.test(`+first+`.textContent)`)
	b.quiet(s)
}

// TestHardwareIsSetOnThePage finds numbers of the hardware that are as the profile says, sets two of them and begins
// again, by keyboard.
func TestHardwareIsSetOnThePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "check": "off"}}, agent.Options{Pace: 2_000_000}, nil)
	b := newTab(t)
	b.open(s, "the page is there", ready)
	b.act(`const box = document.querySelector("#knobs details.fixed"); box.open = true; box.querySelector(".numbers").open = true`)
	b.until("all numbers", `document.querySelectorAll(".numbers .knob").length > 60 && document.getElementById("k-hardware-wire-switch").value === "90"`)
	b.shot("numbers.png")
	b.act(`document.activeElement.blur()`)
	for _, c := range []struct{ find, id, value string }{{"qp_contexts", "k-hardware-nic-qp_contexts", "4000"}, {"wire.sw", "k-hardware-wire-switch", "500"}} {
		b.act(`document.getElementById("find").value = ""`)
		b.act(`document.getElementById("find").focus()`)
		b.key(c.find)
		b.until("found", fmt.Sprintf(`document.querySelectorAll("#knobs .knob").length === 1 && document.getElementById(%q)`, c.id))
		b.act(fmt.Sprintf(`const e = document.getElementById(%q); e.focus(); e.select()`, c.id))
		b.key(c.value + "\r")
		b.until("it is staged", fmt.Sprintf(`document.getElementById(%q).closest(".staged")`, c.id))
	}
	b.until("the offer is for both", `[...document.querySelectorAll("#knobs .go button")].some((e) => !e.hidden && e.textContent === "Begin again with these 2")`)
	b.shot("staged.png")
	b.act(`document.querySelector("#knobs .go button").focus()`)
	b.key("\r")
	b.act(`const e = document.getElementById("find"); e.value = ""; e.oninput()`)
	b.until("what has changed", `/nic.qp_contexts 480 → 4000/.test(document.querySelector(".changes").textContent) && /wire.switch 90 ns → 500 ns/.test(document.querySelector(".changes").textContent)`)
	b.until("nothing is staged any more", `!document.querySelector("#knobs .staged") && document.querySelector("#knobs .go button").hidden`)
	if spec, err := s.agent.Spec(t.Context(), "a"); err != nil || spec.Set["hardware.nic.qp_contexts"] != 4000 || spec.Set["hardware.wire.switch"] != 500.0 {
		t.Errorf("%v, %v", spec, err)
	}
	b.quiet(s)
}
