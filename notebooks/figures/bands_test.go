package figures

import (
	"context"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// A band is what the same runs come to with other cycles: fewer of them make every line faster here, and each claim says both.
func TestBandOfAFigure(t *testing.T) {
	set := cluster.Knobs{"nodes": 3, "threads": 1, "workload.scale": 0.01, "warm": false}
	f, err := Get("4-9b").RunBandWith(context.Background(), figure.Quick, set, nil, nil)
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
	v := f.Claims[0].Predicted()
	if v.Band == nil || v.Band.Factor != figure.BandFactor || v.Band.Fewer == v.Band.More {
		t.Errorf("%+v", v.Band)
	}
	for _, says := range []string{"coordinator.scale from 1/1.4 to 1.4", "with 1/1.4 and 1.4 of the coordinator's cycles"} {
		if !strings.Contains(f.String(), says) {
			t.Errorf("no %q in\n%s", says, f)
		}
	}
}

// What takes no transactions has no band, and nobody else sets its knob.
func TestBandIsRefused(t *testing.T) {
	for _, id := range []string{"2-4a", "3-15a", "3-22a", "t4-2", "t4-1"} {
		if err := Get(id).Bandable(figure.Quick, nil); !experiment.IsSpecError(err) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := Get("4-9b").Bandable(figure.Quick, cluster.Knobs{"coordinator.scale": 2.0}); !experiment.IsSpecError(err) {
		t.Errorf("%v", err)
	}
	for _, id := range []string{"4-2a", "4-6", "4-7b", "4-8c", "4-10b", "4-best"} {
		if err := Get(id).Bandable(figure.Quick, nil); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}
