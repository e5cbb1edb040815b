package rolex

import "drtmx/engine/metrics"

func gauge(name, label, unit string, kind metrics.GaugeKind) *metrics.Gauge {
	return metrics.NewGauge(metrics.Gauge{Part: "rolex", Name: name, Label: label, Unit: unit, Kind: kind})
}

// What the store shows of itself.
var (
	gaugeLeaves   = gauge("leaves", "leaves READ by a lookup", "%", metrics.Share)
	gaugeSynonyms = gauge("synonyms", "synonyms READ by a lookup", "%", metrics.Share)
	gaugeWaits    = gauge("waits", "locks that were taken", "/s", metrics.Rate)
	gaugeSplits   = gauge("splits", "new synonyms", "/s", metrics.Rate)
	gaugeTrained  = gauge("trained", "segments retrained", "/s", metrics.Rate)
	gaugeFetched  = gauge("fetched", "models fetched", "/s", metrics.Rate)
	gaugeGiven    = gauge("given", "trainings given up", "/s", metrics.Rate)
	gaugeModels   = gauge("model_bytes", "models of a client at the start", "bytes", metrics.Level)
	gaugePending  = gauge("pending", "training tasks", "", metrics.Level)
)

// Gauges reads them.
func (s *Store) Gauges(r *metrics.Readings) {
	t := s.Stats()
	r.Add(gaugeLeaves, float64(t.Leaves), float64(t.Lookups))
	r.Add(gaugeSynonyms, float64(t.Synonyms), float64(t.Lookups))
	r.Add(gaugeWaits, float64(t.Waits), 0)
	r.Add(gaugeSplits, float64(t.Splits), 0)
	r.Add(gaugeTrained, float64(t.Trained), 0)
	r.Add(gaugeFetched, float64(t.Fetched), 0)
	r.Add(gaugeGiven, float64(t.Given), 0)
	for _, p := range s.parts {
		r.Add(gaugeModels, float64(p.segments*p.modelRoom), 0)
	}
	pending := 0
	for _, x := range s.trains {
		if x == nil {
			continue
		}
		if pending += len(x.queue); x.busy {
			pending++
		}
	}
	r.Add(gaugePending, float64(pending), 0)
}
