package chapter5

import (
	"context"
	"slices"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/figure/figuretest"
)

// Every run of chapter 5 is possible, has an oracle's machine, and is checked; and a figure without runs says nothing.
func TestRunsOfChapter5(t *testing.T) {
	for _, d := range Figures() {
		r := figure.New(d)
		for _, scale := range []string{figure.Quick, figure.Paper} {
			specs, err := r.Specs(scale)
			if err != nil {
				t.Fatal(err)
			}
			if len(specs) == 0 && d.Form != figure.FormTable {
				t.Errorf("%s: no runs at %s scale", d.ID, scale)
			}
			for _, s := range specs {
				v, err := experiment.Resolve(s)
				if err != nil {
					t.Fatalf("%s at %s scale: %v", d.ID, scale, err)
				}
				if alone := d.ID == "5-6a" && v["oracle"] == false; v["oracle"] != true && !alone || v["check"] != "sampled" {
					t.Errorf("%s at %s scale: oracle %v, check %v", d.ID, scale, v["oracle"], v["check"])
				}
			}
		}
	}
}

// The runs of Figure 5-6 are without any optimisation of section 5.5: batching, the fetch thread, compression, and cooperative multitasking, for each
// thread has one coroutine. Of those against the oracle alone a client's thread has four: they are the load under which its peak is taken, and
// batching is off, so that no message carries what two of them ask.
func TestFigure56HasNoOptimisations(t *testing.T) {
	for _, d := range oracleFigures {
		for _, scale := range []string{figure.Quick, figure.Paper} {
			specs, err := figure.New(d).Specs(scale)
			if err != nil || len(specs) < 6 {
				t.Fatalf("%s at %s scale: %d runs, %v", d.ID, scale, len(specs), err)
			}
			for _, s := range specs {
				v, err := experiment.Resolve(s)
				if err != nil {
					t.Fatal(err)
				}
				coroutines := 1
				if v["workload"] == "ts-oracle" && v["workload.oracle_op"] == "network" {
					coroutines = 4
				}
				if v["ts.batching"] != false || v["ts.fetch_thread"] != false || v["ts.compression"] != false || v["coroutines"] != coroutines {
					t.Errorf("%s at %s scale: batching %v, fetch thread %v, compression %v, %v coroutines in a run of %v under %v",
						d.ID, scale, v["ts.batching"], v["ts.fetch_thread"], v["ts.compression"], v["coroutines"], v["workload"], v["ts.scheme"])
				}
			}
		}
	}
}

// The lines of Figure 5-10 run, the claims are of their points, and nothing of it fails its checks.
func TestFigureOfAllSchemes(t *testing.T) {
	d := *recipe(t, "5-12a").Definition
	d.Plan = func(string) figure.Plan {
		p := figure.Plan{Base: experiment.Spec{Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "oracle": true, "workload.scale": 0.01, "warmup_ns": 300_000, "duration_ns": 600_000}}}
		for _, l := range schemeLines {
			p.Series = append(p.Series, figure.PlannedSeries{Name: l.Name, Points: []figure.PlannedPoint{{Set: figure.With(l.Set, experiment.Knobs{"coroutines": 1}), Read: figure.Mtxn, Name: "x"}, {Set: figure.With(l.Set, experiment.Knobs{"coroutines": 4}), Read: figure.Mtxn, Name: "x"}}})
		}
		return p
	}
	r := figure.New(&d)
	f, err := r.RunWith(context.Background(), figure.Quick, cluster.Knobs{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Series {
		if len(s.Points) != 1 || s.Points[0].Y <= 0 {
			t.Fatalf("%s: %+v is not the peak", s.Name, s.Points)
		}
		for _, run := range f.Runs {
			if y, _ := figure.Mtxn(run); run.Spec["coroutines"] == f.Runs[s.Points[0].Run].Spec["coroutines"] && f.Runs[s.Points[0].Run] == run && y != s.Points[0].Y {
				t.Errorf("%s: %g is not of its run", s.Name, s.Points[0].Y)
			}
		}
	}
	if bad := f.Failed(); len(bad) > 0 {
		t.Errorf("checks failed: %v", bad)
	}
	if n := len(f.Claims); n != 2 || !slices.ContainsFunc(f.Claims, func(c figure.Claim) bool {
		return c.ID == "f5-12a-dst-gts" && c.Reference == "1.07" && c.Measured != nil
	}) {
		t.Errorf("%d claims: %+v", n, f.Claims)
	}
}

// A bound holds for each read of a run, so it is decided whether the run is steady or not.
func TestBoundOfUnsteadyRuns(t *testing.T) {
	r := recipe(t, "5-fresh")
	for oldest, want := range map[int64]string{1000: figure.Holds, 2001: figure.Contradicted} {
		runs := make([]*result.Result, figuretest.PlannedRuns(r))
		for i := range runs {
			bound := int64(2000)
			runs[i] = &result.Result{StalenessNS: &result.StalenessStat{Max: 10, Bound: &bound}, Unsteady: "drifting"}
		}
		runs[0].StalenessNS.Max = oldest
		if c := r.From(figure.Quick, runs).Claims[0]; c.Status != want {
			t.Errorf("%d of 2000 ns: %s, %s", oldest, c.Status, c.Why)
		}
	}
}
