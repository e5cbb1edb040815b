package xstore

import "drtmx/engine/metrics"

// What a store shows of itself.
var (
	gaugeFallbacks   = metrics.NewGauge(metrics.Gauge{Part: "xcache", Name: "fallbacks", Label: "fallbacks", Unit: "%", Kind: metrics.Share})
	gaugeMismatches  = metrics.NewGauge(metrics.Gauge{Part: "xcache", Name: "mismatches", Label: "invalidations", Unit: "%", Kind: metrics.Share})
	gaugeLeaves      = metrics.NewGauge(metrics.Gauge{Part: "xcache", Name: "leaves", Label: "leaves per lookup", Unit: "%", Kind: metrics.Share})
	gaugeSpeculative = metrics.NewGauge(metrics.Gauge{Part: "xcache", Name: "speculative", Label: "found in split leaves", Unit: "/s", Kind: metrics.Rate})
	gaugeBytes       = metrics.NewGauge(metrics.Gauge{Part: "xcache", Name: "bytes", Label: "model and tables", Unit: "B", Kind: metrics.Level})
	gaugeError       = metrics.NewGauge(metrics.Gauge{Part: "xmodel", Name: "error", Label: "mean error", Unit: "slots", Kind: metrics.Level})
	gaugeModels      = metrics.NewGauge(metrics.Gauge{Part: "xmodel", Name: "models", Label: "sub-models", Kind: metrics.Level})
	gaugeRetrained   = metrics.NewGauge(metrics.Gauge{Part: "xmodel", Name: "retrained", Label: "sub-models retrained", Unit: "/s", Kind: metrics.Rate})
	gaugePending     = metrics.NewGauge(metrics.Gauge{Part: "xmodel", Name: "pending", Label: "training tasks", Kind: metrics.Level})
	gaugeSplits      = metrics.NewGauge(metrics.Gauge{Part: "xtree", Name: "splits", Label: "splits", Unit: "/s", Kind: metrics.Rate})
	gaugeHinted      = metrics.NewGauge(metrics.Gauge{Part: "xtree", Name: "hinted", Label: "updates by hint", Unit: "%", Kind: metrics.Share})
)

// Gauges reads them.
func (s *Store) Gauges(r *metrics.Readings) {
	t := s.Stats()
	r.Add(gaugeFallbacks, float64(t.Fallbacks), float64(t.Lookups))
	r.Add(gaugeMismatches, float64(t.Mismatches), float64(t.Lookups))
	r.Add(gaugeLeaves, float64(t.Leaves), float64(t.Lookups))
	r.Add(gaugeSpeculative, float64(t.Speculative+t.Siblings), 0)
	r.Add(gaugeSplits, float64(t.Splits), 0)
	r.Add(gaugeHinted, float64(t.Hinted), float64(t.Updates))
	if !s.opt.Cache.learned() {
		return
	}
	f := s.Footprint()
	r.Add(gaugeBytes, float64(f.Client(s.opt.Cache)), 0)
	r.Add(gaugeModels, float64(f.SubModels), 0)
	r.Add(gaugeRetrained, float64(t.Retrained), 0)
	r.Add(gaugePending, float64(s.Pending()), 0)
	if f.Looked > 0 {
		r.Add(gaugeError, f.MeanError, 0)
	}
}
