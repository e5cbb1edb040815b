package metrics

import (
	"math"
	"testing"
)

var (
	testLevel = NewGauge(Gauge{Part: "test", Name: "level", Label: "level"})
	testRate  = NewGauge(Gauge{Part: "test", Name: "rate", Label: "rate", Unit: "/s", Kind: Rate})
	testShare = NewGauge(Gauge{Part: "test", Name: "share", Label: "share", Unit: "%", Kind: Share})
	testMean  = NewGauge(Gauge{Part: "test", Name: "mean", Label: "mean", Unit: "µs", Kind: Mean})
	testCores = NewGauge(Gauge{Part: "test", Name: "cores", Label: "busiest core", Unit: "%", Kind: Busiest})
)

func TestGauges(t *testing.T) {
	from, to := NewReadings(), NewReadings()
	from.Add(testRate, 10, 0)
	from.Add(testShare, 5, 10)
	for _, half := range []float64{1, 3} { // of two machines
		to.Add(testLevel, half, 0)
	}
	from.Add(testMean, 100, 10)
	from.Add(testCores, 90, 100) // the first core was busy before, the second is now
	from.Add(testCores, 0, 100)
	to.Add(testRate, 30, 0)
	to.Add(testShare, 8, 14)
	to.Add(testMean, 130, 14)
	to.Add(testCores, 91, 110)
	to.Add(testCores, 8, 110)
	got := Shown(Between(from, to, 2_000_000_000)) // 2 ms
	want := map[string]float64{"test.level": 4, "test.rate": 10_000, "test.share": 75, "test.mean": 7.5, "test.cores": 80}
	for key, x := range want {
		if math.Abs(got[key]-x) > 1e-6*x {
			t.Errorf("%s is %g, want %g", key, got[key], x)
		}
	}
	if len(got) != len(want) {
		t.Errorf("gauges %v", got)
	}
	if got := Shown(Between(to, to, 1)); len(got) != 2 || got["test.rate"] != 0 { // no share of nothing
		t.Errorf("nothing happened, and yet %v", got)
	}
	if got := Shown(Between(NewReadings(), NewReadings(), 1)); got != nil {
		t.Errorf("nobody read anything, and yet %v", got)
	}
}

// The same gauge may be made known again, as a cell of a notebook does; another one of its name may not.
func TestGaugeTwice(t *testing.T) {
	known := len(Gauges())
	if NewGauge(Gauge{Part: "test", Name: "level", Label: "level"}) != testLevel || len(Gauges()) != known || Named("test.level") != testLevel || Named("test.leve") != nil {
		t.Error("the same gauge is another one")
	}
	defer func() {
		if recover() == nil {
			t.Error("a gauge is known twice")
		}
	}()
	NewGauge(Gauge{Part: "test", Name: "level"})
}
