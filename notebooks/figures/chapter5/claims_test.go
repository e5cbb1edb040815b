package chapter5

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/testbed"
	"drtmx/notebooks/figures/figure"
)

// The band of a figure of peaks does the runs of the peaks again and no others.
func TestBandOfPeaks(t *testing.T) {
	d := *recipe(t, "5-12a").Definition
	d.Costs = []figure.Cost{figure.Assumed("hardware.wire.switch", "the switch's time", "hardware.wire.loopback")}
	d.Plan = func(string) figure.Plan {
		p := figure.Plan{Base: experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "oracle": true, "workload.scale": 0.01, "warm": false, "warmup_ns": 100_000, "duration_ns": 300_000}}}
		for _, l := range schemeLines {
			p.Series = append(p.Series, figure.PlannedSeries{Name: l.Name, Points: []figure.PlannedPoint{{Set: figure.With(l.Set, experiment.Knobs{"coroutines": 1}), Read: figure.Mtxn, Name: "x"}, {Set: figure.With(l.Set, experiment.Knobs{"coroutines": 4}), Read: figure.Mtxn, Name: "x"}}})
		}
		return p
	}
	r := figure.New(&d)
	of := 0
	f, err := r.RunBandWith(context.Background(), figure.Quick, nil, nil, func(_, total int) { of = total })
	if err != nil {
		t.Fatal(err)
	}
	if again := of / 3; again != len(schemeLines) || len(f.Runs) != 2*len(schemeLines) { // at last, all parts are as long as the last
		t.Errorf("%d of %d runs are done again", again, len(f.Runs))
	}
	for _, s := range f.Series {
		if p := s.Points[0]; p.Band == nil || p.Band.Fewer.Y <= p.Band.More.Y {
			t.Errorf("%s: %+v of %+v", s.Name, p.Band, p)
		}
	}
	for _, c := range f.Claims {
		if c.Band == nil || c.Band.Cost != "hardware.wire.switch" {
			t.Errorf("%s: %+v", c.ID, c.Band)
		}
	}
	if !strings.Contains(f.String(), "hardware.wire.switch, hardware.wire.loopback from 1/2 to 2") {
		t.Error(f)
	}
}

// unpaid are times that no run of these figures takes: nothing is lost or finds its receiver full, no message stays in a machine.
var unpaid = map[string]bool{"tcp.retransmit": true, "nic.rnr_timer": true, "wire.loopback": true, "cpu.htm_region": true, "cpu.htm_abort": true}

// The bands of chapter 5 have every assumed time of the profile that these figures' runs take, the coordinator's cycles, and the factor on what the
// hosts' servers take; a figure that compares hardware has none.
func TestBandsOfChapter5(t *testing.T) {
	for _, id := range []string{"5-6a", "5-10a", "5-10b", "5-11a", "5-13a", "5-13b", "5-14a", "5-14b"} {
		r := recipe(t, id)
		if err := r.Bandable(figure.Quick, nil); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		specs, err := r.Specs(figure.Quick)
		if err != nil {
			t.Fatal(err)
		}
		v, err := experiment.Resolve(specs[0])
		if err != nil {
			t.Fatal(err)
		}
		moved := experiment.Knobs{}
		for _, c := range r.Definition.BandCosts() {
			set, err := c.At(c.Factor, v)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if _, err := r.And(set).Specs(figure.Quick); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			moved = figure.With(moved, set)
		}
		testbed.Shipped(v).Each(func(name string, n *profile.Number) {
			if x := moved["hardware."+name]; n.Kind == profile.Assumed && n.Unit == "ns" && !unpaid[name] && x != figure.AssumedFactor*n.Value {
				t.Errorf("%s: %s of %g is %v in the band", id, name, n.Value, x)
			}
		})
		if host := strings.HasPrefix(id, "5-13") || strings.HasPrefix(id, "5-14"); host != (moved["host.scale"] == float64(figure.AssumedFactor)) {
			t.Errorf("%s: host.scale is %v in the band", id, moved["host.scale"])
		}
	}
	for _, id := range []string{"5-rtt", "5-oracle"} {
		if err := recipe(t, id).Bandable(figure.Quick, nil); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "its runs compare hardware (aws, vale)") {
			t.Errorf("%s: %v", id, err)
		}
	}
}
