package chapter4

import (
	"context"
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Each possible choice is run once: no phase that the workload lacks, no lock of the
// RNIC's that a CPU releases.
func TestChoices4best(t *testing.T) {
	for workload, want := range map[string]int{"smallbank": 216, "cycle": 36} {
		specs, err := recipe(t, "4-best").With(cluster.Knobs{"workload": workload}).Specs(figure.Quick)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, spec := range specs {
			key, err := batch.RunKey(spec)
			if err != nil {
				t.Fatal(err)
			}
			if seen[key] {
				t.Errorf("%s: %v twice", workload, spec.Set)
			}
			seen[key] = true
		}
		if len(specs) != want {
			t.Errorf("%s: %d choices, want %d", workload, len(specs), want)
		}
	}
	for name, want := range map[string]string{"drtm+h": "DrTM+H", "drtm+r": "DrTM+R", "farm": "FaRM", "fasst": "FaSST"} {
		k, err := experiment.PresetKnobs(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"phase.lock", "phase.commit"} {
			if k[p] == "auto" {
				k[p] = "one-sided"
			}
		}
		for _, ro := range []bool{true, false} {
			if got := design(primitives(&result.Result{Spec: k}, ro)); got != want {
				t.Errorf("%s is taken for %q", name, got)
			}
		}
	}
}

func TestFigure4best(t *testing.T) {
	tiny := cluster.Knobs{"workload": "cycle", "workload.keys": 100_000, "nodes": 3, "threads": 1, "coroutines": 4}
	runs := 0
	f, err := recipe(t, "4-best").RunWith(context.Background(), figure.Quick, tiny, nil, func(done, total int) { runs = done })
	if err != nil {
		t.Fatal(err)
	}
	points := f.Series[0].Points
	if len(points) != 36 || runs < 36 || f.WallMS <= 0 {
		t.Fatalf("%d points of %d runs in %d ms", len(points), runs, f.WallMS)
	}
	names := map[string]bool{}
	for i, p := range points {
		if i > 0 && p.Y > points[i-1].Y || p.X != float64(i+1) || p.Y <= 0 || p.LatencyUS <= 0 || names[p.Name] {
			t.Errorf("rank %d: %+v", i+1, p)
		}
		names[p.Name] = true
		if y, _ := perThread(f.Runs[p.Run]); y != p.Y {
			t.Errorf("rank %d has %g, its run %g", i+1, p.Y, y)
		}
	}
	for _, d := range designPrimitives {
		row, _, _ := strings.Cut(d.primitives, ",")
		for form, text := range map[string]string{"text": f.String(), "csv": f.CSV(), "svg": f.SVG()} {
			if !strings.Contains(text, row+" ("+d.design+")") {
				t.Errorf("%s without %s", form, d.design)
			}
		}
	}
	if png, err := f.PNG(); err != nil || !strings.HasPrefix(string(png), "\x89PNG") {
		t.Error(err)
	}
	if f.GapAt == nil || points[int(f.GapAt.X)-1].Run != 0 || f.GapAt.Paper <= 0 {
		t.Errorf("%+v", f.GapAt)
	}
	if len(f.Claims) != 1 || f.Claims[0].Status != figure.Undecided || f.Claims[0].Measured == nil || *f.Claims[0].Measured < 1 {
		t.Errorf("%+v", f.Claims)
	}
}
