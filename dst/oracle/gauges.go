package oracle

import "drtmx/engine/metrics"

// counts are what the oracle has served. A message may carry what several coroutines ask.
type counts struct{ takes, installs, points, messages uint64 }

// The gauges of part oracle.
var (
	gTakes    = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "takes", Label: "numbers drawn", Unit: "/s", Kind: metrics.Rate})
	gInstalls = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "installs", Label: "numbers installed", Unit: "/s", Kind: metrics.Rate})
	gPoints   = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "points", Label: "stable timestamps read", Unit: "/s", Kind: metrics.Rate})
	gMessages = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "messages", Label: "messages to the oracle", Unit: "/s", Kind: metrics.Rate})
	gBusiest  = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "busiest", Label: "oracle, busiest core", Unit: "%", Kind: metrics.Busiest})
	gQueue    = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "queue", Label: "installed, not stable"})
	gLag      = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "lag", Label: "drawn, not stable"})
)

// levels are what waits at the oracle: installed numbers, and drawn ones, that are not stable.
type levels struct{ queue, lag int64 }

func (o *client) gauges(r *metrics.Readings, n counts, l levels) {
	r.Add(gTakes, float64(n.takes), 0)
	r.Add(gInstalls, float64(n.installs), 0)
	r.Add(gPoints, float64(n.points), 0)
	r.Add(gMessages, float64(n.messages), 0)
	r.Add(gQueue, float64(l.queue), 0)
	r.Add(gLag, float64(l.lag), 0)
	cl := o.env.Cluster
	for t := range cl.Threads(o.oracle) {
		r.Add(gBusiest, float64(cl.BusyPS(o.oracle, t)), float64(cl.Now())) // measured: for how long it may have been busy
	}
}

// Gauges reads the oracle. Without stable timestamps nothing is installed.
func (s *gts) Gauges(r *metrics.Readings) {
	g := s.server
	l := levels{int64(g.queued), int64(g.newest() - g.stable)}
	if !s.opt.stable {
		l = levels{}
	}
	s.gauges(r, g.counts, l)
}

// Gauges reads the oracles of both layouts, of which one is at rest.
func (s *vts) Gauges(r *metrics.Readings) {
	var n counts
	var waits levels
	for _, l := range []*layout{&s.workers, &s.machines} {
		n.installs += l.counts.installs
		n.points += l.counts.points
		n.messages += l.counts.messages
		for i := range l.slots {
			n.takes += l.slots[i].drawn
			waits.lag += int64(l.slots[i].drawn - l.queues[i].stable)
		}
		waits.queue += int64(l.waiting())
	}
	s.gauges(r, n, waits)
}
