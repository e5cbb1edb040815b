package oracle

import "drtmx/engine/metrics"

// counts are what the oracle has served.
type counts struct{ takes, installs, points uint64 }

// The gauges of part oracle. How busy the machine is shows with that of others.
var (
	gTakes    = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "takes", Label: "numbers drawn", Unit: "/s", Kind: metrics.Rate})
	gInstalls = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "installs", Label: "numbers installed", Unit: "/s", Kind: metrics.Rate})
	gPoints   = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "points", Label: "stable timestamps read", Unit: "/s", Kind: metrics.Rate})
	gQueue    = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "queue", Label: "installed, not stable"})
	gLag      = metrics.NewGauge(metrics.Gauge{Part: "oracle", Name: "lag", Label: "drawn, not stable"})
)

func (n *counts) gauges(r *metrics.Readings, queue, lag uint64) {
	r.Add(gTakes, float64(n.takes), 0)
	r.Add(gInstalls, float64(n.installs), 0)
	r.Add(gPoints, float64(n.points), 0)
	r.Add(gQueue, float64(queue), 0)
	r.Add(gLag, float64(lag), 0)
}

// Gauges reads the oracle.
func (s *gts) Gauges(r *metrics.Readings) {
	g := s.server
	g.counts.gauges(r, g.counts.installs-g.stable, g.newest()-g.stable)
}

// Gauges reads the oracle of the layout in force.
func (s *vts) Gauges(r *metrics.Readings) {
	l := s.layout()
	drawn, stable := uint64(0), uint64(0)
	for i := range l.slots {
		drawn += l.slots[i].drawn
		stable += l.queues[i].stable
	}
	n := l.counts
	n.takes = drawn
	n.gauges(r, uint64(l.waiting()), drawn-stable)
}
