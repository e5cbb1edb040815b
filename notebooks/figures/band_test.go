package figures

import (
	"context"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
	"drtmx/engine/testbed"
)

// A band is what the same runs come to with other cycles: fewer of them make every line faster here, and each claim says both.
func TestBandOfAFigure(t *testing.T) {
	set := cluster.Knobs{"nodes": 3, "threads": 1, "workload.scale": 0.01, "warm": false}
	f, err := Get("4-9b").runBand(context.Background(), Quick, set, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Series {
		p := s.Points[len(s.Points)-1] // the core is busy
		if p.Band == nil || p.Band.Fewer.X <= p.X || p.Band.More.X >= p.X {
			t.Errorf("%s: %+v of %+v", s.Name, p.Band, p)
		}
	}
	for _, c := range f.Claims {
		if c.Band == nil || c.Band.Fewer.Says == "" || *c.Band.Fewer.Measured == *c.Band.More.Measured {
			t.Errorf("%s: %+v", c.ID, c.Band)
		}
	}
	v := f.Claims[0].predicted()
	if v.Band == nil || v.Band.Factor != BandFactor || v.Band.Fewer == v.Band.More {
		t.Errorf("%+v", v.Band)
	}
	for _, says := range []string{"coordinator.scale from 1/1.4 to 1.4", "with 1/1.4 and 1.4 of the coordinator's cycles"} {
		if !strings.Contains(f.String(), says) {
			t.Errorf("no %q in\n%s", says, f)
		}
	}
}

// Of several costs each claim and each point has the one that moves it most, and says which.
func TestBandOfSeveralCosts(t *testing.T) {
	d := *Get("4-9b").def
	d.costs = []cost{{knob: "coordinator.scale", what: "the coordinator's cycles", factor: 1.05}, assumed("hardware.wire.switch", "the switch's time")}
	r := &Recipe{def: &d, set: experiment.Knobs{}}
	set := cluster.Knobs{"nodes": 3, "threads": 1, "workload.scale": 0.01, "warm": false, "coroutines": 1}
	d.form, d.arrange = formLines, nil
	d.plan = func(scale string) plan {
		base := experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"duration_ns": 200_000}}
		return plan{base: base, series: []plannedSeries{{"Latency", []plannedPoint{{x: 1, read: meanLatency}}}}}
	}
	d.claims = func(f *Figure) []Claim {
		y := f.Series[0].Points[0].Y
		return []Claim{withheld("x", "its latency", "us", y, "measured")}
	}
	f, err := r.runBand(context.Background(), Quick, set, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, c := f.Series[0].Points[0], f.Claims[0]
	if p.Band == nil || p.Band.Cost != "hardware.wire.switch" || p.Band.Fewer.Y >= p.Y || p.Band.More.Y <= p.Y {
		t.Errorf("%+v of %+v", p.Band, p)
	}
	if c.Band == nil || c.Band.Cost != "hardware.wire.switch" || c.Band.Factor != 2 || !strings.Contains(c.told(), "with 1/2 and 2 of the switch's time") {
		t.Errorf("%+v, %s", c.Band, c.told())
	}
	for _, says := range []string{"coordinator.scale from 1/1.05 to 1.05", "hardware.wire.switch from 1/2 to 2"} {
		if !strings.Contains(f.String(), says) {
			t.Errorf("no %q in\n%s", says, f)
		}
	}
	if says := "less and more, by up to 2 times, of the assumed cost"; !strings.Contains(f.pictured(), says) {
		t.Errorf("no %q over the picture: %s", says, f.pictured())
	}
	if b := c.predicted().Band; b == nil || b.What() != "the switch's time" {
		t.Errorf("%+v", b)
	}
	if err := r.Bandable(Quick, cluster.Knobs{"hardware.wire.switch": 100.0}); !experiment.IsSpecError(err) {
		t.Errorf("a cost that is set: %v", err)
	}
	d.costs = []cost{assumed("hardware.tcp.send_call", "a call")}
	if _, err := r.runBand(context.Background(), Quick, set, nil, nil); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "has no such number") {
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

// What takes no transactions has no band, and nobody else sets its knob.
func TestBandIsRefused(t *testing.T) {
	for _, id := range []string{"2-4a", "3-15a", "3-22a", "t4-2", "t4-1"} {
		if err := Get(id).Bandable(Quick, nil); !experiment.IsSpecError(err) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := Get("4-9b").Bandable(Quick, cluster.Knobs{"coordinator.scale": 2.0}); !experiment.IsSpecError(err) {
		t.Errorf("%v", err)
	}
	for _, id := range []string{"4-2a", "4-6", "4-7b", "4-8c", "4-10b", "4-best"} {
		if err := Get(id).Bandable(Quick, nil); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// unpaid are times that no run of these figures takes: nothing is lost or finds its receiver full, no message stays in a machine.
var unpaid = map[string]bool{"tcp.retransmit": true, "nic.rnr_timer": true, "wire.loopback": true, "cpu.htm_region": true, "cpu.htm_abort": true}

// The bands of chapter 5 have every assumed time of the profile that these figures' runs take, the coordinator's cycles, and the factor on what the
// hosts' servers take; a figure that compares hardware has none.
func TestBandsOfChapter5(t *testing.T) {
	for _, id := range []string{"5-6a", "5-10a", "5-10b", "5-11a", "5-13a", "5-13b", "5-14a", "5-14b"} {
		r := Get(id)
		if err := r.Bandable(Quick, nil); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		specs, err := r.Specs(Quick)
		if err != nil {
			t.Fatal(err)
		}
		v, err := experiment.Resolve(specs[0])
		if err != nil {
			t.Fatal(err)
		}
		moved := experiment.Knobs{}
		for _, c := range r.def.bandCosts() {
			set, err := c.at(c.factor, v)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if _, err := r.and(set).Specs(Quick); err != nil {
				t.Errorf("%s: %v", id, err)
			}
			moved = with(moved, set)
		}
		testbed.Shipped(v).Each(func(name string, n *profile.Number) {
			if x := moved["hardware."+name]; n.Kind == profile.Assumed && n.Unit == "ns" && !unpaid[name] && x != assumedFactor*n.Value {
				t.Errorf("%s: %s of %g is %v in the band", id, name, n.Value, x)
			}
		})
		if host := strings.HasPrefix(id, "5-13") || strings.HasPrefix(id, "5-14"); host != (moved["host.scale"] == float64(assumedFactor)) {
			t.Errorf("%s: host.scale is %v in the band", id, moved["host.scale"])
		}
	}
	for _, id := range []string{"5-rtt", "5-oracle"} {
		if err := Get(id).Bandable(Quick, nil); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "its runs compare hardware (aws, vale)") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// The band of a figure of peaks does the runs of the peaks again and no others.
func TestBandOfPeaks(t *testing.T) {
	d := *Get("5-12a").def
	d.costs = []cost{assumed("hardware.wire.switch", "the switch's time", "hardware.wire.loopback")}
	d.plan = func(string) plan {
		p := plan{base: experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "oracle": true, "workload.scale": 0.01, "warm": false, "warmup_ns": 100_000, "duration_ns": 300_000}}}
		for _, l := range lines5 {
			p.series = append(p.series, plannedSeries{l.name, []plannedPoint{{set: with(l.set, experiment.Knobs{"coroutines": 1}), read: mtxn, name: "x"}, {set: with(l.set, experiment.Knobs{"coroutines": 4}), read: mtxn, name: "x"}}})
		}
		return p
	}
	r := &Recipe{def: &d, set: experiment.Knobs{}}
	f, err := r.runBand(context.Background(), Quick, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again := d.bandRuns(f, 2*len(lines5)); len(again) != len(lines5) || len(f.Runs) != 2*len(lines5) {
		t.Errorf("%v of %d runs are done again", again, len(f.Runs))
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
