package versions

import (
	"fmt"
	"math"

	"drtmx/engine/metrics/panel"
)

// The panel of snapshots: how old what they read was, and how often they waited.
var _ = panel.New(panel.Panel{
	Part: "snapshots", Title: "Staleness of snapshots",
	Doc: "Staleness of a snapshot read: how long before the transaction began its value had been overwritten. Y: share of the reads at least this old, " +
		"per system over its latest ten windows under its present knobs. The mark is the bound that the timestamp scheme promises.",
	Shows: func(w *panel.Window) bool { return !math.IsNaN(w.Oldest) },
	Says:  func(ws []panel.Window) panel.State { return panel.State{Text: staleness(ws), Settled: true, Done: 1} },
	Charts: []panel.Chart{
		{Form: panel.Staleness, Label: "share of snapshot reads that are at least as old, by staleness, with its bound"},
	},
})

// staleness says how old what snapshots read was, and how many reads waited for a writer.
func staleness(ws []panel.Window) string {
	var oldest, reads, blocked, wait, waits float64
	promise := math.NaN()
	for i := range ws {
		w := &ws[i]
		if math.IsNaN(w.Oldest) {
			continue
		}
		oldest, promise = max(oldest, w.Oldest), w.Promise
		if n := w.Gauge("reads"); n > 0 {
			reads += n
			if x := w.Gauge("blocked"); x > 0 {
				blocked += n * x / 100
			}
		}
		if x := w.Gauge("wait"); x > 0 {
			wait, waits = wait+x, waits+1
		}
	}
	text := fmt.Sprintf("the oldest read was %s old, and no bound is promised", panel.Duration(oldest))
	if !math.IsNaN(promise) {
		text = fmt.Sprintf("the oldest read was %s old, and %s is the bound", panel.Duration(oldest), panel.Duration(promise))
	}
	if reads == 0 {
		return text
	}
	text += fmt.Sprintf("; %.3g %% of the reads waited for a writer", 100*blocked/reads)
	if waits > 0 {
		text += fmt.Sprintf(", %s on average", panel.Duration(wait/waits))
	}
	return text
}
