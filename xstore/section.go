package xstore

import (
	"math"

	"drtmx/engine/metrics/panel"
)

// What a result says of learned caches: how well they predict, and what they take.
var _ = panel.NewSection(panel.Section{Part: "xstore", Fields: []panel.Field{
	{Name: "mean_error", Of: read("mean_error")}, // width of a prediction, in slots of leaves
	{Name: "max_error", Of: read("max_error")},
	{Name: "model_bytes", Of: read("model_bytes")},
	{Name: "tt_bytes", Of: read("tt_bytes")},
	{Name: "index_bytes", Of: read("index_bytes")},                                                                  // of the inner nodes that it stands for
	{Name: "fallback_rate", Of: func(r *panel.Reading) float64 { return r.Gauge("fallbacks") / 100 }},               // lookups that the server answered, as a share
	{Name: "retrained", Of: func(r *panel.Reading) float64 { return math.Round(r.Gauge("retrained") * r.Seconds) }}, // sub-models
}})

func read(gauge string) func(r *panel.Reading) float64 {
	return func(r *panel.Reading) float64 { return r.Gauge(gauge) }
}
