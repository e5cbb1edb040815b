package figure

import (
	"context"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Of several costs each claim and each point has the one that moves it most, and says which.
func TestBandOfSeveralCosts(t *testing.T) {
	d := Definition{ID: "t", Title: "a", Chapter: 4, Section: "4", Scope: "cluster", X: Axis{Label: "Load"}, Y: Axis{Label: "Latency", Unit: "µs"}}
	d.Costs = []Cost{{knob: "coordinator.scale", what: "the coordinator's cycles", Factor: 1.05}, Assumed("hardware.wire.switch", "the switch's time")}
	r := New(&d)
	set := cluster.Knobs{"nodes": 3, "threads": 1, "workload.scale": 0.01, "warm": false, "coroutines": 1}
	d.Plan = func(scale string) Plan {
		base := experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"duration_ns": 200_000}}
		return Plan{Base: base, Series: []PlannedSeries{{"Latency", []PlannedPoint{{X: 1, Read: MeanLatency}}}}}
	}
	d.Claims = func(f *Figure) []Claim {
		y := f.Series[0].Points[0].Y
		return []Claim{{ID: "x", Claim: "its latency", Unit: "µs", Measured: &y, Status: Undecided, Why: "measured"}}
	}
	f, err := r.RunBandWith(context.Background(), Quick, set, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, c := f.Series[0].Points[0], f.Claims[0]
	if p.Band == nil || p.Band.Cost != "hardware.wire.switch" || p.Band.Fewer.Y >= p.Y || p.Band.More.Y <= p.Y {
		t.Errorf("%+v of %+v", p.Band, p)
	}
	if c.Band == nil || c.Band.Cost != "hardware.wire.switch" || c.Band.Factor != 2 || !strings.Contains(c.BandText(), "with 1/2 and 2 of the switch's time") {
		t.Errorf("%+v, %s", c.Band, c.BandText())
	}
	for _, says := range []string{"coordinator.scale from 1/1.05 to 1.05", "hardware.wire.switch from 1/2 to 2"} {
		if !strings.Contains(f.String(), says) {
			t.Errorf("no %q in\n%s", says, f)
		}
	}
	if says := "less and more, by up to 2 times, of the assumed cost"; !strings.Contains(f.pictured(), says) {
		t.Errorf("no %q over the picture: %s", says, f.pictured())
	}
	if b := c.Predicted().Band; b == nil || b.What() != "the switch's time" {
		t.Errorf("%+v", b)
	}
	if err := r.Bandable(Quick, cluster.Knobs{"hardware.wire.switch": 100.0}); !experiment.IsSpecError(err) {
		t.Errorf("a cost that is set: %v", err)
	}
	d.Costs = []Cost{Assumed("hardware.tcp.send_call", "a call")}
	if _, err := r.RunBandWith(context.Background(), Quick, set, nil, nil); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "has no such number") {
		t.Errorf("a cost of other hardware: %v", err)
	}
}

// A band of several costs has runs as long as those of the figure, which may have been measured again.
func TestBandIsAsLong(t *testing.T) {
	run := func(warmup, duration int) *result.Result {
		return &result.Result{Spec: map[string]any{"warmup_ns": warmup, "duration_ns": duration}}
	}
	set := experiment.Knobs{"warmup_ns": 100_000, "duration_ns": 200_000}
	for _, x := range []struct {
		set      experiment.Knobs
		run      *result.Result
		duration any
		warmup   any
	}{
		{set, run(100_000, 200_000), 200_000, 100_000}, {set, run(400_000, 800_000), 800_000, 400_000}, {set, nil, 200_000, 100_000},
		{experiment.Knobs{}, run(100_000, 200_000), nil, nil}, // the run finds out
	} {
		s, err := asLong(experiment.Spec{Workload: "smallbank", Set: x.set}, x.run)
		if err != nil || s.Set["duration_ns"] != x.duration || s.Set["warmup_ns"] != x.warmup {
			t.Errorf("%v: %v, %v", x, s.Set, err)
		}
	}
}
