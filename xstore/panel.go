package xstore

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/metrics/panel"
)

// The panel of learned caches: what clients keep, how often it helps, and how far training in the background has come.
var _ = panel.New(panel.Panel{
	Part: "xstore", Title: "XCache: what clients keep of the index", Open: true,
	Shows:    func(w *panel.Window) bool { return !math.IsNaN(w.Gauge("client_bytes")) },
	Says:     training,
	Settles:  "a new model is trained in the background; until it is there, clients use the old one",
	Settling: func(w *panel.Window) bool { return w.Gauge("training") > 0 },
	Because:  "xstore.submodels",
	Facts: []panel.Fact{
		{Name: "cache hits", Unit: "%", Mean: true, Of: panel.Named("hits"), Doc: "lookups that READ nothing of the index: the client's cache named the leaves"},
		{Name: "invalidations", Unit: "%", Mean: true, Of: panel.Named("invalidations"), Doc: "lookups that met a leaf other than the one expected, or a node that was too old: leaves have been split"},
		{Name: "fallbacks", Unit: "%", Mean: true, Of: panel.Named("fallbacks"), Doc: "lookups that the server had to answer"},
		{Name: "leaves READ", Unit: "a lookup", Mean: true, Of: leavesRead, Doc: "leaves that a lookup READs: one, or more where the prediction is wider"},
		{Name: "prediction error", Beside: func(w *panel.Window) string { return fmt.Sprintf("slots, ≤ %.0f", w.Gauge("max_error")) }, Of: panel.Named("mean_error"),
			Doc: "how wide a prediction is: what a sub-model may be above and below the truth, together; the mean of all sub-models that a lookup has used"},
		{Name: "a client’s cache", Unit: "bytes", Of: panel.Named("client_bytes"), Doc: "what the cache of a client holds now, in its mode: models and tables, or nodes of the tree"},
		{Name: "all clients", Unit: "bytes", Of: panel.Named("clients_bytes"), Doc: "the caches of all clients together"},
		{Name: "sub-models", Unit: "bytes", Of: panel.Named("model_bytes"), Doc: "all sub-models of the servers, 14 bytes each"},
		{Name: "tables", Unit: "bytes", Of: panel.Named("tt_bytes"), Doc: "all translation tables of the servers, 8 bytes for each leaf"},
		{Name: "tree’s nodes", Unit: "bytes", Of: panel.Named("index_bytes"), Doc: "the inner nodes of the tree, which a cache of the whole index would have to keep"},
		{Name: "training queue", Unit: "count", Beside: func(*panel.Window) string { return "tasks" }, Of: panel.Named("pending"), Doc: "tasks that trainers have not finished: one for each split leaf, and one for a whole model"},
		{Name: "sub-models now", Unit: "count", Of: panel.Named("submodels"), Doc: "sub-models that clients use, of all servers"},
	},
	Charts: []panel.Chart{
		{Form: panel.Lines, Label: "hits, invalidations, fallbacks and memory of the clients' caches, and training, over virtual time", Tracks: []panel.Track{
			{Label: "cache hits", Unit: "%", Most: 100, Of: panel.Named("hits")},
			{Label: "leaves READ", Of: leavesRead},
			{Label: "invalidated", Unit: "%", Rare: true, Of: panel.Named("invalidations")},
			{Label: "fallbacks", Unit: "%", Rare: true, Of: panel.Named("fallbacks")},
			{Label: "client cache", Unit: "MB", Of: func(w *panel.Window) float64 { return w.Gauge("client_bytes") / 1e6 }},
			{Label: "models to go", Rare: true, Of: panel.Named("to_go")},
			{Label: "queue", Unit: "tasks", Rare: true, Of: panel.Named("pending")},
		}},
		{Form: panel.Stacked, Label: "bytes of the servers' sub-models and tables, per system", Axis: "models of the servers", Unit: "MB", Tracks: []panel.Track{
			{Label: "sub-models", Of: func(w *panel.Window) float64 { return w.Gauge("model_bytes") / 1e6 }},
			{Label: "translation tables", Of: func(w *panel.Window) float64 { return w.Gauge("tt_bytes") / 1e6 }},
		}},
	},
})

// leavesRead is how many a lookup by a model READs.
func leavesRead(w *panel.Window) float64 { return 1 + w.Gauge("leaves")/100 }

// training says how far training in the background has come, and whether it has settled: no whole model is trained, and the queue was
// empty at the end of one of the windows.
func training(ws []panel.Window) panel.State {
	w := &ws[len(ws)-1]
	models, target, left, tasks := w.Gauge("submodels"), w.Gauge("training"), w.Gauge("to_go"), w.Gauge("pending")
	empty := slices.ContainsFunc(ws, func(w panel.Window) bool { return w.Gauge("training") == 0 && w.Gauge("pending") == 0 })
	switch {
	case math.IsNaN(models):
		return panel.State{Text: "no models in use: clients go down the tree", Settled: true, Done: 1}
	case target > 0 && left == target:
		return panel.State{Text: fmt.Sprintf("training: the keys are read first, then %s sub-models are trained", panel.Count(target))}
	case target > 0:
		return panel.State{Text: fmt.Sprintf("training: %s of %s sub-models to go", panel.Count(left), panel.Count(target)), Done: 1 - left/target}
	case tasks > 0 && !empty:
		return panel.State{Text: fmt.Sprintf("retraining: %s sub-models in use; after splits %s tasks wait", panel.Count(models), panel.Count(tasks)), Done: 1}
	case tasks > 0:
		return panel.State{Text: fmt.Sprintf("settled: %s sub-models, and the trainers keep up", panel.Count(models)), Settled: true, Done: 1}
	}
	return panel.State{Text: fmt.Sprintf("settled: %s sub-models, nothing waits for training", panel.Count(models)), Settled: true, Done: 1}
}
