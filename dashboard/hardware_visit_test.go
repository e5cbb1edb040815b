package dashboard_test

import (
	"testing"

	"drtmx/cluster"
	"drtmx/engine"
)

// TestPageOfOtherHardware finds numbers that are not the profile's above all knobs, takes one back, and finds
// it among what has changed.
func TestPageOfOtherHardware(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	s := newSite(t, engine.Spec{Workload: "micro-read", Set: engine.Knobs{"nodes": 2, "threads": 1, "check": "off", "hardware.wire.switch": 500, "hardware.nic.qp_contexts": 4000}},
		cluster.Options{Pace: 4_000_000}, nil)
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
