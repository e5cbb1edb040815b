package xstore

import "drtmx/engine/metrics"

func gauge(name, label, unit string, kind metrics.GaugeKind) *metrics.Gauge {
	return metrics.NewGauge(metrics.Gauge{Part: "xstore", Name: name, Label: label, Unit: unit, Kind: kind})
}

// What a store shows of itself.
var (
	gaugeHits        = gauge("hits", "cache hits", "%", metrics.Share)
	gaugeFallbacks   = gauge("fallbacks", "fallbacks", "%", metrics.Share)
	gaugeMismatches  = gauge("invalidations", "invalidations", "%", metrics.Share)
	gaugeLeaves      = gauge("leaves", "second leaves", "%", metrics.Share)
	gaugeSpeculative = gauge("speculative", "found in split leaves", "/s", metrics.Rate)
	gaugeMeanError   = gauge("mean_error", "mean error", "slots", metrics.Level)
	gaugeMaxError    = gauge("max_error", "largest error", "slots", metrics.Level)
	gaugeModels      = gauge("submodels", "sub-models", "", metrics.Level)
	gaugeModelBytes  = gauge("model_bytes", "sub-models", "bytes", metrics.Level)
	gaugeTableBytes  = gauge("tt_bytes", "translation tables", "bytes", metrics.Level)
	gaugeIndexBytes  = gauge("index_bytes", "inner nodes of the tree", "bytes", metrics.Level)
	gaugeClient      = gauge("client_bytes", "cache of a client", "bytes", metrics.Level)
	gaugeClients     = gauge("clients_bytes", "caches of all clients", "bytes", metrics.Level)
	gaugeRetrained   = gauge("retrained", "sub-models retrained", "/s", metrics.Rate)
	gaugePending     = gauge("pending", "training tasks", "", metrics.Level)
	gaugeTarget      = gauge("training", "sub-models in training", "", metrics.Level)
	gaugeToGo        = gauge("to_go", "sub-models to go", "", metrics.Level)
	gaugeTrainers    = gauge("trainers", "trainers busy", "%", metrics.Share)
	gaugeSplits      = gauge("splits", "splits", "/s", metrics.Rate)
	gaugeCollisions  = gauge("collisions", "records of other keys", "%", metrics.Share)
	gaugeHinted      = gauge("hinted", "updates by hint", "%", metrics.Share)
)

// Gauges reads them. Leaves beyond the first one that a lookup READs are a share of the lookups.
func (s *Store) Gauges(r *metrics.Readings) { gauges(r, []*Store{s}) }

// gauges reads those of several stores that work alike. The cache of a client has those of all stores.
func gauges(r *metrics.Readings, stores []*Store) {
	var t Stats
	var f Footprint
	pending := 0
	for _, s := range stores {
		stats, size := s.Stats(), s.Footprint()
		t.Add(&stats)
		f.add(&size)
		pending += s.Pending()
		all, users := s.cached()
		r.Add(gaugeClients, float64(all), 0)
		r.Add(gaugeClient, float64(all)/float64(max(users, 1)), 0)
	}
	r.Add(gaugeHits, float64(t.Hits), float64(t.Hits+t.Misses))
	r.Add(gaugeFallbacks, float64(t.Fallbacks), float64(t.Lookups))
	r.Add(gaugeMismatches, float64(t.Mismatches), float64(t.Lookups))
	r.Add(gaugeSpeculative, float64(t.Speculative+t.Siblings), 0)
	r.Add(gaugeSplits, float64(t.Splits), 0)
	r.Add(gaugeHinted, float64(t.Hinted), float64(t.Updates))
	r.Add(gaugeIndexBytes, float64(f.IndexBytes), 0)
	if len(stores) > 0 && stores[0].spec.Real != nil {
		r.Add(gaugeCollisions, float64(t.Collisions), float64(t.Lookups))
	}
	if len(stores) == 0 || !stores[0].opt.Cache.learned() {
		return
	}
	r.Add(gaugeLeaves, float64(t.More), float64(t.Lookups))
	r.Add(gaugeModels, float64(f.SubModels), 0)
	r.Add(gaugeModelBytes, float64(f.ModelBytes), 0)
	r.Add(gaugeTableBytes, float64(f.TableBytes), 0)
	r.Add(gaugeRetrained, float64(t.Retrained), 0)
	r.Add(gaugePending, float64(pending), 0)
	if f.Looked > 0 {
		r.Add(gaugeMeanError, f.MeanError, 0)
		r.Add(gaugeMaxError, float64(f.MaxError), 0)
	}
	for _, s := range stores {
		for _, p := range s.parts {
			if q := &p.trainers; q.whole {
				r.Add(gaugeTarget, float64(q.target), 0)
				r.Add(gaugeToGo, float64(q.target-q.done), 0)
			} else {
				r.Add(gaugeTarget, 0, 0)
				r.Add(gaugeToGo, 0, 0)
			}
			for _, x := range p.trainers.threads {
				r.Add(gaugeTrainers, float64(x.co.BusyPS()), float64(s.cl.Now()))
			}
		}
	}
}

// cached is what the clients' caches hold together, in bytes, and how many clients have one: machines, or threads.
func (s *Store) cached() (bytes, users int) {
	x := s.index
	for m := range s.parts {
		n := 0
		for _, c := range x.caches[m] {
			if c != nil {
				bytes, n = bytes+c.bytes(x.mode), n+1
			}
		}
		for _, w := range x.walks[m] {
			if w != nil {
				bytes, n = bytes+w.held*w.p.tree.Inner().Bytes(), n+1
			}
		}
		users = max(users, n)
	}
	return bytes, users
}
