package windows

import (
	"math"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// A gauge that is made known later, as a cell of a notebook does, changes nothing of what was read before.
func TestGaugesStayInTheirPlaces(t *testing.T) {
	metrics.NewGauge(metrics.Gauge{Part: "moments", Name: "one"})
	metrics.NewGauge(metrics.Gauge{Part: "moments", Name: "two"})
	m := Of(&result.Window{Gauges: map[string]float64{"moments.one": 1, "moments.two": 2}})
	metrics.NewGauge(metrics.Gauge{Part: "a part before", Name: "one"})
	if one, two := m.Gauge("moments.one"), m.Gauge("moments.two"); one != 1 || two != 2 {
		t.Errorf("%g and %g", one, two)
	}
	if x := m.Gauge("a part before.one"); !math.IsNaN(x) {
		t.Errorf("a gauge that nobody had read: %g", x)
	}
}
